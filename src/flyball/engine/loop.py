"""The loop, the only place where effects become events: run, step, ask, perform.

The end of the file explains how a run survives a crash.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

from msgspec.structs import replace

from flyball.engine.lanes import Answers, Batch, Lanes
from flyball.engine.telemetry import Telemetry, telemetry
from flyball.errors import IllegalEvent, JournalError
from flyball.journal.protocol import Intention, Journal, Lease, PostedEvent
from flyball.run.codec import storable
from flyball.run.effect import (
    RUN,
    CloseCard,
    Inspect,
    Owed,
    Perform,
    Think,
    card_of,
    startable,
)
from flyball.run.event import AnyEvent, Cancelled, PauseAsked
from flyball.run.machine import advance
from flyball.run.state import RunState
from flyball.run.thread import thread_lines
from flyball.terms.call import Access

LEASE_SECONDS = 60.0
RENEWALS = 3
"""How often a lease is renewed before it would end."""
LISTEN_SECONDS = 0.3
NEVER = float("-inf")

Left = Callable[[RunState, Owed], bool]
"""Whether an effect is answered by somebody else, such as a driver in another program."""
Trace = Callable[[RunState, AnyEvent, RunState], None]
"""Receives every event that was stored, with the states before and after."""


class Performer(Protocol):
    """Performs owed effects in the world outside the core, each with one event as its answer."""

    async def perform(self, state: RunState, owed: Owed, intention: Intention) -> AnyEvent:
        """Return the event that answers an effect, which an earlier process may have performed
        already."""
        ...


class Engine:
    """Drives one run until it pauses or ends: its cards in parallel, each in its own order."""

    def __init__(
        self,
        journal: Journal,
        lease: Lease,
        performer: Performer,
        *,
        clock: Callable[[], float],
        watch: Callable[[Telemetry], None] | None,
        trace: Trace | None = None,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self.journal = journal
        self._lease_seconds = lease_seconds
        self._lease = lease
        self._performer = performer
        self._clock = clock
        self._watch = watch
        self._trace = trace
        self._state = RunState()
        self._lanes = Lanes()
        self._pause_by = ""
        self._is_to_rest = False
        self._inbox_read_at = NEVER
        self._lost: JournalError | None = None
        self._is_left: Left = _none

    async def run(self, state: RunState, is_left: Left | None = None) -> RunState:
        """Run until the run pauses or ends, or only effects of other roles are owed.

        Every outside fact arrives as an event. Whatever stops it halfway (an error, a lost lease, a
        cancellation) leaves the journal intact: what was in progress stays owed, and the next
        process finds out how far it got.
        """
        self._state = state
        self._is_left = is_left or _none
        companion = asyncio.create_task(self._renew_lease_and_listen(state.run))
        try:
            while await self.step():
                pass
            return self._state
        finally:
            companion.cancel()
            await asyncio.gather(companion, return_exceptions=True)
            await self._cancel_all()

    async def step(self) -> bool:
        """Take people's events, start effects that are due, append results; return False at the
        end."""
        # Words of people come first: a cancelled or resting run must not start anything.
        await self._apply_inbox()
        if not self._lanes.is_idle:
            await self._lanes.stop(self._is_moot)
        if self._lanes.is_idle and (self._state.has_ended or not self._due):
            return False
        for batch in self._startable():
            self._lanes.start(batch, partial(self._answers, self._state, batch))
        await self._lanes.news()
        while (batch := self._lanes.take()) is not None:
            await self._append_answers(batch)
        return True

    async def ask(self, state: RunState, owed: Owed) -> AnyEvent:
        """Ask a driver to think, or start an inspection: after a crash it is simply asked again."""
        return await self._event(state, owed, is_repeat=False)

    async def perform(self, state: RunState, owed: Owed) -> AnyEvent:
        """Perform an effect with side effects: its intention is stored first."""
        is_repeat = await self.journal.intend(self._lease, owed, self._clock())
        return await self._event(state, owed, is_repeat=is_repeat)

    async def _event(self, state: RunState, owed: Owed, *, is_repeat: bool) -> AnyEvent:
        intention = Intention(f"{self._lease.run}/{owed.n}", is_repeat)
        return replace(await self._performer.perform(state, owed, intention), effect=owed.n)

    def _carry_out(self, state: RunState, owed: Owed) -> Awaitable[AnyEvent]:
        return self.perform(state, owed) if _is_action(owed) else self.ask(state, owed)

    async def _answers(self, state: RunState, batch: Sequence[Owed]) -> Answers:
        """Perform effects of one lane in parallel; return one answer for each, or its error."""
        if len(batch) == 1:
            return (await self._carry_out(state, batch[0]),)
        answers = [self._carry_out(state, owed) for owed in batch]
        return await asyncio.gather(*answers, return_exceptions=True)

    async def append(self, state: RunState, event: AnyEvent, posted: int = 0) -> RunState:
        """Apply an event and store it, with the effects and lines that follow."""
        if not event.at:
            event = replace(event, at=self._clock())
        after = advance(state, event).state
        lines = thread_lines(state, event, after)
        try:
            await self.journal.commit(self._lease, event, after, lines, posted)
        except UnicodeEncodeError:
            # A file name or an output may hold bytes that no text holds. They are made visible and
            # the event is applied anew, so that log and state stay the same.
            return await self.append(state, storable(event), posted)
        # Only now: a watcher must never hear of something that a crash could still take back.
        if self._watch is not None:
            for line in telemetry(state, event, after):
                self._watch(line)
        if self._trace is not None:
            self._trace(state, event, after)
        return after

    async def _append_answers(self, batch: Batch) -> None:
        """Append the answers of a batch in order; answers that are no longer owed are dropped."""
        if not self._owes_any(batch):
            return
        for owed, answer in zip(batch.owed, batch.answers(), strict=True):
            # An earlier answer of the same batch may have ended the card or reset its thread.
            if owed not in self._state.owed:
                continue
            if isinstance(answer, BaseException):
                raise answer
            self._state = await self.append(self._state, answer)

    def _startable(self) -> Sequence[Sequence[Owed]]:
        """Return all effects that may start; a run that is pausing only finishes its own."""
        due = self._due
        if self._is_to_rest:
            due = [owed for owed in due if card_of(owed) == RUN] if self._lanes.is_idle else ()
        # The common case: one card, one effect at a time.
        is_alone = len(due) == 1 and self._lanes.is_idle
        return (due,) if is_alone else startable(due, self._lanes.under_way)

    @property
    def _due(self) -> Sequence[Owed]:
        return [owed for owed in self._state.due if not self._is_left(self._state, owed)]

    async def run_pending_effects(self, state: RunState) -> RunState:
        """Perform all due effects that are short and not the driver's own, for a driver in another
        program.

        An inspection may take minutes, during which the caller must not keep the lease.
        """
        while ours := [o for o in state.due if not isinstance(o.effect, Think | Perform | Inspect)]:
            state = await self.append(state, await self._carry_out(state, ours[0]))
        return state

    def pause(self, by: str) -> None:
        """Pause once the calls in progress are done, without waiting for a model."""
        self._pause_by = by
        self._lanes.wake()

    def recheck_roles(self) -> None:
        """Ask again which effects belong to other roles, after a change."""
        self._lanes.wake()

    async def _apply_inbox(self) -> None:
        """Apply events that others posted to this run; drop one that comes too late.

        A cancelled run waits for nothing; a pausing one waits only for calls, not for a model.
        """
        if self._lost is not None:
            raise self._lost
        words = await self._words()
        if not words and not self._pause_by:
            self._is_to_rest = False
            return
        is_cancelled = any(isinstance(word.event, Cancelled) for word in words)
        is_paused = any(isinstance(word.event, PauseAsked) for word in words)
        self._is_to_rest = is_paused or self._has_to_pause
        if is_cancelled:
            await self._lanes.stop(lambda _: True)
        elif self._is_to_rest:
            await self._lanes.stop(lambda batch: batch.is_thinking)
        for word in words:
            if isinstance(word.event, PauseAsked) and not (is_cancelled or self._is_quiet):
                return
            try:
                self._state = await self.append(self._state, word.event, word.id)
            except IllegalEvent:
                # Posted while the run was somewhere else; kept, it would be met again for ever.
                await self.journal.drop(self._lease, word.id)
        if self._has_to_pause and self._is_quiet:
            self._state = await self.append(self._state, PauseAsked(by=self._pause_by))
            self._pause_by = ""
        self._is_to_rest = self._has_to_pause

    async def _words(self) -> Sequence[PostedEvent]:
        """Return the inbox; it is polled often enough for a person, and always before a pause."""
        now = self._clock()
        # A look costs a query, and a busy run comes by here at every event.
        if now - self._inbox_read_at < LISTEN_SECONDS and not self._state.is_at_rest:
            return ()
        found = await self.journal.inbox(self._state.run)
        self._inbox_read_at = NEVER if found else now
        return found

    @property
    def _has_to_pause(self) -> bool:
        state = self._state
        return bool(
            self._pause_by and any(card.is_live for card in state.cards) and not state.is_at_rest
        )

    @property
    def _is_quiet(self) -> bool:
        """Return whether a pause would find every card idle: none is at work or about to be."""
        return self._lanes.is_idle and all(card_of(owed) != RUN for owed in self._state.due)

    def _is_moot(self, batch: Batch) -> bool:
        """Return whether a batch's result is no longer needed: it was dropped, or its card
        paused."""
        resting = {card.id for card in self._state.paused}
        if batch.is_thinking and card_of(batch.owed[0]) in resting:
            return True
        return not self._owes_any(batch)

    def _owes_any(self, batch: Batch) -> bool:
        return any(owed in self._state.owed for owed in batch.owed)

    async def _cancel_all(self) -> None:
        """Cancel everything in progress, and record the results that were complete."""
        await self._lanes.stop(lambda _: True)
        while (batch := self._lanes.take()) is not None:
            # Whatever goes wrong here, what made us stop is what must be told.
            with suppress(Exception, asyncio.CancelledError):
                await self._append_answers(batch)

    async def _renew_lease_and_listen(self, run: str) -> None:
        """Keep the lease, and take events while effects are in progress."""
        renewed = self._clock()
        try:
            while True:
                await asyncio.sleep(LISTEN_SECONDS)
                if await self.journal.inbox(run):
                    self._inbox_read_at = NEVER
                    self._lanes.wake()
                if self._clock() - renewed >= self._lease_seconds / RENEWALS:
                    renewed = self._clock()
                    await self.journal.renew(self._lease, renewed, self._lease_seconds)
        except JournalError as error:
            # Raised by the loop and not here: nobody awaits this task while effects are under way.
            self._lost = error
            self._lanes.wake()


def _none(state: RunState, owed: Owed) -> bool:  # noqa: ARG001
    """Leave no effect to other roles."""
    return False


def _is_action(owed: Owed) -> bool:
    """Return whether performing an effect runs something, or may have side effects."""
    effect = owed.effect
    if not isinstance(effect, Perform):
        return isinstance(effect, CloseCard)
    return effect.call.access is not Access.READ or effect.call.command is not None


# How a crash is survived. An effect is owed in the journal before anything is done. An action (a
# call that writes or runs something, the closing of a card) is also *intended* there, so that
# whoever goes on knows that it may have been begun. Its event, the new state and the next effects
# are committed in one transaction. What is owed and was never answered is performed again, and each
# place below finds out for itself how far the dead process got:
#
#     journal/sqlite           a lease with a fencing number: an old holder's commit is refused; the
#                              state stands beside its last event, one of another release is folded
#     workspace/process/holder whether the holder of a lease or a lock still lives
#     workspace/run/lock       one process in a tree; the kernel lets go of a dead one's lock
#     engine/perform           a repeated call: a finished write is found by its probe, a half-done
#                              one is undone by its snapshot, a command becomes `call-interrupted`
#     engine/look/gate_looks   a look cut off in the middle: what it changed is restored first
#     engine/run_context       what a driver had read is told again by the log
#     workspace/run/opening    an opening that died half way is cleared and begun anew
#     workspace/run/snapshot   the same key gives the same snapshot
#     workspace/trees/writer   writes that were planned and not finished are finished first
#     workspace/run/merge_card a merge of a card is found again, or done over from its plan
#     workspace/run/rollback   a roll-back is written down as a commit, and not repeated
#     workspace/cards          a revert or merge that was killed is finished by the next command
