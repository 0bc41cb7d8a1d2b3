"""A project's journal and its runs: find, list and lock them."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import NamedTuple

from flyball.app.project import Home, load_extra, project_name
from flyball.app.sessions import HOSTED
from flyball.engine.loop import LEASE_SECONDS
from flyball.errors import Corrupt, NotFound, UsageError
from flyball.journal.protocol import SUBMITTED, Journal, JournalEntry, Lease, RunSummary
from flyball.journal.sqlite import SqliteJournal
from flyball.run.event import RunStarted
from flyball.run.state import RunState
from flyball.workspace.process.process_identity import is_gone, may_live, name_this_process

LAST = "last"
POSTGRES = "flyball.journal.postgres"
"""Imported only if a database is configured: the embedded journal does not use it."""
LIST_THEM = "`flyball runs list` shows the runs of this project."


def new_run_id() -> str:
    """Return a new run id that sorts by time and is easy to pronounce: date, time, four letters."""
    stamp = datetime.now(UTC).strftime("%m%d-%H%M%S")
    return f"{stamp}-{''.join(secrets.choice('bcdfghjkmnpqrstvwxz') for _ in range(4))}"


def open_journal(home: Home) -> Journal:
    """Open the project's journal: its own file, or its part of a cluster's database."""
    if not home.database:
        return SqliteJournal(home.journal_path)
    return load_extra(POSTGRES).PostgresJournal(home.database, project_name(home))


@asynccontextmanager
async def opened(home: Home) -> AsyncGenerator[Journal]:
    """Open the project's journal for reading, and close it afterwards."""
    journal = open_journal(home)
    try:
        yield journal
    finally:
        await journal.close()


class Record(NamedTuple):
    """A run's whole log, and the state it folds to."""

    state: RunState
    entries: Sequence[JournalEntry]

    @property
    def started(self) -> RunStarted:
        event = self.entries[0].event
        if not isinstance(event, RunStarted):
            raise Corrupt("The log does not begin with the start of a run.")
        return event

    @property
    def is_hosted(self) -> bool:
        """Return whether an agent in another program drives the run, under our hooks."""
        return is_hosted(self.started)

    @property
    def is_submitted(self) -> bool:
        """Return whether only the workers of a cluster drive the run."""
        return bool(self.started.shell.get(SUBMITTED))


def is_hosted(started: RunStarted) -> bool:
    """Return whether an agent in another program drives a run that began like this."""
    return started.shell.get("driver", "").startswith(HOSTED)


async def record_of(home: Home, run: str) -> Record:
    """Return a run's log and state; raise `NotFound` if it is unknown."""
    async with opened(home) as journal:
        return Record(await journal.load(run), await journal.events(run))


async def find_run(home: Home, name: str) -> str:
    """Return the run for a name: the whole name, a unique part of it, or `last`."""
    found = [each.run for each in await list_runs(home)]
    if not found:
        raise NotFound("run", name, "This project has no runs yet.")
    if name == LAST:
        return found[0]
    if name in found:
        return name
    meant = [run for run in found if name and (run.startswith(name) or run.endswith(name))]
    if len(meant) > 1:
        raise UsageError(f"{name!r} may mean {' or '.join(meant[:4])}.", "Type more of the name.")
    if not meant:
        raise NotFound("run", name, LIST_THEM)
    return meant[0]


async def list_runs(home: Home) -> Sequence[RunSummary]:
    """Return the runs of a project, newest first; this creates no files."""
    if not home.has_journal:
        return ()
    async with opened(home) as journal:
        return await journal.runs()


async def acquire(journal: Journal, run: str) -> Lease:
    """Acquire the exclusive right to drive a run; `LeaseHeld` names the holder."""
    return await journal.acquire(run, name_this_process(), time.time(), LEASE_SECONDS, is_gone)


async def holder_of(journal: Journal, run: str) -> str:
    """Return the process that drives a run, if one may be alive."""
    holders = [each.holder for each in await journal.runs() if each.run == run]
    return holders[0] if holders and may_live(holders[0]) else ""


async def submitted(home: Home, run: str) -> Record | None:
    """Return the record of a run that cluster workers drive, else None."""
    if any(each.run == run and each.queue for each in await list_runs(home)):
        return await record_of(home, run)
    return None
