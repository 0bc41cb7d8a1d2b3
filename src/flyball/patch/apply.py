"""Find the place of every hunk of a file, and make its edits in memory."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flyball.patch.hunk import ADD, BARE, CUT, Hunk, placeholders
from flyball.patch.keep import WORD
from flyball.patch.locate import (
    HunkPlaces,
    MatchLevel,
    Miss,
    Spot,
    choose,
    confirm,
    locate,
    suspicion,
)
from flyball.patch.result import Code
from flyball.patch.text import Text


class Placed(NamedTuple):
    """A hunk and its place."""

    hunk: Hunk
    spot: Spot
    believed: bool


class Expected(NamedTuple):
    """The expected position of a hunk by its numbers, and the permitted distance from it."""

    stated: int | None
    max_offset: int


def place_hunks(
    text: Text, hunks: Sequence[Hunk], *, fuzz: int, max_offset: int, in_order: bool
) -> tuple[list[Placed], list[tuple[Hunk, Miss]]]:
    """Locate all hunks, each near the place given by its numbers and the drift before it."""
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
    """Place hunks whose text occurs several times, if the diff leaves only one choice."""
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
    """Return the order of the hunks from the top of the file, if it is unambiguous."""
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
    """Return whether numbers are placeholders: the first line, or one beyond the end of the
    file."""
    return hunk.span is None or not 1 < hunk.span.old_start <= len(text.lines)


def believed_places(hunks: Iterable[Hunk]) -> dict[int, int]:
    """Return the stated place of each hunk whose header is consistent with its body and
    neighbours."""
    found: dict[int, int] = {}
    shift = 0
    spans = [(h.span, h) for h in hunks if h.span is not None]
    for span, hunk in sorted(spans, key=lambda pair: pair[0].old_index):
        if hunk.agrees and span.new_index == span.old_index + shift:
            found[hunk.number] = span.old_index
        shift += hunk.marks.count(ADD) - hunk.marks.count(CUT)
    return found


_NEWLINE = b"\n"[0]


class LineEdit(NamedTuple):
    """Replacement of the lines `at:end` of a file."""

    at: int
    end: int
    hunk: int
    lines: list[bytes]


class Applied(NamedTuple):
    """A file's new content, the hunks that made it, and those that did not fit."""

    data: bytes
    placed: tuple[Placed, ...] = ()
    missed: tuple[tuple[Hunk, Miss], ...] = ()
    edits: tuple[LineEdit, ...] = ()


def apply_hunks(
    data: bytes, hunks: Sequence[Hunk], *, fuzz: int, max_offset: int, in_order: bool = True
) -> Applied:
    """Find every hunk's place in the current file, then make all the edits at once."""
    # Most diffs are exactly right, and files may be large: those are done without splitting the
    # file.
    if plain := _apply_exactly(data, hunks):
        return plain
    text = Text(data)
    placed, missed = place_hunks(text, hunks, fuzz=fuzz, max_offset=max_offset, in_order=in_order)
    edits: list[LineEdit] = []
    faithful = is_faithful(text, placed)
    for one in placed:
        edits += edits_of(text, one, faithful=faithful)
    clashing = find_overlaps(placed, edits)
    if clashing:
        missed += [(p.hunk, clashing[p.hunk.number]) for p in placed if p.hunk.number in clashing]
        placed = [p for p in placed if p.hunk.number not in clashing]
        edits = [e for e in edits if e.hunk not in clashing]
    edits.sort()
    return Applied(
        compose(text, edits, placed),
        tuple(sorted(placed, key=lambda p: p.hunk.number)),
        tuple(sorted(missed, key=lambda m: m[0].number)),
        tuple(edits),
    )


def _apply_exactly(data: bytes, hunks: Sequence[Hunk]) -> Applied | None:
    """Apply the common case, in which every hunk is exactly at its numbers; return None
    otherwise."""
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
    return Applied(b"".join(parts), tuple(sorted(placed, key=lambda one: one.hunk.number)))


def _is_plain(hunk: Hunk) -> bool:
    """Return whether nothing in the hunk is unusual, and its text is long enough to be
    recognised."""
    if hunk.old_unended or hunk.new_unended or BARE in hunk.marks:
        return False
    return hunk.marks.count(ADD) < len(hunk.marks) and not any(placeholders(hunk, only_dots=False))


def _find(data: bytes, block: bytes, at: int, lines: int) -> int:
    """Return where the block occurs, starting so many lines after `at`, or -1."""
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
    """Return whether lines added at an edge of the hunk are at the same edge of the file."""
    return (hunk.marks[0] != ADD or start == 0) and (hunk.marks[-1] != ADD or end == size)


