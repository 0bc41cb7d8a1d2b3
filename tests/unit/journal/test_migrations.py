"""The schemas of earlier releases."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.unit.journal.runs import begin, story, take

from flyball.errors import JournalError, SchemaTooNew
from flyball.journal.migrations import MIGRATIONS
from flyball.journal.sqlite import SqliteJournal


@pytest.mark.parametrize("version", range(len(MIGRATIONS) + 1))
def test_every_older_schema_is_brought_up_to_date(tmp_path: Path, version: int) -> None:
    path = tmp_path / "journal.sqlite"
    with sqlite3.connect(path) as db:
        for script in MIGRATIONS[:version]:
            db.executescript(script)
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    asyncio.run(_use(path))


async def _use(path: Path) -> None:
    journal = SqliteJournal(path)
    state = await begin(journal, await take(journal))
    assert await journal.load("r1") == state
    await journal.close()
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    db.close()


def test_a_later_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(SchemaTooNew, match="schema 99"):
        SqliteJournal(path)
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (99,)
        assert db.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
    db.close()


def test_a_journal_that_cannot_be_opened_lets_go_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"this is not a database, whatever its name says" * 100)
    connect, opened = sqlite3.connect, list[sqlite3.Connection]()

    def remember(*args: Any, **options: Any) -> sqlite3.Connection:
        opened.append(connect(*args, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remember)
    with pytest.raises(JournalError):
        SqliteJournal(path)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


@story
async def test_opening_twice_changes_nothing(tmp_path: Path) -> None:
    first = SqliteJournal(tmp_path / "journal.sqlite")
    state = await begin(first, await take(first))
    second = SqliteJournal(tmp_path / "journal.sqlite")
    assert await second.load("r1") == state
    await first.close()
    await second.close()
