"""A glance at a journal: quick, harmless, and silent where there is nothing to see."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from flyball.journal.glance import NamedRun, newest_runs, run_meant
from flyball.journal.migrations import MIGRATIONS

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


def test_looking_makes_nothing_and_fails_for_nobody(tmp_path: Path):
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
    assert run_meant(FOUND, "last") == "0102-aaaa"
    assert run_meant(FOUND, "0101-aabb") == run_meant(FOUND, "bb") == "0101-aabb"
    assert run_meant(FOUND, "010") == run_meant(FOUND, "") == run_meant((), "last") == ""
