"""Which contents only stand for files that were not kept."""

from __future__ import annotations

import os
from pathlib import Path

from flyball.workspace.errors import explain_disk_errors


class Stubs:
    """The names of such contents, in a file that everybody who uses one store reads anew."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._names: frozenset[str] = frozenset()
        self._size = 0

    def __contains__(self, blob: str) -> bool:
        return blob in self._names or blob in self._read()

    def __bool__(self) -> bool:
        return bool(self._read())

    def add(self, blob: str) -> None:
        """Note a name, unless it is there."""
        if blob not in self:
            with explain_disk_errors(os.fspath(self._file)), self._file.open("a") as file:
                file.write(f"{blob}\n")

    def _read(self) -> frozenset[str]:
        # Several workspaces of a run share one store and only ever append, so a changed size is all
        # there is to notice.
        size = self._file.stat().st_size if self._file.exists() else 0
        if size != self._size:
            self._names = frozenset(self._file.read_text().split())
            self._size = size
        return self._names
