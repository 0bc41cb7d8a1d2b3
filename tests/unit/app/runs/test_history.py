"""The history of a long run is kept, and is never another than that of its log."""

from __future__ import annotations

import asyncio
import itertools
import sqlite3
import time
from pathlib import Path

import msgspec
import pytest
from tests.repos import repository
from tests.web.served import serving
from tests.web.test_feed import simulated
from tests.web.test_long import write_runs

from flyball.app.project import Home, open_home
from flyball.app.runs.history import LONG, RunHistory, fold_history, read_history
from flyball.errors import Corrupt
from flyball.journal.sqlite import SqliteJournal

RUN = "run-0000"
PATIENCE = 60.0


@pytest.fixture
def home(tmp_path: Path) -> Home:
    repo = repository(tmp_path / "shop", {"a.txt": "one\n"})
    environ = {"HOME": str(tmp_path), "FLYBALL_STATE_DIR": str(tmp_path / "state")}
    return open_home(repo, environ, {})


def write(home: Home, events: int) -> None:
    async def on_disk() -> None:
        journal = SqliteJournal(home.journal_path)
        journal._db.execute("PRAGMA synchronous = OFF")  # pyright: ignore[reportPrivateUsage]
        await write_runs(journal, 1, events)
        await journal.close()

    asyncio.run(on_disk())


def read(home: Home) -> RunHistory:
    async def from_disk() -> RunHistory:
        journal = SqliteJournal(home.journal_path)
        try:
            return await read_history(home, journal, RUN)
        finally:
            await journal.close()

    return asyncio.run(from_disk())


def change(home: Home, statement: str) -> None:
    with sqlite3.connect(home.journal_path) as db:
        db.execute(statement)
    db.close()


def kept_file(home: Home) -> Path:
    return home.state / "histories" / f"{RUN}.msgpack"


@pytest.mark.parametrize("seed", range(3))
def test_a_stored_history_goes_on_as_one_that_was_never_stored(seed: int):
    events = [event for event, _ in simulated(seed, least=60)[0]]
    whole = fold_history(events)
    for cut in range(0, len(events), 7):
        stored = msgspec.msgpack.encode(fold_history(events[:cut]))
        history = msgspec.msgpack.decode(stored, type=RunHistory)
        for event in events[cut:]:
            history.take(event)
        assert history == whole


def test_a_kept_history_is_not_folded_again(home: Home):
    write(home, LONG + 20)
    first = read(home)
    change(home, "UPDATE events SET body = X'FF' WHERE seq = 100")
    assert read(home) == first


@pytest.mark.parametrize("damage", ["release", "cut", "other"])
def test_a_history_that_does_not_fit_is_folded_again(home: Home, damage: str):
    write(home, LONG + 20)
    read(home)
    file = kept_file(home)
    if damage == "release":
        kept = msgspec.msgpack.decode(file.read_bytes())
        file.write_bytes(msgspec.msgpack.encode({**kept, "release": "0.0.1 1"}))
    elif damage == "cut":
        file.write_bytes(file.read_bytes()[:-9])
    change(home, "UPDATE events SET body = X'FF' WHERE seq = 100")
    if damage == "other":
        # The log was replaced by another one of this name.
        home.journal_path.unlink()
        for left in home.journal_path.parent.glob("journal.sqlite-*"):
            left.unlink()
        write(home, LONG - 10)
        history = read(home)
        assert history.state.seq == LONG - 10
        return
    with pytest.raises(Corrupt):
        read(home)


def test_a_server_keeps_the_histories_of_long_runs_before_anybody_asks(home: Home):
    write(home, LONG + 20)
    with serving(dict(home.environ), home.repo) as served:
        end = time.monotonic() + PATIENCE
        while not kept_file(home).exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        change(home, "UPDATE events SET body = X'FF' WHERE seq = 100")
        described = served.get(f"/api/runs/{RUN}")
    decisions = described["cards"][0]["decisions"]
    assert described["events"] == LONG + 20
    assert all(a["seq"] <= b["seq"] for a, b in itertools.pairwise(decisions))
    assert all(each["about"] for each in decisions)
