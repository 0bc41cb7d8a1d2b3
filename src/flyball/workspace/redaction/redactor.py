"""Redact secrets in text, in values, and in streamed text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from flyball.regex import regex
from flyball.workspace.redaction.contexts import context_spans, open_block
from flyball.workspace.redaction.judge import hides
from flyball.workspace.redaction.known import KnownValues
from flyball.workspace.redaction.vendors import vendor_spans

HIDDEN = "[redacted]"
_LONGEST_WORDS = 1000

_UNSEEN = regex(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,4}[0-~]|.\x08"
    r"|[\x00-\x08\x0e-\x1f\x7f\x80-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    r"\U000e0000-\U000e0fff]"
)
"""Characters that terminals and pages do not show: colours, controls, zero-width characters."""
_ODD_ASCII = regex(r"[\x00-\x08\x0e-\x1f\x7f]")


class Redactor:
    """Redacts secrets in text and values."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._known = KnownValues(secrets)

    def text(self, text: str) -> str:
        """Return the text with every secret replaced."""
        return _without(text, self.spans(text))

    def value(self, value: Any) -> Any:
        """Return a JSON-like value with every secret replaced, in keys, strings and fields."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            fields = cast("Mapping[Any, Any]", value)
            named = _named_secret(fields)
            return {
                self.value(name): HIDDEN if name == named else self._field(name, held)
                for name, held in fields.items()
            }
        if isinstance(value, (list, tuple)):
            return self._items(cast("list[Any]", value))
        return value

    def stream(self) -> Stream:
        """Return a redactor for streamed text."""
        return Stream(self)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of secrets, in order, without overlaps."""
        if len(text) < 4:
            return []
        found = list(self._secret_spans(text))
        if (_ODD_ASCII if text.isascii() else _UNSEEN).search(text):
            shown, places = _shown(text)
            for first, last in self._secret_spans(shown):
                found.append((places[first], places[last - 1] + 1))
        merged: list[tuple[int, int]] = []
        for first, last in sorted(found):
            if merged and first <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
            else:
                merged.append((first, last))
        return merged

    def unfinished(self, text: str) -> int:
        """Return the position from which a text may end with the beginning of a known value."""
        return self._known.unfinished(text)

    def _secret_spans(self, text: str) -> Iterator[tuple[int, int]]:
        yield from self._known.spans(text)
        yield from vendor_spans(text)
        yield from context_spans(text)

    def _field(self, name: Any, held: Any) -> Any:
        if isinstance(name, str) and isinstance(held, str):
            if hides(name, held, quoted=True):
                return HIDDEN
            head = f"{name}: "
            return _without(held, _within(self.spans(head + held), len(head), len(held)))
        return self.value(held)

    def _items(self, items: list[Any]) -> list[Any]:
        """Return a list with its secrets replaced; its words are read together, as a
        command's are.
        """
        words = all(isinstance(item, str) for item in items)
        if not words or not 1 < len(items) <= _LONGEST_WORDS:
            return [self.value(item) for item in items]
        spans = self.spans(" ".join(items))
        cleaned: list[str] = []
        at = 0
        for item in cast("list[str]", items):
            cleaned.append(self.text(_without(item, _within(spans, at, len(item)))))
            at += len(item) + 1
        return cleaned


def _named_secret(fields: Mapping[Any, Any]) -> Any:
    """Return the key of a secret whose name is in a sibling field: `{"name": "TOKEN",
    "value": …}`.
    """
    for name in ("name", "key", "Name", "Key"):
        for value in ("value", "Value"):
            called, held = fields.get(name), fields.get(value)
            if isinstance(called, str) and isinstance(held, str):
                return value if hides(called, held, quoted=True) else None
    return None


def _within(spans: Iterable[tuple[int, int]], start: int, size: int) -> list[tuple[int, int]]:
    """Return the spans relative to a part of the text."""
    moved = ((max(0, first - start), min(size, last - start)) for first, last in spans)
    return [(first, last) for first, last in moved if first < last]


def _shown(text: str) -> tuple[str, list[int]]:
    """Return the visible text, and the position of each of its characters in the original."""
    pieces: list[str] = []
    places: list[int] = []
    at = 0
    for unseen in _UNSEEN.finditer(text):
        pieces.append(text[at : unseen.start()])
        places += range(at, unseen.start())
        at = unseen.end()
    pieces.append(text[at:])
    places += range(at, len(text))
    return "".join(pieces), places


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces: list[str] = []
    end = 0
    for first, last in spans:
        pieces += (text[end:first], HIDDEN)
        end = last
    return "".join(pieces) + text[end:]


class Stream:
    """Redacts streamed text whose secrets may be split over pieces: holds back uncertain text."""

    LONGEST = 1 << 14
    MARGIN = 1 << 12
    CONTEXT = 512

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._shown = ""
        self._held = ""

    def feed(self, piece: str) -> str:
        """Return the text that is safe so far: complete lines, or the safe part of a very
        long one.
        """
        self._held += piece
        cut = max(self._held.rfind("\n"), self._held.rfind("\r")) + 1
        block = open_block(self._held)
        if block is not None:
            cut = min(cut, block) if len(self._held) - block < self.LONGEST else len(self._held)
        # An endless line must not be held back forever; a margin remains in case a secret has
        # begun.
        elif not cut and len(self._held) > self.LONGEST:
            cut = len(self._held) - self.MARGIN
        if cut and len(self._held) <= self.LONGEST:
            cut = min(cut, self._redactor.unfinished(self._held[:cut]))
        return self._release(cut) if cut else ""

    def close(self) -> str:
        """Return the remaining text, redacted; no more will come."""
        return self._release(len(self._held))

    def _release(self, cut: int) -> str:
        # Searched once and in all held text: a server's log is megabytes, and the text after a
        # piece may show that it is no secret. Text shown before may show that it is one.
        known = len(self._shown)
        spans = _within(self._redactor.spans(self._shown + self._held), known, len(self._held))
        for first, last in spans:
            if first < cut < last:
                cut = first
        ready, self._held = self._held[:cut], self._held[cut:]
        self._shown = _last_lines((self._shown + ready)[-self.CONTEXT :])
        return _without(ready, [span for span in spans if span[1] <= cut])


def _last_lines(text: str) -> str:
    """Return the last two complete lines, and what follows them."""
    start = len(text)
    for _ in range(3):
        start = text.rfind("\n", 0, max(start, 0))
    return text[start + 1 :]
