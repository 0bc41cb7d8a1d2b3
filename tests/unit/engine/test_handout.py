"""Which waiting runs get a worker: by urgency, role and room, and by what each may take."""

from __future__ import annotations

import pytest

from flyball.engine.handout import Shares, attempt_after, hand_out, why_unserved
from flyball.journal.protocol import WorkerRow
from flyball.journal.workers import QUEUES, Busy, DueRun

ALL = Shares()


def due(
    run: str,
    queue: str = "executor",
    project: str = "shop",
    owner: str = "ada",
    format: int = 2,
    *,
    is_begun: bool = False,
) -> DueRun:
    return DueRun(run, 1, queue, project, owner, format, is_begun)


def worker(
    name: str,
    concurrency: int,
    roles: tuple[str, ...] = QUEUES,
    *,
    is_leaving: bool = False,
    format: int = 2,
) -> WorkerRow:
    return WorkerRow(name, "host", roles, concurrency, 0, "1.0", 0.0, 0.0, is_leaving, (), format)


def busy(run: str, holder: str, project: str = "shop", owner: str = "ada") -> Busy:
    return Busy(run, project, owner, holder)


def chosen(
    waiting: list[DueRun],
    workers: list[WorkerRow],
    at_work: list[Busy] | None = None,
    shares: Shares = ALL,
    handed: frozenset[str] = frozenset(),
) -> list[str]:
    return [each.run.run for each in hand_out(waiting, handed, at_work or [], workers, shares)]


def test_no_more_is_given_away_than_there_is_room_for() -> None:
    waiting = [due(run) for run in "abcde"]
    assert chosen(waiting, [worker("one", 2), worker("two", 1)]) == ["a", "b", "c"]
    assert chosen(waiting, [worker("one", 2)], [busy("x", "one")]) == ["a"]
    assert chosen(waiting, []) == []


def test_what_was_begun_does_not_wait_for_the_room_of_a_new_run() -> None:
    full = [busy("x", "one"), busy("y", "one")]
    begun = [due(run, is_begun=True) for run in "abcde"]
    assert chosen([due("new"), *begun], [worker("one", 2)], full) == ["a", "b", "c", "d"]


def test_nothing_new_begins_while_another_drives_more_than_it_says() -> None:
    workers = [worker("one", 2), worker("two", 2), worker("other", 1, ("planner",))]
    over = [busy(run, "one") for run in "wxyz"]
    assert chosen([due("a"), due("b", "planner")], workers, over) == ["b"]
    assert chosen([due("a"), due("b")], workers, over[1:]) == ["a"]
    assert chosen([due("a", is_begun=True)], workers, over) == ["a"]


def test_deaths_of_workers_are_hardly_held_against_a_run() -> None:
    assert [attempt_after(0, deaths) for deaths in (0, 7, 8, 63)] == [1, 1, 2, 8]
    assert attempt_after(3, 2) == 4


def test_a_run_goes_only_to_who_has_its_role() -> None:
    waiting = [due("a", "planner"), due("b", "verifier"), due("c")]
    assert chosen(waiting, [worker("one", 5, ("executor", "verifier"))]) == ["b", "c"]


def test_who_leaves_gets_nothing() -> None:
    assert chosen([due("a")], [worker("one", 5, is_leaving=True)]) == []


def test_what_was_given_away_takes_room_and_is_not_given_again() -> None:
    waiting = [due(run) for run in "abc"]
    assert chosen(waiting, [worker("one", 2)], handed=frozenset("a")) == ["b"]


@pytest.mark.parametrize(
    ("shares", "wanted"),
    [
        (Shares(of_project=2), ["a", "c", "d"]),
        (Shares(of_person=1), ["c", "e"]),
        (Shares(), ["a", "b", "c", "d", "e"]),
    ],
)
def test_worker_takes_at_most_its_share(shares: Shares, wanted: list[str]) -> None:
    waiting = [
        due("a"),
        due("b"),
        due("c", project="bank", owner="bob"),
        due("d", project="bank", owner="bob"),
        due("e", project="shop", owner=""),
    ]
    at_work = [busy("x", "one")]
    assert chosen(waiting, [worker("one", 9)], at_work, shares) == wanted


def test_a_run_goes_to_the_queue_of_those_who_have_room_for_it() -> None:
    one, two = worker("one", 1, ("verifier", "executor")), worker("two", 3, ("planner",))
    given = hand_out([due("a"), due("b", "planner")], (), [], [one, two], ALL)
    assert [each.queue for each in given] == ["executor+verifier:1:2", "planner:3:2"]


def test_what_a_later_release_wrote_waits_for_one_that_reads_it() -> None:
    waiting = [due("a", format=3), due("b")]
    earlier, later = worker("one", 5), worker("two", 1, format=3)
    assert chosen(waiting, [earlier]) == ["b"]
    given = hand_out(waiting, (), [], [earlier, later], ALL)
    assert [(each.run.run, each.queue[-1]) for each in given] == [("a", "3"), ("b", "2")]


def test_unservable_run_is_reported_with_a_remedy() -> None:
    workers = [worker("one", 1, ("executor",)), worker("two", 1, ("planner",), format=3)]
    assert why_unserved(due("a"), workers) == ""
    assert why_unserved(due("a", "planner", format=3), workers) == ""
    assert "--roles verifier" in why_unserved(due("a", "verifier"), workers)
    assert "later release" in why_unserved(due("a", format=3), workers)
