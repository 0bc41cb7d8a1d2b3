"""Lanes: what may be under way at the same time, and what is.

A lane is one card, or the run itself. Each has at most one batch under way: one effect, or several
calls that only look.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from flyball.core.run.effect import CardEffect, CloseCard, Owed, Perform, Think
from flyball.core.run.event import AnyEvent
from flyball.core.terms.call import Access

SIDE_BY_SIDE = 8
RUN = ""

Answers = Sequence[AnyEvent | BaseException]
Deed = Callable[[], Awaitable[Answers]]


class Batch:
    """Effects of one lane that are performed side by side."""

    __slots__ = ("is_stopped", "owed", "task")

    task: asyncio.Task[Answers]

    def __init__(self, owed: Sequence[Owed]) -> None:
        self.owed = owed
        self.is_stopped = False

    @property
    def is_thinking(self) -> bool:
        return isinstance(self.owed[0].effect, Think)

    def answers(self) -> Answers:
        """One answer for each effect; what went wrong with all of it is raised."""
        return self.task.result()


class Lanes:
    """Everything under way, and what of it has come back, first completed first."""

    def __init__(self) -> None:
        self._batches: list[Batch] = []
        self._finished: deque[Batch] = deque()
        self._news = asyncio.Event()

    @property
    def under_way(self) -> tuple[Owed, ...]:
        """The effects that were started and whose answers were not taken yet."""
        return tuple([owed for batch in self._batches for owed in batch.owed])

    @property
    def is_idle(self) -> bool:
        return not self._batches

    def start(self, owed: Sequence[Owed], deed: Deed) -> None:
        batch = Batch(owed)
        batch.task = asyncio.create_task(self._see_through(batch, deed))
        self._batches.append(batch)

    def wake(self) -> None:
        """Have `news` return although nothing came back."""
        self._news.set()

    async def news(self) -> None:
        """Wait until a batch comes back, or somebody calls."""
        await self._news.wait()
        self._news.clear()

    def take(self) -> Batch | None:
        """The next batch that has come back."""
        if not self._finished:
            return None
        batch = self._finished.popleft()
        self._batches.remove(batch)
        return batch

    async def stop(self, which: Callable[[Batch], bool]) -> None:
        """Cancel batches and see them end; what has come back by now is kept.

        The answers of what is stopped are not wanted, its effects may be.
        """
        for batch in self._batches:
            if not batch.is_stopped and which(batch):
                batch.is_stopped = batch.task.cancel()
        stopped = [batch for batch in self._batches if batch.is_stopped]
        if not stopped:
            return
        await asyncio.wait([batch.task for batch in stopped])
        for batch in stopped:
            self._batches.remove(batch)
            # Asked for, so that asyncio does not print that nobody did.
            if not batch.task.cancelled():
                batch.task.exception()

    async def _see_through(self, batch: Batch, deed: Deed) -> Answers:
        try:
            return await deed()
        finally:
            # A task that was told to stop may still come to its end; nobody wants its answer.
            if not batch.is_stopped:
                self._finished.append(batch)
            self._news.set()


def lane_of(owed: Owed) -> str:
    """The card that an effect is owed to, or the run itself."""
    return owed.effect.card if isinstance(owed.effect, CardEffect) else RUN


def startable(due: Sequence[Owed], under_way: Sequence[Owed]) -> Sequence[Sequence[Owed]]:
    """The batches that may start now, in the order owed.

    What is owed to the run waits for all before it, and all behind it waits for it. Closing a card
    writes the tree that all cards share, so only one does at a time.
    """
    # The common case: one card, one effect at a time.
    if len(due) == 1 and not under_way:
        return (due,)
    batches: dict[str, list[Owed]] = {}
    taken = {lane_of(each) for each in under_way}
    is_closing = any(isinstance(each.effect, CloseCard) for each in under_way)
    room = SIDE_BY_SIDE - len(under_way)
    for place, owed in enumerate(due):
        lane = lane_of(owed)
        if lane == RUN:
            return [[owed]] if place == 0 and RUN not in taken else list(batches.values())
        if lane in taken:
            continue
        if not _only_looks(owed):
            # Looks of one card go side by side, but never beside or past a deed of the same card.
            taken.add(lane)
            is_close = isinstance(owed.effect, CloseCard)
            if lane in batches or (is_close and is_closing):
                continue
            is_closing = is_closing or is_close
        if room < 1:
            break
        batches.setdefault(lane, []).append(owed)
        room -= 1
    return list(batches.values())


def _only_looks(owed: Owed) -> bool:
    effect = owed.effect
    return isinstance(effect, Perform) and effect.call.access is Access.READ
