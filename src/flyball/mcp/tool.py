"""The tools: each maps to one method of `Steps`, with arguments for an agent to fill in."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from pydantic import Field

from flyball.app.runs.description import describe
from flyball.app.runs.overview import overviews
from flyball.engine.telemetry import Telemetry
from flyball.hosts.steps.steps import Steps
from flyball.hosts.steps.turn import TurnWatcher
from flyball.hosts.steps.view import StepView, TurnView
from flyball.run.state import Checkpoint
from flyball.tools.conflict import ConflictForm

StepContext = Context[Steps, Any]

Run = Annotated[str, Field(description="The run's name from start_run; empty: your current run.")]
Card = Annotated[str, Field(description="The card; empty: the one whose step is pending.")]


@dataclass(frozen=True, kw_only=True)
class RunLine:
    """A run in the list of runs."""

    run: str
    status: str
    ending: str
    request: str
    calls_used: int
    calls_limit: int
    driven_by: str


@dataclass(frozen=True, kw_only=True)
class StatusView:
    """The runs of the project, and the named one in full."""

    runs: list[RunLine]
    detail: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RevertView:
    """The changes of a revert, and their location."""

    run: str
    card: str
    root: str
    files: list[str]
    kept_later_changes: list[str]


def steps_of(ctx: StepContext) -> Steps:
    """Return the steps of this server's project, for the client that asks."""
    steps, request = ctx.request_context.lifespan_context, ctx.request_context.request
    if request is None:
        return steps
    return steps.of_client_at(request.scope["client"], request.scope["server"])


async def start_run(
    ctx: StepContext,
    goal: Annotated[str, Field(description="The desired end state.")] = "",
    flow: Annotated[str, Field(description="A flow file of the project, by its path.")] = "",
    plan: Annotated[
        dict[str, Any] | None,
        Field(description="Your plan: {goal, steps: [{id, title, success_criteria: [text]}]}."),
    ] = None,
) -> StepView:
    """Start a governed run that you drive, in its own worktree.

    The goal decides what is allowed and how many calls it may take. Give a flow file to follow its
    steps, or your own plan. Returns the first step.
    """
    async with progress(ctx) as heard:
        return await steps_of(ctx).start(goal, flow, plan, heard)


async def next_step(ctx: StepContext, run: Run = "") -> StepView:
    """Get the current step: card, phase, what is allowed, what must be shown, and the calls left.

    Call it whenever you are not sure; it costs nothing.
    """
    async with progress(ctx) as heard:
        return await steps_of(ctx).next(run, heard)


async def status(
    ctx: StepContext,
    run: Annotated[str, Field(description="A run to show in full; empty: only the list.")] = "",
) -> StatusView:
    """Get the runs of this project, and all details of one of them. Changes nothing."""
    steps = steps_of(ctx)
    found = await overviews(steps.home)
    lines = [
        RunLine(
            run=each.run,
            status=each.status,
            ending=each.ending,
            request=each.request,
            calls_used=each.used,
            calls_limit=each.limit,
            driven_by=each.driven_by,
        )
        for each in found
    ]
    detail = await describe(steps.home, await steps.find(run)) if run else {}
    return StatusView(runs=lines, detail=detail)


async def read(
    ctx: StepContext,
    path: Annotated[str, Field(description="A file of the run's tree.")],
    offset: Annotated[int, Field(ge=0, description="The first line; 0: from the start.")] = 0,
    limit: Annotated[int, Field(ge=0, description="How many lines; 0: as many as fit.")] = 0,
    run: Run = "",
    card: Card = "",
) -> TurnView:
    """Read a file of the run's tree."""
    args = {"path": path, **_given(offset=offset, limit=limit)}
    return await steps_of(ctx).call(run, card, "read", args)


async def grep(
    ctx: StepContext,
    q: Annotated[str, Field(description="A regular expression.")],
    dir: Annotated[str, Field(description="Where to search; empty: everywhere.")] = "",
    globs: Annotated[list[str], Field(description="Only files that match one of these.")] = [],  # noqa: B006
    context: Annotated[int, Field(ge=0, description="Lines around each match.")] = 0,
    run: Run = "",
    card: Card = "",
) -> TurnView:
    """Search the files of the run's tree."""
    args = {"q": q, **_given(dir=dir, globs=globs, context=context)}
    return await steps_of(ctx).call(run, card, "grep", args)


async def checkpoint(
    ctx: StepContext,
    goal: Annotated[str, Field(description="The desired end state.")],
    findings: Annotated[str, Field(description="What you saw.")],
    proposed_action: Annotated[str, Field(description="What you will do.")],
    files: Annotated[list[str], Field(description="The files that you expect to change.")],
    verify_with: Annotated[
        list[str], Field(description="The tests that will show that it is done.")
    ],
    run: Run = "",
    card: Card = "",
) -> TurnView:
    """State what you found and what you will do; nothing can be changed before that.

    In a session governed by Flyball's hooks it counts for that session.
    """
    point = Checkpoint(goal, findings, proposed_action, tuple(files), tuple(verify_with))
    return await steps_of(ctx).checkpoint(run, card, point)


