"""The workers of a cluster, and the runs that wait for one. All times are the database's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from flyball.journal.connection import DUE, Connection, PostgresLink
from flyball.journal.protocol import WorkerRow
from flyball.plan.template import Role
from flyball.run.state import RunState

NOW = "extract(epoch FROM clock_timestamp())::float8"
LEADING = "#lead"
"""The lease of the worker that assigns runs for all; no run has such a name."""

HANDED = "#handed"
"""The notification that waiting runs were put into queues."""

FORGOTTEN = 24 * 3600.0
"""After this many seconds without a heartbeat a worker is removed from the list."""

QUEUES = ("planner", "executor", "verifier")
QUEUE_OF: Mapping[str, str] = {
    Role.PLANNER: "planner",
    Role.RESEARCHER: "planner",
    Role.EXECUTOR: "executor",
    Role.REVIEWER: "verifier",
    Role.VERIFIER: "verifier",
}
"""Which of a cluster's queues a role's work is on."""


def role_due(state: RunState) -> str:
    """Return the queue on which a run waits for its next turn; executors also take a run's own
    effects."""
    for owed in state.due:
        if queue := queue_of(state, owed.effect):
            return queue
    return "executor"


def queue_of(state: RunState, effect: object) -> str:
    """Return the queue of an effect, or an empty string if any process may perform it."""
    card = state.card(getattr(effect, "card", ""))
    role = getattr(effect, "role", "") or (card.role if card else "")
    return QUEUE_OF.get(role, "executor") if role else ""


class DueRun(NamedTuple):
    """A run that should advance and has no driver."""

    run: str
    seq: int
    queue: str
    project: str
    owner: str
    format: int
    """The latest format in which something of it is written; older releases cannot read that."""
    is_begun: bool
    """Whether it was driven before, even without result."""


class Busy(NamedTuple):
    """Occupied capacity: every run with a live lease, and its owner."""

    run: str
    project: str
    owner: str
    holder: str


class WorkerTable:
    """A worker's own row, kept alive by heartbeats, and the queries that a leader needs."""

    def __init__(self, url: str, row: WorkerRow, ttl: float) -> None:
        self.row = row
        self._ttl = ttl
        self._link = PostgresLink(url, channel=DUE)

    def beat(self, load: int, *, is_leaving: bool = False) -> None:
        """Send a heartbeat, and extend every lease that this worker holds."""
        row = self.row

        def action(db: Connection, _: bool) -> None:
            db.execute(
                "INSERT INTO workers VALUES (%s, %s, %s, %s, %s, %s, %s,"
                f" {NOW}, {NOW}, %s) ON CONFLICT (worker) DO UPDATE SET load = excluded.load,"
                " is_leaving = excluded.is_leaving, seen_at = excluded.seen_at",
                (
                    row.worker,
                    row.host,
                    ",".join(row.roles),
                    row.concurrency,
                    load,
                    row.release,
                    is_leaving,
                    row.format,
                ),
            )
            # Only what has not run out: after that, others may have begun to take it over.
            db.execute(
                f"UPDATE leases SET expires_at = {NOW} + %s WHERE holder = %s"
                f" AND expires_at > {NOW}",
                (self._ttl, row.worker),
            )

        self._link.ask(action)

    def leave(self) -> None:
        """Remove this worker from the list; its leases are already released."""

        def action(db: Connection, _: bool) -> None:
            db.execute(
                f"DELETE FROM workers WHERE worker = %s OR seen_at < {NOW} - %s",
                (self.row.worker, FORGOTTEN),
            )
            db.execute(
                "UPDATE leases SET holder = '', expires_at = 0 WHERE run = %s AND holder = %s",
                (LEADING, self.row.worker),
            )

        self._link.ask(action)

    def remove_dead(self, dead: Sequence[str]) -> None:
        """Remove workers that are known to be dead from the list, and end their leases."""

        def action(db: Connection, _: bool) -> None:
            with db.transaction():
                db.execute("DELETE FROM workers WHERE worker = ANY(%s)", (list(dead),))
                db.execute(
                    "UPDATE leases SET holder = '', expires_at = 0 WHERE holder = ANY(%s)",
                    (list(dead),),
                )

        if dead:
            self._link.ask(action)

    def leads(self) -> bool:
        """Return whether this worker assigns runs; its heartbeats extend the lead, like its leases.

        Two leaders do no harm: a run that is assigned twice is driven once.
        """

        def action(db: Connection, _: bool) -> bool:
            taken = db.execute(
                "INSERT INTO leases (run, holder, fence, expires_at)"
                f" VALUES (%s, %s, 1, {NOW} + %s) ON CONFLICT (run) DO UPDATE"
                " SET holder = excluded.holder, fence = leases.fence + 1,"
                " expires_at = excluded.expires_at"
                f" WHERE leases.holder = excluded.holder OR leases.expires_at <= {NOW}"
                " RETURNING holder",
                (LEADING, self.row.worker, self._ttl),
            ).fetchone()
            return taken is not None

        return self._link.ask(action)

    def leader(self) -> str:
        """Return the worker that assigns runs, dead or alive; empty if there is none."""

        def action(db: Connection, _: bool) -> str:
            row = db.execute("SELECT holder FROM leases WHERE run = %s", (LEADING,)).fetchone()
            return row[0] if row else ""

        return self._link.ask(action)

    def live(self) -> Sequence[WorkerRow]:
        """Return the workers with a recent heartbeat."""
        return [row for row in self.all() if row.age < self._ttl]

    def all(self) -> Sequence[WorkerRow]:
        """Return every worker on the list."""
        return self._link.ask(lambda db, _: list_workers(db))

    def due(self) -> Sequence[DueRun]:
        """Return the runs that wait for a worker, most urgent first."""

        def action(db: Connection, _: bool) -> Sequence[DueRun]:
            rows = db.execute(
                "SELECT r.run, r.seq, r.role, r.project, r.owner, greatest(r.codec,"
                " (SELECT max(codec) FROM inbox i WHERE i.run = r.run)),"
                # The first lease is of who submitted it.
                " r.seq > 1 OR coalesce(l.fence, 0) > 1 AS is_begun FROM runs r"
                " LEFT JOIN leases l ON l.run = r.run"
                " WHERE r.role != '' AND (r.status = 'running' OR"
                " r.status = 'paused' AND r.run IN (SELECT run FROM inbox))"
                f" AND coalesce(l.expires_at, 0) <= {NOW}"
                " ORDER BY r.priority DESC, is_begun DESC, r.born"
            ).fetchall()
            return [DueRun(*row) for row in rows]

        return self._link.ask(action)

    def busy(self) -> Sequence[Busy]:
        """Return the runs that have a driver."""

        def action(db: Connection, _: bool) -> Sequence[Busy]:
            rows = db.execute(
                "SELECT r.run, r.project, r.owner, l.holder FROM leases l JOIN runs r USING (run)"
                f" WHERE l.holder != '' AND l.expires_at > {NOW}"
            ).fetchall()
            return [Busy(*row) for row in rows]

        return self._link.ask(action)

    def notify_queued(self) -> None:
        """Notify every worker that runs were queued."""
        self._link.ask(lambda db, _: db.execute(f"SELECT pg_notify('{DUE}', %s)", (HANDED,)))

    def wait(self, seconds: float) -> bool:
        """Wait for a notification, at most so many seconds.

        Return True if runs were queued meanwhile.
        """
        return HANDED in self._link.wait_here(seconds)

    def close(self) -> None:
        """Close the connections."""
        self._link.close()


def list_workers(db: Connection) -> Sequence[WorkerRow]:
    """Return every worker on the list with the runs it holds, oldest first."""
    rows = db.execute(
        "SELECT worker, host, string_to_array(roles, ','), concurrency, load, release, began_at,"
        f" {NOW} - seen_at, is_leaving, ARRAY(SELECT run FROM leases WHERE holder = worker"
        f" AND expires_at > {NOW} AND run != '{LEADING}' ORDER BY run), format FROM workers"
        " ORDER BY began_at, worker"
    ).fetchall()
    names = WorkerRow.__struct_fields__
    return [msgspec.convert(dict(zip(names, row, strict=True)), WorkerRow) for row in rows]
