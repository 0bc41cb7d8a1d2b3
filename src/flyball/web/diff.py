"""Convert a unified diff to rows for a page: parsed and highlighted here, displayed there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename  # pyright: ignore[reportUnknownVariableType]
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

from flyball.app.board.account import ReplayData
from flyball.regex import regex

MOST_ROWS = 600
"""Files with more rows are collapsed until requested."""
MOST_LEXED = 200_000
LONGEST_LINE = 5_000
HUNK = regex(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")

Token = tuple[str, str]
"""A Pygments class, and text."""


class DiffRow(msgspec.Struct, frozen=True, array_like=True):
    """A line: its kind, its number before and after (0 if none), and its tokens."""

    kind: str
    old: int
    new: int
    tokens: tuple[Token, ...]


class DiffHunk(msgspec.Struct, frozen=True):
    """Consecutive lines, and their heading."""

    head: str
    rows: tuple[DiffRow, ...]


class DiffFile(msgspec.Struct, frozen=True):
    """One changed file; `omitted` says that its rows were left out because there are too many."""

    path: str
    was: str
    kind: str
    added: int
    removed: int
    hunks: tuple[DiffHunk, ...] = ()
    is_binary: bool = False
    omitted: bool = False


class DiffView(msgspec.Struct, frozen=True):
    """A whole change, file by file."""

    files: tuple[DiffFile, ...]
    added: int
    removed: int


class SceneView(msgspec.Struct, frozen=True):
    """The change right after an event."""

    seq: int
    view: DiffView


class ReplayView(msgspec.Struct, frozen=True):
    """The time of each event, and the size of the change at each."""

    times: tuple[float, ...]
    scenes: tuple[SceneView, ...]


def view_replay(replay: ReplayData) -> ReplayView:
    """Return a replay with its diffs as rows; long files stay collapsed."""
    scenes = tuple(SceneView(each.seq, view_diff(each.diff)) for each in replay.scenes)
    return ReplayView(tuple(replay.times), scenes)


def view_diff(text: str, full: str = "") -> DiffView:
    """Return the rows of a diff; a long file's only if it is named in `full`, or `full` is `*`."""
    files = tuple(_file(part, full) for part in _parts(text))
    return DiffView(files, sum(f.added for f in files), sum(f.removed for f in files))


def _parts(text: str) -> Iterator[list[str]]:
    """Yield the lines of each file's part."""
    part: list[str] = []
    for line in text.split("\n"):
        if line.startswith("diff --git ") and part:
            yield part
            part = []
        if part or line.startswith("diff --git "):
            part.append(line)
    if part:
        yield part


def _file(part: Sequence[str], full: str) -> DiffFile:
    at = next((n for n, line in enumerate(part) if line.startswith("@@ ")), len(part))
    head, body = part[:at], part[at:]
    was, path = _names(head)
    kind = "modified"
    for line in head:
        if line.startswith("new file"):
            kind = "added"
        elif line.startswith("deleted file"):
            kind = "deleted"
        elif line.startswith("rename from"):
            kind = "renamed"
    added = sum(line.startswith("+") for line in body)
    removed = sum(line.startswith("-") for line in body)
    is_binary = any(line.startswith(("Binary files", "GIT binary")) for line in head)
    shown = path or was
    if len(body) > MOST_ROWS and full not in ("*", shown):
        return DiffFile(shown, was, kind, added, removed, (), is_binary, omitted=True)
    return DiffFile(shown, was, kind, added, removed, tuple(_hunks(body, shown)), is_binary)


def _names(head: Sequence[str]) -> tuple[str, str]:
    """Return the file's name before and after."""
    was = now = ""
    for line in head:
        if line.startswith("--- "):
            was = _name(line[4:])
        elif line.startswith("+++ "):
            now = _name(line[4:])
    if was or now:
        return was, now
    # Without a hunk only the first line has the names, and both are the same.
    both = head[0].removeprefix("diff --git ")
    half = both[: len(both) // 2].strip()
    return _name(half), _name(both[len(both) // 2 :].strip())


def _name(text: str) -> str:
    text = text.removesuffix("\t")
    if text.startswith('"') and text.endswith('"'):
        raw = text[1:-1].encode("latin-1", "replace").decode("unicode_escape")
        text = raw.encode("latin-1", "replace").decode("utf-8", "replace")
    return "" if text == "/dev/null" else text[2:] if text[:2] in ("a/", "b/") else text


def _hunks(body: Sequence[str], path: str) -> Iterator[DiffHunk]:
    starts = [n for n, line in enumerate(body) if HUNK.match(line)]
    lexer = _lexer(path) if sum(map(len, body)) <= MOST_LEXED else None
    for start, end in zip(starts, [*starts[1:], len(body)], strict=True):
        found = HUNK.match(body[start])
        assert found is not None
        lines = [line for line in body[start + 1 : end] if line[:1] in (" ", "+", "-", "\\")]
        yield DiffHunk(body[start], _rows(lines, int(found[1]), int(found[3]), lexer))


def _rows(lines: Sequence[str], old: int, new: int, lexer: Lexer | None) -> tuple[DiffRow, ...]:
    before = iter(_lexed([line[1:] for line in lines if line[0] in " -"], lexer))
    after = iter(_lexed([line[1:] for line in lines if line[0] in " +"], lexer))
    rows: list[DiffRow] = []
    for line in lines:
        if line[0] == "\\":
            rows.append(DiffRow("\\", 0, 0, (("", line[2:]),)))
        elif line[0] == "-":
            rows.append(DiffRow("-", old, 0, next(before)))
            old += 1
        elif line[0] == "+":
            rows.append(DiffRow("+", 0, new, next(after)))
            new += 1
        else:
            next(before)
            rows.append(DiffRow(" ", old, new, next(after)))
            old, new = old + 1, new + 1
    return tuple(rows)


def _lexer(path: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(path, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _lexed(lines: Sequence[str], lexer: Lexer | None) -> list[tuple[Token, ...]]:
    """Return the tokens of each line; joined, they are exactly the line."""
    lines = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} […]" for line in lines]
    plain = [(("", line),) for line in lines]
    if lexer is None or not lines:
        return plain
    found: list[list[Token]] = [[]]
    for kind, value in lexer.get_tokens("\n".join(lines)):
        name = STANDARD_TYPES.get(kind, "")
        for n, piece in enumerate(value.split("\n")):
            if n:
                found.append([])
            if piece:
                found[-1].append((name, piece))
    # A lexer may change the text (tabs, line endings); colours are not worth a wrong line.
    if ["".join(text for _, text in line) for line in found] != lines:
        return plain
    return [tuple(line) for line in found]
