"""List people's decisions about a run: who, what and when, from its log and from separate
records."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec

from flyball.app.project import Home, load_extra
from flyball.journal.protocol import JournalEntry
from flyball.run.event import (
    Answered,
    AnyEvent,
    Cancelled,
    Extended,
    PauseAsked,
    Resumed,
    RunStarted,
)
from flyball.terms.shape import counted
from flyball.workspace.run.worktree import CommitKind

FILE = "decisions.jsonl"
"""In a project's state directory: decisions about a run's work after the run ended."""

ACTIONS = {CommitKind.REVERT: "took back", CommitKind.APPLY: "put again"}


DATABASE = "flyball.app.people.postgres_people"
"""Imported only if a database is configured."""


MERGED = "merged it"


class NotedDecision(msgspec.Struct, frozen=True):
    """A decision about a run's work that is in no event, since the run has ended."""

    run: str
    at: float
    by: str
    what: str
    card: str = ""


def note_decision(home: Home, noted: NotedDecision) -> None:
    """Record who merged, reverted or restored, where every view of the run reads it."""
    if home.database:
        load_extra(DATABASE).note(home.database, noted)
        return
    home.state.mkdir(parents=True, exist_ok=True)
    # A single write in append mode: two processes do not mix their lines.
    fd = os.open(home.state / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(fd, msgspec.json.encode(noted) + b"\n")
    finally:
        os.close(fd)


def decisions_of(home: Home, run: str, entries: Iterable[JournalEntry]) -> list[dict[str, Any]]:
    """Return every decision of a person about a run, oldest first."""
    found: list[dict[str, Any]] = [
        {"seq": entry.seq, "at": entry.event.at, "by": by, "what": what, "note": note}
        for entry in entries
        for by, what, note in _decided(entry.event)
    ]
    found += [
        {
            "seq": 0,
            "at": each.at,
            "by": each.by,
            "what": f"{each.what} {each.card}".rstrip(),
            "note": "",
        }
        for each in _noted(home, run)
    ]
    return sorted(found, key=lambda each: each["at"])


DECISIONS = (RunStarted, Answered, Extended, PauseAsked, Resumed, Cancelled)
"""The events that may be decisions of people."""


def _decided(event: AnyEvent) -> Iterable[tuple[str, str, str]]:
    match event:
        case RunStarted(shell=shell) if shell.get("by"):
            yield shell["by"], "started it", ""
        case Answered(by=by, granted=True, note=note):
            yield by, "said yes", note
        case Answered(by=by, note=note):
            yield by, "said no", note
        case Extended(by=by, calls=calls, why=why):
            yield by, f"added {counted(calls, 'call')}", why
        case PauseAsked(by=by):
            yield by, "asked for a pause", ""
        case Resumed(by=by):
            yield by, "let it go on", ""
        case Cancelled(by=by, why=why):
            yield by, "cancelled it", why
        case _:
            return


def merged_runs(home: Home) -> frozenset[str]:
    """Return the merged runs of a project."""
    if home.database:
        return load_extra(DATABASE).runs_noted(home.database, MERGED)
    return frozenset(each.run for each in _in_file(home) if each.what == MERGED)


def _noted(home: Home, run: str) -> Iterable[NotedDecision]:
    if home.database:
        return load_extra(DATABASE).noted_about(home.database, run)
    return (each for each in _in_file(home) if each.run == run)


def _in_file(home: Home) -> Iterable[NotedDecision]:
    try:
        data = (home.state / FILE).read_bytes()
    except OSError:
        return
    for line in data.splitlines():
        # A line truncated by a full disk; the others still count.
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):
            yield msgspec.json.decode(line, type=NotedDecision)
