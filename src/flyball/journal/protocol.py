"""The journal: an append-only log of events, with the current state next to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import msgspec

from flyball.guards.ledger import Mistake, Sighting
from flyball.run.effect import Owed
from flyball.run.event import AnyEvent
from flyball.run.state import RunState
from flyball.run.thread import ThreadLine

SUBMITTED = "submitted"
"""In the shell data of a run's start: only workers of a cluster drive it."""


def masked(url: str) -> str:
    """Return a database's address in a form that may be shown: without user, password and
    options."""
    scheme, sep, rest = url.partition("://")
    if not sep:
        return "the database" if url else ""
    return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"


def password_of(url: str) -> str:
    """Return the password in a database's address, in its original spelling."""
    rest, _, options = url.partition("://")[2].partition("?")
    user = rest.rpartition("@")[0]
    named = [part.partition("=") for part in options.split("&")]
    said = next((value for key, _, value in named if key == "password"), "")
    return user.partition(":")[2] or said


class Intention(msgspec.Struct, frozen=True):
    """The record that an effect is about to be performed.

    `is_repeat` says that an earlier process recorded the same and did not report a result: the
    effect is unknown and must be probed.
    """

    key: str
    """Names the effect for ever, so that what it left behind can be found."""
    is_repeat: bool = False


class Lease(msgspec.Struct, frozen=True):
    """The right to drive a run; the fence rises with every new holder."""

    run: str
    holder: str
    fence: int


class JournalEntry(msgspec.Struct, frozen=True):
    """One event and its position in the log."""

    seq: int
    event: AnyEvent


class PostedEvent(msgspec.Struct, frozen=True):
    """An event that was posted for the run's driver."""

    id: int
    event: AnyEvent


class RunSummary(msgspec.Struct, frozen=True):
    """One row of the list of runs."""

    run: str
    request: str
    status: str
    created_at: float
    updated_at: float
    seq: int
    holder: str = ""
    queue: str = ""
    """Where a run of a cluster waits, or would; empty where no worker drives it."""


class WorkerRow(msgspec.Struct, frozen=True):
    """A worker process of a cluster, as of its last heartbeat."""

    worker: str
    host: str
    roles: tuple[str, ...]
    concurrency: int
    load: int
    """How many runs it drives."""
    release: str
    began_at: float
    age: float
    """Seconds since its last heartbeat, by the database's clock."""
    is_leaving: bool = False
    runs: tuple[str, ...] = ()
    """The runs whose live leases it holds."""
    format: int = 0
    """The latest format of events that it reads."""


class Journal(Protocol):
    """Storage of runs. Every write to a driven run is fenced by its lease."""

    async def acquire(
        self, run: str, holder: str, now: float, ttl: float, is_dead: Callable[[str], bool]
    ) -> Lease:
        """Acquire the right to drive a run, or raise `LeaseHeld` with the live holder."""
        ...

    async def renew(self, lease: Lease, now: float, ttl: float) -> None:
        """Extend the lease; raise `LeaseHeld` if another process has taken it."""
        ...

    async def release(self, lease: Lease) -> None:
        """Release the lease; harmless if another process has taken it."""
        ...

    async def holder(self, run: str) -> str:
        """Return the holder of the right to drive a run, dead or alive; empty if there is none."""
        ...

    async def load(self, run: str, known: RunState | None = None) -> RunState:
        """Return the current state of a run; an unknown run raises `NotFound`.

        `known` is a recent state: only later events are folded.
        """
        ...

    async def intend(self, lease: Lease, owed: Owed, now: float) -> bool:
        """Record that an effect is about to be performed; return whether that was recorded
        before."""
        ...

    async def commit(
        self,
        lease: Lease,
        event: AnyEvent,
        state: RunState,
        lines: Sequence[ThreadLine],
        posted: int = 0,
    ) -> None:
        """Append an event with its state and lines, and remove it from the inbox, all or
        nothing."""
        ...

    async def events(self, run: str, after: int = 0, limit: int = -1) -> Sequence[JournalEntry]:
        """Return the events of a run after a number, in order, at most `limit` of them."""
        ...

    async def thread(self, run: str, card: str, attempt: int, role: str) -> Sequence[ThreadLine]:
        """Return the messages to and from a driver of a card in one attempt, in order."""
        ...

    async def replies(self, run: str, role: str) -> Mapping[str, int]:
        """Return how often a role has replied in this run, card by card."""
        ...

    async def runs(self) -> Sequence[RunSummary]:
        """Return every run, newest first."""
        ...

    async def post(self, run: str, event: AnyEvent) -> None:
        """Post an event for the run's driver."""
        ...

    async def inbox(self, run: str) -> Sequence[PostedEvent]:
        """Return the events posted for this run; `commit` takes them, `drop` discards them."""
        ...

    async def drop(self, lease: Lease, posted: int) -> None:
        """Discard an event that came too late to be applied."""
        ...

    async def enter(self, sightings: Sequence[Sighting]) -> None:
        """Add mistakes to the project's ledger; each mistake of a card counts once."""
        ...

    async def mistakes(self, limit: int = -1) -> Sequence[Mistake]:
        """Return the project's ledger, most recent first."""
        ...

    async def sightings(self, fingerprint: str) -> Sequence[Sighting]:
        """Return where a mistake was seen, oldest first."""
        ...

    async def forget(self, fingerprints: Sequence[str]) -> int:
        """Remove mistakes from the ledger; return how many."""
        ...

    async def workers(self) -> Sequence[WorkerRow]:
        """Return the workers of a cluster; none for a journal in a file."""
        ...

    async def wait(self, seconds: float) -> None:
        """Return when something may have been written, at the latest after so many seconds."""
        ...

    async def close(self) -> None:
        """Close the file; nothing can be read or written afterwards."""
        ...
