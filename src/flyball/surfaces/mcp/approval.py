"""Asking a person: by elicitation where the client can, else by a command in their terminal.

The answer comes from the client's own form. No argument of the tool carries it, so that a model
cannot give it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel, Field

from flyball.app.answering import pending
from flyball.app.steps.steps import Steps
from flyball.app.steps.view import TurnView, question_view, turn_view
from flyball.core.run.state import RunState
from flyball.errors import NotAPerson
from flyball.surfaces.mcp.tool import Run, StepContext, steps_of

SHOWN = 4_000
"""Characters of a call that a person is shown with the question about it."""
UNASKED = "Nobody answered here. The person can, in their own terminal: {commands}."


class PersonsWord(BaseModel):
    """What a person fills in."""

    approve: bool = Field(description="Whether it may be so.")
    note: str = Field(default="", description="A word to the agent, if you like.")


class Unasked(BaseModel):
    """Why nobody was asked."""

    why: str = ""


async def waiting_run(ctx: StepContext, run: str, call: str, reason: str) -> RunState:
    """The run as it is when its person is asked: the answer is to the question it asks then."""
    return await steps_of(ctx).question(run, call, reason)


Waiting = Annotated[RunState, Resolve(waiting_run)]


async def ask(ctx: StepContext, state: Waiting) -> Elicit[PersonsWord] | Unasked:
    """The question as the person sees it; where they cannot be asked here, why not."""
    try:
        steps_of(ctx).require_person(state.run)
    except NotAPerson as error:
        return Unasked(why=str(error))
    if not _can_ask(ctx):
        return Unasked(why="This client cannot ask its person: it has no elicitation.")
    return Elicit(_words(state), PersonsWord)


async def request_approval(
    ctx: StepContext,
    state: Waiting,
    outcome: Annotated[ElicitationResult[Any], Resolve(ask)],
    run: Run = "",  # noqa: ARG001 - this and the next two are read where the question is found
    call: Annotated[str, Field(description="A refused call to appeal; empty: what is asked.")] = "",  # noqa: ARG001
    reason: Annotated[str, Field(description="Why the refused call should be allowed.")] = "",  # noqa: ARG001
) -> TurnView:
    """Put what the run waits for before the person; only they can answer it.

    Where your program can ask them, it does. Otherwise the question stays open, and the person
    answers in their own terminal.
    """
    waiting = pending(state)[0]
    if isinstance(outcome, AcceptedElicitation) and isinstance(outcome.data, PersonsWord):
        said, by = outcome.data, f"the person at {_client_name(ctx)}"
        return await steps_of(ctx).answer(
            state.run, waiting.question.id, by, granted=said.approve, note=said.note
        )
    why = outcome.data.why if isinstance(outcome, AcceptedElicitation) else ""
    commands = question_view(state, waiting).commands
    told = UNASKED.format(commands="; ".join(f"`{c}` to {e}" for c, e in commands.items()))
    view = turn_view(state, None, "", (), ())
    return replace(view, ok=False, text=" ".join(filter(None, (why, told))))


def _can_ask(ctx: StepContext) -> bool:
    found = ctx.client_capabilities
    able = found.elicitation if found else None
    return able is not None and (able.form is not None or able.url is None)


def _words(state: RunState) -> str:
    card, question = pending(state)[0]
    lines = [f"Flyball, run {state.run}, {question.id}, {card.title}: {question.text}"]
    if question.call is not None:
        args = json.dumps(question.call.args, ensure_ascii=False)[:SHOWN]
        lines.append(f"{question.call.tool} {args}")
    return "\n".join(lines)


def _client_name(ctx: Context[Steps, Any]) -> str:
    params = ctx.session.client_params
    return params.client_info.name if params and params.client_info else "an MCP client"