async def conflict(
    ctx: StepContext,
    says: Annotated[str, Field(description="A quote from one side.")],
    but: Annotated[str, Field(description="A quote from the other side.")],
    where: Annotated[
        str, Field(description="file:line of the first quote, or `request`; then the second's.")
    ],
    reproduce: Annotated[str, Field(description="A test command that fails because of it.")] = "",
    run: Run = "",
    card: Card = "",
) -> TurnView:
    """Report that the task cannot be done as asked; Flyball looks both quotes up, a person decides.

    It never counts against you. In a session governed by hooks it counts for that session.
    """
    form = ConflictForm(says=says, but=but, where=where, reproduce=reproduce)
    return await steps_of(ctx).conflict(run, card, form)


async def edit_diff(
    ctx: StepContext,
    diff: Annotated[str, Field(description="A unified diff; new files are from /dev/null.")],
    run: Run = "",
    card: Card = "",
) -> TurnView:
    """Change files of the run's tree with a unified diff: all of it, or nothing with the reason."""
    return await steps_of(ctx).call(run, card, "edit_diff", {"diff": diff})


async def test(
    ctx: StepContext,
    runner: Annotated[str, Field(description="Which runner; empty: the project's own.")] = "",
    args: Annotated[list[str], Field(description="Paths or names of tests; empty: all.")] = [],  # noqa: B006
    run: Run = "",
    card: Card = "",
) -> TurnView:
    """Run the project's tests on the run's tree, confined; the counts are Flyball's own."""
    given = _given(runner=runner, args=args)
    async with progress(ctx) as heard:
        return await steps_of(ctx).call(run, card, "test", given, heard)


async def submit_evidence(
    ctx: StepContext,
    summary: Annotated[str, Field(description="What was done, in words.")] = "",
    evidence: Annotated[
        dict[str, Any] | None, Field(description="The fields that next_step asks for.")
    ] = None,
    run: Run = "",
    card: Card = "",
) -> TurnView:
    """Report that the step is done, with the evidence it asks for.

    Flyball checks it: it runs the suite itself on clean checkouts of both trees and evaluates each
    gate. False claims are sent back with the reason, and `ok` is false.
    """
    async with progress(ctx) as heard:
        return await steps_of(ctx).submit(run, card, summary, evidence, heard)


async def revert(
    ctx: StepContext,
    card: Annotated[str, Field(description="The card to revert.")],
    paths: Annotated[list[str], Field(description="Only these files; empty: all of it.")] = [],  # noqa: B006
    run: Run = "",
) -> RevertView:
    """Revert the work of a card exactly; later work in the same lines is never lost."""
    steps = steps_of(ctx)
    name = await steps.find(run)
    moved, root = await steps.revert(name, card, tuple(paths))
    return RevertView(
        run=name,
        card=card,
        root=os.fspath(root),
        files=[change.path for change in moved.writes],
        kept_later_changes=list(moved.drifted),
    )


def _given(**fields: Any) -> dict[str, Any]:
    """Return the arguments that are set."""
    return {name: value for name, value in fields.items() if value}


EVERY = 0.5
"""Seconds between two progress reports."""
LONGEST = 200


@asynccontextmanager
async def progress(ctx: Context[Any, Any]) -> AsyncGenerator[TurnWatcher]:
    """Report progress, a few times a second at most, and once at the end."""
    news = _LatestMessage()
    task = asyncio.create_task(_report(ctx, news))
    try:
        yield TurnWatcher(news.telemetry, news.output)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if news.count:
            await ctx.report_progress(news.count, message=news.last)


class _LatestMessage:
    """The last message, and how many there were."""

    def __init__(self) -> None:
        self.count = 0
        self.last = ""

    def telemetry(self, line: Telemetry) -> None:
        match line["type"]:
            case "progress":
                self._tell(line["text"])
            case "phase":
                self._tell(line["label"])
            case "call" if line["state"] == "started":
                self._tell(f"{line['tool']} {line['about']}".strip())
            case "evidence":
                self._tell(str(line.get("label") or line["kind"]))
            case _:
                pass

    def output(self, text: str) -> None:
        if line := text.strip().rpartition("\n")[2].strip():
            self._tell(line)

    def _tell(self, text: str) -> None:
        self.count += 1
        self.last = text[:LONGEST]


async def _report(ctx: Context[Any, Any], news: _LatestMessage) -> None:
    said = 0
    while True:
        await asyncio.sleep(EVERY)
        if news.count > said:
            said = news.count
            await ctx.report_progress(said, message=news.last)
