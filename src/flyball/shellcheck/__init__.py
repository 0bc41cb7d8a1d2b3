"""Parse a shell command and judge it: `judge`, pure, and never more lenient than it can explain.

`words` reads the words of a command, `walk` visits its statements, `programs` holds one table of
rules per family of programs, and `verdict` combines the findings. Text rules alone cannot confine a
command, which is why the kernel does (`workspace.sandbox`); this package says what a command is
meant to do.
"""

from flyball.shellcheck.falsifiable import cannot_fail, verification_kind
from flyball.shellcheck.judgement import (
    AllowRule,
    CommandEffect,
    CommandKind,
    CommandPart,
    Finding,
    Judgement,
)
from flyball.shellcheck.verdict import PHASES, commands_in, findings_of, judge, phase_of
from flyball.shellcheck.words.place import secret as names_secret

__all__ = [
    "PHASES",
    "AllowRule",
    "CommandEffect",
    "CommandKind",
    "CommandPart",
    "Finding",
    "Judgement",
    "cannot_fail",
    "commands_in",
    "findings_of",
    "judge",
    "names_secret",
    "phase_of",
    "verification_kind",
]
