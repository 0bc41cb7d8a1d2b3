"""Giving every hunk of a file its place."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flyball.patch.lines.text import Text
from flyball.patch.place.disambiguate import HunkPlaces, choose
from flyball.patch.place.incomplete import suspicion
from flyball.patch.place.locate import Miss, Spot, confirm, locate
from flyball.patch.read.hunk import ADD, CUT, Hunk


class Placed(NamedTuple):
    """A hunk with the place it was given."""

    hunk: Hunk
    spot: Spot
    believed: bool


class Expected(NamedTuple):
    """Where a hunk is expected, if its numbers are believed, and how far away it may be."""

    stated: int | None
    max_offset: int


def place_hunks(
    text: Text, hunks: Sequence[Hunk], *, fuzz: int, max_offset: int, in_order: bool
) -> tuple[list[Placed], list[tuple[Hunk, Miss]]]:
    """Locate all hunks, each expected where its numbers and the drift before it say."""
    believed = believed_places(hunks)
    placed: list[Placed] = []
    missed: list[tuple[Hunk, Miss]] = []
    terms: dict[int, Expected] = {}
    drift = 0
    starts = [hunk.span.old_start for hunk in hunks if hunk.span]
    is_sorted = starts == sorted(starts)
    # From the top down, so that the drift of one hunk tells where the next is expected.
    for hunk in sorted(hunks, key=lambda h: believed.get(h.number, -1)):
        doubt = suspicion(hunk, text)
        if doubt is not None:
            missed.append((hunk, doubt))
            continue
        stated = believed.get(hunk.number)
        expected = None if stated is None else stated + drift
        limit = max_offset if is_sorted and not _is_made_up(hunk, text) else sys.maxsize
        terms[hunk.number] = Expected(expected, limit)
        found = locate(text, hunk, expected, fuzz=fuzz, max_offset=limit)
        if isinstance(found, Miss):
            missed.append((hunk, found))
            continue
        placed.append(Placed(hunk, found, stated is not None))
        if stated is not None:
            drift = found.at - found.lead - stated
    if any(miss.choices for _, miss in missed):
        return _place_ambiguous(text, placed, missed, terms, believed if in_order else None)
    return placed, missed


def _place_ambiguous(
    text: Text,
    placed: list[Placed],
    missed: list[tuple[Hunk, Miss]],
    terms: dict[int, Expected],
    believed: dict[int, int] | None,
) -> tuple[list[Placed], list[tuple[Hunk, Miss]]]:
    """Give a place to hunks whose text stands in several, where the diff leaves only one."""
    seats = [HunkPlaces(one.hunk, (one.spot,)) for one in placed]
    seats += [
        HunkPlaces(hunk, miss.choices, terms[hunk.number].stated is not None)
        for hunk, miss in missed
        if miss.choices
    ]
    order = None if believed is None else _order(seats, believed)
    chosen = choose(text, seats, order)
    is_due = order is not None and bool(placed)
    left: list[tuple[Hunk, Miss]] = []
    for hunk, miss in missed:
        spots = chosen.get(hunk.number, ())
        if len(spots) != 1:
            left.append((hunk, miss))
            continue
        stated, limit = terms[hunk.number]
        found = confirm(text, hunk, spots[0], stated, limit)
        if isinstance(found, Spot):
            placed.append(Placed(hunk, found, stated is not None))
        elif is_due and found.choices:
            placed.append(Placed(hunk, spots[0], stated is not None))
        else:
            left.append((hunk, found))
    return placed, left


def _order(seats: list[HunkPlaces], believed: dict[int, int]) -> list[int] | None:
    """The numbers of the hunks from the top of the file down, if that is beyond doubt."""
    written = sorted(seat.hunk.number for seat in seats)
    stated = sorted(written, key=lambda number: (believed.get(number, 0), number))
    orders = [written, stated] if len(believed) >= len(seats) and stated != written else [written]
    known = {seat.hunk.number: seat.spots[0].at for seat in seats if len(seat.spots) == 1}
    possible: list[list[int]] = []
    for order in orders:
        places = [known[number] for number in order if number in known]
        if places == sorted(places):
            possible.append(order)
    return possible[0] if len(possible) == 1 else None


def _is_made_up(hunk: Hunk, text: Text) -> bool:
    """Numbers that only fill the form: the first line, or one beyond the end of the file."""
    return hunk.span is None or not 1 < hunk.span.old_start <= len(text.lines)


def believed_places(hunks: Iterable[Hunk]) -> dict[int, int]:
    """The stated place of each hunk whose header agrees with its body and with its neighbours."""
    found: dict[int, int] = {}
    shift = 0
    spans = [(h.span, h) for h in hunks if h.span is not None]
    for span, hunk in sorted(spans, key=lambda pair: pair[0].old_index):
        if hunk.agrees and span.new_index == span.old_index + shift:
            found[hunk.number] = span.old_index
        shift += hunk.marks.count(ADD) - hunk.marks.count(CUT)
    return found
