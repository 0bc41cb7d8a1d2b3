"""The embedded journal: a file, or nothing at all; its ledger; a disk that fills up."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.journal.runs import begin, nobody_is_dead, reply, story, take, write

from flyball.errors import JournalError, NotFound
from flyball.guards.ledger import Sighting, fingerprint_failure
from flyball.journal.migrations import MIGRATIONS
from flyball.journal.sqlite import SqliteJournal, memory_journal
from flyball.run.machine import replay


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


FILLER = """
import asyncio, pathlib, resource, signal, sys
from flyball.errors import JournalError
from flyball.journal.sqlite import SqliteJournal
from tests.unit.journal.runs import begin, reply, take, write

async def fill(path):
    journal = SqliteJournal(path)
    lease = await take(journal)
    state = await begin(journal, lease)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        await write(journal, lease, state, reply(state, "x" * 400_000))
    except JournalError as error:
        print(error)

asyncio.run(fill(pathlib.Path(sys.argv[1])))
"""


@story
async def test_a_full_disk_is_reported_and_the_log_stays_whole(tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    command = [sys.executable, "-c", FILLER, str(path)]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert "cannot be used" in done.stdout
    assert "Check that the disk has room" in done.stdout
    journal = SqliteJournal(path)
    entries = await journal.events("r1")
    state = await journal.load("r1")
    assert [entry.seq for entry in entries] == [1, 2, 3]
    assert replay(entry.event for entry in entries) == state
    lease = await journal.acquire("r1", "later", 1e9, 60.0, lambda _: True)
    state = await write(journal, lease, state, reply(state, "there is room again"))
    assert await journal.load("r1") == state
    await journal.close()


ONE = fingerprint_failure("ValueError: bad row", "fix", ["b.py", "a.py"])
TWO = fingerprint_failure("error: one\nerror: two", "step")


@story
async def test_a_card_that_is_closed_again_after_a_crash_counts_once():
    journal = memory_journal()
    for _ in range(2):
        await journal.enter([Sighting("r1", "step-1", ONE, 5.0, "multiply")])
    (found,) = await journal.mistakes()
    assert (found.fingerprint, found.error, found.step_kind, found.files, found.count) == (
        ONE.fingerprint,
        "ValueError: bad row",
        "fix",
        ("a.py", "b.py"),
        1,
    )
    assert (found.resolution, found.first_seen, found.last_seen) == ("multiply", 5.0, 5.0)
    await journal.close()


@story
async def test_sightings_are_counted_and_the_last_resolution_is_kept():
    journal = memory_journal()
    await journal.enter([Sighting("r1", "step-1", ONE, 5.0, "multiply")])
    await journal.enter([Sighting("r2", "step-1", ONE, 9.0), Sighting("r2", "b", ONE, 7.0)])
    (found,) = await journal.mistakes()
    assert (found.count, found.resolution, found.first_seen, found.last_seen) == (
        3,
        "multiply",
        5.0,
        9.0,
    )
    seen = [(each.run, each.card, each.at) for each in await journal.sightings(ONE.fingerprint)]
    assert seen == [("r1", "step-1", 5.0), ("r2", "b", 7.0), ("r2", "step-1", 9.0)]
    assert (await journal.sightings(ONE.fingerprint))[0].failure == ONE
    await journal.close()


@story
async def test_what_was_seen_last_comes_first_and_a_limit_holds():
    journal = memory_journal()
    await journal.enter([Sighting("r1", "c", ONE, 5.0), Sighting("r1", "c", TWO, 5.0)])
    await journal.enter([Sighting("r2", "c", ONE, 5.0)])
    assert [each.fingerprint for each in await journal.mistakes()] == [
        ONE.fingerprint,
        TWO.fingerprint,
    ]
    await journal.enter([Sighting("r2", "c", TWO, 6.0)])
    (last,) = await journal.mistakes(1)
    assert last.fingerprint == TWO.fingerprint
    assert last.files == ()
    await journal.close()


@story
async def test_what_is_forgotten_is_gone_and_may_come_again():
    journal = memory_journal()
    await journal.enter([])
    assert await journal.mistakes() == []
    await journal.enter([Sighting("r1", "c", ONE, 5.0), Sighting("r1", "c", TWO, 5.0)])
    assert await journal.forget([ONE.fingerprint, "unknown"]) == 1
    assert await journal.forget([]) == 0
    assert [each.fingerprint for each in await journal.mistakes()] == [TWO.fingerprint]
    assert await journal.sightings(ONE.fingerprint) == []
    await journal.enter([Sighting("r2", "c", ONE, 8.0)])
    assert [each.count for each in await journal.mistakes()] == [1, 1]
    await journal.close()


@story
async def test_a_journal_from_before_the_ledger_gets_one(tmp_path: Path):
    path = tmp_path / "journal.sqlite"
    with sqlite3.connect(path) as old:
        old.executescript(MIGRATIONS[0])
        old.execute("PRAGMA user_version = 1")
    old.close()
    journal = SqliteJournal(path)
    await journal.enter([Sighting("r1", "c", ONE, 5.0)])
    assert len(await journal.mistakes()) == 1
    await journal.close()
