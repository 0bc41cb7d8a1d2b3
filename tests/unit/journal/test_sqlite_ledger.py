"""The project's ledger: entered once per card, counted, resolved, forgotten."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.unit.journal.runs import story

from flyball.core.memory.ledger import Sighting, fingerprint_failure
from flyball.journal.migrations import MIGRATIONS
from flyball.journal.sqlite import SqliteJournal, memory_journal

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
