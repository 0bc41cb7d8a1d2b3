"""Split a file into lines, and find blocks of lines in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

_FEW = 6
"""So many searches are done line by line before an index of all lines pays off."""

Alternatives = Sequence[tuple[bytes, ...]]
"""For each line of a block, the texts that would do."""


class Text:
    """The lines of a file without their newlines; everything else in them is unchanged."""

    def __init__(self, data: bytes) -> None:
        self.searches = 0
        self.lines = data.split(b"\n")
        self.ended = not self.lines[-1]
        """The last line has its newline (an empty file counts as ended)."""
        if self.ended:
            self.lines.pop()

    @cached_property
    def loose(self) -> list[bytes]:
        """Return the lines without trailing white space."""
        return [line.rstrip() for line in self.lines]

    @cached_property
    def places(self) -> dict[bytes, list[int]]:
        """Return the indexes of each line."""
        return _index(self.lines)

    @cached_property
    def loose_places(self) -> dict[bytes, list[int]]:
        """Return the indexes of each line, ignoring trailing white space."""
        return _index(self.loose)

    @cached_property
    def crlf_lines(self) -> int:
        """Return how many lines end in CRLF."""
        ended = self.lines if self.ended else self.lines[:-1]
        return sum(line.endswith(b"\r") for line in ended)

    @property
    def is_crlf(self) -> bool:
        """Return whether most lines end in CRLF."""
        return 2 * self.crlf_lines > len(self.lines) - (not self.ended)

    @property
    def is_mixed(self) -> bool:
        """Return whether only some lines end in CRLF."""
        return 0 < self.crlf_lines < len(self.lines) - (not self.ended)

    def find(self, block: Sequence[bytes]) -> list[int]:
        """Return every place where exactly these lines occur."""
        self.searches += 1
        if self.searches <= _FEW:
            return _scan(self.lines, block)
        return _find(self.lines, self.places, block)

    def find_loose(self, block: Sequence[bytes]) -> list[int]:
        """Return every place where these lines, without trailing white space, occur."""
        self.searches += 1
        if self.searches <= _FEW:
            return _scan(self.loose, block)
        return _find(self.loose, self.loose_places, block)

    def find_any(self, block: Alternatives) -> list[int]:
        """Return every place where each line is one of its alternatives, ignoring trailing white
        space."""
        places = self.loose_places
        options = [[p for alt in alts for p in places.get(alt, ())] for alts in block]
        pivot = min(range(len(block)), key=lambda i: len(options[i]))
        starts = sorted({p - pivot for p in options[pivot]})
        return [s for s in starts if self.matches_any(block, s)]

    def matches_any(self, block: Alternatives, at: int) -> bool:
        """Return whether each line from `at` on is one of its alternatives, ignoring trailing white
        space."""
        if at < 0 or at + len(block) > len(self.lines):
            return False
        loose = self.loose
        return all(loose[at + i] in alts for i, alts in enumerate(block))


def _index(lines: Sequence[bytes]) -> dict[bytes, list[int]]:
    places: dict[bytes, list[int]] = {}
    for number, line in enumerate(lines):
        if line in places:
            places[line].append(number)
        else:
            places[line] = [number]
    return places


def _scan(lines: list[bytes], block: Sequence[bytes]) -> list[int]:
    """Search all lines for the block's line that is likely to be rare."""
    # The longest line is the likeliest to be rare, and finding one line is what list.index is fast
    # at.
    pivot = max(range(len(block)), key=lambda i: len(block[i]))
    rare, size, wanted = block[pivot], len(block), list(block)
    found: list[int] = []
    place = -1
    while True:
        try:
            place = lines.index(rare, place + 1)
        except ValueError:
            return found
        start = place - pivot
        if start >= 0 and lines[start : start + size] == wanted:
            found.append(start)


def _find(
    lines: Sequence[bytes], places: dict[bytes, list[int]], block: Sequence[bytes]
) -> list[int]:
    rarest, pivot = len(lines) + 1, 0
    for index, line in enumerate(block):
        count = len(places.get(line, ()))
        if not count:
            return []
        if count < rarest:
            rarest, pivot = count, index
    size = len(block)
    wanted = list(block)
    starts = (place - pivot for place in places[block[pivot]])
    return [s for s in starts if s >= 0 and lines[s : s + size] == wanted]
