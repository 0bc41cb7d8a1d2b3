"""Whether a journal can be used, and a glance at it, seen without changing it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.unit.journal.runs import begin, story, take

from flyball.errors import Corrupt, JournalError, SchemaTooNew
from flyball.journal.glance import NamedRun, newest_runs, resolve_run
from flyball.journal.migrations import MIGRATIONS
from flyball.journal.sqlite import SqliteJournal, require_usable


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "journal.sqlite"

    async def fill() -> None:
        journal = SqliteJournal(path)
        await begin(journal, await take(journal))
        await journal.close()

    story(fill)()
    return path


def test_a_journal_in_order_tells_its_schema(path: Path):
    assert require_usable(path) == len(MIGRATIONS)


def test_an_old_journal_is_not_brought_to_the_present_schema(path: Path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 1")
    assert require_usable(path) == 1
    assert require_usable(path) == 1


def test_a_journal_that_is_not_there_is_not_made(tmp_path: Path):
    with pytest.raises(JournalError, match="unable to open"):
        require_usable(tmp_path / "none.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_a_lock_is_waited_for_only_so_long(path: Path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError, match=r"locked.*Another process writes to it"):
            require_usable(path, 0.01)
        other.execute("ROLLBACK")
    assert require_usable(path, 0.01)


def test_a_later_schema_is_refused(path: Path):
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    with pytest.raises(SchemaTooNew, match="Upgrade"):
        require_usable(path)


def test_pages_that_were_overwritten_are_noticed(path: Path):
    with path.open("r+b") as file:
        size = file.seek(0, 2)
        file.seek(4096)
        file.write(b"\xa5" * (size - 4096))
    with pytest.raises(Corrupt, match="is damaged"):
        require_usable(path)


FOUND = (NamedRun("0102-aaaa", "second"), NamedRun("0101-aabb", "first"))


def journal(path: Path, *runs: NamedRun) -> Path:
    """A journal with these runs, the oldest first."""
    with sqlite3.connect(path) as db:
        db.executescript(MIGRATIONS[0])
        for at, each in enumerate(runs):
            db.execute("INSERT INTO runs VALUES (?, ?, '', ?, 0, 0, 0, '')", (*each, at))
    db.close()
    return path


def test_the_newest_come_first_and_no_more_than_asked(tmp_path: Path):
    path = journal(tmp_path / "journal.sqlite", *reversed(FOUND))
    assert newest_runs(path, 10) == FOUND
    assert newest_runs(path, 1) == FOUND[:1]


def test_looking_makes_nothing_and_never_fails(tmp_path: Path):
    assert newest_runs(tmp_path / "journal.sqlite", 10) == ()
    assert [*tmp_path.iterdir()] == []
    (tmp_path / "damaged").write_text("no journal" * 100)
    assert newest_runs(tmp_path / "damaged", 10) == ()


def test_a_journal_that_somebody_holds_is_not_waited_for(tmp_path: Path):
    path = journal(tmp_path / "journal.sqlite", *FOUND)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    assert newest_runs(path, 10) == ()
    holder.close()


def test_a_run_is_meant_by_its_name_a_part_of_it_or_last():
    assert resolve_run(FOUND, "last") == "0102-aaaa"
    assert resolve_run(FOUND, "0101-aabb") == resolve_run(FOUND, "bb") == "0101-aabb"
    assert resolve_run(FOUND, "010") == resolve_run(FOUND, "") == resolve_run((), "last") == ""
