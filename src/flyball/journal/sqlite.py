"""The embedded journal: one SQLite file per project, in WAL mode."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from flyball.core.machine.machine import replay
from flyball.core.memory.ledger import Failure, Mistake, Sighting
from flyball.core.run import codec
from flyball.core.run.effect import Owed
from flyball.core.run.ending import status_of
from flyball.core.run.event import AnyEvent
from flyball.core.run.state import RunState
from flyball.core.run.thread import ThreadLine
from flyball.errors import (
    Conflict,
    Corrupt,
    IllegalEvent,
    JournalError,
    LeaseHeld,
    NotFound,
    SchemaTooNew,
)
from flyball.journal.migrations import MIGRATIONS
from flyball.journal.protocol import JournalEntry, Lease, PostedEvent, RunSummary, WorkerRow

BUSY_MS = 10_000
DAMAGED = (
    "Move it aside, and a new one is begun; the branches of its runs stay in git. With the sqlite3 "
    "program, `sqlite3 {} .recover` prints what can be saved."
)


class SqliteJournal:
    """A journal in a file; several processes may open it at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._copy = _copy_if_read_only(path)
        where = Path(self._copy.name, path.name) if self._copy else path
        with _explain_errors(path):
            self._db = sqlite3.connect(where, isolation_level=None, check_same_thread=False)
            try:
                self._prepare()
                if self._copy:
                    self._db.execute("PRAGMA query_only = ON")
            except BaseException:
                # Nobody will ever hold this journal, so nobody else could close the file.
                self._db.close()
                raise

    def _prepare(self) -> None:
        self._db.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._migrate()

    def _migrate(self) -> None:
        """Bring the file to the present schema; a later release's raises `SchemaTooNew`."""
        # A transaction takes the lock of all writers, and hooks open the journal all the time.
        if self._db.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),):
            return
        with self._transaction() as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version > len(MIGRATIONS):
                raise SchemaTooNew(
                    f"{self.path} was written by a later release (schema {version}).",
                    "Upgrade flyball.",
                )
            for script in MIGRATIONS[version:]:
                for statement in filter(str.strip, script.split(";")):
                    db.execute(statement)
            db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        """All or nothing; SQLite's own errors become ours."""
        db = self._db
        try:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
        except sqlite3.DatabaseError as error:
            raise explain_sqlite(self.path, error) from error

    async def acquire(
        self, run: str, holder: str, now: float, ttl: float, is_dead: Callable[[str], bool]
    ) -> Lease:
        """A lease with a higher fence than any before; `LeaseHeld` where a holder lives."""
        with self._transaction() as db:
            row = db.execute(
                "SELECT holder, fence, expires_at FROM leases WHERE run = ?", (run,)
            ).fetchone()
            if row and row[0] and row[2] > now and not is_dead(row[0]):
                raise LeaseHeld(run, row[0])
            fence = (row[1] if row else 0) + 1
            db.execute(
                "INSERT INTO leases VALUES (?, ?, ?, ?) ON CONFLICT (run) DO UPDATE SET"
                " holder = excluded.holder, fence = excluded.fence,"
                " expires_at = excluded.expires_at",
                (run, holder, fence, now + ttl),
            )
        return Lease(run, holder, fence)

    async def renew(self, lease: Lease, now: float, ttl: float) -> None:
        """Put the end of a lease off; `LeaseHeld` where somebody else has taken it."""
        with self._transaction() as db:
            self._check_fence(lease)
            db.execute("UPDATE leases SET expires_at = ? WHERE run = ?", (now + ttl, lease.run))

    async def release(self, lease: Lease) -> None:
        """Give a lease back at once; one that somebody else has taken stays theirs."""
        with self._transaction() as db:
            db.execute(
                "UPDATE leases SET holder = '', expires_at = 0 WHERE run = ? AND fence = ?",
                (lease.run, lease.fence),
            )

    async def holder(self, run: str) -> str:
        """Who holds the lease of a run, dead or alive; empty when it was given back."""
        with _explain_errors(self.path):
            row = self._db.execute("SELECT holder FROM leases WHERE run = ?", (run,)).fetchone()
        return row[0] if row else ""

    def _check_fence(self, lease: Lease) -> None:
        """Raise `LeaseHeld` where a lease is not the last that was given."""
        row = self._db.execute(
            "SELECT holder, fence FROM leases WHERE run = ?", (lease.run,)
        ).fetchone()
        if row is None or row[1] != lease.fence:
            raise LeaseHeld(lease.run, row[0] if row else "nobody")

    async def load(self, run: str, known: RunState | None = None) -> RunState:
        """The present state: as stored beside the last event, or folded on from there."""
        if known is not None:
            return await self._fold(run, known)
        with _explain_errors(self.path):
            row = self._db.execute(
                "SELECT codec, state, seq FROM runs WHERE run = ?", (run,)
            ).fetchone()
        if row is None:
            raise NotFound("run", run, "`flyball runs list` shows the runs of this project.")
        state = codec.decode_state(row[1], row[0])
        if state is not None and state.seq != row[2]:
            raise Corrupt(f"Run {run} has {row[2]} events but its state counts {state.seq}.")
        folded = await self._fold(run, state)
        if folded.seq < row[2]:
            raise Corrupt(f"Run {run} has {row[2]} events, but its log holds {folded.seq}.")
        return folded

    async def _fold(self, run: str, state: RunState | None) -> RunState:
        """The state after all events of a log, begun with a state from within it."""
        return fold(run, state, await self.events(run, after=state.seq if state else 0))

    async def intend(self, lease: Lease, owed: Owed, now: float) -> bool:
        """Note that an effect is begun; whether that was noted before."""
        with _explain_errors(self.path):
            added = self._db.execute(
                "INSERT OR IGNORE INTO intentions SELECT run, ?, ?, fence FROM leases"
                " WHERE run = ? AND fence = ?",
                (owed.n, now, lease.run, lease.fence),
            )
        is_repeat = added.rowcount == 0
        if is_repeat:
            self._check_fence(lease)
        return is_repeat

    async def commit(
        self,
        lease: Lease,
        event: AnyEvent,
        state: RunState,
        lines: Sequence[ThreadLine],
        posted: int = 0,
    ) -> None:
        """Write event, state and lines in one transaction: after a crash all are there, or none."""
        run, seq, fact = state.run, state.seq, codec.encode(event)
        body = codec.encode(state)
        heard = [
            (run, x.card, x.role, x.attempt, seq, n, x.speaker.value, codec.encode(x))
            for n, x in enumerate(lines)
        ]
        with self._transaction() as db:
            self._put_event(db, lease, seq, event.at, fact)
            if heard:
                db.executemany("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?, ?)", heard)
            _put_state(db, event.at, state, body)
            if posted:
                db.execute("DELETE FROM inbox WHERE id = ?", (posted,))

    def _put_event(
        self, db: sqlite3.Connection, lease: Lease, seq: int, at: float, fact: bytes
    ) -> None:
        """Compare-and-set on fence and sequence: an old holder, a gap or a double is refused."""
        run = lease.run
        done = db.execute(
            "INSERT OR IGNORE INTO events SELECT ?, ?, ?, ?, ? FROM leases"
            " WHERE run = ? AND fence = ?"
            " AND (? = 1 OR EXISTS (SELECT 1 FROM events WHERE run = ? AND seq = ?))",
            (run, seq, at, codec.VERSION, fact, run, lease.fence, seq, run, seq - 1),
        )
        if done.rowcount != 1:
            self._check_fence(lease)
            raise Conflict(f"Event {seq} of run {run} does not follow its log.")

    async def events(self, run: str, after: int = 0, limit: int = -1) -> Sequence[JournalEntry]:
        """The events after a number, in order; a gap raises `Corrupt`."""
        with _explain_errors(self.path):
            rows = self._db.execute(
                "SELECT seq, codec, body FROM events WHERE run = ? AND seq > ? ORDER BY seq"
                " LIMIT ?",
                (run, after, limit),
            ).fetchall()
        return read_entries(run, after, rows)

    async def thread(self, run: str, card: str, attempt: int, role: str) -> Sequence[ThreadLine]:
        """The lines of one thread, in the order they were said."""
        with _explain_errors(self.path):
            rows = self._db.execute(
                "SELECT body FROM lines WHERE run = ? AND card = ? AND role = ? AND attempt = ?"
                " ORDER BY seq, n",
                (run, card, role, attempt),
            ).fetchall()
        return codec.decode_lines([body for (body,) in rows])

    async def replies(self, run: str, role: str) -> Mapping[str, int]:
        """Card → how often a role has replied there."""
        with _explain_errors(self.path):
            rows = self._db.execute(
                "SELECT card, count(*) FROM lines"
                " WHERE run = ? AND role = ? AND speaker = 'driver' GROUP BY card",
                (run, role),
            ).fetchall()
        return dict(rows)

    async def runs(self) -> Sequence[RunSummary]:
        """A line for every run, the newest first."""
        with _explain_errors(self.path):
            # The left join has SQLite begin with the runs, and keeps one whose events are gone.
            rows = self._db.execute(
                "SELECT r.run, request, status, created_at, coalesce(e.at, r.updated_at),"
                " coalesce(e.seq, 0), coalesce(l.holder, '')"
                " FROM runs r LEFT JOIN events e ON e.run = r.run"
                " AND e.seq = (SELECT max(seq) FROM events WHERE run = r.run)"
                " LEFT JOIN leases l ON l.run = r.run ORDER BY created_at DESC, r.rowid DESC"
            ).fetchall()
        return [RunSummary(*row) for row in rows]

    async def post(self, run: str, event: AnyEvent) -> None:
        """Leave an event for whoever drives the run; it needs no lease."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO inbox (run, codec, body) VALUES (?, ?, ?)",
                (run, codec.VERSION, codec.encode(event)),
            )

    async def inbox(self, run: str) -> Sequence[PostedEvent]:
        """What was left for a run and neither committed nor dropped yet."""
        with _explain_errors(self.path):
            rows = self._db.execute(
                "SELECT id, codec, body FROM inbox WHERE run = ? ORDER BY id", (run,)
            ).fetchall()
        return [PostedEvent(id, codec.decode_event(body, version)) for id, version, body in rows]

    async def drop(self, lease: Lease, posted: int) -> None:
        """Take an event out of the inbox that nobody can act on any more."""
        with self._transaction() as db:
            self._check_fence(lease)
            db.execute("DELETE FROM inbox WHERE id = ?", (posted,))

    async def enter(self, sightings: Sequence[Sighting]) -> None:
        """Add sightings to the ledger; the same card's is counted once, its cure replaced."""
        if not sightings:
            return
        with self._transaction() as db:
            for each in sightings:
                f = each.failure
                db.execute(
                    "INSERT OR IGNORE INTO mistakes VALUES (?, ?, ?, ?)",
                    (f.fingerprint, f.error, f.step_kind, "\n".join(f.files)),
                )
                db.execute(
                    "INSERT INTO sightings VALUES (?, ?, ?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET resolution = excluded.resolution",
                    (f.fingerprint, each.run, each.card, each.at, each.resolution),
                )

    async def mistakes(self, limit: int = -1) -> Sequence[Mistake]:
        """The ledger's entries, seen last first, each with its count and latest cure."""
        with _explain_errors(self.path):
            rows = self._db.execute(
                "SELECT m.fingerprint, error, step_kind, files, count(*), coalesce((SELECT"
                " resolution FROM sightings WHERE fingerprint = m.fingerprint AND resolution != ''"
                " ORDER BY at DESC, run DESC LIMIT 1), ''), min(at), max(at) AS last"
                " FROM mistakes m JOIN sightings s ON s.fingerprint = m.fingerprint"
                " GROUP BY m.fingerprint ORDER BY last DESC, count(*) DESC, m.fingerprint LIMIT ?",
                (limit,),
            ).fetchall()
        return [
            Mistake(print_, error, kind, _lines(files), count, resolution, first, last)
            for print_, error, kind, files, count, resolution, first, last in rows
        ]

    async def sightings(self, fingerprint: str) -> Sequence[Sighting]:
        """Where one mistake was seen, the first time first."""
        with _explain_errors(self.path):
            rows = self._db.execute(
                "SELECT s.run, s.card, m.fingerprint, error, step_kind, files, s.at, resolution"
                " FROM sightings s JOIN mistakes m ON m.fingerprint = s.fingerprint"
                " WHERE s.fingerprint = ? ORDER BY s.at, s.run, s.card",
                (fingerprint,),
            ).fetchall()
        return [
            Sighting(run, card, Failure(print_, error, kind, _lines(files)), at, resolution)
            for run, card, print_, error, kind, files, at, resolution in rows
        ]

    async def forget(self, fingerprints: Sequence[str]) -> int:
        """How many entries were taken out of the ledger, with their sightings."""
        named = [(each,) for each in fingerprints]
        with self._transaction() as db:
            gone = db.executemany("DELETE FROM mistakes WHERE fingerprint = ?", named).rowcount
            db.executemany("DELETE FROM sightings WHERE fingerprint = ?", named)
        return max(gone, 0)

    async def workers(self) -> Sequence[WorkerRow]:
        """Nobody: a journal in a file is driven by whoever opens it."""
        return ()

    async def wait(self, seconds: float) -> None:
        """Come back after so many seconds: a file does not say when it was written."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Let go of the file."""
        self._db.close()
        if self._copy:
            self._copy.cleanup()


