"""A Postgres connection that reconnects by itself, and never shows its password."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote

import psycopg

from flyball.errors import JournalError, SchemaTooNew
from flyball.journal.migrations import POSTGRES_MIGRATIONS, POSTGRES_NEEDS
from flyball.journal.protocol import masked, password_of

SCHEMA = "flyball"
CHANNEL = "flyball"
"""Notified whenever an event was written: for those who show runs."""
DUE = "flyball_due"
"""Notified when a run may want a worker: for the scheduler."""

PATIENCE = 60.0
"""How long a database that went away is waited for: a restart takes seconds."""
FIRST_PATIENCE = 3.0
"""How long the first connection is tried: a wrong address should be reported soon."""
PAUSE = 0.2
OLDEST_SERVER = 140_000
MOST_SKEW = 5.0
MIGRATING = 0x666C7962
"""The advisory lock held while the schema is migrated."""

Connection = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")


class PostgresLink:
    """One connection, reopened when it breaks; the query is then repeated.

    A query is told whether it is a repetition: the first attempt may have been executed.
    """

    def __init__(
        self,
        url: str,
        *,
        patience: float = PATIENCE,
        tell: Callable[[str], None] | None = None,
        channel: str = CHANNEL,
        migrates: bool = True,
    ) -> None:
        self.shown = masked(url)
        self._url = url
        self._patience = patience
        self._tell = tell
        self._channel = channel
        self._db: Connection | None = None
        self._listener: Connection | None = None
        self._lock = threading.RLock()
        self._is_closed = False
        self._was_open = False
        if migrates:
            try:
                self.ask(lambda db, _: self._migrate(db))
            except JournalError:
                self.close()
                raise

    def ask(self, action: Callable[[Connection, bool], T]) -> T:
        """Return the result of a query; wait for a database that is down, and report it."""
        with self._lock:
            end, is_again = 0.0, False
            while True:
                try:
                    return action(self._open(), is_again)
                except psycopg.Error as error:
                    if not self._is_worth_waiting(error):
                        raise self._explain(error) from None
                    wait = self._patience if self._was_open else FIRST_PATIENCE
                    now = time.monotonic()
                    if not end:
                        end = now + wait
                        if self._tell and self._was_open:
                            self._tell(
                                f"The database is unavailable; waiting up to {wait:.0f} s for it."
                            )
                    if now >= end:
                        raise self._explain(error) from None
                    is_again = True
                    time.sleep(PAUSE)

    def _open(self) -> Connection:
        if self._is_closed:
            raise JournalError(f"The journal in {self.shown} is closed.", "Open it again.")
        if self._db is None or self._db.closed:
            self._db = self._connect()
            self._was_open = True
        return self._db

    def _connect(self) -> Connection:
        db = psycopg.connect(self._url, autocommit=True, connect_timeout=5)
        db.execute(f"SET search_path TO {SCHEMA}")
        return db

    def _is_worth_waiting(self, error: psycopg.Error) -> bool:
        """Return whether a connection broke, or failed for a reason that may be temporary."""
        is_broken = self._db is not None and self._db.broken
        if is_broken:
            self._db = None
            return True
        said = str(error)
        is_unreachable = self._db is None or self._db.closed
        is_refused = "authentication failed" in said or "does not exist" in said
        is_no_rush = isinstance(error, psycopg.OperationalError) and not is_refused
        return is_no_rush and bool(is_unreachable)

    def _explain(self, error: psycopg.Error) -> JournalError:
        said = discreet(str(error).strip().partition("\n")[0], self._url)
        return JournalError(
            f"The journal in {self.shown} cannot be used: {said}.",
            "Check the address, and `flyball doctor --database` for what is missing.",
        )

    def _migrate(self, db: Connection) -> None:
        """Bring the schema up to date; refuse one of a later release that excludes this release."""
        known = len(POSTGRES_MIGRATIONS)
        found = schema_version(db)
        if found is not None and self._suits(*found):
            return
        with db.transaction():
            # Workers start together, and only one of them may make the tables.
            db.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATING,))
            db.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            db.execute("CREATE TABLE IF NOT EXISTS versions (version INTEGER, needs INTEGER)")
            version, needs = schema_version(db) or (0, 0)
            if self._suits(version, needs):
                return
            for script in POSTGRES_MIGRATIONS[version:]:
                db.execute(script.encode())
            db.execute("DELETE FROM versions")
            db.execute("INSERT INTO versions VALUES (%s, %s)", (known, POSTGRES_NEEDS))

    def _suits(self, version: int, needs: int) -> bool:
        known = len(POSTGRES_MIGRATIONS)
        if needs > known:
            raise SchemaTooNew(
                f"{self.shown} was written by a later release (schema {version}).",
                "Upgrade flyball.",
            )
        return version >= known

    async def wait(self, seconds: float) -> None:
        """Return when anything was written, at the latest after so many seconds."""
        loop, news = asyncio.get_running_loop(), asyncio.Event()
        try:
            listener = self._listen()
            loop.add_reader(listener.fileno(), news.set)
        except psycopg.Error:
            await asyncio.sleep(seconds)
            return
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await news.wait()
        finally:
            loop.remove_reader(listener.fileno())
        self._drain(listener)

    def wait_here(self, seconds: float) -> Sequence[str]:
        """Wait in an idle thread; return the notifications received meanwhile."""
        try:
            listener = self._listen()
            said = [each.payload for each in listener.notifies(timeout=seconds, stop_after=1)]
            return said + [each.payload for each in listener.notifies(timeout=0)]
        except psycopg.Error:
            self._listener = None
            time.sleep(PAUSE)
            return []

    def _listen(self) -> Connection:
        if self._listener is None or self._listener.closed:
            self._listener = self._connect()
            self._listener.execute(f"LISTEN {self._channel}".encode())
        return self._listener

    def _drain(self, listener: Connection) -> None:
        """Discard pending notifications, so that they wake no waiter again."""
        try:
            for _ in listener.notifies(timeout=0):
                pass
        except psycopg.Error:
            listener.close()
            self._listener = None

    def close(self) -> None:
        """Close the connections; no query is possible afterwards."""
        self._is_closed = True
        for db in (self._db, self._listener):
            if db is not None:
                db.close()


class DatabaseFinding(NamedTuple):
    """A requirement of a database, whether it is met, and what was found."""

    name: str
    holds: bool
    seen: str


def examine_database(url: str) -> list[DatabaseFinding]:
    """Check whether a database can keep the runs of a cluster, without changing it."""
    link = PostgresLink(url, migrates=False, patience=0.0)
    try:
        return link.ask(lambda db, _: _examine(db, link.shown))
    except JournalError as error:
        return [DatabaseFinding("connection", False, error.message)]
    finally:
        link.close()


def _examine(db: Connection, shown: str) -> list[DatabaseFinding]:
    before = time.time()
    number, name, there = _first(
        db,
        "SELECT current_setting('server_version_num')::int, current_setting('server_version'),"
        " extract(epoch FROM clock_timestamp())::float8",
    )
    # Nobody compares the two, but what is shown of ages and times would look odd.
    skew = there - (before + time.time()) / 2
    may_make, may_use, may_write = _first(
        db,
        "SELECT has_database_privilege(current_database(), 'CREATE'),"
        " coalesce(bool_and(has_schema_privilege(n.oid, 'USAGE')), true),"
        " coalesce(bool_and(has_table_privilege(c.oid, 'SELECT')"
        " AND has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE')"
        " AND has_table_privilege(c.oid, 'DELETE')), true)"
        " FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid AND c.relkind = 'r'"
        " WHERE n.nspname = %s",
        SCHEMA,
    )
    may_write = may_use and may_write
    # Who may not read the tables cannot be told their version.
    version, needs = (schema_version(db) if may_write else None) or (0, 0)
    known = len(POSTGRES_MIGRATIONS)
    return [
        DatabaseFinding("connection", True, shown),
        DatabaseFinding("server", number >= OLDEST_SERVER, f"PostgreSQL {name}"),
        DatabaseFinding("schema", needs <= known, f"version {version}, this release knows {known}"),
        DatabaseFinding("clock", abs(skew) < MOST_SKEW, f"{skew:+.2f} s from this machine's"),
        DatabaseFinding(
            "permissions",
            bool(may_write and (version >= known or may_make)),
            f"make tables: {_said(may_make)}, write them: {_said(may_write)}",
        ),
    ]


def _first(db: Connection, statement: str, *values: object) -> tuple[Any, ...]:
    return db.execute(statement.encode(), values).fetchone() or ()


def _said(is_so: object) -> str:
    return "yes" if is_so else "no"


def schema_version(db: Connection) -> tuple[int, int] | None:
    """Return the schema's number and the oldest release that works with it, or None."""
    found = db.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.versions",)).fetchone()
    if found is None or found[0] is None:
        return None
    row = db.execute(f"SELECT version, needs FROM {SCHEMA}.versions").fetchone()
    return (row[0], row[1]) if row else None


def discreet(text: str, url: str) -> str:
    """Return a text without the database's address and password, which it may repeat."""
    text = text.replace(url, masked(url))
    for password in filter(None, {password_of(url), unquote(password_of(url))}):
        text = text.replace(password, "***")
    return text
