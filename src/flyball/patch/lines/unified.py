"""Writing the difference between two files as a git-style unified diff."""

from __future__ import annotations

from collections.abc import Sequence

from flyball.patch.lines.compare import LineRun, compare, keep_ends

_CONTEXT = 3
_NO_NEWLINE = b"\\ No newline at end of file\n"
_ABSENT, _EMPTY = "0000000..e69de29\n", "e69de29..0000000\n"
"""How git tells an empty file that appears, or goes, from one whose hunks were lost."""
_ESCAPES = {34: '\\"', 92: "\\\\", 9: "\\t", 10: "\\n"}
_PLAIN = frozenset(range(32, 127)) - frozenset(b'"\\')


def unified_diff(path: str, before: bytes | None, after: bytes | None) -> str:
    """The diff from one content to the other; None stands for "no such file"."""
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
    """A name as git writes it: quoted when it has unusual bytes."""
    raw = f"{side}/{path}".encode("utf-8", "surrogateescape")
    if all(byte in _PLAIN for byte in raw):
        return f"{side}/{path}"
    quoted = "".join(_ESCAPES.get(b) or (chr(b) if b in _PLAIN else f"\\{b:03o}") for b in raw)
    return f'"{quoted}"'


def _groups(runs: Sequence[LineRun]) -> list[list[LineRun]]:
    """Runs whose context lines would touch go into one hunk."""
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
