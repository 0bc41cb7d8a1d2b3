"""Read Flyball's own journals for what the governor would have prevented in observed runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from flyball.app.audit.judging import (
    FLYBALL,
    FileAudit,
    SessionAudit,
    look_at_command,
    redacted,
)
from flyball.app.sessions import HOSTED
from flyball.app.settling import state_dir
from flyball.core.record.audit.finding import AuditFinding
from flyball.core.record.observed import OBSERVED, would_be
from flyball.core.run.event import AnyEvent, CallReturned, RunStarted
from flyball.journal.sqlite import SqliteJournal

JOURNAL = "journal.sqlite"
SHORT = 12
QUOTED = 200


def journals(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the journal of every project of this user."""
    yield from sorted((state_dir(environ) / "projects").glob(f"*/{JOURNAL}"))


def judge_journal(file: Path) -> FileAudit:
    """Return what would have been prevented in each observed run; raise if the journal is
    unreadable.
    """
    audit = FileAudit([], [], [])
    for events in asyncio.run(_observed(file)):
        started = events[0]
        assert isinstance(started, RunStarted)
        audit.sessions.append(_session(started, events))
        for n, each in enumerate(would_be(events, _is_check), 1):
            found = AuditFinding(
                rule=each.rule,
                session=started.run,
                turn=1,
                at=each.at,
                key=f"{started.run}/{n}",
                quote=each.what[:QUOTED],
                detail=f"{each.why} (tree {each.tree[:SHORT]})",
                paths=each.paths,
            )
            audit.findings.append(redacted(found))
    return audit


async def _observed(file: Path) -> list[list[AnyEvent]]:
    """Return the events of every observed run."""
    journal = SqliteJournal(file)
    found: list[list[AnyEvent]] = []
    try:
        for run in await journal.runs():
            events = [entry.event for entry in await journal.events(run.run)]
            if events and isinstance(events[0], RunStarted) and events[0].shell.get(OBSERVED):
                found.append(events)
    finally:
        await journal.close()
    return found


def _session(started: RunStarted, events: Sequence[AnyEvent]) -> SessionAudit:
    came = [event for event in events if isinstance(event, CallReturned)]
    return SessionAudit(
        started.run,
        FLYBALL,
        project=started.target.removeprefix("project/"),
        model=started.shell.get("driver", "").removeprefix(HOSTED),
        began=started.at,
        ended=events[-1].at,
        prompts=1,
        calls=len(came),
        edits=sum(bool(event.changed) for event in came),
        asked=started.request[:300],
    )


def _is_check(command: str) -> bool:
    look = look_at_command(command, "/")
    return look.is_check and not look.cannot_fail
