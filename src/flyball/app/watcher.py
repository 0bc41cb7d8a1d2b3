"""What a watcher is told while a run goes on: without secrets, and one speaker at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from flyball.engine.telemetry import Telemetry
from flyball.workspace.redaction import Redactor, Stream


class Watcher(NamedTuple):
    """Who is told what happens, as it happens."""

    telemetry: Callable[[Telemetry], None]
    text: Callable[[str], None]
    output: Callable[[str], None]


class DiscreetWatcher:
    """Passes on what happens; streamed text only once it is sure to hold no secret.

    Of several cards that speak at once, the one that began first is heard as it speaks. What the
    others say comes when it has ended, or as a whole when they have ended themselves.
    """

    def __init__(self, watcher: Watcher, redactor: Redactor) -> None:
        self._watcher = watcher
        self._streams: defaultdict[str, Stream] = defaultdict(redactor.stream)
        self._waiting: dict[str, str] = {}
        self.asked = ""
        """The question that was told last, where nothing was told after it."""

    def text(self, card: str, delta: str) -> None:
        self._waiting[card] = self._waiting.get(card, "") + self._streams[card].feed(delta)
        self._let_speak()

    def telemetry(self, line: Telemetry) -> None:
        card = line.get("card", "")
        if card in self._waiting:
            rest = self._waiting[card] + self._streams.pop(card).close()
            is_speaking = card == next(iter(self._waiting))
            del self._waiting[card]
            if is_speaking and rest:
                self._watcher.text(rest)
        self.asked = line["question"] if line["type"] == "approval" else ""
        self._watcher.telemetry(line)
        self._let_speak()

    def _let_speak(self) -> None:
        """Pass on what the first of those who speak has said by now."""
        for card, text in self._waiting.items():
            if text:
                self._waiting[card] = ""
                self._watcher.text(text)
            return
