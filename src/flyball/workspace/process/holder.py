"""Who holds something: a process, named so that others can tell whether it still lives."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


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
    while (above := _parent(pid)) > 1:
        pid = above
        with suppress(OSError):
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            found.append(Ancestor(name, f"{pid}@{_started(pid)}"))
    return tuple(found)


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
        data = Path(f"/proc/{process.partition('@')[0]}/environ").read_bytes()
    except OSError:
        return {}
    lines = (line.decode("utf-8", "replace").partition("=") for line in data.split(b"\0"))
    return {name: value for name, _, value in lines if name}


def _parent(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return 0
    return int(text.rpartition(")")[2].split()[1])


def _started(pid: int) -> str:
    """When a process began, in the kernel's ticks; a reused pid began at another time."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "never"
    fields = text.rpartition(")")[2].split()
    return "never" if fields[0] == "Z" else fields[19]
