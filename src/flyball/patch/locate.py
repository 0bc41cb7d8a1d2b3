"""Finding the place a hunk belongs to: the match ladder, without any similarity score."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from flyball.patch.hunk import ADD, BARE, KEEP, Hunk
from flyball.patch.result import Code
from flyball.patch.text import Text

STRONG = 3
"""How many letters and digits text must have to be recognised without a line number."""


class Level(IntEnum):
    """How closely the file's lines are those of the hunk."""

    EXACT = 0
    TRAILING = 1
    SHIFTED = 2

    @property
    def label(self) -> str:
        """The level in words."""
        return ("exact", "trailing white space ignored", "context without its leading space")[self]


class Spot(NamedTuple):
    """Where a hunk belongs, and how that was found out."""

    at: int
    level: Level = Level.EXACT
    lead: int = 0
    """Context lines dropped at the start, for fuzz."""
    trail: int = 0
    offset: int = 0


class Miss(NamedTuple):
    """Why a hunk has no place."""

    code: Code
    lines: tuple[int, ...] = ()
    offset: int = 0
    what: bytes = b""


class Block:
    """The old lines of a hunk as they are looked for, with some outer context left away."""

    def __init__(self, hunk: Hunk, lead: int = 0, trail: int = 0) -> None:
        old = hunk.old
        self.hunk = hunk
        self.lead = lead
        self.trail = trail
        self.lines = old[lead : len(old) - trail]
        self.has_bare = BARE in hunk.marks

    def marks(self) -> list[int]:
        """The marks of the lines looked for."""
        marks = [m for m in self.hunk.marks if m != ADD]
        return marks[self.lead : len(marks) - self.trail]

    def loose(self) -> list[bytes]:
        """The lines without trailing white space."""
        return _loose(self.lines)

    def shifted(self) -> list[tuple[bytes, ...]]:
        """What each line may be if context lost the space in front of it."""
        found: list[tuple[bytes, ...]] = []
        for mark, line in zip(self.marks(), self.lines, strict=True):
            plain = line.rstrip()
            found.append((plain, (b" " + line).rstrip()) if mark == KEEP else (plain,))
        return found

    def fits(self, text: Text, at: int) -> Level | None:
        """The closest level on which the block stands at this place."""
        end = at + len(self.lines)
        if at < 0 or end > len(text.lines) or not self.may_stand(text, at):
            return None
        if not self.has_bare:
            if text.lines[at:end] == self.lines:
                return Level.EXACT
            if _loose(text.lines[at:end]) == self.loose():
                return Level.TRAILING
        return Level.SHIFTED if text.stands_any(self.shifted(), at) else None

    def may_stand(self, text: Text, at: int) -> bool:
        """A hunk that changes the end of the file belongs there."""
        hunk = self.hunk
        if not (hunk.old_unended or hunk.new_unended) or hunk.marks[-1] == KEEP or self.trail:
            return True
        return at + len(self.lines) == len(text.lines)

    def everywhere(self, text: Text, level: Level) -> list[int]:
        """All places where the block stands on one level."""
        if level is Level.SHIFTED:
            found = text.find_any(self.shifted())
        elif self.has_bare:
            found = []
        else:
            exact = level is Level.EXACT
            found = text.find(self.lines) if exact else text.find_loose(self.loose())
        return [at for at in found if self.may_stand(text, at)]

    def is_strong(self, text: Text, at: int) -> bool:
        """There are letters and digits enough, or the place is told otherwise."""
        is_unended = self.hunk.old_unended or self.hunk.new_unended
        size = len(self.lines)
        if size == len(text.lines) or (is_unended and at + size == len(text.lines)):
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
    """Find a hunk's place; `stated` is where its numbers put it, if they can be believed."""
    block = Block(hunk)
    if not block.lines:
        return Spot(0) if not text.lines else Miss(Code.WEAK_CONTEXT)
    if stated is not None:
        level = block.fits(text, stated)
        if level is not None:
            if repeats(text, hunk, stated):
                return Miss(Code.ALREADY_APPLIED, (stated + 1,))
            return Spot(stated, level)
    found = _unique(text, block, stated, max_offset)
    context = outer_context(hunk)
    for dropped in range(1, fuzz + 1):
        if found is not None:
            break
        lead, trail = min(dropped, context[0]), min(dropped, context[1])
        found = _unique(text, Block(hunk, lead, trail), stated, max_offset)
    if isinstance(found, Miss):
        return found
    places = applied_at(text, hunk)
    if places and not (found and stated is None and _is_due(found, places, hunk)):
        return Miss(Code.ALREADY_APPLIED, tuple(p + 1 for p in places))
    if found and _skips_context(hunk, found):
        return Miss(Code.NO_MATCH)
    return found or Miss(Code.NO_MATCH)


def _is_due(spot: Spot, places: list[int], hunk: Hunk) -> bool:
    """The hunk is still to be applied, though the lines it wants stand somewhere already."""
    if ADD not in hunk.marks:
        return True
    if hunk.span is None:
        return False
    stated = hunk.span.old_index
    return abs(spot.at - stated) < min(abs(place - stated) for place in places)


def _skips_context(hunk: Hunk, spot: Spot) -> bool:
    """The header counts context above the first change that the hunk does not show."""
    old, new = hunk.missing
    if hunk.span is None or old != new or old <= 0 or hunk.marks[0] in (KEEP, BARE):
        return False
    return hunk.span.old_index + old == spot.at


def _unique(text: Text, block: Block, stated: int | None, max_offset: int) -> Spot | Miss | None:
    """The only place in the whole file where the block stands, on the first level that has any."""
    if not block.lines:
        return None
    for level in Level:
        places = block.everywhere(text, level)
        if len(places) > 1:
            return Miss(Code.AMBIGUOUS, tuple(p + 1 for p in places))
        if places:
            at = places[0]
            offset = 0 if stated is None else at - block.lead - stated
            if not block.is_strong(text, at):
                return Miss(Code.WEAK_CONTEXT, (at + 1,))
            if abs(offset) > max_offset:
                return Miss(Code.OFFSET_EXCEEDED, (at + 1,), offset)
            if repeats(text, block.hunk, at - block.lead):
                return Miss(Code.ALREADY_APPLIED, (at + 1,))
            return Spot(at, level, block.lead, block.trail, offset)
    return None


def outer_context(hunk: Hunk) -> tuple[int, int]:
    """How many context lines a hunk has before its first and after its last change."""
    marks = hunk.marks
    size = len(marks)
    return size - len(marks.lstrip(b" ?")), size - len(marks.rstrip(b" ?"))


def repeats(text: Text, hunk: Hunk, at: int) -> bool:
    """A hunk that adds at its edge would add again what already stands beside it."""
    marks, texts = hunk.marks, hunk.texts
    if marks[-1] == ADD:
        size = len(marks) - len(marks.rstrip(b"+"))
        end = at + len(hunk.old)
        if _loose(text.lines[end : end + size]) == _loose(texts[-size:]):
            return True
    if marks[0] == ADD:
        size = len(marks) - len(marks.lstrip(b"+"))
        return at >= size and _loose(text.lines[at - size : at]) == _loose(texts[:size])
    return False


def _loose(lines: Sequence[bytes]) -> list[bytes]:
    return [line.rstrip() for line in lines]


def applied_at(text: Text, hunk: Hunk) -> list[int]:
    """Where the lines that the hunk wants already stand."""
    new = _loose(hunk.new)
    if not new or new == _loose(hunk.old):
        return []
    return text.find_loose(new)
