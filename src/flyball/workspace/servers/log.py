"""What a server prints: bounded on disk, with its end at hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

LARGEST = 4 << 20
"""Bytes of one file. The one before it is kept as well, so that a log never begins empty."""


class ServerLog:
    """Takes text as it comes; of much text the last 4 to 8 MiB are kept."""

    def __init__(self, path: Path, largest: int = LARGEST) -> None:
        self.path = path
        self.bytes = 0
        self._largest = largest
        self._size = 0
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._older.unlink(missing_ok=True)
        self._file: IO[bytes] = _opened(path)

    @property
    def _older(self) -> Path:
        return self.path.with_suffix(".older")

    def feed(self, text: str) -> None:
        """Write text down, and put what is full aside."""
        data = text.encode(errors="replace")
        self.bytes += len(data)
        if self._size + len(data) > self._largest:
            self._file.close()
            self.path.replace(self._older)
            self._file = _opened(self.path)
            self._size = 0
            data = data[-self._largest :]
        self._file.write(data)
        self._size += len(data)

    def close(self) -> None:
        """No more will come."""
        self._file.close()

    def text(self) -> str:
        """All that is kept, the oldest first."""
        return read_log(self.path)


def read_log(path: Path) -> str:
    """What is kept of a log, also of one from an earlier process; nothing where there is none."""
    found = b""
    for each in (path.with_suffix(".older"), path):
        if each.is_file():
            found += each.read_bytes()
    return found.decode(errors="replace")


def _opened(path: Path) -> IO[bytes]:
    return open(path, "wb", buffering=0, opener=_open_private)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
