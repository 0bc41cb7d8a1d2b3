"""Examine a project for common problems without changing anything."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from flyball.app.project import Home, offer
from flyball.app.runs.journals import opened
from flyball.app.runs.overview import held_by, status_now
from flyball.app.settling import state_dir
from flyball.app.wiring import (
    HOW_TO_SET,
    REPAIR,
    driver_spec,
    family,
    models_of,
    providers_of,
    unlocked,
)
from flyball.doctor.repository import examine_repository, examine_tests
from flyball.doctor.symptom import Symptom, fine, listed, note, trouble
from flyball.drivers.routing import LIBRARY, Models, check, not_installed
from flyball.engine.loop import LEASE_SECONDS
from flyball.errors import DriverError, FlyballError, JournalError, NotFound, UsageError
from flyball.hosts.install.targets import HOSTS, HostPlaces
from flyball.hosts.prove.installed import find_hooks, read_settings_files
from flyball.hosts.prove.lines import ProofState
from flyball.journal.protocol import Journal, RunSummary, WorkerRow
from flyball.journal.sqlite import require_usable
from flyball.terms.shape import counted

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


REPAIRS = "the built-in repairer needs neither model nor key"


async def examine_driver(home: Home) -> list[Symptom]:
    """Check whether the default driver can be used."""
    settings = home.effective.settings
    try:
        spec = driver_spec(settings, "", home.repo)
        if spec == REPAIR:
            return [fine("model", f"none is configured; {REPAIRS}. {HOW_TO_SET}")]
        kind, _, name = spec.partition(":")
        if kind != "model":
            return [fine("driver", spec)]
        models = models_of(settings, name)
        check(models)
        providers_of(unlocked(home, spec), models)
        _require_packages(models)
    except (UsageError, DriverError) as error:
        hint = f"{error.hint} Meanwhile {REPAIRS}: `--driver repair`."
        return [trouble("model", error.message, hint)]
    return [fine("model", name)]


def _require_packages(models: Models) -> None:
    """Raise if the packages for models are not installed; search only, as loading takes seconds."""
    for name in models.all:
        own = {family(name)} & {"openai", "anthropic"}
        for package in (LIBRARY, *own):
            if find_spec(package) is None:
                raise not_installed(name, package)


async def examine_trust(home: Home) -> list[Symptom]:
    """Check whether the repository's own settings are trusted."""
    try:
        found = offer(home.environ, home.repo)
    except NotFound:
        return []
    files = [found.path.name] if found.text else []
    files += [each.path.name for each in found.templates]
    if found.is_trusted:
        return [fine("trust", f"{', '.join(files)}: accepted")]
    seen = f"{counted(len(files), 'file')} of this repository not accepted: {', '.join(files)}"
    return [note("trust", seen, "None of it applies. Read and accept it with `flyball trust`.")]


async def examine_hooks(home: Home) -> list[Symptom]:
    """Check the hooks installed in other agents' settings; return nothing if there are none."""
    places = HostPlaces(home.environ, home.repo)
    return [each for host in HOSTS for each in _hooks(host, places)]


def _hooks(host: str, places: HostPlaces) -> Iterator[Symptom]:
    name = f"hooks of {HOSTS[host].title}"
    found, unread = find_hooks(host, places)
    for text in unread:
        yield note(
            name,
            text,
            "Fix the file; until then Flyball cannot see whether its hooks are installed.",
        )
    gone = [each for each in found if not os.access(each.executable, os.X_OK)]
    for each in gone:
        seen = f"{each.target.path} names {each.executable}, which is gone: nothing is governed"
        hint = f"Say `flyball init --host {host} --scope {each.target.scope}`"
        yield trouble(name, seen, f"{hint}, or the same with --remove.")
    if not found or gone:
        return
    line, _ = read_settings_files(host, places)
    if line.state is ProofState.FAILED:
        yield note(name, line.seen, line.next)
    else:
        yield fine(name, line.seen)


EXAMINERS: dict[str, Callable[[Home], Awaitable[list[Symptom]]]] = {
    "repository": examine_repository,
    "tests": examine_tests,
    "state": examine_state,
    "journal": examine_journal,
    "model": examine_driver,
    "trust": examine_trust,
    "hooks": examine_hooks,
}


async def examine_project(home: Home, refused: UsageError | None = None) -> list[Symptom]:
    """Return all findings, blocking ones last; `refused` is the error in the settings, if any.

    A check that fails is a finding itself, so that one problem does not hide the others.
    """
    found: list[Symptom] = []
    if refused is not None:
        found.append(trouble("settings", refused.message, refused.hint))
    for name, examine in EXAMINERS.items():
        try:
            found += await examine(home)
        except FlyballError as error:
            found.append(trouble(name, error.message, error.hint))
        except (OSError, ValueError, sqlite3.Error) as error:
            seen = f"cannot be checked: {type(error).__name__}: {error}"
            found.append(trouble(name, seen, "Fix that, then run it again."))
    return sorted(found, key=lambda each: (not each.holds, each.blocks))
