"""Secrets out of sight, in one place."""

from __future__ import annotations

from collections.abc import Iterable

HIDDEN = "[redacted]"


class Redactor:
    """Replaces secrets in text."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = tuple(sorted({s for s in secrets if len(s) >= 6}, key=len, reverse=True))

    def text(self, text: str) -> str:
        """The text without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return text

    def stream(self) -> Stream:
        """A redactor for text that comes in pieces."""
        return Stream(self)


class Stream:
    """Redacts text whose secrets may be split over pieces."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, piece: str) -> str:
        """What may be shown by now."""
        self._held += piece
        cut = self._held.rfind("\n") + 1
        ready, self._held = self._held[:cut], self._held[cut:]
        return self._redactor.text(ready)

    def close(self) -> str:
        """The rest."""
        rest, self._held = self._held, ""
        return self._redactor.text(rest)
