"""The journal of a cluster: one Postgres database for all projects, the same port as a file's.

All times are the database's: clocks of different workers are never compared. A query interrupted by
a broken connection is repeated, after checking whether it was executed.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

from flyball.errors import Conflict, LeaseHeld
from flyball.guards.ledger import Sighting
from flyball.journal.connection import CHANNEL, DUE, PATIENCE, Connection, PostgresLink
from flyball.journal.protocol import (
    SUBMITTED,
    Lease,
    RunSummary,
    WorkerRow,
)
from flyball.journal.stored import StoredJournal, require_fence
from flyball.journal.workers import NOW, list_workers, role_due
from flyball.run import codec
from flyball.run.effect import Owed
from flyball.run.ending import status_of
from flyball.run.event import AnyEvent, RunStarted
from flyball.run.state import RunState
from flyball.run.thread import ThreadLine

NUL, SEEN_NUL = "\0", "\u2400"
"""No text in Postgres may hold the first."""

_COMMIT = f"""
WITH held AS (
    SELECT 1 FROM leases WHERE run = %(run)s AND fence = %(fence)s FOR SHARE
), put AS (
    INSERT INTO events (run, seq, at, codec, body, fence)
    SELECT %(run)s, %(seq)s, %(at)s, %(codec)s, %(fact)s, %(fence)s FROM held
    WHERE %(seq)s = 1 OR EXISTS (SELECT 1 FROM events WHERE run = %(run)s AND seq = %(seq)s - 1)
    ON CONFLICT DO NOTHING RETURNING seq
), said AS (
    INSERT INTO lines (run, card, role, attempt, seq, n, speaker, body)
    SELECT %(run)s, x.card, x.role, x.attempt, %(seq)s, x.n - 1, x.speaker, x.body
    FROM put, unnest(%(cards)s::text[], %(roles)s::text[], %(attempts)s::int[],
        %(speakers)s::text[], %(bodies)s::bytea[])
        WITH ORDINALITY AS x (card, role, attempt, speaker, body, n)
), gone AS (
    DELETE FROM inbox USING put WHERE id = %(posted)s
), kept AS (
    INSERT INTO runs (run, project, owner, priority, role, request, status, created_at,
        updated_at, seq, codec, state)
    SELECT %(run)s, %(project)s, %(owner)s, %(priority)s, %(due)s, %(request)s, %(status)s,
        %(at)s, %(at)s, %(seq)s, %(codec)s, %(state)s FROM put
    ON CONFLICT (run) DO UPDATE SET status = excluded.status,
        role = CASE WHEN runs.role = '' THEN '' ELSE excluded.role END,
        updated_at = excluded.updated_at, seq = excluded.seq, codec = excluded.codec,
        state = excluded.state
)
SELECT pg_notify('{CHANNEL}', %(run)s) FROM put
"""


class PostgresJournal(StoredJournal):
    """The journal of one project in a database that many projects and machines share."""

    ledger_key = "project, fingerprint"
    in_project = "project = ? AND"
    all_rows = None

    def __init__(
        self,
        url: str,
        project: str,
        *,
        patience: float = PATIENCE,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.project = project
        self._link = PostgresLink(url, patience=patience, tell=tell)

    async def acquire(
        self,
        run: str,
        holder: str,
        now: float,  # noqa: ARG002
        ttl: float,
        is_dead: Callable[[str], bool],
    ) -> Lease:
        """Return a lease with a higher fence than any before; raise `LeaseHeld` if its holder is
        alive."""

        def action(db: Connection, is_again: bool) -> int:
            with db.transaction():
                taken = db.execute(
                    "INSERT INTO leases (run, holder, fence, expires_at)"
                    f" VALUES (%s, %s, 1, {NOW} + %s) ON CONFLICT (run) DO NOTHING RETURNING fence",
                    (run, holder, ttl),
                ).fetchone()
                if taken:
                    return taken[0]
                had, fence, is_live = _row(
                    db.execute(
                        f"SELECT holder, fence, expires_at > {NOW} FROM leases WHERE run = %s"
                        " FOR UPDATE",
                        (run,),
                    )
                )
                # Our own first try may have been carried out before the connection broke.
                is_ours = is_again and had == holder
                if had and is_live and not is_ours and not is_dead(had):
                    raise LeaseHeld(run, had)
                db.execute(
                    "UPDATE leases SET holder = %s, fence = fence + 1,"
                    f" expires_at = {NOW} + %s WHERE run = %s",
                    (holder, ttl, run),
                )
                return fence + 1

        return Lease(run, holder, self._link.ask(action))

    async def renew(self, lease: Lease, now: float, ttl: float) -> None:  # noqa: ARG002
        """Extend a lease; raise `LeaseHeld` if another process has taken it."""

        def action(db: Connection, _: bool) -> None:
            done = db.execute(
                f"UPDATE leases SET expires_at = {NOW} + %s WHERE run = %s AND fence = %s",
                (ttl, lease.run, lease.fence),
            )
            if done.rowcount != 1:
                _check_fence(db, lease)

        self._link.ask(action)

    async def release(self, lease: Lease, after: float = 0.0) -> None:
        """Release a lease; the cluster may take it after so many seconds."""

        def action(db: Connection, _: bool) -> None:
            db.execute(
                "WITH free AS ("
                f" UPDATE leases SET holder = '', expires_at = CASE WHEN %s > 0 THEN {NOW} + %s"
                " ELSE 0 END WHERE run = %s AND fence = %s RETURNING run)"
                f" SELECT pg_notify('{DUE}', run) FROM free",
                (after, after, lease.run, lease.fence),
            )

        self._link.ask(action)

    async def intend(self, lease: Lease, owed: Owed, now: float) -> bool:
        """Record that an effect begins; return whether that was recorded before."""

        def action(db: Connection, is_again: bool) -> bool:
            added = db.execute(
                "WITH held AS (SELECT 1 FROM leases WHERE run = %s AND fence = %s FOR SHARE)"
                " INSERT INTO intentions (run, effect, at, fence)"
                " SELECT %s, %s, %s, %s FROM held ON CONFLICT DO NOTHING",
                (lease.run, lease.fence, lease.run, owed.n, now, lease.fence),
            )
            if added.rowcount == 1:
                return False
            _check_fence(db, lease)
            if not is_again:
                return True
            at, fence = _row(
                db.execute(
                    "SELECT at, fence FROM intentions WHERE run = %s AND effect = %s",
                    (lease.run, owed.n),
                )
            )
            return (at, fence) != (now, lease.fence)

        return self._link.ask(action)

    async def commit(
        self,
        lease: Lease,
        event: AnyEvent,
        state: RunState,
        lines: Sequence[ThreadLine],
        posted: int = 0,
    ) -> None:
        """Write event, state and lines in one statement: after a crash either all exist or none."""
        fact = codec.encode(event)
        shell = event.shell if isinstance(event, RunStarted) else {}
        # What somebody drives in a terminal is on no queue, also when its process has died.
        is_ours = SUBMITTED in shell or not isinstance(event, RunStarted)
        values: dict[str, Any] = {
            "run": state.run,
            "fence": lease.fence,
            "seq": state.seq,
            "at": event.at,
            "codec": codec.VERSION,
            "fact": fact,
            "cards": [each.card for each in lines],
            "roles": [each.role for each in lines],
            "attempts": [each.attempt for each in lines],
            "speakers": [each.speaker.value for each in lines],
            "bodies": [codec.encode(each) for each in lines],
            "posted": posted,
            "project": self.project,
            "owner": _text(shell.get("by", "")),
            "priority": _number(shell.get("priority", "")),
            "due": role_due(state) if is_ours else "",
            "request": _text(state.request),
            "status": status_of(state),
            "state": codec.encode(state),
        }

        def action(db: Connection, is_again: bool) -> None:
            if db.execute(_COMMIT, values).rowcount == 1:
                return
            _check_fence(db, lease)
            if not (is_again and _is_written(db, lease, state.seq, fact)):
                raise Conflict(f"Event {state.seq} of run {state.run} does not follow its log.")

        self._link.ask(action)

    async def runs(self) -> Sequence[RunSummary]:
        """Return a summary of every run of the project, newest first, with its holder."""
        rows = self._rows(
            "SELECT r.run, request, status, created_at, coalesce(e.at, r.updated_at),"
            " coalesce(e.seq, 0),"
            f" CASE WHEN l.expires_at > {NOW} THEN l.holder ELSE '' END, r.role"
            " FROM runs r LEFT JOIN events e ON e.run = r.run"
            " AND e.seq = (SELECT max(seq) FROM events WHERE run = r.run)"
            " LEFT JOIN leases l ON l.run = r.run WHERE project = ?"
            " ORDER BY created_at DESC, r.born DESC",
            self.project,
        )
        return [RunSummary(*row) for row in rows]

    async def post(self, run: str, event: AnyEvent) -> None:
        """Post an event for the run's driver and wake it; this needs no lease."""
        # The same key each time it is tried: a word must not be heard twice.
        values = (run, codec.VERSION, codec.encode(event), secrets.token_hex(16), run)

        def action(db: Connection, _: bool) -> None:
            db.execute(
                "WITH put AS (INSERT INTO inbox (run, codec, body, key) VALUES (%s, %s, %s, %s)"
                f" ON CONFLICT DO NOTHING) SELECT pg_notify('{DUE}', %s)",
                values,
            )

        self._link.ask(action)

    async def drop(self, lease: Lease, posted: int) -> None:
        """Remove an event from the inbox that can no longer be applied."""

        def action(db: Connection, _: bool) -> None:
            with db.transaction():
                _check_fence(db, lease)
                db.execute("DELETE FROM inbox WHERE id = %s", (posted,))

        self._link.ask(action)

    async def enter(self, sightings: Sequence[Sighting]) -> None:
        """Add sightings to the ledger; a card counts once, and its newest resolution is kept."""

        def action(db: Connection, _: bool) -> None:
            with db.transaction():
                for each in sightings:
                    f = each.failure
                    files = _text("\n".join(f.files))
                    db.execute(
                        "INSERT INTO mistakes VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                        (self.project, f.fingerprint, _text(f.error), f.step_kind, files),
                    )
                    key = (self.project, f.fingerprint, each.run, each.card)
                    db.execute(
                        "INSERT INTO sightings VALUES (%s, %s, %s, %s, %s, %s)"
                        " ON CONFLICT (project, fingerprint, run, card)"
                        " DO UPDATE SET resolution = excluded.resolution",
                        (*key, each.at, _text(each.resolution)),
                    )

        if sightings:
            self._link.ask(action)

    async def forget(self, fingerprints: Sequence[str]) -> int:
        """Remove entries from the ledger with their sightings; return how many."""

        def action(db: Connection, _: bool) -> int:
            named = (self.project, list(fingerprints))
            where = "WHERE project = %s AND fingerprint = ANY(%s)"
            with db.transaction():
                db.execute(f"DELETE FROM sightings {where}", named)
                return db.execute(f"DELETE FROM mistakes {where}", named).rowcount

        return self._link.ask(action)

    async def workers(self) -> Sequence[WorkerRow]:
        """Return the workers that drive the cluster's runs, by their last heartbeats."""
        return self._link.ask(lambda db, _: list_workers(db))

    async def wait(self, seconds: float) -> None:
        """Return when anything was written, at the latest after so many seconds."""
        await self._link.wait(seconds)

    async def close(self) -> None:
        """Close the connections."""
        self._link.close()

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        asked = statement.replace("?", "%s").encode()
        return self._link.ask(lambda db, _: db.execute(asked, values).fetchall())

    def _project(self) -> tuple[str, ...]:
        return (self.project,)


def _row(cursor: Any) -> tuple[Any, ...]:
    return cursor.fetchone()


def _check_fence(db: Connection, lease: Lease) -> None:
    """Raise `LeaseHeld` unless the lease is the newest; lock it for this transaction."""
    rows = db.execute("SELECT holder, fence FROM leases WHERE run = %s FOR SHARE", (lease.run,))
    require_fence(rows.fetchall(), lease.run, lease.fence)


def _is_written(db: Connection, lease: Lease, seq: int, fact: bytes) -> bool:
    """Return whether this holder wrote this exact event before the connection broke."""
    row = db.execute(
        "SELECT fence, body FROM events WHERE run = %s AND seq = %s", (lease.run, seq)
    ).fetchone()
    return row is not None and (row[0], bytes(row[1])) == (lease.fence, fact)


def _text(text: str) -> str:
    return text.replace(NUL, SEEN_NUL)


def _number(text: str) -> int:
    return int(text) if text.removeprefix("-").isdigit() else 0
