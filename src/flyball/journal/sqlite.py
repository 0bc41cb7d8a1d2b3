"""The embedded journal: one SQLite file per project, in WAL mode."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from flyball.errors import (
    Conflict,
    Corrupt,
    JournalError,
    LeaseHeld,
    SchemaTooNew,
)
from flyball.guards.ledger import Sighting
from flyball.journal.migrations import MIGRATIONS
from flyball.journal.protocol import Lease, RunSummary, WorkerRow
from flyball.journal.stored import StoredJournal, require_fence
from flyball.run import codec
from flyball.run.effect import Owed
from flyball.run.ending import status_of
from flyball.run.event import AnyEvent
from flyball.run.state import RunState
from flyball.run.thread import ThreadLine

BUSY_MS = 10_000
DAMAGED = (
    "Move it aside, and a new one is created; the branches of its runs stay in git. With the "
    "sqlite3 program, `sqlite3 {} .recover` prints what can be saved."
)


class SqliteJournal(StoredJournal):
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
        """Bring the file to the current schema; raise `SchemaTooNew` for one of a later release."""
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
        """Run a transaction; convert SQLite's own errors to Flyball's."""
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
        """Return a lease with a higher fence than any before; raise `LeaseHeld` if its holder is
        alive."""
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
        """Extend a lease; raise `LeaseHeld` if another process has taken it."""
        with self._transaction() as db:
            self._check_fence(lease)
            db.execute("UPDATE leases SET expires_at = ? WHERE run = ?", (now + ttl, lease.run))

    async def release(self, lease: Lease) -> None:
        """Release a lease at once, unless another process has taken it."""
        with self._transaction() as db:
            db.execute(
                "UPDATE leases SET holder = '', expires_at = 0 WHERE run = ? AND fence = ?",
                (lease.run, lease.fence),
            )

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with _explain_errors(self.path):
            return self._db.execute(statement, values).fetchall()

    def _check_fence(self, lease: Lease) -> None:
        """Raise `LeaseHeld` unless the lease is the newest one."""
        rows = self._rows("SELECT holder, fence FROM leases WHERE run = ?", lease.run)
        require_fence(rows, lease.run, lease.fence)

    async def intend(self, lease: Lease, owed: Owed, now: float) -> bool:
        """Record that an effect begins; return whether that was recorded before."""
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
        """Write event, state and lines in one transaction: after a crash either all exist or
        none."""
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
        """Compare-and-set on fence and sequence: reject an old holder, a gap or a duplicate."""
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

    async def runs(self) -> Sequence[RunSummary]:
        """Return a summary of every run, newest first."""
        # The left join has SQLite begin with the runs, and keeps one whose events are gone.
        rows = self._rows(
            "SELECT r.run, request, status, created_at, coalesce(e.at, r.updated_at),"
            " coalesce(e.seq, 0), coalesce(l.holder, '')"
            " FROM runs r LEFT JOIN events e ON e.run = r.run"
            " AND e.seq = (SELECT max(seq) FROM events WHERE run = r.run)"
            " LEFT JOIN leases l ON l.run = r.run ORDER BY created_at DESC, r.rowid DESC"
        )
        return [RunSummary(*row) for row in rows]

    async def post(self, run: str, event: AnyEvent) -> None:
        """Post an event for the run's driver; this needs no lease."""
        with self._transaction() as db:
            db.execute(
                "INSERT INTO inbox (run, codec, body) VALUES (?, ?, ?)",
                (run, codec.VERSION, codec.encode(event)),
            )

    async def drop(self, lease: Lease, posted: int) -> None:
        """Remove an event from the inbox that can no longer be applied."""
        with self._transaction() as db:
            self._check_fence(lease)
            db.execute("DELETE FROM inbox WHERE id = ?", (posted,))

    async def enter(self, sightings: Sequence[Sighting]) -> None:
        """Add sightings to the ledger; a card counts once, and its newest resolution is kept."""
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

    async def forget(self, fingerprints: Sequence[str]) -> int:
        """Remove entries from the ledger with their sightings; return how many."""
        named = [(each,) for each in fingerprints]
        with self._transaction() as db:
            gone = db.executemany("DELETE FROM mistakes WHERE fingerprint = ?", named).rowcount
            db.executemany("DELETE FROM sightings WHERE fingerprint = ?", named)
        return max(gone, 0)

    async def workers(self) -> Sequence[WorkerRow]:
        """Return no workers: any process that opens the file may drive its runs."""
        return ()

    async def wait(self, seconds: float) -> None:
        """Return after so many seconds: a file does not notify about writes."""
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        """Close the file."""
        self._db.close()
        if self._copy:
            self._copy.cleanup()


