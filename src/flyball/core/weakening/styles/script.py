"""A test file of any language as a list of tests with what each of them demands."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from flyball.core.weakening.reach import Reach
from flyball.core.weakening.styles.demand import Demand
from flyball.core.weakening.styles.demands import demands_of, helpers_of
from flyball.core.weakening.styles.family import Family
from flyball.core.weakening.styles.headers import Extent, extents_of
from flyball.core.weakening.styles.layers import Layers, plain, read_layers
from flyball.core.weakening.styles.reach import reaches_of
from flyball.core.weakening.styles.rows import Row, rows_of
from flyball.core.weakening.styles.skips import Skipping, skips_of
from flyball.core.weakening.styles.strength import HOLLOW
from flyball.regex import regex

CALLED = regex(r"([A-Za-z_]\w*)(?=[(<\[])")


@dataclass(frozen=True)
class Piece:
    """One test, or (without a name) what a file holds beside its tests."""

    path: str
    place: tuple[str, ...]
    is_suite: bool
    line: int
    text: str
    demands: tuple[Demand, ...]
    skips: tuple[Skipping, ...]
    rows: tuple[Row, ...]
    statements: tuple[str, ...]
    inputs: tuple[str, ...]

    @property
    def name(self) -> str:
        """The suites around it and its own name, as one text."""
        return " > ".join(self.place)

    @cached_property
    def calls(self) -> frozenset[str]:
        """The functions it calls."""
        return frozenset(CALLED.findall(self.body))

    @cached_property
    def body(self) -> str:
        """What it does, whatever it is called and however it is laid out."""
        return "\n".join(self.statements)

    @property
    def is_test(self) -> bool:
        """Whether it is a test, not a suite around tests nor the rest of its file."""
        return bool(self.place) and not self.is_suite


class Script(NamedTuple):
    """A test file, read."""

    path: str
    source: Layers
    blocks: tuple[Piece, ...]
    helpers: frozenset[str]
    comments: tuple[str, ...]
    """Its lines that are comments, without white space and marks."""
    is_understood: bool
    """Whether anything in the whole file is known to assert."""


def read_script(path: str, text: str, family: Family, is_understood: bool = False) -> Script:
    """Read a test file; what nobody recognises ends up in the block without a name."""
    source = read_layers(family, text)
    spans = extents_of(source)
    bodies = [(span.body, span.end) for span in spans]
    found = demands_of(source)
    asserted = [demand.offset for demand in found if demand.strength > HOLLOW]
    reaches = reaches_of(source, bodies, asserted)
    demands = [
        demand._replace(
            reach=min((r for a, b, r in reaches if a < demand.offset < b), default=Reach.LIVE)
        )
        for demand in found
    ]
    parts = (demands, skips_of(source, text), rows_of(source))
    blocks = [_block(path, source, span, spans, parts) for span in spans]
    rest = Extent("", False, 0, 0, len(source.code))
    pieces = (*blocks, _block(path, source, rest, spans, parts))
    helpers = frozenset(helpers_of(source, demands))
    comments = tuple(_comments(text))
    return Script(path, source, pieces, helpers, comments, is_understood or bool(demands))


def _comments(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        if line.lstrip().startswith(("//", "#", "/*", "*", "--")):
            yield re.sub(r"\s+", "", line.lstrip(" \t/#*-"))


Parts = tuple[Sequence[Demand], Sequence[Skipping], Sequence[Row]]


def _block(path: str, source: Layers, span: Extent, spans: Sequence[Extent], parts: Parts) -> Piece:
    inner = [s for s in spans if s is not span and _holds(span, s.start) and s.end <= span.end]
    inner = [s for s in inner if (s.start, s.end) != (span.start, span.end)]

    def is_own(offset: int) -> bool:
        return _holds(span, offset) and not any(_holds(s, offset) for s in inner)

    demands, skips, rows = parts
    offsets = [d.offset for d in demands]
    own_rows = tuple(
        r for r in rows if is_own(r.offset) and not any(_covers(c, r.offset) for c in demands)
    )
    return Piece(
        path,
        (*span.outer, span.name) if span.name else (),
        span.is_suite,
        source.line(span.start) if span.name else 1,
        source.code[span.start : span.end],
        tuple(c for c in demands if is_own(c.offset)),
        tuple(s for s in skips if is_own(s.offset)),
        own_rows,
        _statements(source, span, inner, ()),
        _statements(source, span, inner, offsets),
    )


def _holds(span: Extent, offset: int) -> bool:
    return span.start <= offset < span.end


def _covers(demand: Demand, offset: int) -> bool:
    return demand.offset <= offset < demand.offset + len(demand.text)


TRIVIAL = regex(
    r"\W*|(?:import|from|use|#include|package|require|using|export|end"
    r"|extern crate)\b.*|#\[macro_use\]"
)
# After one of these a brace opens a value; after anything else it opens a block of statements.
BEFORE_VALUE = regex(r"(?:[(=,:\[?&|]|\breturn)\s*\Z")


def _statements(
    source: Layers, extent: Extent, inner: Sequence[Extent], leave_out: Sequence[int]
) -> tuple[str, ...]:
    """Its own statements without layout: a line goes on while a bracket of its own is open.

    Those that hold one of the offsets to leave out are left out.
    """
    skipped = [(max(e.start, extent.body), e.end) for e in inner]
    found: list[tuple[int, int]] = []
    for start, end in _gaps(extent, skipped):
        at = begin = start
        while at < end:
            char = source.bare[at]
            is_value = char in "([" or (char == "{" and _opens_value(source.bare, at))
            if is_value:
                at = min(source.closing(at), end)
            elif char in "\n;{}":
                found.append((begin, at))
                begin = at + 1
            at += 1
        found.append((begin, end))
    kept = [(a, b) for a, b in found if bisect_left(leave_out, a) == bisect_left(leave_out, b)]
    plains = (plain(source.family, source.code[a:b]) for a, b in kept)
    return tuple(text for text in plains if not TRIVIAL.fullmatch(text))


def _opens_value(bare: str, at: int) -> bool:
    return bool(BEFORE_VALUE.search(bare[max(0, at - 40) : at]))


def _gaps(extent: Extent, skipped: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    at = extent.body
    for start, end in sorted(skipped):
        if start > at:
            yield at, start
        at = max(at, end)
    yield at, extent.end
