"""Sum the cost of a project's host sessions from the transcripts that the hosts store."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from flyball.agents.event import HostEvent
from flyball.agents.usage import Billed, Cap, read_bill, read_model
from flyball.settings import Settings

PRICES = "genai_prices"
"""A price table from the model extras, loaded on first use."""
WEEK = 7 * 24 * 3600.0
LONGEST_LINE = 64 << 20
SCHEMA = """
CREATE TABLE IF NOT EXISTS bill (
    host TEXT, id TEXT, session TEXT, at REAL, tokens REAL, money REAL, PRIMARY KEY (host, id)
);
CREATE TABLE IF NOT EXISTS page (file TEXT PRIMARY KEY, offset INTEGER, model TEXT);
CREATE TABLE IF NOT EXISTS nudge (session TEXT, cap TEXT, PRIMARY KEY (session, cap));
"""


class Meter:
    """A small file next to the journal that tracks what was read, so that it is not read again."""

    def __init__(self, state: Path, clock: Callable[[], float] = time.time) -> None:
        self._file = state / "usage.sqlite"
        self._clock = clock

    def read(self, event: HostEvent) -> None:
        """Read what was billed since the last call; subagents have their own transcripts."""
        with self._opened() as db:
            for file in _transcripts(event):
                self._read_file(db, event, file)

    def caps(self, session: str, settings: Settings) -> tuple[Cap, ...]:
        """Return the configured caps, and how much of each is spent."""
        wanted = {
            "session": ("session = ?", session),
            "week": ("at > ?", self._clock() - WEEK),
            "project": ("1 = ?", 1),
        }
        found: list[Cap] = []
        with self._opened() as db:
            for scope, (which, value) in wanted.items():
                query = f"SELECT total(tokens), total(money) FROM bill WHERE {which}"
                tokens, money = db.execute(query, (value,)).fetchone()
                found += [
                    Cap(f"{scope}_tokens", getattr(settings, f"caps_{scope}_tokens"), tokens),
                    Cap(f"{scope}_money", getattr(settings, f"caps_{scope}_money"), money),
                ]
        return tuple(cap for cap in found if cap.limit)

    def is_news(self, session: str, cap: Cap) -> bool:
        """Record that this session was notified of this cap; return whether it was the first
        time."""
        with self._opened() as db:
            told = db.execute("INSERT OR IGNORE INTO nudge VALUES (?, ?)", (session, cap.name))
            return told.rowcount > 0

    def _read_file(self, db: sqlite3.Connection, event: HostEvent, file: Path) -> None:
        name = str(file)
        found = db.execute("SELECT offset, model FROM page WHERE file = ?", (name,)).fetchone()
        offset, model = found or (0, "")
        if file.stat().st_size < offset:
            # The file was rewritten.
            offset = 0
        for line, end in _lines(file, offset):
            offset, model = end, read_model(line) or model
            if bill := read_bill(event.host, line, model):
                self._enter(db, event, file, bill)
        db.execute("INSERT OR REPLACE INTO page VALUES (?, ?, ?)", (name, offset, model))

    def _enter(self, db: sqlite3.Connection, event: HostEvent, file: Path, bill: Billed) -> None:
        # A reply that was copied into the transcript of a resumed or forked session keeps its id,
        # and so is counted once. Only a sum belongs to its file.
        id = f"{file.name}/{bill.id}" if bill.id == "total" else bill.id
        db.execute(
            "INSERT INTO bill VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (host, id) DO UPDATE "
            "SET tokens = max(tokens, excluded.tokens), money = max(money, excluded.money)",
            (event.host, id, event.session, self._clock(), bill.tokens, list_price(bill)),
        )

    @contextmanager
    def _opened(self) -> Generator[sqlite3.Connection]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self._file, timeout=10)
        try:
            db.executescript(SCHEMA)
            with db:
                yield db
        finally:
            db.close()


def _transcripts(event: HostEvent) -> Iterator[Path]:
    """Yield the transcript files of a session and of its subagents."""
    own = Path(event.transcript) if event.transcript else None
    agent = Path(event.agent_transcript) if event.agent_transcript else None
    beside = own.with_suffix("").glob("subagents/*.jsonl") if own else iter(())
    named = [file for file in (own, agent) if file]
    yield from (file for file in dict.fromkeys([*named, *beside]) if file.is_file())


def _lines(file: Path, offset: int) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the complete lines after an offset that contain an object, each with its end offset."""
    with file.open("rb") as stream:
        stream.seek(offset)
        while (line := stream.readline(LONGEST_LINE)).endswith(b"\n"):
            try:
                value = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict):
                yield cast(dict[str, Any], value), stream.tell()


def list_price(bill: Billed) -> float:
    """Return the list price of a reply in US dollars; 0 if unknown."""
    table = _prices()
    if table is None or not bill.model:
        return 0.0
    usage = table.Usage(
        input_tokens=bill.fresh + bill.cached + bill.written,
        cache_read_tokens=bill.cached,
        cache_write_tokens=bill.written,
        output_tokens=bill.output,
    )
    try:
        return float(table.calc_price(usage, model_ref=bill.model).total_price)
    except (LookupError, ValueError):
        return 0.0


@cache
def _prices() -> ModuleType | None:
    try:
        return import_module(PRICES)
    except ModuleNotFoundError:
        return None
