"""`list`: the files of a directory, or those that match a pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

import msgspec

from flyball.errors import NotFound, ToolError
from flyball.terms.glob import matches
from flyball.tools.call.facts import DEPENDENCY, path_fact
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Text, Tool, bounded
from flyball.tools.call.ripgrep import files_below
from flyball.tools.dependencies.find import located, overview
from flyball.workspace.files.paths import PathKind


class ListForm(Form, frozen=True, kw_only=True):
    """Where to search, what to search for, and how many directories deep."""

    path: Text = "."
    pattern: Text = ""
    depth: Annotated[int, msgspec.Meta(ge=1, le=100)] | None = None
    max: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 500


def facts(form: ListForm, context: CallContext) -> CallFacts:
    return CallFacts(paths=(path_fact(form.path, context, write=False),))


async def perform(form: ListForm, context: CallContext) -> Result:
    if form.path == DEPENDENCY:
        return overview(context, form.max)
    place = located(form.path, context)
    top = place.root.resolve(place.path)
    kind = place.root.fact(place.path, write=False).kind
    if kind is PathKind.MISSING:
        raise NotFound("directory", form.path, "List `.` to see what is there.")
    if kind is not PathKind.DIR:
        raise ToolError(f"{form.path} is not a directory.", "Use `read` on a file.")
    paths = files_below(place, top, *place.words)
    if form.pattern:
        paths = [path for path in paths if _is_meant(path, top, form.pattern)]
    shown = [f"{place.prefix}{line}" for line in _shown(paths, top, form)]
    text, cut = bounded("\n".join(shown[: form.max]), context.settings.max_text, NARROW)
    left = len(shown) - form.max
    more = f"\n[{left} more lines. {NARROW}]" if left > 0 else ""
    matching = f" matching {form.pattern}" if form.pattern else ""
    head = f"{len(paths)} files{matching} in {form.path}{place.note}"
    return Result(True, f"{head}\n{text}{more}".rstrip(), {"count": len(paths)}, cut=cut)


NARROW = "Narrow it with `path`, `pattern` or `depth`."


def _is_meant(path: str, top: str, pattern: str) -> bool:
    """Return whether a pattern matches a path, its part below the directory, or its name."""
    below = path.removeprefix(f"{top}/")
    return any(matches(name, (pattern,)) for name in (path, below, path.rpartition("/")[2]))


def _shown(paths: Sequence[str], top: str, form: ListForm) -> list[str]:
    """Return every path, or directories with file counts if there are too many."""
    if form.depth is not None:
        return _collapsed(paths, top, form.depth)
    if len(paths) <= form.max or form.pattern:
        return list(paths)
    depths = (_collapsed(paths, top, depth) for depth in range(8, 0, -1))
    return next((lines for lines in depths if len(lines) <= form.max), _collapsed(paths, top, 1))


def _collapsed(paths: Sequence[str], top: str, depth: int) -> list[str]:
    above = 0 if top == "." else top.count("/") + 1
    found: Counter[str] = Counter()
    for path in paths:
        parts = path.split("/")
        deep = len(parts) > above + depth
        found["/".join(parts[: above + depth]) + "/" if deep else path] += 1
    return [f"{path} ({n} files)" if path.endswith("/") else path for path, n in found.items()]


LIST = Tool(
    "list",
    "List the files below a directory. `pattern` is a glob on path or name.",
    ListForm,
    facts,
    perform,
    example={"path": "src", "pattern": "*cart*"},
)
