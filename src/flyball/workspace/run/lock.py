"""One process at a time in a tree, with the holder's name on the door."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import time
from contextlib import suppress
from pathlib import Path

from flyball.workspace.errors import WorkspaceHeld, explain_disk_errors

_PATIENCE = 3.0
_PAUSE = 0.02
_HOLDER = re.compile(r"process (\d+) on (.+)")


class WorkspaceLock:
    """A lock that ends with its process, however that ends."""

    def __init__(self, door: Path, place: str) -> None:
        with explain_disk_errors(os.fspath(door)):
            door.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(door, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + _PATIENCE
        while not self._take():
            holder = os.pread(self._fd, 200, 0).decode(errors="replace").strip()
            if _is_alive(holder) or time.monotonic() > deadline:
                os.close(self._fd)
                raise WorkspaceHeld(place, holder or "another process")
            time.sleep(_PAUSE)
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    def release(self) -> None:
        """Let the next one in."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _take(self) -> bool:
        with suppress(BlockingIOError):
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False


def _is_alive(holder: str) -> bool:
    """Whether that process lives; a dead one's lock goes as soon as its last child has started."""
    found = _HOLDER.fullmatch(holder)
    if found is None or found[2] != socket.gethostname():
        return bool(holder)
    try:
        os.kill(int(found[1]), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


class NoLock:
    """What somebody has who only looks."""

    def release(self) -> None:
        """There is nothing to let go of."""


class BorrowedLock:
    """What a place beside a run has: the run's own hold, which is not its to release."""

    def release(self) -> None:
        """The run lets go, not the place beside it."""
