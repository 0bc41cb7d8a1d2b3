"""A file's text with its comments blanked and its brackets paired."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from flyball.core.weakening.styles.family import TOKENS, Family
from flyball.regex import regex

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())
GOES_ON = regex(r"[,\\] *\Z")


class Layers(NamedTuple):
    """One file in layers of the same length, so that offsets hold in all of them.

    `code` has no comments; `bare` has empty strings besides, for patterns that look at structure.
    """

    family: Family
    text: str
    code: str
    bare: str
    pairs: Mapping[int, int]
    newlines: Sequence[int]

    def line(self, offset: int) -> int:
        """The number of the line an offset stands on."""
        return bisect_left(self.newlines, offset) + 1

    def closing(self, at: int) -> int:
        """Where the bracket at an offset closes; an open end closes with the file."""
        return self.pairs.get(at, len(self.code) - 1)

    def items(self, start: int, end: int) -> list[tuple[int, int]]:
        """The spans between commas that stand in no bracket of their own."""
        found: list[tuple[int, int]] = []
        at = begin = start
        while at < end:
            if self.bare[at] in OPENING:
                at = self.closing(at)
            elif self.bare[at] == ",":
                found.append((begin, at))
                begin = at + 1
            at += 1
        found.append((begin, end))
        return [(a, b) for a, b in found if self.bare[a:b].strip()]

    def statement_end(self, at: int) -> int:
        """Where the line ends, past brackets and past a comma or operator that continues it."""
        while at < len(self.bare):
            if self.bare[at] in OPENING:
                at = self.closing(at)
            elif self.bare[at] in "};" or (
                self.bare[at] == "\n" and not GOES_ON.search(self.bare, max(0, at - 200), at)
            ):
                return at
            at += 1
        return len(self.bare)


def read_layers(family: Family, text: str) -> Layers:
    """Split a text into its layers."""
    text = text.replace("\r\n", "\n")
    tokens = TOKENS[family]

    def comment(match: re.Match[str]) -> str:
        return _blank(match[0]) if match["comment"] is not None else match[0]

    def string(match: re.Match[str]) -> str:
        inner = match[0]
        return inner if len(inner) < 2 else inner[0] + _blank(inner[1:-1]) + inner[-1]

    code = tokens.sub(comment, text)
    bare = tokens.sub(string, code)
    newlines = [match.start() for match in re.finditer("\n", code)]
    return Layers(family, text, code, bare, _pairs(bare), newlines)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _pairs(bare: str) -> dict[int, int]:
    """Which bracket closes which; one that fits nothing is passed over."""
    stack: list[int] = []
    pairs: dict[int, int] = {}
    for match in re.finditer(r"[()\[\]{}]", bare):
        at = match.start()
        if match[0] in OPENING:
            stack.append(at)
        else:
            while stack and OPENING[bare[stack[-1]]] != match[0]:
                stack.pop()
            if stack:
                pairs[stack.pop()] = at
    return pairs


def plain(family: Family, text: str) -> str:
    """Code without white space, trailing commas and the kind of its quotes."""
    parts: list[str] = []
    at = 0
    for match in TOKENS[family].finditer(text):
        parts.append(_squeezed(text[at : match.start()]))
        at = match.end()
        parts.append(_quoted(match["string"] or ""))
    parts.append(_squeezed(text[at:]))
    return re.sub(r",(?=[)\]}])", "", "".join(parts)).rstrip(";,")


def _squeezed(text: str) -> str:
    """White space goes, except between two words that would run together."""
    return re.sub(r"(?<!\w)\s+|\s+(?!\w)", "", re.sub(r"\s+", " ", text))


def _quoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'" and '"' not in text:
        return '"' + text[1:-1].replace("\\'", "'") + '"'
    return text


LITERAL = regex(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`|(?<![\w.])-?\d[\w.]*"
    r"|\b(?:true|false|null|nil|None|True|False|undefined|NULL|nullptr)\b"
)
VARIABLE = regex(r"(?<![\w.$\"'>])[A-Za-z_$]\w*(?![\w(!\"'])")


@lru_cache(maxsize=20_000)
def values_of(text: str) -> tuple[str, ...]:
    """The literals in some plain code; kept, since rows are compared with many others."""
    return tuple(LITERAL.findall(text))


def without_literals(text: str) -> str:
    """The shape of some plain code whatever values it holds."""
    return LITERAL.sub("_", text)


def without_names(text: str) -> str:
    """The shape of some plain code whatever its variables are called; strings are kept."""
    parts = re.split(r"(\"(?:\\.|[^\"\\])*\")", text)
    return "".join(p if n % 2 else VARIABLE.sub("_", p) for n, p in enumerate(parts))


def is_literal(text: str) -> bool:
    """Whether some plain code is made of values alone."""
    return bool(text) and not re.search(r"[A-Za-z_$]", LITERAL.sub("", text))