def edits_of(text: Text, one: Placed, *, faithful: bool) -> list[LineEdit]:
    """Return the edits of one hunk; context keeps the file's own bytes."""
    hunk, spot = one.hunk, one.spot
    # The hunk's own first line, also where fuzz left some of its context out of the search.
    at = spot.at - spot.lead
    edits: list[LineEdit] = []
    start, lines = -1, list[bytes]()
    for mark, line in zip(hunk.marks, hunk.texts, strict=True):
        if mark in (ADD, CUT):
            if start < 0:
                start, lines = at, []
            if mark == CUT:
                at += 1
            else:
                lines.append(line)
            continue
        if start >= 0:
            edits.append(LineEdit(start, at, hunk.number, lines))
            start = -1
        at += 1
    if start >= 0:
        edits.append(LineEdit(start, at, hunk.number, lines))
    return edits if faithful else [_with_ending(text, edit, hunk) for edit in edits]


def is_faithful(text: Text, placed: Sequence[Placed]) -> bool:
    """Return whether the diff kept its original line endings, so that those of added lines
    count."""
    if any(one.spot.level is not MatchLevel.EXACT for one in placed):
        return False
    return (
        all(one.believed for one in placed)
        or not any(line.endswith(b"\r") for one in placed for line in one.hunk.texts)
        or text.is_mixed
        or any(_changes_endings(one.hunk) for one in placed)
    )


def _changes_endings(hunk: Hunk) -> bool:
    """Return whether a line is removed and added again with another line ending."""
    marked = list(zip(hunk.marks, hunk.texts, strict=True))
    cut = {line for mark, line in marked if mark == CUT}
    turned = (
        line.removesuffix(b"\r") if line.endswith(b"\r") else line + b"\r"
        for mark, line in marked
        if mark == ADD
    )
    return any(line in cut for line in turned)


def _with_ending(text: Text, edit: LineEdit, hunk: Hunk) -> LineEdit:
    """Return added lines with the line ending that the file uses around them."""
    ending = b"\r" if _is_crlf_near(text, edit) else b""
    lines = [line.removesuffix(b"\r") + ending for line in edit.lines]
    if lines and edit.end == len(text.lines) and not _leaves_ended(text, hunk):
        lines[-1] = lines[-1].removesuffix(b"\r")
    return edit._replace(lines=lines)


def _is_crlf_near(text: Text, edit: LineEdit) -> bool:
    last = len(text.lines) - (0 if text.ended else 1)
    for index in (edit.at, edit.at - 1, edit.end):
        if 0 <= index < last:
            return text.lines[index].endswith(b"\r")
    return text.is_crlf


def find_overlaps(placed: Sequence[Placed], edits: Iterable[LineEdit]) -> dict[int, Miss]:
    """Return hunks that change lines which another hunk changes or relies on."""
    ranges = {p.hunk.number: _context_range(p) for p in placed}
    same_text = {p.hunk.number: (p.hunk.marks, p.hunk.texts) for p in placed}
    clashing: dict[int, Miss] = {}
    before: LineEdit | None = None
    for edit in sorted(edits):
        if before is not None and edit.hunk != before.hunk:
            same_point = edit.at == edit.end == before.at == before.end
            at, end = ranges[edit.hunk]
            before_at, before_end = ranges[before.hunk]
            if (
                edit.at < before.end
                or same_point
                or _is_inside(edit, before_at, before_end)
                or _is_inside(before, at, end)
            ):
                # The later one: whoever wrote the diff repeats or contradicts what is above.
                blamed = max(edit.hunk, before.hunk)
                is_same = same_text[edit.hunk] == same_text[before.hunk]
                other = (min(edit.hunk, before.hunk),)
                clashing[blamed] = Miss(Code.OVERLAP, other, what=b"same" if is_same else b"")
        if before is None or edit.end >= before.end:
            before = edit
    return clashing


def _context_range(one: Placed) -> tuple[int, int]:
    olds = len(one.hunk.marks) - one.hunk.marks.count(ADD)
    return one.spot.at, one.spot.at + olds - one.spot.lead - one.spot.trail


def _is_inside(edit: LineEdit, at: int, end: int) -> bool:
    if edit.at == edit.end:
        return at < edit.at < end
    return edit.at < end and at < edit.end


def compose(text: Text, edits: Sequence[LineEdit], placed: Sequence[Placed]) -> bytes:
    """Return the file with all edits made; whether it ends in a newline is preserved."""
    if not edits:
        return b"\n".join(text.lines) + (b"\n" if text.ended and text.lines else b"")
    lines: list[bytes] = []
    at = 0
    for edit in edits:
        lines += text.lines[at : edit.at]
        lines += edit.lines
        at = edit.end
    lines += text.lines[at:]
    if not lines:
        return b""
    last = edits[-1]
    ended = text.ended
    if last.end == len(text.lines):
        ended = _leaves_ended(text, next(p.hunk for p in placed if p.hunk.number == last.hunk))
    if not text.ended and last.at == len(text.lines) and text.is_crlf:
        joint = len(lines) - len(last.lines) - 1
        lines[joint] = lines[joint].removesuffix(b"\r") + b"\r"
    return b"\n".join(lines) + (b"\n" if ended else b"")


def _leaves_ended(text: Text, hunk: Hunk) -> bool:
    """Return whether a hunk at the end of the file leaves a newline after its last line."""
    return not hunk.new_unended and (hunk.old_unended or text.ended)
