"""Assign waiting runs to workers by role, priority, capacity and shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from flyball.journal.protocol import WorkerRow
from flyball.journal.workers import Busy, DueRun

DEATHS_PER_FAILURE = 8
"""So many workers that died over a run count as one failure of it."""


class Shares(NamedTuple):
    """The number of runs that may be driven at once, per project and per person; 0 means no
    limit."""

    of_project: int = 0
    of_person: int = 0


class Given(NamedTuple):
    """A run to assign, and the queue of the workers that may take it."""

    run: DueRun
    queue: str


def queue_for(worker: WorkerRow) -> str:
    """Return the queue shared by all workers of one kind, because polling several is expensive.

    How much each takes from a queue is stored with the queue, so it must be the same for all.
    """
    return f"{'+'.join(sorted(worker.roles))}:{worker.concurrency}:{worker.format}"


def most_at_once(concurrency: int) -> int:
    """Return the most runs a worker takes: its configured number of new ones, plus twice as many
    resumed ones. When two of three workers die, their runs need not wait for capacity."""
    return 3 * concurrency


def attempt_after(failures: int, deaths: int) -> int:
    """Return the number of the next attempt, counting failures of the run and deaths of its
    workers: workers usually die of other causes, but a run may also kill them."""
    return failures + deaths // DEATHS_PER_FAILURE + 1


class _Room:
    """The capacity left on the workers, and what each project and person uses.

    A run that has already started finds capacity where a new one has to wait. Workers of the same
    kind pool their capacity: while one drives more than its number, none of them starts a new run,
    or dying workers would leave ever more runs without capacity.
    """

    def __init__(self, busy: Sequence[Busy], workers: Sequence[WorkerRow], shares: Shares) -> None:
        self._workers = {each.worker: each for each in workers if not each.is_leaving}
        self._left = {name: each.concurrency for name, each in self._workers.items()}
        self._shares = shares
        self._projects = Counter(each.project for each in busy)
        self._people = Counter(each.owner for each in busy)
        self._queues = {name: queue_for(each) for name, each in self._workers.items()}
        self._together = Counter[str]()
        for name, left in self._left.items():
            self._together[self._queues[name]] += left
        for each in busy:
            if each.holder in self._left:
                self._take(each.holder)

    def is_spent(self, run: DueRun) -> bool:
        """Return whether the run's project or person has reached its share."""
        is_full = _is_full(self._projects[run.project], self._shares.of_project)
        return is_full or bool(
            run.owner and _is_full(self._people[run.owner], self._shares.of_person)
        )

    def seat(self, run: DueRun) -> WorkerRow | None:
        """Return a worker with capacity for the run and reserve it; None if there is none."""
        able = [each for each in self._workers.values() if _can_drive(each, run)]
        fit = [each for each in able if self._fits(each, run)]
        if not fit:
            return None
        chosen = max(fit, key=lambda each: self._left[each.worker])
        self._take(chosen.worker)
        self._projects[run.project] += 1
        self._people[run.owner] += 1
        return chosen

    def _fits(self, worker: WorkerRow, run: DueRun) -> bool:
        left = self._left[worker.worker]
        if run.is_begun:
            return left + most_at_once(worker.concurrency) - worker.concurrency > 0
        return left > 0 and self._together[self._queues[worker.worker]] > 0

    def _take(self, worker: str) -> None:
        self._left[worker] -= 1
        self._together[self._queues[worker]] -= 1


def hand_out(
    due: Sequence[DueRun],
    handed: Collection[str],
    busy: Sequence[Busy],
    workers: Sequence[WorkerRow],
    shares: Shares,
) -> list[Given]:
    """Return the runs to assign, most urgent first, without exceeding the capacity.

    `handed` lists runs that were assigned and are not driven yet: they use capacity as well.
    """
    room = _Room(busy, workers, shares)
    for run in due:
        if run.run in handed:
            room.seat(run)
    given: list[Given] = []
    for run in due:
        if run.run in handed or room.is_spent(run):
            continue
        if worker := room.seat(run):
            given.append(Given(run, queue_for(worker)))
    return given


def why_unserved(run: DueRun, workers: Sequence[WorkerRow]) -> str:
    """Explain why none of these workers will ever take a run, and what would help; empty if one
    may."""
    able = [each for each in workers if run.queue in each.roles]
    if not able:
        return f"no worker does the work of a {run.queue}; start one with --roles {run.queue}"
    if not any(_can_drive(each, run) for each in able):
        return "a later release has written to it; start a worker of that release"
    return ""


def _can_drive(worker: WorkerRow, run: DueRun) -> bool:
    """Return whether a worker can drive a run; an earlier release may not be able to read it."""
    return run.queue in worker.roles and run.format <= worker.format


def _is_full(taken: int, limit: int) -> bool:
    return bool(limit) and taken >= limit
