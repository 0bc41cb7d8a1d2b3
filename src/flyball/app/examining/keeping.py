"""Examine where runs are stored: disk space, the state directory, the journal, and waiting runs."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from flyball.app.examining.symptom import Symptom, fine, listed, note, trouble
from flyball.app.project import Home
from flyball.app.runs.journals import opened
from flyball.app.runs.overview import held_by, status_now
from flyball.app.settling import state_dir
from flyball.core.terms.shape import counted
from flyball.engine.loop import LEASE_SECONDS
from flyball.errors import FlyballError, JournalError
from flyball.journal.protocol import Journal, RunSummary, WorkerRow
from flyball.journal.sqlite import require_usable

FULL = 1 << 24
"""With less free space than this, even a small run cannot store its trees."""
LITTLE = 1 << 30
"""With less free space than this, the next large project or log may not fit."""
READ_RUNS = 200
"""Number of newest runs to read: a journal may hold many thousands."""


async def examine_state(home: Home) -> list[Symptom]:
    """Check the state directory and the free space there and in the project."""
    state = state_dir(home.environ)
    nearest = next(each for each in (state, *state.parents) if os.path.lexists(each))
    places = {"state": nearest, "project": home.repo}
    rooms = [_room(name, at) for name, at in places.items() if os.access(at, os.F_OK)]
    return [_writable(state, nearest), *rooms]


def _writable(state: Path, nearest: Path) -> Symptom:
    hint = "Make it a directory that you can write, or name another with FLYBALL_STATE_DIR."
    try:
        # By trying: a directory's mode does not show a read-only disk.
        with tempfile.TemporaryFile(dir=nearest):
            return fine("state", f"{state} can be written")
    except OSError as error:
        return trouble("state", f"{nearest} cannot be written: {error.strerror}", hint)


def _room(name: str, place: Path) -> Symptom:
    name = f"disk of the {name}"
    found = os.statvfs(place)
    free = found.f_bavail * found.f_frsize
    # Some file systems count no files at all, and report zero of zero.
    is_out_of_files = found.f_files > 0 and found.f_favail == 0
    room = f"{free / 1e9:.1f} GB" if free >= 1e8 else f"{free / 1e6:.1f} MB"
    seen = f"{room} free at {place}"
    hint = "Free some space; `flyball runs prune` forgets old snapshots."
    if is_out_of_files:
        return trouble(name, f"no file can be created at {place}: it has too many", hint)
    if free < FULL:
        return trouble(name, f"{seen}: too little for a run", hint)
    if free < LITTLE:
        return note(name, f"{seen}: little", hint)
    return fine(name, seen)


async def examine_journal(home: Home) -> list[Symptom]:
    """Check the journal's file, and list its runs that wait for a person."""
    if not home.has_journal:
        return [fine("journal", "none yet: the first run creates it")]
    found: list[Symptom] = []
    if not home.database:
        try:
            version = require_usable(home.journal_path)
        except JournalError as error:
            return [trouble("journal", error.message, error.hint)]
        found.append(fine("journal", f"{home.journal_path} (schema {version})"))
    async with opened(home) as journal:
        summaries = await journal.runs()
        found += await _unreadable(journal, summaries)
        found += _unserved(summaries, await journal.workers())
        return [*found, *_waiting(home, summaries)]


async def _unreadable(journal: Journal, summaries: Sequence[RunSummary]) -> list[Symptom]:
    """Return runs whose record is inconsistent or was written by a later release."""
    found: list[Symptom] = []
    for each in summaries[:READ_RUNS]:
        try:
            await journal.load(each.run)
        except FlyballError as error:
            hint = error.hint or "Move the journal aside to start a new one; branches stay in git."
            found.append(trouble("journal", f"run {each.run}: {error.message}", hint))
    return found


def _unserved(summaries: Sequence[RunSummary], workers: Sequence[WorkerRow]) -> list[Symptom]:
    """Return a cluster's runs that wait for a worker when there is none."""
    served = {role for each in workers if each.age < LEASE_SECONDS for role in each.roles}
    waiting: dict[str, list[str]] = {}
    for each in summaries:
        if each.status == "running" and each.queue and each.queue not in served:
            waiting.setdefault(each.queue, []).append(each.run)
    return [
        note(
            "workers",
            f"{counted(len(runs), 'run')} waiting for a worker for {queue}s: {listed(runs)}",
            f"`flyball worker --roles {queue}` starts one.",
        )
        for queue, runs in waiting.items()
    ]


def _waiting(home: Home, summaries: Sequence[RunSummary]) -> list[Symptom]:
    by_status: dict[str, list[str]] = {}
    for each in summaries:
        status = status_now(each.status, held_by(home, each) or each.queue)
        by_status.setdefault(status, []).append(each.run)
    found: list[Symptom] = []
    if broken := by_status.get("interrupted"):
        seen = f"{counted(len(broken), 'run')} interrupted: {listed(broken)}"
        hint = f"Go on with `flyball runs resume {broken[0]}`, or end it: runs cancel."
        found.append(note("runs", seen, hint))
    if paused := by_status.get("paused"):
        seen = f"{counted(len(paused), 'run')} waiting for a person: {listed(paused)}"
        hint = f"`flyball runs show {paused[0]}` shows what it asks."
        found.append(note("runs", seen, hint))
    return found
