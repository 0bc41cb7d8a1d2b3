"""Hold a run that another program drives for the duration of one hook event."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from flyball.app.attesting import key_file
from flyball.app.project import Home, redactor_of
from flyball.app.runs.journals import acquire, open_journal
from flyball.app.wiring import image_model, tool_settings, with_notifications
from flyball.engine.loop import Engine, Performer
from flyball.engine.run_context import RunContext
from flyball.engine.telemetry import Telemetry
from flyball.journal.protocol import Journal

P = TypeVar("P", bound=Performer)


def ignore_output(*_: object) -> None:
    """Ignore output; everything to report is in the answer."""


def context_of(
    home: Home, *, in_place: bool, on_output: Callable[[str], None] = ignore_output
) -> RunContext:
    """Return the context of a run of this project, before its workspace is opened."""
    context = RunContext(
        home.repo,
        home.state,
        environ=home.environ,
        redactor=redactor_of(home),
        on_output=on_output,
        in_place=in_place,
        settings=tool_settings(home.effective),
    )
    context.signing_key = key_file(home.environ)
    return context


@asynccontextmanager
async def driven(
    home: Home,
    run: str,
    performs: Callable[[Journal, RunContext], P],
    *,
    in_place: bool,
    clock: Callable[[], float],
    watch: Callable[[Telemetry], None] | None = None,
    on_output: Callable[[str], None] = ignore_output,
) -> AsyncGenerator[tuple[Engine, P]]:
    """Yield an engine that holds the run's lease, and its performer; close its workspace
    afterwards.

    If another process drives the run, `LeaseHeld` names it.
    """
    context = context_of(home, in_place=in_place, on_output=on_output)
    eyes = context.eyes = image_model(home)
    journal = open_journal(home)
    try:
        lease = await acquire(journal, run)
        try:
            performer = performs(journal, context)
            watch = with_notifications(home, run, watch)
            yield Engine(journal, lease, performer, clock=clock, watch=watch), performer
        finally:
            context.close()
            await journal.release(lease)
    finally:
        await journal.close()
        if eyes is not None:
            await eyes.close()
