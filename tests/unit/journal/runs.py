"""A run that can be written down: its first events, and a card's first reply."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any

from msgspec.structs import replace

from flyball.journal.protocol import Journal, Lease
from flyball.run.event import AnyEvent, DriverReplied, Messaged, RunStarted, WorkspaceReady
from flyball.run.machine import advance
from flyball.run.policy import Project
from flyball.run.state import RunState
from flyball.run.thread import thread_lines
from flyball.terms.intent import Intent

START = RunStarted(run="r1", request="fix the cart", intent=Intent.SMALL_FIX, at=100.0)
READY = WorkspaceReady(tree="t0", project=Project(runners=("pytest",)), at=101.0, effect=1)


def story(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that awaits."""

    @functools.wraps(test)
    def told(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return told


def nobody_is_dead(_holder: str) -> bool:
    return False


async def take(journal: Journal, run: str = "r1", holder: str = "ada", now: float = 0.0) -> Lease:
    return await journal.acquire(run, holder, now, 60.0, nobody_is_dead)


async def write(
    journal: Journal, lease: Lease, state: RunState, event: AnyEvent, posted: int = 0
) -> RunState:
    after = advance(state, event).state
    await journal.commit(lease, event, after, thread_lines(state, event, after), posted)
    return after


async def begin(journal: Journal, lease: Lease) -> RunState:
    """A run whose card waits for its driver."""
    state = await write(journal, lease, RunState(), replace(START, run=lease.run))
    state = await write(journal, lease, state, READY)
    effect = state.owed[0]
    message = effect.effect.message  # type: ignore[union-attr]
    return await write(journal, lease, state, Messaged(message=message, effect=effect.n, at=102.0))


def reply(state: RunState, text: str) -> DriverReplied:
    return DriverReplied(card=state.cards[0].id, text=text, effect=state.owed[0].n, at=state.at + 1)
