"""A cache of judged transcripts in the state directory, so that an audit reads only new ones.

A transcript that has grown is read again in full. A reply or action that appears in two
transcripts, as in those of a resumed or forked session, is stored once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from flyball.audit.finding import AuditFinding
from flyball.audit.judging import BillAudit, FileAudit, SessionAudit

VERSION = 2
"""Increase whenever the rules or readers produce different results for the same bytes."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS file (
    path TEXT PRIMARY KEY, size INTEGER, time INTEGER, limits TEXT, notes BLOB
);
CREATE TABLE IF NOT EXISTS session (path TEXT, ended REAL, data BLOB);
CREATE INDEX IF NOT EXISTS session_path ON session (path);
CREATE TABLE IF NOT EXISTS finding (path TEXT, key TEXT, at REAL, data BLOB);
CREATE INDEX IF NOT EXISTS finding_path ON finding (path);
CREATE TABLE IF NOT EXISTS bill (
    path TEXT, host TEXT, id TEXT, session TEXT, model TEXT, at REAL, tokens REAL, money REAL,
    is_after INTEGER
);
CREATE INDEX IF NOT EXISTS bill_path ON bill (path);
CREATE TEMP TABLE wanted (path TEXT PRIMARY KEY);
"""


def state_of(file: Path) -> tuple[int, int]:
    """Return a file's size and modification time, including a database's write-ahead log."""
    if file.is_dir():
        # A folder of events only gets new files; existing ones are never rewritten.
        return sum(1 for _ in file.iterdir()), file.stat().st_mtime_ns
    found, wal = file.stat(), file.with_name(f"{file.name}-wal")
    more = wal.stat() if wal.exists() else None
    if more is None:
        return found.st_size, found.st_mtime_ns
    return found.st_size + more.st_size, max(found.st_mtime_ns, more.st_mtime_ns)


class AuditIndex:
    """The index, open for one audit."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def knows(self, file: Path, mark: str, state: tuple[int, int]) -> bool:
        """Return whether this state of a file was already judged with these rules."""
        query = "SELECT size, time, limits FROM file WHERE path = ?"
        return self._db.execute(query, (str(file),)).fetchone() == (*state, mark)

    def keep(self, file: Path, mark: str, audit: FileAudit, stat: tuple[int, int]) -> None:
        """Replace the stored result of a file."""
        path = str(file)
        with self._db:
            for table in ("session", "finding", "bill"):
                self._db.execute(f"DELETE FROM {table} WHERE path = ?", (path,))
            notes = msgspec.json.encode(audit.notes)
            row = (path, *stat, mark, notes)
            self._db.execute("INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?)", row)
            self._db.executemany(
                "INSERT INTO session VALUES (?, ?, ?)",
                [(path, each.ended, msgspec.json.encode(each)) for each in audit.sessions],
            )
            hosts = {each.session: each.host for each in audit.sessions}
            self._db.executemany(
                "INSERT INTO finding VALUES (?, ?, ?, ?)",
                [
                    (path, f"{hosts.get(each.session, '')}/{each.key}", each.at, _coded(each))
                    for each in audit.findings
                ],
            )
            self._db.executemany(
                "INSERT INTO bill VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [_bill_row(each, path, hosts.get(each.session, "")) for each in audit.bills],
            )

    def select(self, files: Sequence[Path]) -> None:
        """Restrict all further queries to these files."""
        with self._db:
            self._db.execute("DELETE FROM wanted")
            rows = [(str(file),) for file in files]
            self._db.executemany("INSERT OR IGNORE INTO wanted VALUES (?)", rows)

    def notes(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each file that has notes, with its notes."""
        query = "SELECT path, notes FROM file JOIN wanted USING (path) ORDER BY path"
        for path, notes in self._db.execute(query):
            if told := msgspec.json.decode(notes, type=tuple[str, ...]):
                yield path, told

    def sessions(self, since: float) -> Iterator[SessionAudit]:
        """Yield sessions that ended after this time."""
        query = "SELECT data FROM session JOIN wanted USING (path) WHERE ended >= ? ORDER BY path"
        for (data,) in self._db.execute(query, (since,)):
            yield msgspec.json.decode(data, type=SessionAudit)

    def findings(self, since: float) -> Iterator[AuditFinding]:
        """Yield findings since this time; an action found in several files is counted once."""
        query = (
            "SELECT key, data FROM finding JOIN wanted USING (path) WHERE at >= ? OR at = 0 "
            "ORDER BY at, path, key"
        )
        told: set[str] = set()
        for key, data in self._db.execute(query, (since,)):
            if key not in told:
                told.add(key)
                yield msgspec.json.decode(data, type=AuditFinding)

    def bills(self, since: float) -> Iterator[tuple[str, str, float, list[float]]]:
        """Yield the costs by session, model and week: in total, and after a stop."""
        # The last line about a reply has the most tokens; copies of it have the same count.
        once = (
            "SELECT session, model, at, max(tokens) AS tokens, money, is_after FROM bill "
            "JOIN wanted USING (path) GROUP BY host, id"
        )
        query = (
            "SELECT session, model, min(at), sum(tokens), sum(money), sum(tokens * is_after), "
            f"sum(money * is_after) FROM ({once}) WHERE at >= ? OR at = 0 "
            "GROUP BY session, model, cast(at / 604800 AS INTEGER)"
        )
        for session, model, at, *sums in self._db.execute(query, (since,)):
            yield session, model, at, sums


def _coded(found: AuditFinding) -> bytes:
    return msgspec.json.encode(found)


def _bill_row(bill: BillAudit, path: str, host: str) -> tuple[object, ...]:
    rest = (bill.session, bill.model, bill.at, bill.tokens, bill.money, bill.is_after_stop)
    return (path, host, bill.id, *rest)


@contextmanager
def open_index(file: Path) -> Generator[AuditIndex]:
    """Open the index; recreate it if it is missing, damaged, or from another release."""
    file.parent.mkdir(parents=True, exist_ok=True)
    db = _connect(file)
    try:
        yield AuditIndex(db)
    finally:
        db.close()


def _connect(file: Path) -> sqlite3.Connection:
    db = sqlite3.connect(file, timeout=30)
    try:
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError
        db.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; {SCHEMA}")
        db.execute(f"PRAGMA user_version = {VERSION}")
    except sqlite3.DatabaseError as error:
        db.close()
        if isinstance(error, sqlite3.OperationalError):
            raise
        # All of its content can be read again from the transcripts.
        for suffix in ("", "-wal", "-shm"):
            file.with_name(file.name + suffix).unlink(missing_ok=True)
        return _connect(file)
    return db
