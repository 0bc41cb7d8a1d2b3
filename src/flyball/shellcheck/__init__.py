"""Parse a shell command and judge it: pure, and never more lenient than it can explain."""

from flyball.shellcheck.falsifiable import cannot_fail, verification_kind
from flyball.shellcheck.judgement import AllowRule, CommandKind, CommandPart, Finding, Judgement
from flyball.shellcheck.verdict import PHASES, findings_of, judge, phase_of

__all__ = [
    "PHASES",
    "AllowRule",
    "CommandKind",
    "CommandPart",
    "Finding",
    "Judgement",
    "cannot_fail",
    "findings_of",
    "judge",
    "phase_of",
    "verification_kind",
]
