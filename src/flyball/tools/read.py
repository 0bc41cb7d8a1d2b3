"""`read`: a file, or a part of it, with line numbers."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, NamedTuple

import msgspec

from flyball.errors import NotFound, ToolError
from flyball.tools.call.facts import decoded, path_fact, users_secrets_among
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Text, Tool
from flyball.tools.call.ripgrep import files_below
from flyball.tools.dependencies.find import located
from flyball.workspace.files.path_rules import holds_secrets
from flyball.workspace.files.paths import PathKind, Root

LINES = 2_000
MAX_BYTES = 20_000_000
LONGEST_LINE = 2_000
COMPARED = 20_000


class ReadForm(Form, frozen=True, kw_only=True):
    """A path, and the lines to show; a negative offset counts from the end."""

    path: Text
    offset: int = 1
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None
    head: Annotated[int, msgspec.Meta(ge=1)] | None = None
    tail: Annotated[int, msgspec.Meta(ge=1)] | None = None

    def __post_init__(self) -> None:
        given = (self.offset != 1 or self.limit is not None, self.head, self.tail)
        if sum(map(bool, given)) > 1:
            raise ValueError("give only one of `offset` and `limit`, `head`, or `tail`")
        if not self.offset:
            raise ValueError("`offset` is 0; lines count from 1, or from the end with -1")

    @property
    def first(self) -> int:
        return -self.tail if self.tail else self.offset

    @property
    def count(self) -> int:
        return self.limit or self.head or self.tail or LINES


class ShownLines(NamedTuple):
    """The lines that are shown, and the number of the first."""

    lines: list[str]
    at: int
    total: int


def facts(form: ReadForm, context: CallContext) -> CallFacts:
    return CallFacts(paths=(path_fact(form.path, context, write=False),))


async def perform(form: ReadForm, context: CallContext) -> Result:
    _refuse_secrets(form.path, context)
    place = _place(form.path, context)
    data = place.root.read_bytes(place.path, MAX_BYTES + 1)
    is_huge = len(data) > MAX_BYTES
    if is_huge and form.first < 0:
        raise ToolError(
            f"{form.path} is too large to be read from its end.", "Use `grep`, or read its start."
        )
    text = decoded(data[:MAX_BYTES])
    out: dict[str, object] = {"path": place.name}
    if text is None:
        size = f"more than {MAX_BYTES}" if is_huge else str(len(data))
        return Result(True, f"{form.path} is binary, {size} bytes.", {**out, "binary": True})
    part = _part(text, form)
    shown = _fitting(part, context.settings.max_text)
    body = "\n".join(f"{part.at + n + 1:>6}\t{line}" for n, line in enumerate(shown))
    end = part.at + len(shown)
    of = f"{part.total}{' or more' if is_huge else ''}"
    span = f"lines {part.at + 1} to {end} of {of}" if shown else f"{of} lines, none at {form.first}"
    ends = ", CRLF line ends" if b"\r\n" in data[:MAX_BYTES] else ""
    rest = part.total - end
    more = f"\n[{rest} more lines: read on with offset {end + 1}]" if rest > 0 and shown else ""
    cut = sum(map(len, part.lines[len(shown) :]))
    head = f"{form.path}{place.note}: {span}{ends}"
    return Result(True, f"{head}\n{body}{more}".rstrip(), {**out, "lines": part.total}, cut=cut)


def _refuse_secrets(path: str, context: CallContext) -> None:
    """Refuse to show a driver an uncommitted secret file."""
    fact = context.root.fact(path, write=False)
    names = (path, fact.path)
    if not fact.inside or not any(holds_secrets(n, context.settings.secrets) for n in names):
        return
    if users_secrets_among([fact.path], context):
        raise ToolError(
            f"{path} may contain the user's secrets, so it is not read.",
            "Ask them for what you need to know, or look for an example of it.",
        )


class _Place(NamedTuple):
    """The location of a file, its displayed path, and notes about it."""

    root: Root
    path: str
    name: str
    note: str = ""


def _place(path: str, context: CallContext) -> _Place:
    """Locate a file in the workspace, in an installed dependency, or among the run's artifacts."""
    found = located(path, context)
    fact = found.root.fact(found.path, write=False)
    if fact.kind is PathKind.DIR:
        raise ToolError(f"{path} is a directory.", "Use `list` to see what is in it.")
    if fact.kind is not PathKind.MISSING:
        return _Place(found.root, found.path, f"{found.prefix}{fact.path}", found.note)
    if found.note:
        raise NotFound("file", path, "List its directory to see what is there.")
    if fact.inside and fact.path.startswith(f".flyball/artifacts/{context.run}/"):
        return _Place(Root(context.artifacts.parents[3]), path, fact.path)
    raise NotFound("file", path, _near(path, context))


def _near(path: str, context: CallContext) -> str:
    """Return files that may have been meant: the same name elsewhere, or a similar one."""
    paths = files_below(context)[:COMPARED]
    name = path.rpartition("/")[2]
    same = [each for each in paths if each.rpartition("/")[2] == name]
    near = same or get_close_matches(path, paths, 3, 0.7)
    return f"Did you mean {', '.join(near[:3])}?" if near else "Use `list` to see what is there."


def _part(text: str, form: ReadForm) -> ShownLines:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    total = len(lines)
    at = max(total + form.first, 0) if form.first < 0 else form.first - 1
    return ShownLines([_short(line) for line in lines[at : at + form.count]], at, total)


def _short(line: str) -> str:
    line = line.removesuffix("\r")
    over = len(line) - LONGEST_LINE
    return f"{line[:LONGEST_LINE]} [… {over} more characters; use `grep`]" if over > 0 else line


def _fitting(part: ShownLines, limit: int) -> list[str]:
    """Return as many whole lines as fit in a result, at least one."""
    room = limit
    for n, line in enumerate(part.lines):
        room -= len(line) + 8
        if room < 0:
            return part.lines[: max(n, 1)]
    return part.lines


READ = Tool(
    "read",
    "Read a file with line numbers: `limit` lines from line `offset` on (negative: from the end). "
    "`dep:NAME/PATH` is the source of an installed dependency, also for `list` and `grep`.",
    ReadForm,
    facts,
    perform,
    example={"path": "docs/prices.md", "offset": 40, "limit": 60},
)
