"""Who holds something: a process, named so that others can tell whether it still lives.

Linux tells of processes in files. Where it does not (macOS, the BSDs), `ps` is asked, which every
system of that family has.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import NamedTuple

from flyball.errors import ToolError
from flyball.workspace.process.spawn import run_sync

PROC = Path("/proc")
NEVER = "never"
"""When a process began that is not there."""


def name_this_process() -> str:
    """The name of this process for a lease or a lock; no later process has the same."""
    return f"process {os.getpid()} on {socket.gethostname()} since {_started(os.getpid())}"


def is_gone(holder: str) -> bool:
    """Whether a holder on this machine no longer runs; of other machines we cannot tell."""
    words = holder.split(" ")
    if len(words) != 6 or words[3] != socket.gethostname():
        return False
    return _started(int(words[1])) != words[5]


def may_live(holder: str) -> bool:
    """Whether there is a holder, and it is not known to be gone."""
    return bool(holder) and not is_gone(holder)


class Ancestor(NamedTuple):
    """A process above another one: its program's name, and a name that no later process has."""

    program: str
    process: str


def ancestors(pid: int) -> tuple[Ancestor, ...]:
    """The processes above one, the nearest first; as far up as we may look."""
    found: list[Ancestor] = []
    seen = _look(pid)
    while seen is not None and seen.parent > 1:
        pid = seen.parent
        seen = _look(pid)
        if seen is not None:
            found.append(Ancestor(seen.program, f"{pid}@{seen.began}"))
    return tuple(found)


SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ash", "ksh"})


def starter_of(pid: int) -> str:
    """Who started a process: the nearest one above it that is no shell; nothing where none is."""
    return next((each.process for each in ancestors(pid) if each.program not in SHELLS), "")


def this_process() -> str:
    """The name of this process, as an `Ancestor` has it."""
    return f"{os.getpid()}@{_started(os.getpid())}"


def is_running(process: str) -> bool:
    """Whether a process with this name, as an `Ancestor` has it, still runs."""
    pid, _, began = process.partition("@")
    return pid.isdigit() and _started(int(pid)) == began


def environ_of(process: str) -> dict[str, str]:
    """The environment that a process was started with; nothing where we may not look."""
    try:
        data = (PROC / process.partition("@")[0] / "environ").read_bytes()
    except OSError:
        return {}
    lines = (line.decode("utf-8", "replace").partition("=") for line in data.split(b"\0"))
    return {name: value for name, _, value in lines if name}


class _Seen(NamedTuple):
    """What the system tells of a process."""

    program: str
    parent: int
    began: str


def _started(pid: int) -> str:
    """When a process began; a reused number began at another time, and what has ended never did."""
    seen = _look(pid)
    return seen.began if seen is not None else NEVER


def _look(pid: int) -> _Seen | None:
    try:
        # Every hook asks for a dozen of them: a path object would take longer than the reading.
        handle = os.open(f"{PROC}/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(handle, 4096).decode("utf-8", "replace")
        finally:
            os.close(handle)
    except OSError:
        return None if (PROC / "self").exists() else _ask(pid)
    program = text.partition("(")[2].rpartition(")")[0]
    fields = text.rpartition(")")[2].split()
    return _Seen(program, int(fields[1]), NEVER if fields[0] == "Z" else fields[19])


def _ask(pid: int) -> _Seen | None:
    """What `ps` tells of a process: its parent, its state, five words for its time, its program."""
    wanted = ("ps", "-o", "ppid=", "-o", "stat=", "-o", "lstart=", "-o", "comm=", "-p", str(pid))
    try:
        # In plain English, or the time would read otherwise for users with other tongues.
        told = run_sync(wanted, cwd=Path("/"), env={"PATH": os.defpath, "LC_ALL": "C"}, seconds=10)
    except ToolError:
        return None
    words = told.stdout.decode("utf-8", "replace").split(maxsplit=7)
    if len(words) < 8:
        return None
    parent, state, *began, program = words
    return _Seen(
        Path(program.strip()).name,
        int(parent),
        NEVER if state.startswith("Z") else "_".join(began),
    )
