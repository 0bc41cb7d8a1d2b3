"""The right to drive a run: one process at a time has it."""

from __future__ import annotations

import time

from flyball.engine.loop import LEASE_SECONDS
from flyball.journal.protocol import Journal, Lease
from flyball.workspace.process.holder import is_gone, name_this_process


async def acquire(journal: Journal, run: str) -> Lease:
    """Take the right to drive a run, or raise `LeaseHeld` with who has it."""
    return await journal.acquire(run, name_this_process(), time.time(), LEASE_SECONDS, is_gone)
