"""Compare files: find which runs of lines replace which, and write that as a unified diff."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

_CONTEXT = 3
_NO_NEWLINE = b"\\ No newline at end of file\n"
_ABSENT, _EMPTY = "0000000..e69de29\n", "e69de29..0000000\n"
"""How git distinguishes an empty file that appears, or goes, from one whose hunks were lost."""
_ESCAPES = {34: '\\"', 92: "\\\\", 9: "\\t", 10: "\\n"}
_PLAIN = frozenset(range(32, 127)) - frozenset(b'"\\')


def unified_diff(path: str, before: bytes | None, after: bytes | None) -> str:
    """Return the diff from one content to the other; None means "no such file"."""
    if before == after:
        return ""
    header = _header(path, created=before is None, deleted=after is None)
    if b"\0" in (before or b"") or b"\0" in (after or b""):
        return header + f"Binary files {_name('a', path)} and {_name('b', path)} differ\n"
    old, new = keep_ends(before or b""), keep_ends(after or b"")
    if not old and not new:
        return header + f"index {_EMPTY if after is None else _ABSENT}"
    runs = compare(old, new)
    names = f"--- {'/dev/null' if before is None else _name('a', path)}\n"
    names += f"+++ {'/dev/null' if after is None else _name('b', path)}\n"
    hunks = b"".join(_hunk(old, new, group) for group in _groups(runs))
    return header + names + hunks.decode("utf-8", "surrogateescape")


def _header(path: str, *, created: bool, deleted: bool) -> str:
    header = f"diff --git {_name('a', path)} {_name('b', path)}\n"
    if created:
        header += "new file mode 100644\n"
    if deleted:
        header += "deleted file mode 100644\n"
    return header


def _name(side: str, path: str) -> str:
    """Return a name as git writes it: quoted if it has unusual bytes."""
    raw = f"{side}/{path}".encode("utf-8", "surrogateescape")
    if all(byte in _PLAIN for byte in raw):
        return f"{side}/{path}"
    quoted = "".join(_ESCAPES.get(b) or (chr(b) if b in _PLAIN else f"\\{b:03o}") for b in raw)
    return f'"{quoted}"'


def _groups(runs: Sequence[LineRun]) -> list[list[LineRun]]:
    """Group runs into hunks: those whose context lines would touch share one."""
    groups: list[list[LineRun]] = []
    for run in runs:
        if groups and run.old_at - groups[-1][-1].old_end <= 2 * _CONTEXT:
            groups[-1].append(run)
        else:
            groups.append([run])
    return groups


def _hunk(old: Sequence[bytes], new: Sequence[bytes], runs: Sequence[LineRun]) -> bytes:
    first, last = runs[0], runs[-1]
    lead = min(_CONTEXT, first.old_at)
    trail = min(_CONTEXT, len(old) - last.old_end)
    at, new_at = first.old_at - lead, first.new_at - lead
    end, new_end = last.old_end + trail, last.new_end + trail
    parts = [f"@@ -{_span(at, end)} +{_span(new_at, new_end)} @@\n".encode()]
    for run in runs:
        parts += [_line(b" ", line) for line in old[at : run.old_at]]
        parts += [_line(b"-", line) for line in old[run.old_at : run.old_end]]
        parts += [_line(b"+", line) for line in new[run.new_at : run.new_end]]
        at = run.old_end
    parts += [_line(b" ", line) for line in old[at:end]]
    return b"".join(parts)


def _span(start: int, end: int) -> str:
    size = end - start
    first = start + 1 if size else start
    return str(first) if size == 1 else f"{first},{size}"


def _line(mark: bytes, line: bytes) -> bytes:
    return mark + line if line.endswith(b"\n") else mark + line + b"\n" + _NO_NEWLINE


_CHAIN = 64
"""A line that occurs more often than this is no landmark."""
_EFFORT = 400
"""How many differing lines are aligned among such lines before a run counts as rewritten."""


_LARGE = 2000
"""Beyond so many lines a run is first split at the lines that occur once on either side."""


class LineRun(NamedTuple):
    """A run of lines: `old_at:old_end` became `new_at:new_end`."""

    old_at: int
    old_end: int
    new_at: int
    new_end: int


def keep_ends(data: bytes) -> list[bytes]:
    """Return the lines of a file, each with its newline."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def compare(old: Sequence[bytes], new: Sequence[bytes]) -> list[LineRun]:
    """Return the runs that differ, in order, each moved down as far as possible."""
    names: dict[bytes, int] = {}
    a = [names.setdefault(line, len(names)) for line in old]
    b = [names.setdefault(line, len(names)) for line in new]
    return _slide(_join(_find_differing(a, b)), a, b)


