"""Find the place of a hunk: the match ladder, without any similarity score.

Also detect, before any matching, that a part of a hunk is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

from flyball.patch.hunk import ADD, BARE, CUT, KEEP, Hunk, placeholders
from flyball.patch.result import Code
from flyball.patch.text import Text
from flyball.regex import regex

CONTEXT = 3
"""How many unchanged lines a diff shows on either side, unless the file ends before."""
STRONG = 3
"""How many letters and digits text must have to be recognised without a line number."""


class MatchLevel(IntEnum):
    """How closely the file's lines match the hunk."""

    EXACT = 0
    TRAILING = 1
    SHIFTED = 2


class Spot(NamedTuple):
    """The position of a hunk, and how it was found."""

    at: int
    level: MatchLevel = MatchLevel.EXACT
    lead: int = 0
    """Context lines dropped at the start, for fuzz."""
    trail: int = 0
    offset: int = 0


class Miss(NamedTuple):
    """The reason why a hunk could not be located."""

    code: Code
    lines: tuple[int, ...] = ()
    offset: int = 0
    what: bytes = b""
    choices: tuple[Spot, ...] = ()
    """The places where the hunk's text occurs, if other information may still choose one."""


class Block:
    """The old lines of a hunk to search for, possibly without some outer context."""

    def __init__(self, hunk: Hunk, lead: int = 0, trail: int = 0) -> None:
        old = hunk.old
        self.hunk = hunk
        self.lead = lead
        self.trail = trail
        self.lines = old[lead : len(old) - trail]
        self.has_bare = BARE in hunk.marks

    def marks(self) -> list[int]:
        """Return the marks of the block's lines."""
        marks = [m for m in self.hunk.marks if m != ADD]
        return marks[self.lead : len(marks) - self.trail]

    def loose(self) -> list[bytes]:
        """Return the lines without trailing white space."""
        return _strip_ends(self.lines)

    def shifted(self) -> list[tuple[bytes, ...]]:
        """Return the possible forms of each line if context lost its leading space."""
        found: list[tuple[bytes, ...]] = []
        for mark, line in zip(self.marks(), self.lines, strict=True):
            plain = line.rstrip()
            found.append((plain, (b" " + line).rstrip()) if mark == KEEP else (plain,))
        return found

    def fits(self, text: Text, at: int) -> MatchLevel | None:
        """Return the strictest level at which the block matches at this place."""
        end = at + len(self.lines)
        if at < 0 or end > len(text.lines) or not self.may_be_placed(text, at):
            return None
        if not self.has_bare:
            if text.lines[at:end] == self.lines:
                return MatchLevel.EXACT
            if _strip_ends(text.lines[at:end]) == self.loose():
                return MatchLevel.TRAILING
        return MatchLevel.SHIFTED if text.matches_any(self.shifted(), at) else None

    def may_be_placed(self, text: Text, at: int) -> bool:
        """Return whether a hunk that changes the end of the file may be placed here."""
        hunk = self.hunk
        if not (hunk.old_unended or hunk.new_unended) or hunk.marks[-1] == KEEP or self.trail:
            return True
        return at + len(self.lines) == len(text.lines)

    def everywhere(self, text: Text, level: MatchLevel) -> list[int]:
        """Return all places where the block matches at one level."""
        if level is MatchLevel.SHIFTED:
            found = text.find_any(self.shifted())
        elif self.has_bare:
            found = []
        else:
            exact = level is MatchLevel.EXACT
            found = text.find(self.lines) if exact else text.find_loose(self.loose())
        return [at for at in found if self.may_be_placed(text, at)]

    def spot(self, at: int, level: MatchLevel, stated: int | None) -> Spot:
        """Return a place of the block as a place of the hunk."""
        offset = 0 if stated is None else at - self.lead - stated
        return Spot(at, level, self.lead, self.trail, offset)

    def is_strong(self, text: Text, at: int) -> bool:
        """Return whether the block has enough letters and digits to be recognised."""
        is_unended = self.hunk.old_unended or self.hunk.new_unended
        size = len(self.lines)
        is_at_end = at + size == len(text.lines)
        if size == len(text.lines) or (is_at_end and (is_unended or is_last(self.hunk))):
            return True
        seen = 0
        for line in self.lines:
            seen += sum(c > 127 or chr(c).isalnum() for c in line)
            if seen >= STRONG:
                return True
        return False


