"""Giving every hunk of a file its place."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flyball.patch.hunk import ADD, CUT, Hunk
from flyball.patch.locate import Block, Miss, Spot, locate
from flyball.patch.result import Code
from flyball.patch.suspect import suspicion
from flyball.patch.text import Text


class Placed(NamedTuple):
    """A hunk with the place it was given."""

    hunk: Hunk
    spot: Spot
    believed: bool


def place(
    text: Text, hunks: Sequence[Hunk], *, fuzz: int, max_offset: int
) -> tuple[list[Placed], list[tuple[Hunk, Miss]]]:
    """Locate all hunks, each expected where its numbers and the drift before it say."""
    believed = believable(hunks)
    placed: list[Placed] = []
    missed: list[tuple[Hunk, Miss]] = []
    drift = 0
    starts = [hunk.span.old_start for hunk in hunks if hunk.span]
    is_sorted = starts == sorted(starts)
    for hunk in sorted(hunks, key=lambda h: believed.get(h.number, -1)):
        doubt = suspicion(hunk, text)
        if doubt is not None:
            missed.append((hunk, doubt))
            continue
        stated = believed.get(hunk.number)
        expected = None if stated is None else stated + drift
        limit = max_offset if is_sorted and not _is_made_up(hunk, text) else sys.maxsize
        found = locate(text, hunk, expected, fuzz=fuzz, max_offset=limit)
        if isinstance(found, Miss):
            missed.append((hunk, found))
            continue
        placed.append(Placed(hunk, found, stated is not None))
        if stated is not None:
            drift = found.at - found.lead - stated
    return _share_out(text, placed, missed)


def _share_out(
    text: Text, placed: list[Placed], missed: list[tuple[Hunk, Miss]]
) -> tuple[list[Placed], list[tuple[Hunk, Miss]]]:
    """Equal hunks that are as many as the places they fit are one for each: nothing to guess."""
    twins: dict[tuple[bytes, ...], list[Hunk]] = {}
    for hunk, miss in missed:
        if miss.code is Code.AMBIGUOUS:
            twins.setdefault((hunk.marks, *hunk.texts), []).append(hunk)
    left: list[tuple[Hunk, Miss]] = []
    for hunk, miss in missed:
        group = twins.get((hunk.marks, *hunk.texts), [])
        if len(group) < 2 or len(group) != len(miss.lines):
            left.append((hunk, miss))
            continue
        at = miss.lines[group.index(hunk)] - 1
        level = Block(hunk).fits(text, at)
        if level is None:
            left.append((hunk, miss))
        else:
            placed.append(Placed(hunk, Spot(at, level), believed=False))
    return placed, left


def _is_made_up(hunk: Hunk, text: Text) -> bool:
    """Numbers that only fill the form: the first line, or one beyond the end of the file."""
    return hunk.span is None or not 1 < hunk.span.old_start <= len(text.lines)


def believable(hunks: Iterable[Hunk]) -> dict[int, int]:
    """The stated place of each hunk whose header agrees with its body and with its neighbours."""
    found: dict[int, int] = {}
    shift = 0
    spans = [(h.span, h) for h in hunks if h.span is not None]
    for span, hunk in sorted(spans, key=lambda pair: pair[0].old_index):
        if hunk.agrees and span.new_index == span.old_index + shift:
            found[hunk.number] = span.old_index
        shift += hunk.marks.count(ADD) - hunk.marks.count(CUT)
    return found
