"""How much one command may use."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec


class CommandLimits(msgspec.Struct, frozen=True):
    """How much one command may use. Sizes are in bytes; `kept` is what its output text may hold."""

    seconds: float = 120.0
    kept: int = 1 << 16
    output: int = 1 << 26
    memory: int = 1 << 32
    processes: int = 512
    file_size: int = 1 << 32


def rlimits(limits: CommandLimits) -> list[tuple[str, int]]:
    """The limits the kernel itself keeps, one process at a time."""
    wanted = [
        ("RLIMIT_CORE", 0),
        ("RLIMIT_DATA", limits.memory),
        ("RLIMIT_FSIZE", limits.file_size),
    ]
    with suppress(OSError, ValueError, IndexError):
        # The kernel counts all of a user's tasks, so those already there are added.
        others = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
        wanted.append(("RLIMIT_NPROC", others + limits.processes))
    return wanted
