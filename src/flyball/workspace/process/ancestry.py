"""Read the facts of a process and its ancestors from /proc.

Hooks need it in processes that must be fast, so it imports only built-in modules.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROC = "/proc"
NEVER = "never"
"""The start time of a process that does not exist."""
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ash", "ksh"})


class ProcessFacts:
    """A process's program name, its parent, and its start time."""

    __slots__ = ("began", "parent", "program")

    def __init__(self, program: str, parent: int, began: str) -> None:
        self.program = program
        self.parent = parent
        self.began = began


def has_files() -> bool:
    """Return whether this system has /proc."""
    return os.path.exists(f"{PROC}/self")  # noqa: PTH110 - pathlib takes longer than the answer


def facts_of(pid: int) -> ProcessFacts | None:
    """Return the facts in a process's file; None if it has none."""
    try:
        handle = os.open(f"{PROC}/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(handle, 4096).decode("utf-8", "replace")
        finally:
            os.close(handle)
    except OSError:
        return None
    program = text.partition("(")[2].rpartition(")")[0]
    fields = text.rpartition(")")[2].split()
    return ProcessFacts(program, int(fields[1]), NEVER if fields[0] == "Z" else fields[19])


def above(
    pid: int, look: Callable[[int], ProcessFacts | None] = facts_of
) -> Iterator[tuple[str, str]]:
    """Yield program and name of a process's ancestors, nearest first, as far as readable.

    The name is unique: no later process has the same.
    """
    seen = look(pid)
    while seen is not None and seen.parent > 1:
        pid = seen.parent
        seen = look(pid)
        if seen is not None:
            yield seen.program, f"{pid}@{seen.began}"


def starter_above(pid: int, look: Callable[[int], ProcessFacts | None] = facts_of) -> str:
    """Return the nearest ancestor of a process that is not a shell; empty if there is none."""
    return next((name for program, name in above(pid, look) if program not in SHELLS), "")
