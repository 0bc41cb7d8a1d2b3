"""`list`: the files of a directory, or those that match a pattern."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Annotated

import msgspec

from flyball.tools.files import path_fact
from flyball.tools.protocol import Desk, Facts, Form, Result, Tool, bounded


class ListForm(Form, frozen=True, kw_only=True):
    """Where to look and what to look for."""

    path: str = "."
    pattern: str = ""
    max: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 500


def facts(form: ListForm, desk: Desk) -> Facts:
    return Facts(paths=(path_fact(form.path, desk, write=False),))


async def perform(form: ListForm, desk: Desk) -> Result:
    found: list[str] = []
    total = 0
    for path in desk.root.walk(form.path):
        if form.pattern and not _matches(path, form.pattern):
            continue
        total += 1
        if len(found) < form.max:
            found.append(path)
    text, cut = bounded("\n".join(found), desk.settings.max_text, "Narrow `path` or `pattern`.")
    more = (
        f"\n[{total - len(found)} more; narrow `path` or `pattern`]" if total > len(found) else ""
    )
    head = f"{total} files" + (f" matching {form.pattern}" if form.pattern else "")
    return Result(True, f"{head} in {form.path}\n{text}{more}", {"count": total}, cut=cut)


def _matches(path: str, pattern: str) -> bool:
    return fnmatch(path, pattern) or fnmatch(path.rpartition("/")[2], pattern)


LIST = Tool(
    "list",
    "List the files below a directory, ignored ones left out. `pattern` is a glob on the path or "
    "the file's name.",
    ListForm,
    facts,
    perform,
)
