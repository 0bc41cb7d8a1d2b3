"""What people decided about a run: who, what and when, from its log and from what was noted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

from flyball.app.project import Home
from flyball.core.run.event import (
    Answered,
    AnyEvent,
    Cancelled,
    Extended,
    PauseAsked,
    Resumed,
    RunStarted,
)
from flyball.journal.protocol import JournalEntry
from flyball.workspace.run.worktree import CommitKind

FILE = "decisions.jsonl"
"""In a project's state directory: what was done to a run's work once no event could say it."""

DEEDS = {CommitKind.REVERT: "took back", CommitKind.APPLY: "put again"}


def note_decision(home: Home, run: str, by: str, what: str, card: str = "", at: float = 0) -> None:
    """Write down who merged, took back or put again; a run that has ended takes no event."""
    line = json.dumps({"run": run, "at": at, "by": by, "what": what, "card": card}) + "\n"
    home.state.mkdir(parents=True, exist_ok=True)
    # One write to a file that is only appended to: two processes do not mix their lines.
    fd = os.open(home.state / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


def decisions_of(home: Home, run: str, entries: Iterable[JournalEntry]) -> list[dict[str, Any]]:
    """Every decision of a person about a run, the first one first."""
    found = [
        {"seq": entry.seq, "at": entry.event.at, "by": by, "what": what, "note": note}
        for entry in entries
        for by, what, note in _decided(entry.event)
    ]
    return sorted([*found, *_noted(home, run)], key=lambda each: each["at"])


def _decided(event: AnyEvent) -> Iterable[tuple[str, str, str]]:
    match event:
        case RunStarted(shell=shell) if shell.get("by"):
            yield shell["by"], "began it", ""
        case Answered(by=by, granted=True, note=note):
            yield by, "said yes", note
        case Answered(by=by, note=note):
            yield by, "said no", note
        case Extended(by=by, calls=calls, why=why):
            yield by, f"added {calls} calls", why
        case PauseAsked(by=by):
            yield by, "asked for a pause", ""
        case Resumed(by=by):
            yield by, "let it go on", ""
        case Cancelled(by=by, why=why):
            yield by, "cancelled it", why
        case _:
            return


def _noted(home: Home, run: str) -> Iterable[dict[str, Any]]:
    try:
        text = (home.state / FILE).read_text("utf-8", "replace")
    except OSError:
        return
    for line in text.splitlines():
        try:
            each = json.loads(line)
            if each["run"] == run:
                what = f"{each['what']} {each['card']}".rstrip()
                yield {"seq": 0, "at": each["at"], "by": each["by"], "what": what, "note": ""}
        except (ValueError, KeyError, TypeError):
            # A line that a full disk cut off; the others still count.
            continue
