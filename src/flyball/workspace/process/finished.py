"""How a command ended, or why it never began."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from flyball.errors import ToolError, ToolUnavailable
from flyball.workspace.sandbox.supervisor import ABNORMAL


class Finished(msgspec.Struct, frozen=True):
    """How a command ended.

    `over_limit` names the limit that ended it, if one did, or is `ABNORMAL`. `strays` are files it
    left in what it took for the user's home, and `unreachable` counts packets that found no way
    out.
    """

    exit_code: int | None
    signal: int | None
    timed_out: bool
    output: str
    cut_bytes: int
    bytes: int
    elapsed: float
    log: Path | None
    over_limit: str
    strays: tuple[str, ...] = ()
    unreachable: int = 0

    @property
    def cut_off(self) -> str:
        """Return what ended it before it ended by itself, in words; nothing where it did."""
        if self.over_limit == ABNORMAL:
            return "it ended abnormally"
        return f"it ran past its limit ({self.over_limit})" if self.over_limit else ""

    @property
    def ok(self) -> bool:
        """Whether it ended by itself, with exit code 0."""
        return self.exit_code == 0 and not self.over_limit


def start_failure(report: bytes, argv: Sequence[str], cwd: str, output: str) -> ToolError:
    """The error for a command that never began, from what its supervisor reported."""
    step, _, rest = report.removeprefix(b"+").decode(errors="replace").partition(":")
    number, _, reason = rest.partition(":")
    if step == "start" and number == "2":
        return missing_program(argv[0], Path(cwd))
    if step in ("start", "directory"):
        return ToolUnavailable(f"{argv[0]} could not be started in {cwd}: {reason}.")
    return ToolUnavailable(
        f"The command was not run, because it could not be confined: {reason or output.strip()}.",
        "Run `flyball doctor` to see what this machine can do.",
    )


def missing_program(program: str, cwd: Path) -> ToolUnavailable:
    """The error for a program that is not there, or for the directory it was to start in."""
    if not cwd.is_dir():
        return ToolUnavailable(f"{program} was not started: there is no directory {cwd}.")
    return ToolUnavailable(
        f"There is no program {program!r} on this machine.", "Install it, or use another."
    )
