"""The common case, done without taking the file apart: every hunk exactly where it says."""

from __future__ import annotations

from collections.abc import Sequence

from flyball.patch.apply.keep import WORD
from flyball.patch.place.incomplete import placeholders
from flyball.patch.place.locate import Spot
from flyball.patch.place.place import Placed, believed_places
from flyball.patch.read.hunk import ADD, BARE, Hunk

_NEWLINE = b"\n"[0]


def apply_plainly(data: bytes, hunks: Sequence[Hunk]) -> tuple[bytes, tuple[Placed, ...]] | None:
    """The new content, or None when anything about the diff wants a closer look."""
    stated = believed_places(hunks)
    # Anything out of the ordinary takes the long way, which is the one that is specified: this one
    # must only ever give the same answer sooner.
    if len(stated) < len(hunks) or WORD in data:
        return None
    parts: list[bytes] = []
    placed: list[Placed] = []
    line = at = 0
    for hunk in sorted(hunks, key=lambda h: stated[h.number]):
        if not _is_plain(hunk):
            return None
        block = b"\n".join(hunk.old) + b"\n"
        start = _find(data, block, at, stated[hunk.number] - line)
        end = start + len(block)
        if start < 0 or not _is_whole(hunk, start, end, len(data)):
            return None
        new = hunk.new
        parts += (data[at:start], b"\n".join(new) + b"\n" if new else b"")
        at, line = end, stated[hunk.number] + len(hunk.marks) - hunk.marks.count(ADD)
        placed.append(Placed(hunk, Spot(stated[hunk.number]), believed=True))
    parts.append(data[at:])
    return b"".join(parts), tuple(sorted(placed, key=lambda one: one.hunk.number))


def _is_plain(hunk: Hunk) -> bool:
    """Nothing in the hunk is out of the ordinary, and there is something to recognise it by."""
    if hunk.old_unended or hunk.new_unended or BARE in hunk.marks:
        return False
    return hunk.marks.count(ADD) < len(hunk.marks) and not any(placeholders(hunk, only_dots=False))


def _find(data: bytes, block: bytes, at: int, lines: int) -> int:
    """Where the block stands so many lines after `at`, or -1."""
    while True:
        start = data.find(block, at)
        if start < 0:
            return -1
        lines -= data.count(b"\n", at, start)
        begins = start == 0 or data[start - 1] == _NEWLINE
        if lines <= 0:
            return start if begins and not lines else -1
        at = start + 1
        lines -= block[0] == _NEWLINE


def _is_whole(hunk: Hunk, start: int, end: int, size: int) -> bool:
    """Lines added at an edge of the hunk are at the same edge of the file."""
    return (hunk.marks[0] != ADD or start == 0) and (hunk.marks[-1] != ADD or end == size)