def locate(
    text: Text, hunk: Hunk, stated: int | None, *, fuzz: int, max_offset: int
) -> Spot | Miss:
    """Find a hunk's place; `stated` is the one given by its numbers, if they are plausible."""
    block = Block(hunk)
    if not block.lines:
        return Spot(0) if not text.lines else Miss(Code.WEAK_CONTEXT)
    if stated is not None:
        level = block.fits(text, stated)
        if level is not None:
            if is_repeated(text, hunk, stated):
                return Miss(Code.ALREADY_APPLIED, (stated + 1,))
            return Spot(stated, level)
    found = _only_place(text, block, stated)
    # The whole file is searched, not a window around the stated line: a window would hide a twin.
    context = outer_context(hunk)
    for dropped in range(1, fuzz + 1):
        if found is not None:
            break
        lead, trail = min(dropped, context[0]), min(dropped, context[1])
        found = _only_place(text, Block(hunk, lead, trail), stated)
    if found is None:
        places = applied_at(text, hunk)
        return Miss(Code.ALREADY_APPLIED, _line_numbers(places)) if places else Miss(Code.NO_MATCH)
    return found if isinstance(found, Miss) else confirm(text, hunk, found, stated, max_offset)


def confirm(text: Text, hunk: Hunk, spot: Spot, stated: int | None, max_offset: int) -> Spot | Miss:
    """Return the place, unless something contradicts it although the hunk's text matches there."""
    line = (spot.at + 1,)
    block = Block(hunk, spot.lead, spot.trail)
    if not block.is_strong(text, spot.at):
        return Miss(Code.WEAK_CONTEXT, line)
    edge = b"" if stated is None else _edge_left(text, hunk, spot, stated)
    if edge or abs(spot.offset) > max_offset:
        return Miss(Code.OFFSET_EXCEEDED, line, spot.offset, edge)
    if is_repeated(text, hunk, spot.at - spot.lead):
        return Miss(Code.ALREADY_APPLIED, line)
    places = applied_at(text, hunk)
    # Asked before the edit is made: a diff sent twice must not be applied twice.
    if places and not _is_due(spot, places, hunk, stated):
        choices = (spot,) if CUT in hunk.marks else ()
        return Miss(Code.ALREADY_APPLIED, _line_numbers(places), choices=choices)
    return Miss(Code.NO_MATCH) if _skips_context(hunk, spot) else spot


def _edge_left(text: Text, hunk: Hunk, spot: Spot, stated: int) -> bytes:
    """Return the edge of the file that cut the hunk's context short, if it is not at that edge."""
    lead, trail = outer_context(hunk)
    if stated == 0 and lead < CONTEXT <= trail and spot.at > spot.lead:
        return b"top"
    is_end = not trail and lead >= CONTEXT
    return b"end" if is_end and not ends_file(text, hunk, spot) else b""


def _is_due(spot: Spot, places: list[int], hunk: Hunk, stated: int | None) -> bool:
    """Return whether the hunk still has to be applied, even if its new lines occur somewhere."""
    if ADD not in hunk.marks:
        return stated not in places
    if stated is not None or hunk.span is None:
        return False
    old = hunk.span.old_index
    return abs(spot.at - old) < min(abs(place - old) for place in places)


def _skips_context(hunk: Hunk, spot: Spot) -> bool:
    """Return whether the header counts context before the first change that the hunk does not
    show."""
    old, new = hunk.missing
    if hunk.span is None or old != new or old <= 0 or hunk.marks[0] in (KEEP, BARE):
        return False
    return hunk.span.old_index + old == spot.at


def _only_place(text: Text, block: Block, stated: int | None) -> Spot | Miss | None:
    """Return the only place in the file where the block matches, at the first level."""
    if not block.lines:
        return None
    # A closer level wins outright: a place that fits exactly is not ambiguous for one that nearly
    # does.
    for level in MatchLevel:
        places = block.everywhere(text, level)
        if places:
            spots = [block.spot(place, level, stated) for place in places]
            if len(spots) == 1:
                return spots[0]
            return Miss(Code.AMBIGUOUS, _line_numbers(places), choices=tuple(spots))
    return None


def _line_numbers(places: Sequence[int]) -> tuple[int, ...]:
    """Return places as line numbers."""
    return tuple(place + 1 for place in places)


def outer_context(hunk: Hunk) -> tuple[int, int]:
    """Return how many context lines a hunk has before its first and after its last change."""
    marks = hunk.marks
    size = len(marks)
    return size - len(marks.lstrip(b" ?")), size - len(marks.rstrip(b" ?"))


def is_last(hunk: Hunk) -> bool:
    """Return whether full context above the change and less below it show that the file ended
    there."""
    lead, trail = outer_context(hunk)
    return lead >= CONTEXT > trail


