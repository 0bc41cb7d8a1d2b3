"""How long it takes to be ready to go on with a run of ten thousand events."""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.durable_step import drive
from bench.figure import Figure, conclude
from flyball.engine.run_context import recall
from flyball.journal.sqlite import SqliteJournal

EVENTS = 10_000
LONGEST = 1.0


async def resume(path: Path) -> float:
    """Open, read the whole log, recall what was seen, and load the state."""
    began = time.perf_counter()
    journal = SqliteJournal(path)
    entries = await journal.events("bench")
    recall(entry.event for entry in entries)
    state = await journal.load("bench")
    took = time.perf_counter() - began
    await journal.close()
    assert len(entries) == state.seq >= EVENTS
    return took


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "journal.sqlite"
        asyncio.run(drive(SqliteJournal(path), EVENTS))
        size = path.stat().st_size / 1e6
        usual = min(asyncio.run(resume(path)) for _ in range(5))
        print(f"a run of {EVENTS} events ({size:.1f} MB) is ready after {usual:.3f} s")
        with sqlite3.connect(path) as db:
            db.execute("UPDATE runs SET codec = 0")
        db.close()
        folded = min(asyncio.run(resume(path)) for _ in range(3))
        print(f"with its state folded anew, as after an upgrade: {folded:.3f} s")
    return [
        Figure(f"resuming {EVENTS:,} events", usual, "s", most=LONGEST),
        Figure("the same, folded anew", folded, "s"),
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
