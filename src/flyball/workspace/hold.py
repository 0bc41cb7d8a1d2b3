"""One process at a time in a tree, with the holder's name on the door."""

from __future__ import annotations

import fcntl
import os
import socket
from pathlib import Path

from flyball.workspace.trouble import WorkspaceHeld, told


class Hold:
    """A lock that ends with its process, however that ends."""

    def __init__(self, door: Path, place: str) -> None:
        with told(os.fspath(door)):
            door.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(door, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._fd, 200).decode(errors="replace").strip()
            os.close(self._fd)
            raise WorkspaceHeld(place, holder or "another process") from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    def release(self) -> None:
        """Let the next one in."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class NoHold:
    """What somebody has who only looks."""

    def release(self) -> None:
        """There is nothing to let go of."""