def _find_differing(a: list[int], b: list[int]) -> list[LineRun]:
    """Split at the rarest, then longest, common run, and again on both sides of it."""
    found: list[LineRun] = []
    todo = [LineRun(0, len(a), 0, len(b))]
    while todo:
        run = _trim(a, b, todo.pop())
        if run.old_at == run.old_end or run.new_at == run.new_end:
            if run.old_at < run.old_end or run.new_at < run.new_end:
                found.append(run)
            continue
        if run.old_end - run.old_at > _LARGE and (pairs := _pair_unique_lines(a, b, run)):
            todo += _runs_between(pairs, run)
            continue
        # The rarest common lines first, as git's histogram diff does: merges must agree with git's.
        anchor, crowded = _anchor(a, b, run)
        if anchor is None:
            found += _align(a, b, run) if crowded else [run]
            continue
        todo.append(LineRun(run.old_at, anchor.old_at, run.new_at, anchor.new_at))
        todo.append(LineRun(anchor.old_end, run.old_end, anchor.new_end, run.new_end))
    return sorted(found)


def _trim(a: list[int], b: list[int], run: LineRun) -> LineRun:
    """Leave out the common lines at both ends."""
    i, i_end, j, j_end = run
    while i < i_end and j < j_end and a[i] == b[j]:
        i, j = i + 1, j + 1
    while i < i_end and j < j_end and a[i_end - 1] == b[j_end - 1]:
        i_end, j_end = i_end - 1, j_end - 1
    return LineRun(i, i_end, j, j_end)


def _pair_unique_lines(a: list[int], b: list[int], run: LineRun) -> list[tuple[int, int]]:
    """Return the longest sequence of lines in the same order that are unique in old and new."""
    here = _places(a, run.old_at, run.old_end)
    there = _places(b, run.new_at, run.new_end)
    pairs = [(spots[0], there[name][0]) for name, spots in here.items()
             if len(spots) == 1 and len(there.get(name, ())) == 1]  # fmt: skip
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        last[length : length + 1] = [index]
    row: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        row.append(pairs[index])
        index = before[index]
    return row[::-1]


def _runs_between(pairs: list[tuple[int, int]], run: LineRun) -> list[LineRun]:
    """Return the runs before, between and after paired lines."""
    starts = [(run.old_at, run.new_at), *((i + 1, j + 1) for i, j in pairs)]
    ends = [*pairs, (run.old_end, run.new_end)]
    return [
        LineRun(i, i_end, j, j_end) for (i, j), (i_end, j_end) in zip(starts, ends, strict=True)
    ]


def _places(lines: list[int], at: int, end: int) -> dict[int, list[int]]:
    places: dict[int, list[int]] = {}
    for index in range(at, end):
        places.setdefault(lines[index], []).append(index)
    return places