def _copy_if_read_only(path: Path) -> tempfile.TemporaryDirectory[str] | None:
    """A copy to read from, where the journal cannot be written: SQLite writes even to read."""
    places = [each for each in (path, path.parent) if each.exists()]
    if not path.exists() or all(os.access(each, os.W_OK) for each in places):
        return None
    copy = tempfile.TemporaryDirectory(prefix="flyball-journal-")
    for file in (path, path.with_name(f"{path.name}-wal")):
        if file.exists():
            shutil.copyfile(file, Path(copy.name, file.name))
    return copy


def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n")) if text else ()


def _put_state(db: sqlite3.Connection, at: float, state: RunState, body: bytes) -> None:
    status, seq = status_of(state), state.seq
    db.execute(
        "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO UPDATE SET"
        " status = excluded.status, updated_at = excluded.updated_at, seq = excluded.seq,"
        " codec = excluded.codec, state = excluded.state",
        (state.run, state.request, status, at, at, seq, codec.VERSION, body),
    )


def fold(run: str, state: RunState | None, entries: Sequence[JournalEntry]) -> RunState:
    """The state after the entries that follow it; a log that contradicts itself is `Corrupt`."""
    if state is not None and not entries:
        return state
    try:
        return replay((entry.event for entry in entries), state)
    except IllegalEvent as error:
        raise Corrupt(f"The log of run {run} does not add up: {error}.") from error


def read_entries(
    run: str, after: int, rows: Sequence[tuple[int, int, bytes]]
) -> Sequence[JournalEntry]:
    """Stored rows of (seq, codec, body) as entries; a gap is `Corrupt`."""
    if any(row[0] != n for n, row in enumerate(rows, after + 1)):
        raise Corrupt(f"The log of run {run} has a gap after event {after}.")
    return [JournalEntry(seq, codec.decode_event(body, version)) for seq, version, body in rows]


@contextmanager
def _explain_errors(path: Path) -> Generator[None]:
    """SQLite's own errors, as ours, with what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise explain_sqlite(path, error) from error


def explain_sqlite(path: Path, error: sqlite3.DatabaseError) -> JournalError:
    """What SQLite said of a journal, as an error of ours that says what to do."""
    # Only the lower half names the trouble; the upper says where SQLite met it.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Corrupt(f"The journal {path} is damaged: {error}.", DAMAGED.format(path))
    hint = "Check that the disk has room and that the file is writable and not damaged."
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        hint = "Another process writes to it: wait for that, or end it, and try again."
    return JournalError(f"The journal {path} cannot be used: {error}.", hint)
