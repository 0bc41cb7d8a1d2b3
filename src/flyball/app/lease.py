"""Who drives a run: this process, named so that others can tell whether it still lives."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

from flyball.engine.loop import LEASE_SECONDS
from flyball.journal.protocol import Journal, Lease


def holder() -> str:
    """Who we are, for a lease: a process that can be looked up."""
    return f"process {os.getpid()} on {socket.gethostname()} since {_started(os.getpid())}"


def is_dead(who: str) -> bool:
    """Whether a holder on this machine no longer runs; of other machines we cannot tell."""
    words = who.split(" ")
    if len(words) != 6 or words[3] != socket.gethostname():
        return False
    return _started(int(words[1])) != words[5]


def is_driven(who: str) -> bool:
    """Whether somebody who may still be alive holds a run."""
    return bool(who) and not is_dead(who)


async def acquire(journal: Journal, run: str) -> Lease:
    """Take the right to drive a run, or raise `LeaseHeld` with who has it."""
    return await journal.acquire(run, holder(), time.time(), LEASE_SECONDS, is_dead)


def _started(pid: int) -> str:
    """When a process began, in the kernel's ticks; a reused pid began at another time."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "never"
    fields = text.rpartition(")")[2].split()
    return "never" if fields[0] == "Z" else fields[19]