def memory_journal() -> SqliteJournal:
    """Return a journal in memory only: for tests, simulations and users of the library."""
    return SqliteJournal(Path(":memory:"))


def _copy_if_read_only(path: Path) -> tempfile.TemporaryDirectory[str] | None:
    """Return a copy for reading if the journal cannot be written: SQLite writes even to read."""
    places = [each for each in (path, path.parent) if each.exists()]
    if not path.exists() or all(os.access(each, os.W_OK) for each in places):
        return None
    copy = tempfile.TemporaryDirectory(prefix="flyball-journal-")
    for file in (path, path.with_name(f"{path.name}-wal")):
        if file.exists():
            shutil.copyfile(file, Path(copy.name, file.name))
    return copy


def _put_state(db: sqlite3.Connection, at: float, state: RunState, body: bytes) -> None:
    status, seq = status_of(state), state.seq
    db.execute(
        "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run) DO UPDATE SET"
        " status = excluded.status, updated_at = excluded.updated_at, seq = excluded.seq,"
        " codec = excluded.codec, state = excluded.state",
        (state.run, state.request, status, at, at, seq, codec.VERSION, body),
    )


@contextmanager
def _explain_errors(path: Path) -> Generator[None]:
    """Convert SQLite's errors to Flyball's, with advice on what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise explain_sqlite(path, error) from error


def explain_sqlite(path: Path, error: sqlite3.DatabaseError) -> JournalError:
    """Return SQLite's error as one of Flyball's, with advice on what to do."""
    # Only the lower half names the trouble; the upper says where SQLite met it.
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Corrupt(f"The journal {path} is damaged: {error}.", DAMAGED.format(path))
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _is_full(path)):
        return JournalError(
            f"The disk that holds {path} is full; nothing was lost.",
            "Free some space on that disk, then try again; an interrupted run continues with "
            "`flyball runs resume`.",
        )
    hint = "Check that the disk has room and that the file is writable and not damaged."
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        hint = "Another process writes to it: wait for that, or end it, and try again."
    return JournalError(f"The journal {path} cannot be used: {error}.", hint)


def _is_full(path: Path) -> bool:
    """Return whether the disk is full: SQLite then fails at its shared memory, without an
    explanation."""
    with suppress(OSError):
        return shutil.disk_usage(path.parent).free < 1 << 16
    return False


PATIENCE = 1.0
"""Seconds that another process may hold the file: one write takes a few milliseconds."""


def require_usable(path: Path, patience: float = PATIENCE) -> int:
    """Return the schema of a usable journal; raise `JournalError` with the reason if it is not
    usable."""
    # Neither made nor migrated: whoever only looks leaves the file to the release that wrote it.
    where = f"{path.absolute().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(where, uri=True, isolation_level=None)) as db:
            db.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
            version = _known_schema(db, path)
            _require_whole(db, path)
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")
            return version
    except sqlite3.DatabaseError as error:
        raise explain_sqlite(path, error) from error


def _known_schema(db: sqlite3.Connection, path: Path) -> int:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise SchemaTooNew(
            f"{path} was written by a later release (schema {version}, this one knows "
            f"{len(MIGRATIONS)}).",
            "Upgrade flyball.",
        )
    return version


def _require_whole(db: sqlite3.Connection, path: Path) -> None:
    (said,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        raise Corrupt(f"The journal {path} is damaged: {said}.", DAMAGED.format(path))