def ends_file(text: Text, hunk: Hunk, spot: Spot) -> bool:
    """Return whether the hunk's last old line would be the last of the file."""
    size = len(hunk.marks) - hunk.marks.count(ADD)
    return spot.at - spot.lead + size == len(text.lines)


def is_repeated(text: Text, hunk: Hunk, at: int) -> bool:
    """Return whether a hunk that adds at its edge would repeat existing lines."""
    marks, texts = hunk.marks, hunk.texts
    if marks[-1] == ADD:
        size = len(marks) - len(marks.rstrip(b"+"))
        end = at + len(hunk.old)
        if _strip_ends(text.lines[end : end + size]) == _strip_ends(texts[-size:]):
            return True
    if marks[0] == ADD:
        size = len(marks) - len(marks.lstrip(b"+"))
        return at >= size and _strip_ends(text.lines[at - size : at]) == _strip_ends(texts[:size])
    return False


def _strip_ends(lines: Sequence[bytes]) -> list[bytes]:
    return [line.rstrip() for line in lines]


def applied_at(text: Text, hunk: Hunk) -> list[int]:
    """Return where the hunk's new lines already occur."""
    new = _strip_ends(hunk.new)
    if not new or new == _strip_ends(hunk.old):
        return []
    return text.find_loose(new)


_MISCOUNT = 2
"""By how many lines a header may be off before a hunk at the end of a file counts as cut."""
_NUMBERED = regex(rb" *(\d+) ?(?:[:|]|\xe2\x86\x92)")


def suspicion(hunk: Hunk, text: Text) -> Miss | None:
    """Return a problem in the hunk itself, or None."""
    if hunk.is_vouched:
        return None
    if is_truncated(hunk, text):
        return Miss(Code.TRUNCATED)
    for line in placeholders(hunk, only_dots=False):
        # A file may really hold such a line.
        if line.strip() not in {known.strip() for known in text.lines}:
            return Miss(Code.PLACEHOLDER, what=line)
    return None


def is_truncated(hunk: Hunk, text: Text) -> bool:
    """Return whether the last hunk ends before its header says, and not because of a miscount."""
    old, new = hunk.missing
    if not hunk.is_last or hunk.span is None or min(old, new) < 0 or not (old or new):
        return False
    if not hunk.changes:
        return True
    if hunk.new_unended or hunk.is_whole:
        return False
    ending = [line.rstrip() for line in hunk.old]
    reaches_end = text.loose[len(text.loose) - len(ending) :] == ending
    lead, trail = outer_context(hunk)
    if not trail:
        is_miscount = bool(old) or (new <= _MISCOUNT and not hunk.is_odd)
        return hunk.is_cut or not (reaches_end and is_miscount)
    if reaches_end or old == new == CONTEXT - trail:
        return False
    if trail < min(lead, CONTEXT):
        return True
    is_top = hunk.span.old_start <= 1 and trail < CONTEXT
    return (hunk.is_odd or is_top) and max(old, new) > _MISCOUNT


def has_numbers(lines: list[bytes], *, step: int = 1) -> bool:
    """Return whether every line begins with a number, at most `step` above the one before."""
    matches = [match for line in lines if (match := _NUMBERED.match(line))]
    if len(lines) < 2 or len(matches) < len(lines):
        return False
    numbers = [int(match[1]) for match in matches]
    return all(0 <= after - before <= step for before, after in pairwise(numbers))


_OPENS = regex(rb"[ \t]*[A-Za-z_$@]")
_WORD = regex(rb"\w")
_CLIPPED = 70
"""A heading of so many bytes may have been cut off in the middle of its line."""


class HunkPlaces(NamedTuple):
    """A hunk and its possible places."""

    hunk: Hunk
    spots: tuple[Spot, ...]
    believed: bool = False
    """The numbers of the hunk are right for the file it was written against."""

    def reach(self, spot: Spot) -> tuple[int, int]:
        """Return the lines of the file from the hunk's first change to after its last."""
        lead, trail = outer_context(self.hunk)
        start = spot.at - spot.lead
        size = len(self.hunk.marks) - self.hunk.marks.count(ADD)
        return start + lead, start + size - trail


def choose(
    text: Text, seats: Sequence[HunkPlaces], order: Sequence[int] | None
) -> dict[int, tuple[Spot, ...]]:
    """Narrow each hunk's places by what the diff says; none is preferred for being closer."""
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
        claimed = clue(text, seat)
        if claimed:
            spots = tuple(spot for spot in spots if spot in claimed)
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
    """Return whether no line since the last opening opens another block of that depth."""
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
    """Keep only the places in which the hunks follow one another, as a diff requires."""
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
