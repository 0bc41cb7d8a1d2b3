"""`git_log`: show recent changes, read from the repository without trusting it."""

from __future__ import annotations

from typing import Annotated

import msgspec

from flyball.errors import ToolUnavailable
from flyball.tools.call.facts import path_fact
from flyball.tools.call.protocol import CallContext, CallFacts, Form, Result, Text, Tool, bounded


class LogForm(Form, frozen=True, kw_only=True):
    """How many commits to show, and of which path."""

    max: Annotated[int, msgspec.Meta(ge=1, le=500)] = 20
    path: Text = ""
    patch: bool = False


def facts(form: LogForm, context: CallContext) -> CallFacts:
    return CallFacts(paths=(path_fact(form.path, context, write=False),) if form.path else ())


async def perform(form: LogForm, context: CallContext) -> Result:
    branch = context.workspace.branch
    if branch is None:
        raise ToolUnavailable("This project is not in git, so it has no history.")
    start = branch.tip() or context.workspace.facts.base_commit
    shape = "--format=%h %ad %an: %s"
    detail = ["--patch", "--no-ext-diff", "--no-textconv"] if form.patch else ["--stat=100"]
    where = ["--", context.root.resolve(form.path)] if form.path else []
    output = branch.depot.call(
        "log", f"--max-count={form.max}", "--date=short", shape, *detail, start, *where
    )
    see = "Ask for fewer with `max`, or name a `path`."
    whole = output.stdout.decode("utf-8", "replace").rstrip()
    text, cut = bounded(whole, context.settings.max_text, see)
    return Result(True, text or "No commits.", cut=cut)


GIT_LOG = Tool(
    "git_log",
    "Show the last commits; `patch` adds their diffs.",
    LogForm,
    facts,
    perform,
    example={"max": 5, "path": "docs/prices.md"},
)
