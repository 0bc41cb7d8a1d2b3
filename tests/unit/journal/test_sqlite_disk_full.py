"""A disk that fills up in the middle of a run: the error is plain and nothing is half written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.unit.journal.runs import reply, story, write

from flyball.core.machine.machine import replay
from flyball.journal.sqlite import SqliteJournal

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
async def test_a_full_disk_is_told_and_the_log_stays_whole(tmp_path: Path) -> None:
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
