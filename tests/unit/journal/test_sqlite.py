"""The embedded journal: a file, or nothing at all; what every journal promises is tested aside."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.journal.runs import begin, nobody_is_dead, story, take

from flyball.errors import JournalError, NotFound
from flyball.journal.sqlite import SqliteJournal, memory_journal


def test_a_file_that_is_no_database_is_explained(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    path.write_bytes(b"this is not a database, whatever its name says" * 100)
    with pytest.raises(JournalError, match="is damaged: file is not a database"):
        SqliteJournal(path)


@story
async def test_a_journal_in_memory_keeps_nothing_on_disk() -> None:
    journal = memory_journal()
    state = await begin(journal, await take(journal))
    assert await journal.load("r1") == state
    assert not Path(":memory:").exists()
    other = memory_journal()
    with pytest.raises(NotFound):
        await other.load("r1")
    await journal.close()
    await other.close()


@story
async def test_a_closed_journal_says_so(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "journal.sqlite")
    await journal.close()
    with pytest.raises(JournalError, match="closed"):
        await journal.acquire("r1", "ada", 0.0, 60.0, nobody_is_dead)


@story
async def test_the_list_of_runs_does_not_read_every_event() -> None:
    journal = memory_journal()
    await begin(journal, await take(journal))
    asked: list[str] = []
    journal._db.set_trace_callback(asked.append)
    await journal.runs()
    journal._db.set_trace_callback(None)
    (query,) = asked
    plan = [str(row[3]) for row in journal._db.execute(f"EXPLAIN QUERY PLAN {query}")]
    assert not [step for step in plan if step.startswith("SCAN e")]
    await journal.close()
