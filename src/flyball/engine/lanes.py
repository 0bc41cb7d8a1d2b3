"""Run the effects of a run: one batch per card, results in order of completion."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence

from flyball.run.effect import Owed, Think
from flyball.run.event import AnyEvent

Answers = Sequence[AnyEvent | BaseException]
AuditedCall = Callable[[], Awaitable[Answers]]


class Batch:
    """Effects of one lane that are performed in parallel."""

    __slots__ = ("is_stopped", "owed", "task")

    task: asyncio.Task[Answers]

    def __init__(self, owed: Sequence[Owed]) -> None:
        self.owed = owed
        self.is_stopped = False

    @property
    def is_thinking(self) -> bool:
        return isinstance(self.owed[0].effect, Think)

    def answers(self) -> Answers:
        """Return one answer for each effect; an error of the whole batch is raised."""
        return self.task.result()


class Lanes:
    """All effects in progress, and the results so far, in order of completion.

    A lane is one card, or the run itself. Each has at most one batch in progress: one effect, or
    several read-only calls.
    """

    def __init__(self) -> None:
        self._batches: list[Batch] = []
        self._finished: deque[Batch] = deque()
        self._news = asyncio.Event()

    @property
    def under_way(self) -> tuple[Owed, ...]:
        """Return the started effects whose answers have not been taken yet."""
        return tuple([owed for batch in self._batches for owed in batch.owed])

    @property
    def is_idle(self) -> bool:
        return not self._batches

    def start(self, owed: Sequence[Owed], action: AuditedCall) -> None:
        batch = Batch(owed)
        batch.task = asyncio.create_task(self._see_through(batch, action))
        self._batches.append(batch)

    def wake(self) -> None:
        """Make `news` return even though no batch is done."""
        self._news.set()

    async def news(self) -> None:
        """Wait until a batch is done or `wake` is called."""
        await self._news.wait()
        self._news.clear()

    def take(self) -> Batch | None:
        """Return the next finished batch."""
        if not self._finished:
            return None
        batch = self._finished.popleft()
        self._batches.remove(batch)
        return batch

    async def stop(self, which: Callable[[Batch], bool]) -> None:
        """Cancel batches and wait for them; finished results are kept.

        The answers of a cancelled batch are dropped, and its effects may be performed again.
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

    async def _see_through(self, batch: Batch, action: AuditedCall) -> Answers:
        try:
            return await action()
        finally:
            # A task that was told to stop may still come to its end; nobody wants its answer.
            if not batch.is_stopped:
                self._finished.append(batch)
            self._news.set()
