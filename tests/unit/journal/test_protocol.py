"""What every journal promises: what is written stays, in order, and only its holder writes."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from msgspec.structs import replace
from tests.postgres import database, postgres
from tests.unit.journal.runs import READY, START, begin, reply, story, take, write

from flyball.errors import Conflict, Corrupt, LeaseHeld, NotFound
from flyball.journal.connection import SCHEMA
from flyball.journal.postgres import PostgresJournal
from flyball.journal.protocol import Lease, PostedEvent
from flyball.journal.sqlite import SqliteJournal
from flyball.run import codec
from flyball.run.effect import Classify, Owed, Publish
from flyball.run.ending import status_of
from flyball.run.event import (
    Cancelled,
    DriverFailed,
    Extended,
    Messaged,
    PauseAsked,
    Resumed,
)
from flyball.run.machine import replay
from flyball.run.state import RunState
from flyball.run.thread import Speaker

__all__ = ["database", "postgres"]

AnyJournal = SqliteJournal | PostgresJournal
WHERE: dict[int, str] = {}
"""The address of each journal in Postgres that a test has open."""


@pytest.fixture(params=["sqlite", "postgres"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnyJournal]:
    if request.param == "sqlite":
        found: AnyJournal = SqliteJournal(tmp_path / "state" / "journal.sqlite")
    else:
        url = request.getfixturevalue("database")
        found = PostgresJournal(url, "shop")
        WHERE[id(found)] = url
    yield found
    asyncio.run(found.close())


def reopen(journal: AnyJournal) -> AnyJournal:
    if isinstance(journal, SqliteJournal):
        return SqliteJournal(journal.path)
    return PostgresJournal(WHERE[id(journal)], "shop")


def count(journal: AnyJournal, table: str) -> int:
    ((found,),) = spoil(journal, f"SELECT count(*) FROM {table}")
    return found


def spoil(journal: AnyJournal, statement: str, *values: object) -> list[tuple[int]]:
    if isinstance(journal, PostgresJournal):
        with psycopg.connect(WHERE[id(journal)], autocommit=True) as db:
            db.execute(f"SET search_path TO {SCHEMA}")
            done = db.execute(statement.replace("?", "%s"), values)
            return done.fetchall() if done.description else []
    with sqlite3.connect(journal.path) as db:
        rows = db.execute(statement, values).fetchall()
    db.close()
    return rows


def pass_time(journal: AnyJournal, seconds: float) -> None:
    """A file believes the time that it is told; the database has its own."""
    if isinstance(journal, PostgresJournal):
        spoil(journal, "UPDATE leases SET expires_at = expires_at - ?", seconds)


@story
async def test_a_run_is_loaded_as_it_was_left(journal: AnyJournal) -> None:
    state = await begin(journal, await take(journal))
    assert await journal.load("r1") == state
    entries = await journal.events("r1")
    assert [entry.seq for entry in entries] == [1, 2, 3]
    assert replay(entry.event for entry in entries) == state


@story
async def test_another_process_sees_what_was_committed(journal: AnyJournal) -> None:
    state = await begin(journal, await take(journal))
    other = reopen(journal)
    assert await other.load("r1") == state
    await other.close()


@story
async def test_events_after_a_place_and_only_so_many(journal: AnyJournal) -> None:
    await begin(journal, await take(journal))
    assert [entry.seq for entry in await journal.events("r1", after=1)] == [2, 3]
    (first,) = await journal.events("r1", limit=1)
    assert first.event == START


@story
async def test_an_unknown_run_is_named(journal: AnyJournal) -> None:
    with pytest.raises(NotFound, match="'nothing'"):
        await journal.load("nothing")


@story
async def test_the_second_holder_is_told_who_holds_it(journal: AnyJournal) -> None:
    await take(journal, holder="ada", now=0.0)
    pass_time(journal, 59.0)
    with pytest.raises(LeaseHeld, match="held by ada"):
        await take(journal, holder="grace", now=59.0)


@story
async def test_the_same_process_cannot_drive_a_run_twice(journal: AnyJournal) -> None:
    await take(journal, holder="ada", now=0.0)
    with pytest.raises(LeaseHeld, match="held by ada"):
        await take(journal, holder="ada", now=1.0)


@story
async def test_a_dead_holder_holds_nothing(journal: AnyJournal) -> None:
    first = await take(journal, holder="ada", now=0.0)
    second = await journal.acquire("r1", "grace", 1.0, 60.0, lambda holder: holder == "ada")
    assert second.fence > first.fence
    assert await journal.holder("r1") == "grace"


@story
async def test_an_expired_lease_can_be_taken(journal: AnyJournal) -> None:
    first = await take(journal, holder="ada", now=0.0)
    pass_time(journal, 61.0)
    second = await take(journal, holder="grace", now=61.0)
    assert second.fence == first.fence + 1


@story
async def test_a_renewed_lease_does_not_expire(journal: AnyJournal) -> None:
    lease = await take(journal, holder="ada", now=0.0)
    pass_time(journal, 50.0)
    await journal.renew(lease, 50.0, 60.0)
    pass_time(journal, 11.0)
    with pytest.raises(LeaseHeld):
        await take(journal, holder="grace", now=61.0)


@story
async def test_a_released_run_is_free_and_its_fence_still_rises(journal: AnyJournal) -> None:
    first = await take(journal)
    await journal.release(first)
    assert await journal.holder("r1") == ""
    assert (await take(journal, holder="grace")).fence == first.fence + 1


@story
async def test_giving_back_what_was_taken_from_us_leaves_it_with_the_taker(
    journal: AnyJournal,
) -> None:
    old = await take(journal, holder="ada", now=0.0)
    pass_time(journal, 61.0)
    await take(journal, holder="grace", now=61.0)
    await journal.release(old)
    assert await journal.holder("r1") == "grace"


@story
async def test_a_stolen_fence_refuses_every_write(journal: AnyJournal) -> None:
    old = await take(journal, holder="ada", now=0.0)
    state = await begin(journal, old)
    await journal.post("r1", PauseAsked(by="ada"))
    pass_time(journal, 61.0)
    await take(journal, holder="grace", now=61.0)
    with pytest.raises(LeaseHeld, match="grace"):
        await write(journal, old, state, reply(state, "late"))
    with pytest.raises(LeaseHeld, match="grace"):
        await journal.intend(old, state.owed[0], 62.0)
    with pytest.raises(LeaseHeld, match="grace"):
        await journal.renew(old, 62.0, 60.0)
    with pytest.raises(LeaseHeld, match="grace"):
        await journal.drop(old, 1)
    assert await journal.load("r1") == state
    assert count(journal, "intentions") == 0
    assert len(await journal.inbox("r1")) == 1


@story
async def test_writing_without_ever_holding_the_run_is_refused(journal: AnyJournal) -> None:
    with pytest.raises(LeaseHeld, match="nobody"):
        await begin(journal, Lease("r1", "mallory", 1))
    assert await journal.runs() == []


@story
async def test_an_event_must_follow_the_log(journal: AnyJournal) -> None:
    lease = await take(journal)
    state = await begin(journal, lease)
    event = reply(state, "said")
    with pytest.raises(Conflict, match="Event 5 of run r1"):
        await journal.commit(lease, event, replace(state, seq=5), ())
    with pytest.raises(Conflict, match="Event 3 of run r1"):
        await journal.commit(lease, event, state, ())
    with pytest.raises(Conflict, match="Event 1 of run r1"):
        await write(journal, lease, RunState(), START)
    assert await journal.load("r1") == state
    assert [entry.seq for entry in await journal.events("r1")] == [1, 2, 3]


@story
async def test_a_second_intention_is_known_as_a_repeat(journal: AnyJournal) -> None:
    lease = await take(journal)
    owed = Owed(7, Classify())
    assert not await journal.intend(lease, owed, 1.0)
    assert await journal.intend(lease, owed, 2.0)


@story
async def test_a_repeat_is_known_to_the_next_process(journal: AnyJournal) -> None:
    await journal.intend(await take(journal, now=0.0), Owed(7, Classify()), 1.0)
    other = reopen(journal)
    pass_time(journal, 61.0)
    lease = await take(other, holder="grace", now=61.0)
    assert await other.intend(lease, Owed(7, Classify()), 62.0)
    await other.close()


@story
async def test_a_message_stays_in_the_inbox_until_its_event_is_written(
    journal: AnyJournal,
) -> None:
    lease = await take(journal)
    state = await begin(journal, lease)
    word = Extended(by="ada", calls=3, why="more")
    await journal.post("r1", word)
    (posted,) = await journal.inbox("r1")
    assert posted == PostedEvent(1, word)
    assert await journal.inbox("r1") == [posted]
    state = await write(journal, lease, state, replace(word, at=200.0), posted.id)
    assert await journal.inbox("r1") == []
    assert state.budget.limit == 18


@story
async def test_a_refused_event_leaves_its_word_in_the_inbox(journal: AnyJournal) -> None:
    lease = await take(journal)
    state = await begin(journal, lease)
    await journal.post("r1", PauseAsked(by="ada"))
    with pytest.raises(Conflict):
        await journal.commit(lease, PauseAsked(by="ada"), replace(state, seq=9), (), 1)
    assert len(await journal.inbox("r1")) == 1


@story
async def test_words_are_kept_apart_by_run_and_in_order(journal: AnyJournal) -> None:
    await journal.post("r1", PauseAsked(by="ada"))
    await journal.post("r2", Cancelled(by="grace"))
    await journal.post("r1", Cancelled(by="ada"))
    kinds = [type(posted.event) for posted in await journal.inbox("r1")]
    assert kinds == [PauseAsked, Cancelled]


@story
async def test_a_thread_is_what_a_role_said_and_heard(journal: AnyJournal) -> None:
    lease = await take(journal)
    state = await begin(journal, lease)
    role = state.cards[0].role
    state = await write(journal, lease, state, reply(state, "I look"))
    lines = await journal.thread("r1", state.cards[0].id, 1, role)
    assert [line.text for line in lines if line.speaker is Speaker.DRIVER] == ["I look"]
    assert lines[0].speaker is Speaker.GOVERNOR
    assert await journal.replies("r1", role) == {state.cards[0].id: 1}
    assert await journal.thread("r1", state.cards[0].id, 2, role) == []
    assert await journal.replies("r1", "planner") == {}


@story
async def test_the_list_of_runs_is_newest_first_with_its_holders(journal: AnyJournal) -> None:
    one = await take(journal)
    await begin(journal, one)
    await journal.release(one)
    two = await take(journal, "r2", "grace")
    await write(journal, two, RunState(), replace(START, run="r2", request="other", at=300.0))
    found = await journal.runs()
    assert [(each.run, each.request, each.status, each.seq, each.holder) for each in found] == [
        ("r2", "other", "running", 1, "grace"),
        ("r1", "fix the cart", "running", 3, ""),
    ]


@story
async def test_the_status_says_that_a_run_waits_or_how_it_ended(journal: AnyJournal) -> None:
    lease = await take(journal)
    state = await begin(journal, lease)
    assert status_of(state) == "running"
    state = await write(journal, lease, state, PauseAsked(by="ada", at=110.0))
    assert (await journal.runs())[0].status == status_of(state) == "paused"
    state = await write(journal, lease, state, Cancelled(by="ada", at=111.0))
    while state.owed:
        owed = state.owed[0]
        assert isinstance(owed.effect, Publish)
        event = Messaged(message=owed.effect.message, effect=owed.n, at=112.0)
        state = await write(journal, lease, state, event)
    assert (await journal.runs())[0].status == status_of(state) == "cancelled"


@story
async def test_a_damaged_state_is_folded_again(journal: AnyJournal) -> None:
    state = await begin(journal, await take(journal))
    spoil(journal, "UPDATE runs SET state = ?", b"{broken")
    assert await journal.load("r1") == state


@story
async def test_a_state_of_another_codec_is_folded_again(journal: AnyJournal) -> None:
    state = await begin(journal, await take(journal))
    spoil(journal, "UPDATE runs SET codec = 99, state = ?", b'{"run": "something else"}')
    assert await journal.load("r1") == state


@story
async def test_a_state_that_counts_otherwise_is_corrupt(journal: AnyJournal) -> None:
    await begin(journal, await take(journal))
    spoil(journal, "UPDATE runs SET seq = 9")
    with pytest.raises(Corrupt, match="9 events"):
        await journal.load("r1")


@story
async def test_a_log_with_a_gap_is_corrupt(journal: AnyJournal) -> None:
    await begin(journal, await take(journal))
    spoil(journal, "DELETE FROM events WHERE seq = 2")
    with pytest.raises(Corrupt, match="gap after event 0"):
        await journal.events("r1")
    spoil(journal, "UPDATE runs SET codec = 1")
    with pytest.raises(Corrupt, match="gap after event 0"):
        await journal.load("r1")


@story
async def test_a_log_that_does_not_add_up_is_corrupt(journal: AnyJournal) -> None:
    await begin(journal, await take(journal))
    spoil(journal, "UPDATE events SET body = ? WHERE seq = 3", codec.encode(READY))
    spoil(journal, "UPDATE runs SET codec = 1")
    with pytest.raises(Corrupt, match="is inconsistent"):
        await journal.load("r1")


@story
async def test_a_state_from_within_its_log_is_folded_on(journal: AnyJournal) -> None:
    """Earlier releases stored the state beside every sixteenth event only."""
    lease = await take(journal)
    early = state = await begin(journal, lease)
    for n in range(20):
        event = DriverFailed(card=state.cards[0].id, error="busy", effect=state.owed[0].n)
        state = await write(journal, lease, state, replace(event, at=200.0 + n))
        if state.paused:
            state = await write(journal, lease, state, Resumed(by="ada", at=200.5 + n))
        assert await journal.load("r1") == state
    spoil(journal, "UPDATE runs SET state = ?, seq = ?", codec.encode(early), early.seq)
    assert await journal.load("r1") == state
    (summary,) = await journal.runs()
    assert (summary.seq, summary.updated_at) == (state.seq, state.at)


@story
async def test_a_damaged_event_and_line_are_corrupt(journal: AnyJournal) -> None:
    lease = await take(journal)
    state = await begin(journal, lease)
    state = await write(journal, lease, state, reply(state, "I look"))
    spoil(journal, "UPDATE events SET body = ? WHERE seq = 2", b'{"type": "no-such-event"}')
    spoil(journal, "UPDATE lines SET body = ?", b"[]")
    with pytest.raises(Corrupt, match="stored event"):
        await journal.events("r1")
    with pytest.raises(Corrupt, match="line of a thread"):
        await journal.thread("r1", state.cards[0].id, 1, state.cards[0].role)
