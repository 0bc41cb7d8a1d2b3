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
    return tuple(Ancestor(*each) for each in above(pid, _look))


def starter_of(pid: int) -> str:
    """Who started a process: the nearest one above it that is no shell; nothing where none is."""
    return starter_above(pid, _look)


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
        data = Path(PROC, process.partition("@")[0], "environ").read_bytes()
    except OSError:
        return {}
    lines = (line.decode("utf-8", "replace").partition("=") for line in data.split(b"\0"))
    return {name: value for name, _, value in lines if name}


def _started(pid: int) -> str:
    """When a process began; a reused number began at another time, and what has ended never did."""
    seen = _look(pid)
    return seen.began if seen is not None else NEVER


def _look(pid: int) -> ProcessFacts | None:
    found = facts_of(pid)
    return found if found is not None or has_files() else _ask(pid)


def _ask(pid: int) -> ProcessFacts | None:
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
    return ProcessFacts(
        Path(program.strip()).name,
        int(parent),
        NEVER if state.startswith("Z") else "_".join(began),
    )
