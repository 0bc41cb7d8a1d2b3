"""A connection that comes back by itself, a schema to share, and a password never shown."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest
from tests.postgres import database, postgres
from tests.unit.journal.runs import begin, reply, story, take, write

from flyball.errors import JournalError, SchemaTooNew
from flyball.journal.connection import SCHEMA, PostgresLink, discreet, examine_database
from flyball.journal.migrations import POSTGRES_MIGRATIONS
from flyball.journal.postgres import PostgresJournal
from flyball.journal.protocol import masked, password_of
from flyball.run.effect import Classify, Owed
from flyball.run.event import PauseAsked

__all__ = ["database", "postgres"]

SECRET = "postgresql://ada:s3cr3t%21@db.example:5432/flyball?sslmode=require"


def end_connections(url: str) -> None:
    """What a restart of the server does to whoever is connected."""
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid != pg_backend_pid()"
        )


@story
async def test_a_broken_connection_is_remade_and_nothing_is_done_twice(database: str) -> None:
    journal = PostgresJournal(database, "shop")
    lease = await take(journal)
    state = await begin(journal, lease)
    for word in ("one", "two"):
        end_connections(database)
        await journal.post("r1", PauseAsked(by=word))
    end_connections(database)
    assert not await journal.intend(lease, Owed(9, Classify()), 5.0)
    end_connections(database)
    state = await write(journal, lease, state, reply(state, "said"))
    end_connections(database)
    assert await journal.load("r1") == state
    assert len(await journal.inbox("r1")) == 2
    await journal.close()


@story
async def test_a_try_that_was_carried_out_before_the_connection_broke_is_found(
    database: str,
) -> None:
    journal = PostgresJournal(database, "shop")
    lease = await take(journal)
    state = await begin(journal, lease)
    asked: list[bool] = []
    ask = journal._link.ask

    def lose_the_answer(action):
        def twice(db, is_again):
            answer = action(db, is_again)
            asked.append(is_again)
            if not is_again:
                end_connections(database)
                db.execute("SELECT 1")
            return answer

        return ask(twice)

    journal._link.ask = lose_the_answer  # type: ignore[method-assign]
    assert not await journal.intend(lease, state.owed[0], 5.0)
    state = await write(journal, lease, state, reply(state, "said"))
    await journal.post("r1", PauseAsked(by="ada"))
    other = await take(journal, "r2")
    assert other.holder == "ada"
    journal._link.ask = ask  # type: ignore[method-assign]
    assert asked == [False, True] * 4
    assert await journal.load("r1") == state
    assert len(await journal.inbox("r1")) == 1
    await journal.close()


@story
async def test_a_database_that_stays_away_is_waited_for_only_so_long(tmp_path: Path) -> None:
    url = f"postgresql://ada:hidden@/shop?host={tmp_path}"
    link = PostgresLink(url, migrates=False, patience=0.0)
    link._was_open = True
    told: list[str] = []
    link._tell = told.append
    with pytest.raises(JournalError) as raised:
        link.ask(lambda db, _: db.execute("SELECT 1"))
    assert told == ["The database is unavailable; waiting up to 0 s for it."]
    assert "hidden" not in str(raised.value)


@story
async def test_a_writer_wakes_who_waits(database: str) -> None:
    journal, other = PostgresJournal(database, "shop"), PostgresJournal(database, "shop")
    waiting = asyncio.create_task(other.wait(60.0))
    await asyncio.sleep(0)
    await begin(journal, await take(journal))
    async with asyncio.timeout(30.0):
        await waiting
    await journal.close()
    await other.close()


@story
async def test_projects_share_a_database_and_not_their_runs(database: str) -> None:
    shop, bank = PostgresJournal(database, "shop"), PostgresJournal(database, "bank")
    await begin(shop, await take(shop))
    assert [each.run for each in await shop.runs()] == ["r1"]
    assert await bank.runs() == []
    await shop.close()
    await bank.close()


def test_a_later_schema_is_shared_unless_it_says_that_it_cannot_be(database: str) -> None:
    PostgresLink(database).close()
    known = len(POSTGRES_MIGRATIONS)
    with psycopg.connect(database, autocommit=True) as db:
        db.execute(f"UPDATE {SCHEMA}.versions SET version = %s", (known + 1,))
        PostgresLink(database).close()
        db.execute(f"UPDATE {SCHEMA}.versions SET needs = %s", (known + 1,))
        with pytest.raises(SchemaTooNew, match="later release"):
            PostgresLink(database)
        db.execute(f"UPDATE {SCHEMA}.versions SET version = %s, needs = 1", (known,))


@pytest.mark.parametrize(
    ("url", "shown", "password"),
    [
        (SECRET, "postgresql://db.example:5432/flyball", "s3cr3t%21"),
        ("postgresql:///flyball?host=/run&password=pw", "postgresql:///flyball", "pw"),
        ("postgresql://db/flyball", "postgresql://db/flyball", ""),
        ("host=db password=pw", "the database", ""),
        ("", "", ""),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str, password: str) -> None:
    assert (masked(url), password_of(url)) == (shown, password)


def test_an_error_that_repeats_the_address_does_not_tell_the_password() -> None:
    said = discreet(f'bad "{SECRET}", or s3cr3t! or s3cr3t%21', SECRET)
    assert "s3cr3t" not in said
    with pytest.raises(JournalError) as raised:
        PostgresLink("postgresql:/ada:s3cr3t@nowhere")
    assert "s3cr3t" not in str(raised.value)


def test_a_database_is_examined_without_being_changed(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as db:
        db.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        found = examine_database(database)
        assert [each.name for each in found if not each.holds] == []
        assert db.execute("SELECT to_regnamespace(%s)", (SCHEMA,)).fetchone() == (None,)
    PostgresLink(database).close()
    assert all(each.holds for each in examine_database(database))


def test_who_may_not_write_is_told_so(database: str) -> None:
    PostgresLink(database).close()
    with psycopg.connect(database, autocommit=True) as db:
        db.execute("CREATE ROLE looker LOGIN")
        try:
            found = examine_database(database.replace("//postgres:@", "//looker:@"))
            assert [each.name for each in found if not each.holds] == ["permissions"]
        finally:
            db.execute("DROP ROLE looker")


def test_a_database_that_is_not_there_is_one_finding(tmp_path: Path) -> None:
    (found,) = examine_database(f"postgresql://ada:hidden@/shop?host={tmp_path}")
    assert (found.name, found.holds) == ("connection", False)
    assert "hidden" not in found.seen
