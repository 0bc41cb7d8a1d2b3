"""Identify the process that holds a lease or lock, so that others can check whether it is alive.

Linux has process facts in /proc. On other systems (macOS, the BSDs), `ps` provides them.
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
    """Return the nearest ancestor of a process that is no shell; empty if there is none."""
    return starter_above(pid, _look)


def this_process() -> str:
    """Return this process's name in the form of an `Ancestor`."""
    return f"{os.getpid()}@{_started(os.getpid())}"


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
    number.
    """
    seen = _look(pid)
    return seen.began if seen is not None else NEVER


def _look(pid: int) -> ProcessFacts | None:
    found = facts_of(pid)
    return found if found is not None or has_files() else _ask(pid)


def _ask(pid: int) -> ProcessFacts | None:
    """Return a process's facts from `ps`: its parent, state, start time (five words) and
    program.
    """
    wanted = ("ps", "-o", "ppid=", "-o", "stat=", "-o", "lstart=", "-o", "comm=", "-p", str(pid))
    try:
        # In the C locale, since ps prints times in the user's language.
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
