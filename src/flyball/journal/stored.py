"""Read runs and the ledger from tables: the queries shared by SQLite and Postgres.

Statements are written with `?` for a value, as in SQLite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flyball.errors import Corrupt, IllegalEvent, LeaseHeld, NotFound
from flyball.guards.ledger import Failure, Mistake, Sighting
from flyball.journal.protocol import JournalEntry, PostedEvent
from flyball.run import codec
from flyball.run.machine import replay
from flyball.run.state import RunState
from flyball.run.thread import ThreadLine


class StoredJournal:
    """The reading half of a journal in a database."""

    ledger_key = "fingerprint"
    """The columns by which mistakes and sightings belong together."""
    in_project = ""
    """A condition that picks one project's entries of the ledger."""
    all_rows: int | None = -1
    """The limit that is none."""

    def _rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query; convert the database's own errors to Flyball's."""
        raise NotImplementedError

    def _project(self) -> tuple[str, ...]:
        """Return the values for `in_project`."""
        return ()

    async def holder(self, run: str) -> str:
        """Return the holder of a run's lease, dead or alive; empty if it was released."""
        found = self._rows("SELECT holder FROM leases WHERE run = ?", run)
        return found[0][0] if found else ""

    async def load(self, run: str, known: RunState | None = None) -> RunState:
        """Return the current state: the stored one, with later events applied."""
        if known is not None:
            return await self._fold(run, known)
        found = self._rows("SELECT codec, state, seq FROM runs WHERE run = ?", run)
        if not found:
            raise NotFound("run", run, "`flyball runs list` shows the runs of this project.")
        ((version, body, seq),) = found
        state = codec.decode_state(body, version)
        if state is not None and state.seq != seq:
            raise Corrupt(f"Run {run} has {seq} events but its state counts {state.seq}.")
        folded = await self._fold(run, state)
        if folded.seq < seq:
            raise Corrupt(f"Run {run} has {seq} events, but its log has {folded.seq}.")
        return folded

    async def _fold(self, run: str, state: RunState | None) -> RunState:
        """Return the state after all events of a log, starting from a state within it."""
        entries = await self.events(run, after=state.seq if state else 0)
        if state is not None and not entries:
            return state
        try:
            return replay((entry.event for entry in entries), state)
        except IllegalEvent as error:
            raise Corrupt(f"The log of run {run} is inconsistent: {error}.") from error

    async def events(self, run: str, after: int = 0, limit: int = -1) -> Sequence[JournalEntry]:
        """Return the events after a number, in order; a gap raises `Corrupt`."""
        rows = self._rows(
            "SELECT seq, codec, body FROM events WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?",
            run,
            after,
            self._most(limit),
        )
        if any(row[0] != n for n, row in enumerate(rows, after + 1)):
            raise Corrupt(f"The log of run {run} has a gap after event {after}.")
        return [JournalEntry(seq, codec.decode_event(body, version)) for seq, version, body in rows]

    async def thread(self, run: str, card: str, attempt: int, role: str) -> Sequence[ThreadLine]:
        """Return the lines of one thread, in order."""
        rows = self._rows(
            "SELECT body FROM lines WHERE run = ? AND card = ? AND role = ? AND attempt = ?"
            " ORDER BY seq, n",
            run,
            card,
            role,
            attempt,
        )
        return codec.decode_lines([body for (body,) in rows])

    async def replies(self, run: str, role: str) -> Mapping[str, int]:
        """Return, for each card, how often a role has replied."""
        rows = self._rows(
            "SELECT card, count(*) FROM lines"
            " WHERE run = ? AND role = ? AND speaker = 'driver' GROUP BY card",
            run,
            role,
        )
        return dict(rows)

    async def inbox(self, run: str) -> Sequence[PostedEvent]:
        """Return the events that were posted for a run and neither committed nor dropped."""
        rows = self._rows("SELECT id, codec, body FROM inbox WHERE run = ? ORDER BY id", run)
        return [PostedEvent(id, codec.decode_event(body, version)) for id, version, body in rows]

    async def mistakes(self, limit: int = -1) -> Sequence[Mistake]:
        """Return the ledger's entries, most recent first, each with its count and latest fix."""
        rows = self._rows(
            "SELECT m.fingerprint, error, step_kind, files, count(*), coalesce((SELECT resolution"
            f" FROM sightings WHERE {self.in_project} fingerprint = m.fingerprint"
            " AND resolution != '' ORDER BY at DESC, run DESC LIMIT 1), ''), min(at), max(at)"
            f" FROM mistakes m JOIN sightings s USING ({self.ledger_key})"
            f" WHERE {self.in_project} 1 = 1 GROUP BY m.fingerprint, error, step_kind, files"
            " ORDER BY max(at) DESC, count(*) DESC, m.fingerprint LIMIT ?",
            *self._project(),
            *self._project(),
            self._most(limit),
        )
        return [
            Mistake(print_, error, kind, _lines(files), count, resolution, first, last)
            for print_, error, kind, files, count, resolution, first, last in rows
        ]

    async def sightings(self, fingerprint: str) -> Sequence[Sighting]:
        """Return where one mistake was seen, oldest first."""
        rows = self._rows(
            "SELECT s.run, s.card, s.fingerprint, error, step_kind, files, s.at, resolution"
            f" FROM sightings s JOIN mistakes m USING ({self.ledger_key})"
            f" WHERE {self.in_project} s.fingerprint = ? ORDER BY s.at, s.run, s.card",
            *self._project(),
            fingerprint,
        )
        return [
            Sighting(run, card, Failure(print_, error, kind, _lines(files)), at, resolution)
            for run, card, print_, error, kind, files, at, resolution in rows
        ]

    def _most(self, limit: int) -> int | None:
        return self.all_rows if limit < 0 else limit


def require_fence(rows: Sequence[tuple[Any, ...]], run: str, fence: int) -> None:
    """Raise `LeaseHeld` unless the lease is the newest one."""
    if not rows or rows[0][1] != fence:
        raise LeaseHeld(run, rows[0][0] if rows else "nobody")


def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.split("\n")) if text else ()
