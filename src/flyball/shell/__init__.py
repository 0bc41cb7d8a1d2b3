"""Parse a shell command and judge it: `judge`. Pure, and never more lenient than it can explain.

`words` reads the words of a command, `walk` visits its statements, `programs` has one table of
rules per family of programs, and `verdict` combines the findings. Rules about text alone cannot
confine a command, so the kernel does (`workspace.sandbox`); this package determines what a command
is meant to do.
"""

from flyball.shell.falsifiable import cannot_fail, is_single, verification_kind
from flyball.shell.judgement import (
    AllowRule,
    CommandEffect,
    CommandKind,
    CommandPart,
    Finding,
    Judgement,
)
from flyball.shell.verdict import PHASES, commands_in, findings_of, judge, phase_of
from flyball.shell.words.place import secret as names_secret

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
    "is_single",
    "judge",
    "names_secret",
    "phase_of",
    "verification_kind",
]
