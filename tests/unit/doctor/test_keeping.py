"""State, journal and runs that wait: real files, really locked, really damaged."""

from __future__ import annotations

import asyncio
import socket
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.postgres import database, postgres
from tests.unit.doctor.patient import home_of, seen_by
from tests.unit.journal.runs import START, begin, take, write

from flyball.app.project import Home, project_name
from flyball.doctor.examine import examine_journal, examine_state
from flyball.doctor.symptom import Symptom
from flyball.journal.postgres import PostgresJournal
from flyball.journal.protocol import SUBMITTED, WorkerRow
from flyball.journal.sqlite import SqliteJournal
from flyball.journal.workers import WorkerTable
from flyball.run.state import RunState
from flyball.workspace.process.process_identity import name_this_process

__all__ = ["database", "postgres"]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "shop").mkdir()
    return home_of(tmp_path, tmp_path / "shop")


def start_run(home: Home, holder: str) -> None:
    """A run that moves, driven by somebody."""

    async def start() -> None:
        journal = SqliteJournal(home.journal_path)
        lease = await journal.acquire("r1", holder, 0.0, 60.0, lambda _: False)
        await begin(journal, lease)
        await journal.close()

    asyncio.run(start())


def dead_process() -> str:
    """The name of a process that has ended."""
    child = subprocess.Popen(["true"])
    child.wait()
    return f"process {child.pid} on {socket.gethostname()} since 1"


def spoil(home: Home, *statements: str) -> None:
    with closing(sqlite3.connect(home.journal_path)) as db:
        for each in statements:
            db.execute(each)
        db.commit()


def journal(home: Home) -> Symptom:
    return seen_by(examine_journal, home)["journal"]


def test_before_the_first_run_there_is_nothing_to_mend_and_nothing_is_made(home: Home):
    assert journal(home).holds
    assert all(each.holds for each in seen_by(examine_state, home).values())
    assert not home.state.exists()


def test_a_state_directory_that_is_a_file_blocks(home: Home, tmp_path: Path):
    (tmp_path / "state").write_text("not a directory")
    found = seen_by(examine_state, home)["state"]
    assert found.blocks
    assert found.seen == f"{tmp_path / 'state'} cannot be written: Not a directory"
    assert "FLYBALL_STATE_DIR" in found.hint


def test_a_state_directory_that_leads_nowhere_blocks(home: Home, tmp_path: Path):
    (tmp_path / "state").symlink_to(tmp_path / "unplugged")
    assert seen_by(examine_state, home)["state"].blocks


def test_a_run_that_has_no_driver_comes_with_the_command_to_resume(home: Home):
    start_run(home, dead_process())
    found = seen_by(examine_journal, home)
    assert found["journal"].holds
    assert found["runs"].seen == "1 run interrupted: r1"
    assert "flyball runs resume r1" in found["runs"].hint
    assert not found["runs"].blocks


def test_a_run_that_is_driven_is_no_symptom(home: Home):
    start_run(home, name_this_process())
    assert set(seen_by(examine_journal, home)) == {"journal"}


def test_a_journal_that_another_process_holds_is_reported(home: Home):
    start_run(home, dead_process())
    with closing(sqlite3.connect(home.journal_path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        found = journal(home)
    assert found.blocks
    assert "database is locked" in found.seen
    assert "Another process writes to it" in found.hint


def test_a_file_that_is_no_journal_is_reported(home: Home):
    start_run(home, dead_process())
    home.journal_path.write_bytes(b"spilt coffee" * 1000)
    found = journal(home)
    assert found.blocks
    assert "is damaged: file is not a database" in found.seen
    assert "Move it aside" in found.hint


def test_a_journal_of_a_later_release_is_reported_and_left_as_it_is(home: Home):
    start_run(home, dead_process())
    spoil(home, "PRAGMA user_version = 99")
    found = journal(home)
    assert found.blocks
    assert "written by a later release (schema 99" in found.seen
    assert found.hint == "Upgrade flyball."


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE runs SET seq = 9", "run r1: Run r1 has 9 events but its state counts"),
        ("UPDATE runs SET codec = 99", "run r1: An event was written by a later release"),
    ],
)
def test_a_run_that_cannot_be_read_is_named(statement: str, said: str, home: Home):
    start_run(home, dead_process())
    spoil(home, statement, "UPDATE events SET codec = 99")
    found = journal(home)
    assert found.blocks
    assert found.seen.startswith(said)
    assert found.hint


def test_a_submitted_run_without_a_worker_for_it_is_reported(home: Home, database: str) -> None:
    home = home_of(home.repo.parent, home.repo, FLYBALL_DATABASE=database)

    async def submit() -> None:
        journal = PostgresJournal(database, project_name(home))
        lease = await take(journal, "r1", "surface")
        await write(journal, lease, RunState(), replace(START, run="r1", shell={SUBMITTED: "yes"}))
        await journal.release(lease)
        await journal.close()

    asyncio.run(submit())
    assert "flyball worker --roles executor" in seen_by(examine_journal, home)["workers"].hint
    row = WorkerRow("one", "host", ("executor",), 1, 0, "1.0", 0.0, 0.0)
    worker = WorkerTable(database, row, 60.0)
    worker.beat(0)
    worker.close()
    assert "workers" not in seen_by(examine_journal, home)
