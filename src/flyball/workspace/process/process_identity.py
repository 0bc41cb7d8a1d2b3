"""Identify the process that holds a lease or lock, so that others can check whether it is alive.

Linux has process facts in /proc. On other systems (macOS, the BSDs), `ps` provides them.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from flyball.errors import ToolError
from flyball.workspace.process.ancestry import (
    NEVER,
    PROC,
    ProcessFacts,
    above,
    facts_of,
    has_files,
    starter_above,
)
from flyball.workspace.process.spawn import run_sync


def name_this_process() -> str:
    """Return this process's name for a lease or a lock; no later process has the same."""
    return f"process {os.getpid()} on {socket.gethostname()} since {_started(os.getpid())}"


def is_gone(holder: str) -> bool:
    """Return whether a holder on this machine has ended; False for other machines."""
    words = holder.split(" ")
    if len(words) != 6 or words[3] != socket.gethostname():
        return False
    return _started(int(words[1])) != words[5]


def may_live(holder: str) -> bool:
    """Return whether there is a holder that is not known to have ended."""
    return bool(holder) and not is_gone(holder)


class Ancestor(NamedTuple):
    """An ancestor of a process: its program's name, and a name that no later process has."""

    program: str
    process: str


def ancestors(pid: int) -> tuple[Ancestor, ...]:
    """Return a process's ancestors, nearest first, as far as readable."""
    return tuple(Ancestor(*each) for each in above(pid, _look))


def starter_of(pid: int) -> str:
    """Return the nearest ancestor of a process that is not a shell; empty if there is none."""
    return starter_above(pid, _look)


def this_process() -> str:
    """Return this process's name in the form of an `Ancestor`."""
    return process_name(os.getpid())


def process_name(pid: int) -> str:
    """Return a process's name in the form of an `Ancestor`."""
    return f"{pid}@{_started(pid)}"


def process_at(theirs: tuple[str, int], ours: tuple[str, int]) -> int:
    """Return the process of this machine at the other end of a TCP connection; 0 if not known.

    It is also unknown if several processes hold that end: any of them may have sent the data.
    """
    inodes = set(_connections(theirs, ours))
    wanted = {f"socket:[{inode}]" for inode in inodes}
    found = {pid for pid in _process_ids() if wanted & _handles(pid)} if wanted else set[int]()
    return found.pop() if len(inodes) == 1 and len(found) == 1 else 0


def _connections(theirs: tuple[str, int], ours: tuple[str, int]) -> Iterator[str]:
    """Yield the inodes of the sockets that have these two ends, theirs first."""
    ends = [_end(*theirs), _end(*ours)]
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            rows = [row.split() for row in Path(PROC, "net", table).read_text().splitlines()]
            yield from (row[9] for row in rows if row[1:3] == ends)


def _end(host: str, port: int) -> str:
    """Return one end of a connection as in the kernel's table: words in its own byte order."""
    packed = ipaddress.ip_address(host).packed
    words = (packed[at : at + 4] for at in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words) + f":{port:04X}"


def _process_ids() -> Iterator[int]:
    with suppress(OSError):
        yield from (int(each.name) for each in Path(PROC).iterdir() if each.name.isdigit())


def _handles(pid: int) -> set[str]:
    """Return what a process has open; empty if it is another user's."""
    found: set[str] = set()
    with suppress(OSError):
        for handle in Path(PROC, str(pid), "fd").iterdir():
            with suppress(OSError):
                found.add(str(handle.readlink()))
    return found


def is_running(process: str) -> bool:
    """Return whether the process with this `Ancestor` name is still running."""
    pid, _, began = process.partition("@")
    return pid.isdigit() and _started(int(pid)) == began


def environ_of(process: str) -> dict[str, str]:
    """Return the environment that a process was started with; empty if it is not readable."""
    try:
        data = Path(PROC, process.partition("@")[0], "environ").read_bytes()
    except OSError:
        return {}
    lines = (line.decode("utf-8", "replace").partition("=") for line in data.split(b"\0"))
    return {name: value for name, _, value in lines if name}


def _started(pid: int) -> str:
    """Return a process's start time, which distinguishes it from later ones with the same
    number."""
    seen = _look(pid)
    return seen.began if seen is not None else NEVER


def _look(pid: int) -> ProcessFacts | None:
    found = facts_of(pid)
    return found if found is not None or has_files() else _ask(pid)


def _ask(pid: int) -> ProcessFacts | None:
    """Return a process's facts from `ps`: parent, state, start time (five words), program."""
    wanted = ("ps", "-o", "ppid=", "-o", "stat=", "-o", "lstart=", "-o", "comm=", "-p", str(pid))
    try:
        # In the C locale, since ps prints times in the user's language.
        answer = run_sync(
            wanted, cwd=Path("/"), env={"PATH": os.defpath, "LC_ALL": "C"}, seconds=10
        )
    except ToolError:
        return None
    words = answer.stdout.decode("utf-8", "replace").split(maxsplit=7)
    if len(words) < 8:
        return None
    parent, state, *began, program = words
    return ProcessFacts(
        Path(program.strip()).name,
        int(parent),
        NEVER if state.startswith("Z") else "_".join(began),
    )
