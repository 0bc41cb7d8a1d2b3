"""The loop: the only place where effects become events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec.structs import replace

from flyball.core.call import Access
from flyball.core.effect import CloseCard, Owed, Perform, Think
from flyball.core.event import AnyEvent, Cancelled, PauseAsked
from flyball.core.machine import advance
from flyball.core.state import RunState
from flyball.core.thread import heard
from flyball.engine.feed import Telemetry, telemetry
from flyball.errors import IllegalEvent, JournalError
from flyball.journal.codec import storable
from flyball.journal.protocol import Intention, Journal, Lease, Posted

LEASE_SECONDS = 60.0
RENEW_SECONDS = 20.0
SIDE_BY_SIDE = 8
LISTEN_SECONDS = 0.3
NEVER = float("-inf")


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
        self._under_way: asyncio.Timeout | None = None
        self._is_thinking = False
        self._heard_at = NEVER
        self._lost: JournalError | None = None

    def pause(self, by: str) -> None:
        """Rest as soon as the call under way is over; a model is not waited for."""
        self._pause_by = by
        if self._is_thinking:
            self._interrupt()

    async def drive(self, state: RunState) -> RunState:
        """Run until it rests or ends. Every outside fact arrives as an event.

        Whatever stops it half-way (an error, a lost lease, a cancellation) leaves the journal where
        it was: what was under way stays owed, and the next process finds out how far it got.
        """
        companion = asyncio.create_task(self._stand_by(state.run))
        try:
            while True:
                state = await self._hear(state)
                if state.is_at_rest:
                    return state
                state = await self._step(state, _batch(state.due))
        finally:
            companion.cancel()
            await asyncio.gather(companion, return_exceptions=True)

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
        if self._lost is not None:
            raise self._lost
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
        self._heard_at = NEVER if found else now
        return found

    async def _step(self, state: RunState, batch: Sequence[Owed]) -> RunState:
        """Perform what is due, side by side where it may be, and append the answers in order."""
        self._is_thinking = isinstance(batch[0].effect, Think)
        try:
            async with asyncio.timeout(None) as self._under_way:
                await asyncio.sleep(0)
                if self._pause_by and self._is_thinking:
                    return state
                answers = await self._perform_all(state, batch)
        except TimeoutError:
            if self._under_way is None or not self._under_way.expired():
                raise
            return state
        finally:
            self._under_way, self._is_thinking = None, False
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            state = await self.append(state, answer)
        return state

    async def _perform_all(
        self, state: RunState, batch: Sequence[Owed]
    ) -> Sequence[AnyEvent | BaseException]:
        if len(batch) == 1:
            return (await self._perform(state, batch[0]),)
        deeds = [self._perform(state, owed) for owed in batch]
        return await asyncio.gather(*deeds, return_exceptions=True)

    async def _perform(self, state: RunState, owed: Owed) -> AnyEvent:
        intention = await self._intend(owed)
        event = await self._hands.perform(state, owed, intention)
        return replace(event, effect=owed.n, at=self._clock())

    async def _intend(self, owed: Owed) -> Intention:
        """Deeds are written down before they are done; what only looks may simply be done again."""
        if _is_deed(owed):
            return await self._journal.intend(self._lease, owed, self._clock())
        return Intention(self._lease.run, owed.n)

    def _interrupt(self) -> None:
        """Do not wait for what is under way; it stays owed."""
        if self._under_way is not None and not self._under_way.expired():
            self._under_way.reschedule(asyncio.get_running_loop().time())

    async def _stand_by(self, run: str) -> None:
        """Keep the lease, and listen while something is under way."""
        renewed = self._clock()
        try:
            while True:
                await asyncio.sleep(LISTEN_SECONDS)
                await self._listen(run)
                if self._clock() - renewed >= RENEW_SECONDS:
                    renewed = self._clock()
                    await self._journal.renew(self._lease, renewed, LEASE_SECONDS)
        except JournalError as error:
            self._lost = error
            self._interrupt()

    async def _listen(self, run: str) -> None:
        """A cancelled run waits for nothing; a paused one only for calls, not for a model."""
        for posted in await self._journal.inbox(run):
            self._heard_at = NEVER
            is_pause = isinstance(posted.event, PauseAsked) and self._is_thinking
            if is_pause or isinstance(posted.event, Cancelled):
                self._interrupt()


def _is_deed(owed: Owed) -> bool:
    """Whether performing an effect runs something, or may leave something behind."""
    effect = owed.effect
    if not isinstance(effect, Perform):
        return isinstance(effect, CloseCard)
    return effect.call.access is not Access.READ or effect.call.command is not None


def _batch(due: Sequence[Owed]) -> Sequence[Owed]:
    """The next effect, or the read-only calls at the front that may run side by side."""
    count = 0
    for owed in due[:SIDE_BY_SIDE]:
        effect = owed.effect
        if not (isinstance(effect, Perform) and effect.call.access is Access.READ):
            break
        count += 1
    return due[: max(count, 1)]
