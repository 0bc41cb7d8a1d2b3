"""Which parts of a test can no longer fail it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from flyball.core.weakening.reach import Reach
from flyball.core.weakening.styles.family import Family
from flyball.core.weakening.styles.layers import Layers
from flyball.regex import regex

LEAVE = regex(
    r"(?:^|(?<=[;{}\n]))[ \t]*(?:return(?:[ \t]+(?:nil|null|true|undefined|0|Ok\(\(\)\)"
    r"|None))?[ \t]*(?=[;\n}])"
    r"|exit[ \t]+0\b|(?:process\.|os\.)?[eE]xit\(0?\))",
    re.MULTILINE,
)
NEVER = regex(
    r"\bif\s*\(?\s*(?:false|0|!1|!true|nil)\s*\)?\s*;?\s*(?:\{|then\b)|\bwhile\s*\(\s*(?:false"
    r"|0)\s*\)\s*\{|\bfor\s+false\s*\{"
)
ZERO = regex(
    r"^[ \t]*#[ \t]*if[ \t]+0\b.*?^[ \t]*#[ \t]*(?:endif|else)\b", re.MULTILINE | re.DOTALL
)
TRY = regex(r"\btry\s*\{")
CATCH = regex(r"\s*catch\b[^{};]*\{")
CAUGHT = regex(
    r"\.catch\s*\(\s*(?:\(\s*\w*\s*\)|\w+|function\s*\w*\s*\(\s*\w*\s*\))\s*(?:=>)?\s*(?:\{\s*\}"
    r"|null|undefined|0)\s*\)"
)
RESCUE = regex(
    r"^(?P<indent>[ \t]*)rescue\b[^\n]*\n(?P<body>.*?)^(?P=indent)(?:end|ensure|else|after)\b",
    re.M | re.S,
)
RECOVER = regex(r"\bdefer\s+func\s*\(\s*\)\s*\{(?P<body>[^{}]*\brecover\s*\(\s*\)[^{}]*)\}")
AGAIN = regex(
    r"throw|raise|fail|assert|expect|done\s*\(\s*\w|reject|next\s*\(\s*\w|[tb]\.(?:Error|Fatal)"
    r"|should|panic"
)
BRANCH = regex(r"\b(?:if|switch|when|unless)\b[^{};]*\{")


ELSE = regex(r"\s*else\s*\{")


def reaches_of(
    source: Layers, spans: list[tuple[int, int]], asserted: Sequence[int] = ()
) -> list[tuple[int, int, Reach]]:
    """Stretches of a file in which an assertion is dead, swallowed or conditional.

    `asserted` holds, in order, the offsets of all assertions that can fail.
    """
    found = [*_dead(source, spans), *_swallowed(source, spans)]
    if source.family not in {Family.SHELL, Family.RUBY, Family.ELIXIR, Family.PYTHON}:
        for match in BRANCH.finditer(source.bare):
            opening = match.end() - 1
            end = source.closing(opening)
            other = ELSE.match(source.bare, end + 1)
            is_asked = other is not None and _asks(source, opening, asserted)
            is_either = is_asked and other is not None and _asks(source, other.end() - 1, asserted)
            found.append((opening, end, Reach.EITHER if is_either else Reach.CONDITIONAL))
    return found


def _asks(source: Layers, opening: int, asserted: Sequence[int]) -> bool:
    """Whether anything is asserted in the block that opens there."""
    first = bisect_left(asserted, opening)
    return first < len(asserted) and asserted[first] < source.closing(opening)


def _dead(source: Layers, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int, Reach]]:
    for match in NEVER.finditer(source.bare):
        opening = match.end() - 1
        is_block = source.bare[opening] == "{"
        end = source.closing(opening) if is_block else source.bare.find("\nfi", opening)
        yield opening, end, Reach.DEAD
    if source.family is Family.C:
        yield from ((m.start(), m.end(), Reach.DEAD) for m in ZERO.finditer(source.bare))
    for match in LEAVE.finditer(source.bare):
        inside = [span for span in spans if span[0] < match.start() < span[1]]
        if inside and _level(source, inside[-1][0], match.start()) <= _base(source.family):
            yield match.end(), inside[-1][1], Reach.DEAD


def _base(family: Family) -> int:
    """How many brackets of a test are open at the top of its body."""
    return 1 if family in {Family.JS, Family.DART} else 0


def _level(source: Layers, start: int, at: int) -> int:
    bare = source.bare[start:at]
    level = sum(bare.count(c) for c in "([{") - sum(bare.count(c) for c in ")]}")
    words = (
        re.findall(r"\b(?:do|if|unless|case|def|begin)\b", bare)
        if source.family in {Family.RUBY, Family.ELIXIR}
        else []
    )
    return level + len(words) + bare.count("\nif ")


def _swallowed(source: Layers, spans: list[tuple[int, int]]) -> Iterator[tuple[int, int, Reach]]:
    for match in TRY.finditer(source.bare):
        end = source.closing(match.end() - 1)
        handler = CATCH.match(source.bare, end + 1)
        if handler is None:
            continue
        body = source.bare[handler.end() : source.closing(handler.end() - 1)]
        if not AGAIN.search(body):
            yield match.end(), end, Reach.SWALLOWED
    for match in CAUGHT.finditer(source.bare):
        begin = max(
            source.bare.rfind(";", 0, match.start()), source.bare.rfind("{", 0, match.start())
        )
        yield begin, match.start(), Reach.SWALLOWED
    whole = (
        [RESCUE]
        if source.family in {Family.RUBY, Family.ELIXIR}
        else [RECOVER]
        if source.family is Family.GO
        else []
    )
    for pattern in whole:
        for match in pattern.finditer(source.bare):
            inside = [span for span in spans if span[0] < match.start() < span[1]]
            if inside and not AGAIN.search(match["body"]):
                yield *inside[-1], Reach.SWALLOWED
