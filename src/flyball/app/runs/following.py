"""Read a run's telemetry from its log: from the start, and as it grows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator

from flyball.app.project import Home
from flyball.app.runs.journals import holder_of, opened
from flyball.app.sessions import Sessions
from flyball.engine.ongoing import current_progress
from flyball.engine.telemetry import Telemetry, telemetry
from flyball.journal.protocol import SUBMITTED, JournalEntry
from flyball.run.event import RunStarted
from flyball.run.machine import advance
from flyball.run.state import RunState
from flyball.terms.intent import Turn

POLL = 0.25


def turns_of(state: RunState) -> tuple[Turn, ...]:
    """Return the questions and answers in a run, for a client that follows it."""
    answer = state.response.message if state.response else ""
    turns = (Turn("user", state.request), Turn("assistant", answer))
    return tuple(turn for turn in turns if turn.text)


def retold(entries: Iterable[JournalEntry]) -> Iterator[Telemetry]:
    """Yield all telemetry that a watcher of a run would have received, from its log."""
    state = RunState()
    for entry in entries:
        after = advance(state, entry.event).state
        yield from telemetry(state, entry.event, after)
        state = after


class Follower:
    """Reads a run's telemetry from its log: from the start, then as it grows."""

    def __init__(self, home: Home, run: str) -> None:
        self._home = home
        self._run = run
        self.state = RunState()

    async def lines(self) -> AsyncIterator[Telemetry]:
        """Yield telemetry, whole and once, until the run rests, ends, or loses its driver."""
        async with opened(self._home) as journal:
            await journal.load(self._run)
            first = (await journal.events(self._run, limit=1))[0].event
            last: Telemetry | None = None
            is_submitted = isinstance(first, RunStarted) and SUBMITTED in first.shell
            while True:
                hosted = Sessions(self._home.state).host_of(self._run)
                # A run that waits for a worker will move.
                is_moving = is_submitted or bool(hosted or await holder_of(journal, self._run))
                for entry in await journal.events(self._run, self.state.seq):
                    after = advance(self.state, entry.event).state
                    for line in telemetry(self.state, entry.event, after):
                        yield line
                    self.state = after
                if self.state.is_at_rest or not is_moving:
                    return
                now = current_progress(self._home.state, self._run)
                if now is not None and now != last:
                    last = now
                    yield now
                await journal.wait(POLL)
