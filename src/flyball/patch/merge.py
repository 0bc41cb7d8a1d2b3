"""Merge whole files three-way, line by line."""

from __future__ import annotations

from typing import NamedTuple

from flyball.patch.compare import LineRun, compare, keep_ends


class LineClash(NamedTuple):
    """Lines of the base, counted from 1, that both sides changed in different ways."""

    first: int
    last: int
    ours: bytes
    theirs: bytes


class MergedText(NamedTuple):
    """The merged content, or the places where the two sides disagree."""

    data: bytes
    clashes: tuple[LineClash, ...] = ()

    @property
    def ok(self) -> bool:
        """Return whether the two sides could be merged."""
        return not self.clashes


class _Side(NamedTuple):
    lines: list[bytes]
    runs: list[LineRun]


class _Region(NamedTuple):
    """A range of the base that at least one side changed."""

    at: int
    end: int
    ours: list[LineRun]
    theirs: list[LineRun]


def merge3(base: bytes, ours: bytes, theirs: bytes) -> MergedText:
    """Merge both sides' changes to the base; on a conflict the data is ours."""
    if base == ours or ours == theirs:
        return MergedText(theirs)
    if base == theirs:
        return MergedText(ours)
    old, mine, yours = keep_ends(base), keep_ends(ours), keep_ends(theirs)
    left, right = _Side(mine, compare(old, mine)), _Side(yours, compare(old, yours))
    parts: list[bytes] = []
    clashes: list[LineClash] = []
    at = 0
    for region in _regions(left.runs, right.runs):
        parts += old[at : region.at]
        at = region.end
        my_text = _rewrite_region(old, region, region.ours, left.lines)
        your_text = _rewrite_region(old, region, region.theirs, right.lines)
        if not region.theirs or my_text == your_text:
            parts.append(my_text)
        elif not region.ours:
            parts.append(your_text)
        else:
            clashes.append(
                LineClash(region.at + 1, max(region.end, region.at + 1), my_text, your_text)
            )
    if clashes:
        return MergedText(ours, tuple(clashes))
    return MergedText(b"".join([*parts, *old[at:]]))


def _regions(ours: list[LineRun], theirs: list[LineRun]) -> list[_Region]:
    """Return the changes of both sides in order; those that overlap or touch form one region."""
    regions: list[_Region] = []
    for run, is_ours in sorted([(r, True) for r in ours] + [(r, False) for r in theirs]):
        # Changes that touch are one region: two insertions at one place have no order that is
        # surely right.
        if not regions or run.old_at > regions[-1].end:
            regions.append(_Region(run.old_at, run.old_end, [], []))
        else:
            regions[-1] = regions[-1]._replace(end=max(regions[-1].end, run.old_end))
        (regions[-1].ours if is_ours else regions[-1].theirs).append(run)
    return regions


def _rewrite_region(
    old: list[bytes], region: _Region, runs: list[LineRun], lines: list[bytes]
) -> bytes:
    """Return one side's text for a region."""
    parts: list[bytes] = []
    at = region.at
    for run in runs:
        parts += old[at : run.old_at]
        parts += lines[run.new_at : run.new_end]
        at = run.old_end
    return b"".join([*parts, *old[at : region.end]])
