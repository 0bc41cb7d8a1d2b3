"""A command's output on its way: redacted, kept at both ends, and written whole to a log."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

from flyball.workspace.redaction import Redactor


class Output:
    """Takes bytes as they come and keeps the beginning and the end of them."""

    def __init__(
        self,
        kept: int,
        log: Path | None = None,
        on_output: Callable[[str], None] | None = None,
        redactor: Redactor | None = None,
    ) -> None:
        self.bytes = 0
        self.cut = 0
        self.log = log
        self._room = max(kept // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._redacted = redactor.stream() if redactor else None
        self._on_output = on_output
        self._trouble = ""
        self._file = self._open(log)

    def feed(self, piece: bytes) -> None:
        """Take bytes as they came: redacted, kept at both ends, logged, and handed on."""
        self.bytes += len(piece)
        # Decoded before it is redacted: a piece may end inside a character, and inside a secret.
        text = self._decoder.decode(piece)
        self._keep(self._redacted.feed(text) if self._redacted else text)

    def close(self) -> None:
        """Take what was held back, since no more will come, and close the log."""
        text = self._decoder.decode(b"", final=True)
        self._keep(self._redacted.feed(text) + self._redacted.close() if self._redacted else text)
        if self._file:
            self._file.close()
            self._file = None

    def text(self) -> str:
        """The output, with a note where some of it was left out."""
        head = bytes(self._head).decode(errors="ignore")
        tail = bytes(self._tail).decode(errors="ignore")
        if self.cut:
            where = f"; the whole is in {self.log}" if self.log else ""
            head = f"{head}\n[… {self.cut} bytes left out{where} …]\n"
        return head + tail + self._trouble

    def _keep(self, text: str) -> None:
        if not text:
            return
        data = text.encode(errors="replace")
        self._write(data)
        space = self._room - len(self._head)
        if space > 0:
            self._head += data[:space]
            data = data[space:]
        self._tail += data
        excess = len(self._tail) - self._room
        if excess > 0:
            del self._tail[:excess]
            self.cut += excess
        if self._on_output:
            self._on_output(text)

    def _open(self, log: Path | None) -> IO[bytes] | None:
        if log is None:
            return None
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            return open(log, "wb", buffering=0, opener=_open_no_link)
        except OSError as error:
            self._lose_log(error)
            return None

    def _write(self, data: bytes) -> None:
        if self._file:
            try:
                self._file.write(data)
            except OSError as error:
                self._file.close()
                self._file = None
                self._lose_log(error)

    def _lose_log(self, error: OSError) -> None:
        """A log that cannot be kept is no reason to lose the command's result."""
        self._trouble = f"\n[the log {self.log} could not be kept: {error.strerror}]\n"
        self.log = None


def _open_no_link(path: str, flags: int) -> int:
    """Open a log, unless a link stands in its place by now: `check_log` looked earlier."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
