"""What each card of a run did last: its newest call that has come back."""

from __future__ import annotations

from typing import Any

from flyball.core.run.event import (
    AnyEvent,
    Appealed,
    CallInterrupted,
    CallReturned,
    CheckpointStated,
    DriverReplied,
    Noted,
)
from flyball.core.terms.call import Call
from flyball.engine.telemetry import about_call
from flyball.journal.protocol import Journal

WINDOW = 40
"""How far back a run is read that was not seen before: a long log is not worth one line."""

MOST_ASKED = 200
"""How many calls are remembered that have not come back."""


class LastDeeds:
    """Reads on in one run's log, and keeps one call for each card."""

    def __init__(self) -> None:
        self.by_card: dict[str, dict[str, Any]] = {}
        self._seq = 0
        self._asked: dict[tuple[str, str], Call] = {}

    async def read(self, journal: Journal, run: str, seq: int) -> None:
        """Take in what was written since, up to an event."""
        after = self._seq or max(seq - WINDOW, 0)
        for entry in await journal.events(run, after, seq - after):
            self.take(entry.event)
        self._seq = seq

    def take(self, event: AnyEvent) -> None:
        """Note the calls that are asked for, and the one that came back."""
        match event:
            case DriverReplied():
                self._asked |= {(event.card, call.id): call for call in event.calls}
                # What was denied never comes back, and must not pile up.
                for key in list(self._asked)[:-MOST_ASKED]:
                    del self._asked[key]
            case CallReturned():
                self._came_back(event.card, event.call, event.outcome.ok)
            case CallInterrupted():
                self._came_back(event.card, event.call, False)
            case CheckpointStated() | Noted() | Appealed():
                self._came_back(event.card, event.call, True)
            case _:
                return

    def _came_back(self, card: str, id: str, ok: bool) -> None:
        call = self._asked.pop((card, id), None)
        if call is not None:
            self.by_card[card] = {"tool": call.name, "about": about_call(call)[:200], "ok": ok}
