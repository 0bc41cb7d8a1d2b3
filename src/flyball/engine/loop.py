"""The loop: the only place where effects become events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Protocol

from msgspec.structs import replace

from flyball.core.call import Access
from flyball.core.effect import Owed, Perform, Think
from flyball.core.event import AnyEvent, Cancelled, PauseAsked
from flyball.core.machine import advance
from flyball.core.state import RunState
from flyball.core.thread import heard
from flyball.engine.feed import Telemetry, telemetry
from flyball.errors import IllegalEvent
from flyball.journal.protocol import Intention, Journal, Lease

LEASE_SECONDS = 60.0
RENEW_SECONDS = 20.0
SIDE_BY_SIDE = 8
LISTEN_SECONDS = 0.3
STOPPING = (Cancelled, PauseAsked)
"""Words from outside that a thinking model is not waited for."""


class Hands(Protocol):
    """Whoever performs effects."""

    async def perform(self, state: RunState, owed: Owed, intention: Intention) -> AnyEvent: ...

    def idle_tree(self) -> str: ...


class Engine:
    """Drives one run until it rests or ends."""

    def __init__(
        self,
        journal: Journal,
        lease: Lease,
        hands: Hands,
        *,
        clock: Callable[[], float],
        watch: Callable[[Telemetry], None],
    ) -> None:
        self._journal = journal
        self._lease = lease
        self._hands = hands
        self._clock = clock
        self._watch = watch
        self._pause_by = ""
        self._thinking: asyncio.Task[AnyEvent] | None = None
        self._left: list[AnyEvent] = []

    def pause(self, by: str) -> None:
        """Rest as soon as the call under way is over; a model is not waited for."""
        self._pause_by = by
        if self._thinking is not None:
            self._thinking.cancel()

    async def drive(self, state: RunState) -> RunState:
        """Run until it rests or ends. Every outside fact arrives as an event."""
        keeper = asyncio.create_task(self._keep_lease())
        try:
            while True:
                state = await self._take_outside_events(state)
                if state.is_at_rest:
                    return state
                state = await self._step(state, _batch(state.due))
        finally:
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper

    async def append(self, state: RunState, event: AnyEvent) -> RunState:
        """Apply an event and write it down, with what it leads to and what it makes heard."""
        if not event.at:
            event = replace(event, at=self._clock())
        after = advance(state, event).state
        await self._journal.commit(self._lease, event, after, heard(state, event, after))
        for line in telemetry(state, event, after):
            self._watch(line)
        return after

    async def _take_outside_events(self, state: RunState) -> RunState:
        """What others left for this run; a word that has come too late is dropped."""
        self._left += await self._journal.collect(state.run)
        while self._left:
            with suppress(IllegalEvent):
                state = await self.append(state, self._left.pop(0))
        is_working = any(card.is_live for card in state.cards)
        if self._pause_by and is_working and not state.is_at_rest:
            state = await self.append(state, PauseAsked(by=self._pause_by))
            self._pause_by = ""
        return state

    async def _step(self, state: RunState, batch: Sequence[Owed]) -> RunState:
        tasks = [asyncio.create_task(self._perform(state, owed)) for owed in batch]
        if isinstance(batch[0].effect, Think):
            self._thinking = tasks[0]
            if self._pause_by:
                tasks[0].cancel()
        try:
            await self._wait(state, tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._thinking = None
        for task in tasks:
            if task.cancelled():
                return state
            state = await self.append(state, task.result())
        return state

    async def _wait(self, state: RunState, tasks: Sequence[asyncio.Task[AnyEvent]]) -> None:
        """Until all is done; while a model thinks, others are listened to."""
        while not all(task.done() for task in tasks):
            await asyncio.wait(tasks, timeout=LISTEN_SECONDS if self._thinking else None)
            if self._thinking and not self._thinking.done():
                self._left += await self._journal.collect(state.run)
                if any(isinstance(event, STOPPING) for event in self._left):
                    self._thinking.cancel()

    async def _perform(self, state: RunState, owed: Owed) -> AnyEvent:
        intention = await self._journal.intend(self._lease, owed, self._clock())
        event = await self._hands.perform(state, owed, intention)
        return replace(event, effect=owed.n, at=self._clock())

    async def _keep_lease(self) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            await self._journal.renew(self._lease, self._clock(), LEASE_SECONDS)


def _batch(due: Sequence[Owed]) -> Sequence[Owed]:
    """The next effect, or the read-only calls at the front that may run side by side."""
    count = 0
    for owed in due[:SIDE_BY_SIDE]:
        effect = owed.effect
        if not (isinstance(effect, Perform) and effect.call.access is Access.READ):
            break
        count += 1
    return due[: max(count, 1)]
