"""Workers that are heard of, the one that leads, and the runs that wait for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

import psycopg
import pytest
from msgspec.structs import replace
from tests.postgres import database, postgres
from tests.unit.journal.runs import START, begin, story, take, write

from flyball.errors import LeaseHeld
from flyball.journal.connection import DUE, SCHEMA
from flyball.journal.postgres import PostgresJournal
from flyball.journal.protocol import SUBMITTED, Lease, WorkerRow
from flyball.journal.workers import LEADING, Busy, WorkerTable
from flyball.run import codec
from flyball.run.event import PauseAsked, Resumed
from flyball.run.state import RunState

__all__ = ["database", "postgres"]

TTL = 3600.0
"""Longer than any test takes: a lease ends only where the test lets it."""

Hire = Callable[[str], WorkerTable]


@pytest.fixture
def hire(database: str) -> Iterator[Hire]:
    hired: list[WorkerTable] = []

    def begin_work(name: str) -> WorkerTable:
        roles = ("planner", "executor")
        row = WorkerRow(name, "host", roles, 4, 0, "1.0", 0.0, 0.0, format=codec.VERSION)
        hired.append(WorkerTable(database, row, TTL))
        return hired[-1]

    yield begin_work
    for each in hired:
        each.close()


@pytest.fixture
def journal(database: str) -> Iterator[PostgresJournal]:
    found = PostgresJournal(database, "shop")
    yield found
    asyncio.run(found.close())


def let_time_pass(url: str, run: str) -> None:
    """The lease of a run has run out, as after a worker that stood still for long."""
    change(url, "UPDATE leases SET expires_at = 1 WHERE run = %s", run)


def change(url: str, statement: str, *values: object) -> None:
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"SET search_path TO {SCHEMA}")
        db.execute(statement.encode(), values)


async def submit(
    journal: PostgresJournal, run: str, *, by: str = "ada", priority: int = 0
) -> RunState:
    """A run that was begun, and whose lease was given back."""
    lease = await take(journal, run, "surface")
    shell = {"by": by, "priority": str(priority), SUBMITTED: "yes"}
    state = await write(journal, lease, RunState(), replace(START, run=run, shell=shell))
    await journal.release(lease)
    return state


@story
async def test_a_heartbeat_says_who_works_and_how_much(database: str, hire: Hire) -> None:
    one, two = hire("one"), hire("two")
    one.beat(1)
    two.beat(0)
    one.beat(3, is_leaving=True)
    seen = {each.worker: each for each in one.all()}
    assert list(seen) == ["one", "two"]
    assert (seen["one"].load, seen["one"].is_leaving, seen["one"].roles) == (
        3,
        True,
        ("planner", "executor"),
    )
    assert 0 <= seen["one"].age < TTL
    change(database, "UPDATE workers SET seen_at = seen_at - %s WHERE worker = 'two'", TTL)
    assert [each.worker for each in one.live()] == ["one"]
    assert [each.age >= TTL for each in one.all()] == [False, True]
    one.leave()
    assert [each.worker for each in two.all()] == ["two"]


@story
async def test_a_heartbeat_keeps_leases_and_revives_none_that_ran_out(
    database: str, hire: Hire, journal: PostgresJournal
) -> None:
    worker = hire("one")
    await begin(journal, await take(journal, "held", "one"))
    lost = await take(journal, "lost", "one")
    await begin(journal, lost)
    let_time_pass(database, "lost")
    worker.beat(2)
    ends = await leases(database)
    assert ends["held"] > 60.0
    assert ends["lost"] < 0.0
    assert [each.runs for each in worker.all()] == [("held",)]
    # Whoever takes it over has the higher fence; the heartbeat of the first does not touch that.
    await take(journal, "lost", "two")
    let_time_pass(database, "held")
    worker.beat(2)
    assert (await leases(database))["lost"] <= 60.0
    with pytest.raises(LeaseHeld, match="two"):
        await journal.renew(Lease("lost", "one", lost.fence), 0.0, TTL)


async def leases(url: str) -> dict[str, float]:
    """How many seconds each lease has left."""
    with psycopg.connect(url) as db:
        rows = db.execute(
            f"SELECT run, expires_at - extract(epoch FROM clock_timestamp())::float8"
            f" FROM {SCHEMA}.leases".encode()
        )
        return dict(rows.fetchall())


def test_one_leads_until_it_leaves_or_is_not_heard_of(database: str, hire: Hire) -> None:
    one, two, three = hire("one"), hire("two"), hire("three")
    assert [one.leads(), two.leads(), one.leads(), two.leads()] == [True, False, True, False]
    one.leave()
    assert [two.leads(), one.leads()] == [True, False]
    let_time_pass(database, LEADING)
    assert [three.leads(), two.leads()] == [True, False]


def test_to_lead_is_no_run(hire: Hire) -> None:
    one = hire("one")
    one.beat(0)
    assert one.leads()
    assert [row.runs for row in one.all()] == [()]
    assert one.busy() == []


@story
async def test_the_most_urgent_run_is_due_first_and_of_equals_the_oldest(
    hire: Hire, journal: PostgresJournal
) -> None:
    for run, by, priority in (("a", "ada", 0), ("b", "bob", 5), ("c", "ada", 5), ("d", "", -1)):
        await submit(journal, run, by=by, priority=priority)
    due = hire("one").due()
    assert [each.run for each in due] == ["b", "c", "a", "d"]
    assert [each.owner for each in due] == ["bob", "ada", "ada", ""]
    assert {each[1:4] for each in due} == {(1, "executor", "shop")}


@story
async def test_what_somebody_drove_comes_before_what_nobody_began(
    hire: Hire, journal: PostgresJournal
) -> None:
    for run in "abc":
        await submit(journal, run)
    # Its worker died before anything came of it.
    await journal.release(await take(journal, "b", "two"))
    assert [(each.run, each.is_begun) for each in hire("one").due()] == [
        ("b", True),
        ("a", False),
        ("c", False),
    ]


@story
async def test_a_run_is_of_the_latest_format_in_which_anything_of_it_is(
    database: str, hire: Hire, journal: PostgresJournal
) -> None:
    await submit(journal, "a")
    await submit(journal, "b")
    await journal.post("b", Resumed(by="ada"))
    change(database, "UPDATE inbox SET codec = 99")
    worker = hire("one")
    assert [each.format for each in worker.due()] == [codec.VERSION, 99]
    worker.beat(0)
    assert [each.format for each in worker.all()] == [codec.VERSION]


@story
async def test_a_run_is_due_only_while_it_has_no_driver(
    database: str, hire: Hire, journal: PostgresJournal
) -> None:
    worker = hire("one")
    await submit(journal, "a", by="ada")
    assert worker.busy() == []
    lease = await take(journal, "a", "one")
    assert worker.due() == []
    assert worker.busy() == [Busy("a", "shop", "ada", "one")]
    let_time_pass(database, "a")
    assert [each.run for each in worker.due()] == ["a"]
    assert worker.busy() == []
    # Given back for a while: nobody's, and not due yet.
    await journal.release(lease, after=TTL)
    assert (worker.due(), worker.busy()) == ([], [])


@story
async def test_a_paused_run_is_due_when_a_word_was_left_for_it(
    database: str, hire: Hire, journal: PostgresJournal
) -> None:
    worker = hire("one")
    lease = await take(journal, "a", "one")
    state = await begin(journal, lease)
    # As if it had been submitted.
    change(database, "UPDATE runs SET role = 'executor'")
    await write(journal, lease, state, PauseAsked(by="ada"))
    await journal.release(lease)
    assert worker.due() == []
    await journal.post("a", Resumed(by="ada"))
    assert [each.run for each in worker.due()] == ["a"]


def test_a_notice_wakes_who_waits(database: str, hire: Hire) -> None:
    worker = hire("one")
    # Listening first: what was notified before that wakes nobody.
    worker.wait(0.0)
    waiting = threading.Thread(target=worker.wait, args=(600.0,), daemon=True)
    waiting.start()
    change(database, f"NOTIFY {DUE}")
    waiting.join(30.0)
    assert not waiting.is_alive()


@story
async def test_who_is_known_to_be_gone_keeps_no_run(hire: Hire, journal: PostgresJournal) -> None:
    await submit(journal, "a")
    await take(journal, "a", "one")
    one, two = hire("one"), hire("two")
    one.beat(1)
    two.beat(0)
    assert two.due() == []
    two.remove_dead(["one"])
    assert [each.run for each in two.due()] == ["a"]
    assert [each.worker for each in two.all()] == ["two"]


@story
async def test_what_somebody_drives_in_a_terminal_is_due_for_no_worker(
    hire: Hire, journal: PostgresJournal
) -> None:
    lease = await take(journal, "a", "a terminal")
    state = await write(journal, lease, RunState(), replace(START, run="a", shell={"by": "ada"}))
    await write(journal, lease, state, PauseAsked(by="ada"))
    await journal.post("a", Resumed(by="ada", tree=""))
    await journal.release(lease)
    assert hire("one").due() == []
    assert [each.queue for each in await journal.runs()] == [""]


def test_who_waits_is_told_whether_runs_were_put_into_queues(database: str, hire: Hire) -> None:
    one, two = hire("one"), hire("two")
    two.wait(0.0)
    change(database, f"NOTIFY {DUE}")
    assert not two.wait(30.0)
    one.notify_queued()
    assert two.wait(30.0)
