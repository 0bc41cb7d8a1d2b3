"""Which waiting runs get a worker now: by role, priority, room, and what each may take of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from flyball.journal.protocol import WorkerRow
from flyball.journal.workers import Busy, DueRun


class Shares(NamedTuple):
    """How many runs may be driven at once, of one project and of one person; 0 is no limit."""

    of_project: int = 0
    of_person: int = 0


class Given(NamedTuple):
    """A run that is given away, and the queue of those who may take it."""

    run: DueRun
    queue: str


def queue_for(worker: WorkerRow) -> str:
    """The one queue of all workers that are alike; to poll several would cost.

    How much each takes from a queue is kept with the queue, so it must be the same for all.
    """
    return f"{'+'.join(sorted(worker.roles))}:{worker.concurrency}:{worker.format}"


def most_at_once(concurrency: int) -> int:
    """How many runs a worker takes at most: as many as it says of new ones, and twice as many again
    of those that were begun. When two of three die, theirs need not wait for room."""
    return 3 * concurrency


DEATHS_PER_FAILURE = 8


def attempt_after(failures: int, deaths: int) -> int:
    """The how-manieth attempt comes next after so many that failed by themselves, and so many
    whose workers died: of other things usually, but a run may also kill its workers."""
    return failures + deaths // DEATHS_PER_FAILURE + 1


def hand_out(
    due: Sequence[DueRun],
    handed: Collection[str],
    busy: Sequence[Busy],
    workers: Sequence[WorkerRow],
    shares: Shares,
) -> list[Given]:
    """The runs to give away, the most urgent first; never more than there is room for.

    For a run that was begun there is room where a new one would have to wait. Workers that are
    alike have their room together: while one drives more than it says, no other begins a new run,
    or there would be ever more that nobody has room for when workers die. `handed` are runs that
    were given away and that nobody drives yet: they take room as well.
    """
    room = {each.worker: each.concurrency for each in workers if not each.is_leaving}
    for each in busy:
        if each.holder in room:
            room[each.holder] -= 1
    known = {each.worker: each for each in workers}
    alike: dict[str, list[str]] = {}
    for name in room:
        alike.setdefault(queue_for(known[name]), []).append(name)
    projects = Counter(each.project for each in busy)
    people = Counter(each.owner for each in busy)

    def has_room(name: str, run: DueRun) -> bool:
        left = room[name]
        if run.is_begun:
            concurrency = known[name].concurrency
            return left + most_at_once(concurrency) - concurrency > 0
        return left > 0 and sum(room[each] for each in alike[queue_for(known[name])]) > 0

    def seat(run: DueRun) -> str:
        """Who has room for it, and then has one room less; nobody is empty."""
        fit = [name for name in room if _can_drive(known[name], run) and has_room(name, run)]
        if not fit:
            return ""
        chosen = max(fit, key=lambda name: room[name])
        room[chosen] -= 1
        projects[run.project] += 1
        people[run.owner] += 1
        return chosen

    for run in due:
        if run.run in handed:
            seat(run)
    given: list[Given] = []
    for run in due:
        if run.run in handed or _is_full(projects[run.project], shares.of_project):
            continue
        if run.owner and _is_full(people[run.owner], shares.of_person):
            continue
        if worker := seat(run):
            given.append(Given(run, queue_for(known[worker])))
    return given


def why_unserved(run: DueRun, workers: Sequence[WorkerRow]) -> str:
    """Why none of these workers will ever take a run, and what would help; empty where one may."""
    able = [each for each in workers if run.queue in each.roles]
    if not able:
        return f"no worker does the work of a {run.queue}; start one with --roles {run.queue}"
    if not any(_can_drive(each, run) for each in able):
        return "a later release has written to it; start a worker of that release"
    return ""


def _can_drive(worker: WorkerRow, run: DueRun) -> bool:
    """Whether it does this work; one of an earlier release may not be able to read the run."""
    return run.queue in worker.roles and run.format <= worker.format


def _is_full(taken: int, limit: int) -> bool:
    return bool(limit) and taken >= limit
