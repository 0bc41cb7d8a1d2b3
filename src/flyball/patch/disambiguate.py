"""Choose between several places where a hunk's text occurs, by what else the diff says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from flyball.patch.hunk import ADD, Hunk
from flyball.patch.locate import Spot, ends_file, is_last, outer_context
from flyball.patch.text import Text
from flyball.regex import regex

_OPENS = regex(rb"[ \t]*[A-Za-z_$@]")
_WORD = regex(rb"\w")
_CLIPPED = 70
"""A heading of so many bytes may have been cut off in the middle of its line."""


class HunkPlaces(NamedTuple):
    """A hunk with the places it may have."""

    hunk: Hunk
    spots: tuple[Spot, ...]
    believed: bool = False
    """The numbers of the hunk are right for the file it was written against."""

    def reach(self, spot: Spot) -> tuple[int, int]:
        """Return the range from the hunk's first change to after its last, in lines of the file."""
        lead, trail = outer_context(self.hunk)
        start = spot.at - spot.lead
        size = len(self.hunk.marks) - self.hunk.marks.count(ADD)
        return start + lead, start + size - trail


def choose(
    text: Text, seats: Sequence[HunkPlaces], order: Sequence[int] | None
) -> dict[int, tuple[Spot, ...]]:
    """Return what the diff leaves of each hunk's places; none is preferred for being closer."""
    narrowed = {seat.hunk.number: _narrow(text, seat) for seat in seats}
    if order is None:
        return {number: seat.spots for number, seat in narrowed.items()}
    sorted_out = _narrow_by_order([narrowed[number] for number in order])
    return {seat.hunk.number: seat.spots for seat in sorted_out}


def _narrow(text: Text, seat: HunkPlaces) -> HunkPlaces:
    """Keep only the places that match the hunk's heading and its lack of context."""
    spots: tuple[Spot, ...] = seat.spots
    if len(spots) == 1:
        return seat
    for clue in (_spots_under_heading, _spots_at_end):
        spoken_for = clue(text, seat)
        if spoken_for:
            spots = tuple(spot for spot in spots if spot in spoken_for)
    return seat._replace(spots=spots or seat.spots)


def _spots_under_heading(text: Text, seat: HunkPlaces) -> list[Spot]:
    """Return the places inside a block that the heading opens."""
    heading = seat.hunk.heading
    if not _WORD.search(heading):
        return []
    openings = [n for n, line in enumerate(text.lines) if _is_heading(heading, line)]
    return [spot for spot in seat.spots if _is_inside(text, openings, spot.at - spot.lead)]


def _is_heading(heading: bytes, line: bytes) -> bool:
    plain = line.strip()
    if not plain.startswith(heading):
        return False
    rest = plain[len(heading) :]
    return len(heading) >= _CLIPPED or not (_WORD.match(rest) and _WORD.match(heading[-1:]))


def _is_inside(text: Text, openings: Sequence[int], at: int) -> bool:
    """Return whether no line between the last opening and this one opens another block of that
    depth.
    """
    above = [n for n in openings if n < at]
    if not above:
        return False
    depth = _depth(text.lines[above[-1]])
    between = text.lines[above[-1] + 1 : at]
    return not any(_OPENS.match(line) and _depth(line) <= depth for line in between)


def _depth(line: bytes) -> int:
    return len(line) - len(line.lstrip(b" \t"))


def _spots_at_end(text: Text, seat: HunkPlaces) -> list[Spot]:
    """Return the place at the end of the file, if that is what cut the hunk's context short."""
    if not (seat.believed and is_last(seat.hunk)):
        return []
    return [spot for spot in seat.spots if not spot.lead and ends_file(text, seat.hunk, spot)]


def _narrow_by_order(seats: Sequence[HunkPlaces]) -> list[HunkPlaces]:
    """Leave only the places that let all hunks come one after the other, as a diff has them."""
    kept = list(seats)
    # Down and then up: the first pass drops places too early for what comes before, the second
    # those too late for what follows.
    for index in range(1, len(kept)):
        first = kept[index - 1]
        end = first.reach(first.spots[0])[1]
        kept[index] = _keep_fitting(kept[index], lambda begin, _, end=end: begin >= end)
        if not kept[index].spots:
            return list(seats)
    for index in range(len(kept) - 2, -1, -1):
        last = kept[index + 1]
        begin = last.reach(last.spots[-1])[0]
        kept[index] = _keep_fitting(kept[index], lambda _, end, begin=begin: end <= begin)
    return kept


def _keep_fitting(seat: HunkPlaces, fits: Callable[[int, int], bool]) -> HunkPlaces:
    return seat._replace(spots=tuple(s for s in seat.spots if fits(*seat.reach(s))))
