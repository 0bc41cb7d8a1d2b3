"""What others change in the same checkout, so that no session is blamed for it."""

from __future__ import annotations

from collections.abc import Sequence

from flyball.core.run.event import CallReturned, RunStarted
from flyball.journal.protocol import Journal, JournalEntry


async def changed_elsewhere(run: str, journal: Journal) -> frozenset[str]:
    """The files that other runs in this checkout have changed with leave since a run began.

    A run that has ended counts like any other: its work is still there.
    """
    runs = await journal.runs()
    began = next((each.created_at for each in runs if each.run == run), 0.0)
    found: set[str] = set()
    for other in runs:
        if other.run != run and other.updated_at >= began:
            found.update(_changed_since(began, await journal.events(other.run)))
    return frozenset(found)


def _changed_since(began: float, entries: Sequence[JournalEntry]) -> set[str]:
    started = entries[0].event if entries else None
    if not isinstance(started, RunStarted) or not started.shell.get("in_place"):
        return set()
    events = [entry.event for entry in entries]
    returned = [each for each in events if isinstance(each, CallReturned) and each.at >= began]
    return {path for each in returned for path in each.changed}
