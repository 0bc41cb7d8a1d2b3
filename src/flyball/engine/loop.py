"""The loop: the only place where effects become events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
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
from flyball.journal.codec import storable
from flyball.journal.protocol import Intention, Journal, Lease, Posted

LEASE_SECONDS = 60.0
RENEW_SECONDS = 20.0
SIDE_BY_SIDE = 8
LISTEN_SECONDS = 0.3


class Hands(Protocol):
    """Whoever performs effects."""

    async def perform(self, state: RunState, owed: Owed, intention: Intention) -> AnyEvent: ...


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
        self._heard_at = float("-inf")

    def pause(self, by: str) -> None:
        """Rest as soon as the call under way is over; a model is not waited for."""
        self._pause_by = by
        if self._thinking is not None:
            self._thinking.cancel()

    async def drive(self, state: RunState) -> RunState:
        """Run until it rests or ends. Every outside fact arrives as an event.

        Whatever stops it half-way (an error, a lost lease, a cancellation) leaves the journal where
        it was: what was under way stays owed, and the next process finds out how far it got.
        """
        keeper = asyncio.create_task(self._keep_lease())
        try:
            while True:
                state = await self._hear(state)
                if state.is_at_rest:
                    return state
                state = await self._step(state, _batch(state.due), keeper)
        finally:
            keeper.cancel()
            await asyncio.gather(keeper, return_exceptions=True)

    async def append(self, state: RunState, event: AnyEvent, posted: int = 0) -> RunState:
        """Apply an event and write it down, with what it leads to and what it makes heard."""
        if not event.at:
            event = replace(event, at=self._clock())
        after = advance(state, event).state
        lines = heard(state, event, after)
        try:
            await self._journal.commit(self._lease, event, after, lines, posted)
        except UnicodeEncodeError:
            return await self.append(state, storable(event), posted)
        for line in telemetry(state, event, after):
            self._watch(line)
        return after

    async def _hear(self, state: RunState) -> RunState:
        """What others left for this run; a word that has come too late is dropped."""
        for posted in await self._words(state):
            try:
                state = await self.append(state, posted.event, posted.id)
            except IllegalEvent:
                await self._journal.drop(self._lease, posted.id)
        is_working = any(card.is_live for card in state.cards)
        if self._pause_by and is_working and not state.is_at_rest:
            state = await self.append(state, PauseAsked(by=self._pause_by))
            self._pause_by = ""
        return state

    async def _words(self, state: RunState) -> Sequence[Posted]:
        """The inbox, looked into often enough for a person, and always before a rest."""
        now = self._clock()
        if now - self._heard_at < LISTEN_SECONDS and not state.is_at_rest:
            return ()
        found = await self._journal.inbox(state.run)
        self._heard_at = float("-inf") if found else now
        return found

    async def _step(
        self, state: RunState, batch: Sequence[Owed], keeper: asyncio.Task[None]
    ) -> RunState:
        """Perform what is due, side by side where it may be, and append the answers in order."""
        tasks = [asyncio.create_task(self._perform(state, owed)) for owed in batch]
        if isinstance(batch[0].effect, Think):
            self._thinking = tasks[0]
            if self._pause_by:
                tasks[0].cancel()
        try:
            await self._wait(state, tasks, keeper)
        finally:
            self._thinking = None
            left = [task for task in tasks if task.cancel()]
            if left:
                await asyncio.gather(*left, return_exceptions=True)
        for task in tasks:
            if task.cancelled():
                return state
            state = await self.append(state, task.result())
        return state

    async def _wait(
        self, state: RunState, tasks: Sequence[asyncio.Task[AnyEvent]], keeper: asyncio.Task[None]
    ) -> None:
        """Until all is done or not wanted any more; without the lease there is no going on."""
        await asyncio.sleep(0)
        while pending := [task for task in tasks if not task.done()]:
            await asyncio.wait(
                (*pending, keeper), timeout=LISTEN_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )
            if keeper.done():
                keeper.result()
            elif not all(task.done() for task in tasks):
                await self._listen(state, tasks)

    async def _listen(self, state: RunState, tasks: Sequence[asyncio.Task[AnyEvent]]) -> None:
        """A cancelled run waits for nothing; a paused one only for calls, not for a model."""
        for posted in await self._journal.inbox(state.run):
            self._heard_at = float("-inf")
            if isinstance(posted.event, Cancelled):
                for task in tasks:
                    task.cancel()
            elif isinstance(posted.event, PauseAsked) and self._thinking is not None:
                self._thinking.cancel()

    async def _perform(self, state: RunState, owed: Owed) -> AnyEvent:
        intention = await self._intend(owed)
        event = await self._hands.perform(state, owed, intention)
        return replace(event, effect=owed.n, at=self._clock())

    async def _intend(self, owed: Owed) -> Intention:
        """Written down for calls, which may leave something behind; the rest is only owed."""
        if isinstance(owed.effect, Perform):
            return await self._journal.intend(self._lease, owed, self._clock())
        return Intention(self._lease.run, owed.n)

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