def _anchor(a: list[int], b: list[int], run: LineRun) -> tuple[LineRun | None, bool]:
    """Return the common run with the rarest line; also whether only frequent lines are in
    common."""
    places = _places(a, run.old_at, run.old_end)
    best: LineRun | None = None
    rarest, crowded = _CHAIN + 1, False
    j = run.new_at
    while j < run.new_end:
        step = j + 1
        spots = places.get(b[j], ())
        if len(spots) > _CHAIN:
            crowded = True
        elif len(spots) <= rarest:
            done = run.old_at
            for i in spots:
                if i < done:
                    continue
                common = _extend(a, b, run, i, j)
                rare = min(len(places[a[k]]) for k in range(common.old_at, common.old_end))
                longer = best is None or common.old_end - common.old_at > best.old_end - best.old_at
                if longer or rare < rarest:
                    best, rarest = common, rare
                done = common.old_end
                step = max(step, common.new_end)
        j = step
    return best, crowded


def _extend(a: list[int], b: list[int], run: LineRun, i: int, j: int) -> LineRun:
    """Return the whole common run around one common line."""
    i_end, j_end = i + 1, j + 1
    while i > run.old_at and j > run.new_at and a[i - 1] == b[j - 1]:
        i, j = i - 1, j - 1
    while i_end < run.old_end and j_end < run.new_end and a[i_end] == b[j_end]:
        i_end, j_end = i_end + 1, j_end + 1
    return LineRun(i, i_end, j, j_end)


def _align(a: list[int], b: list[int], run: LineRun) -> list[LineRun]:
    """Return the shortest edit between two runs of frequent lines; replace a long run as a
    whole."""
    old, new = a[run.old_at : run.old_end], b[run.new_at : run.new_end]
    reach, trail = {1: 0}, list[dict[int, int]]()
    for effort in range(min(_EFFORT, len(old) + len(new)) + 1):
        trail.append(dict(reach))
        for k in range(-effort, effort + 1, 2):
            down = k == -effort or (k != effort and reach[k - 1] < reach[k + 1])
            x = reach[k + 1] if down else reach[k - 1] + 1
            while x < len(old) and x - k < len(new) and old[x] == new[x - k]:
                x += 1
            reach[k] = x
            if x >= len(old) and x - k >= len(new):
                return _retrace(trail, run, len(old), len(new))
    return [run]


def _retrace(trail: list[dict[int, int]], run: LineRun, x: int, y: int) -> list[LineRun]:
    """Return the edits of a shortest path, read backwards from its end."""
    edits: list[LineRun] = []
    for effort in range(len(trail) - 1, 0, -1):
        reach, k = trail[effort], x - y
        down = k == -effort or (k != effort and reach[k - 1] < reach[k + 1])
        x = reach[k + 1] if down else reach[k - 1]
        y = x - (k + 1 if down else k - 1)
        i, j = run.old_at + x, run.new_at + y
        edits.append(LineRun(i, i, j, j + 1) if down else LineRun(i, i + 1, j, j))
    return edits[::-1]


def _join(runs: list[LineRun]) -> list[LineRun]:
    """Merge runs that touch."""
    joined: list[LineRun] = []
    for run in runs:
        if joined and joined[-1].old_end == run.old_at and joined[-1].new_end == run.new_at:
            joined[-1] = LineRun(joined[-1].old_at, run.old_end, joined[-1].new_at, run.new_end)
        else:
            joined.append(run)
    return joined


def _slide(runs: list[LineRun], a: list[int], b: list[int]) -> list[LineRun]:
    """Move pure additions and removals down past equal lines, joining adjacent ones."""
    slid: list[LineRun] = []
    for run in reversed(runs):
        limit = slid[-1].old_at if slid else len(a)
        i, i_end, j, j_end = run
        if i == i_end:
            while i_end < limit and b[j] == b[j_end]:
                i, i_end, j, j_end = i + 1, i_end + 1, j + 1, j_end + 1
        elif j == j_end:
            while i_end < limit and a[i] == a[i_end]:
                i, i_end, j, j_end = i + 1, i_end + 1, j + 1, j_end + 1
        slid.append(LineRun(i, i_end, j, j_end))
    return _join(slid[::-1])
