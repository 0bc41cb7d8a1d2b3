"""Lock a tree for one process, with a lock file that names its holder."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

from flyball.workspace.errors import WorkspaceHeld, explain_disk_errors
from flyball.workspace.process.process_identity import may_live, name_this_process

_PATIENCE = 30.0
_ROOM = 200
"""Maximum size in bytes of the holder's name."""
_PAUSE = 0.02


class WorkspaceLock:
    """A lock that is released when its process ends, however it ends."""

    def __init__(self, door: Path, place: str) -> None:
        with explain_disk_errors(os.fspath(door)):
            door.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(door, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + _PATIENCE
        while not self._take():
            holder = os.pread(self._fd, _ROOM, 0).decode(errors="replace").strip()
            # A dead holder's lock persists in a git process that it started, or in a child that has
            # not executed its program yet: wait for it instead of refusing at once.
            if may_live(holder) or time.monotonic() > deadline:
                os.close(self._fd)
                raise WorkspaceHeld(place, holder or "another process")
            time.sleep(_PAUSE)
        # Overwritten instead of truncated: truncating a file costs more than everything else here.
        os.pwrite(self._fd, name_this_process().encode().ljust(_ROOM), 0)
        self.held: tuple[int, ...] = (self._fd,)
        """A file descriptor that our programs keep open, so that the lock outlives them."""

    def release(self) -> None:
        """Release the lock; may be called repeatedly."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd, self.held = -1, ()

    def _take(self) -> bool:
        with suppress(BlockingIOError):
            # flock and not an existing file: the kernel releases it when its process ends in any
            # way, so there are no stale locks to delete.
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False


async def wait_for_lock(door: Path, seconds: float) -> WorkspaceLock:
    """Wait for the lock and return it; raise `WorkspaceHeld` if that takes too long."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return WorkspaceLock(door, os.fspath(door))
        except WorkspaceHeld:
            if time.monotonic() > deadline:
                raise
        await asyncio.sleep(_PAUSE)


class NoLock:
    """Used instead of a lock by readers."""

    def release(self) -> None:
        """Do nothing: no lock is held."""


class BorrowedLock:
    """Used instead of a lock by a card's side workspace: the run holds the lock for both."""

    def release(self) -> None:
        """Do nothing: the run releases its lock."""
