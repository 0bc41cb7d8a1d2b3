"""What Linux tells of a process in its files, and who is above it.

Hooks ask for it in processes that must be quick, so nothing but the interpreter's own is loaded.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROC = "/proc"
NEVER = "never"
"""When a process began that is not there."""
SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ash", "ksh"})


class ProcessFacts:
    """What the system tells of a process: its program's name, the one above it, when it began."""

    __slots__ = ("began", "parent", "program")

    def __init__(self, program: str, parent: int, began: str) -> None:
        self.program = program
        self.parent = parent
        self.began = began


def has_files() -> bool:
    """Whether this system tells of processes in files."""
    return os.path.exists(f"{PROC}/self")  # noqa: PTH110 - pathlib takes longer than the answer


def facts_of(pid: int) -> ProcessFacts | None:
    """What a process's file tells; None where it has none."""
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
    """Program and name of the processes above one, the nearest first; as far as we may look.

    No later process has the same name.
    """
    seen = look(pid)
    while seen is not None and seen.parent > 1:
        pid = seen.parent
        seen = look(pid)
        if seen is not None:
            yield seen.program, f"{pid}@{seen.began}"


def starter_above(pid: int, look: Callable[[int], ProcessFacts | None] = facts_of) -> str:
    """Who started a process: the nearest one above it that is no shell; nothing where none is."""
    return next((name for program, name in above(pid, look) if program not in SHELLS), "")
