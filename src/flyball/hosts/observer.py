"""Observe hosts without answering: the journal records what the governor would have done.

An observed session has its own runs: one for each prompt, judged like any other.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from flyball.agents.event import GO_ON, HostAnswer, HostEvent, Moment
from flyball.app.project import Home
from flyball.app.sessions import Session, Sessions
from flyball.hosts.governor import HostGovernor
from flyball.hosts.kept import KeptWorkspaces
from flyball.hosts.opening import HostedRuns
from flyball.hosts.prompts import HostPrompts
from flyball.hosts.unheld_run import ObservedRun
from flyball.hosts.words import NEXT_PROMPT, SESSION_ENDED, is_notification
from flyball.record.observed import OBSERVED

STOPPED = "the agent stopped and was not held"


def observed_at(home: Home) -> Path:
    """Return the directory of observed sessions, which is separate from the governor's."""
    return home.state / "observed"


class HostObserver(HostGovernor):
    """Records the hook events of all hosts in one project, and allows every one of them."""

    def __init__(
        self, home: Home, kept: KeptWorkspaces | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(home, kept, clock)
        self.sessions = Sessions(observed_at(home))
        kept = kept or KeptWorkspaces()
        self.runs = HostedRuns(home, self.sessions, self._rules, clock, kept, ObservedRun)
        self.prompts = HostPrompts(home, self.sessions, self.runs, {OBSERVED: "yes"})

    async def answer(self, event: HostEvent) -> HostAnswer:
        """Return an empty answer."""
        if event.moment is not Moment.OTHER and not self.switch.off_until():
            async with self._turn():
                await self._take_down(event, self._session(event))
        return GO_ON

    async def _take_down(self, event: HostEvent, session: Session) -> None:
        match event.moment:
            case Moment.PROMPTED if not is_notification(event.text):
                await self.prompts.leave(session, NEXT_PROMPT)
                await self.prompts.begin(event, session)
            case Moment.BEFORE_CALL:
                if await self.runs.answer_of(session, lambda run: run.before(event)) is None:
                    session, _ = await self.prompts.begin(event, session)
                    await self.runs.at(session, lambda run: run.before(event))
            case Moment.AFTER_CALL:
                await self.runs.at(session, lambda run: run.after(event))
            case Moment.STOPPING if not event.works_on:
                await self.runs.at(session, lambda run: run.stop(event))
                await self.prompts.leave(session, STOPPED)
            case Moment.SESSION_ENDED:
                await self.prompts.leave(session, SESSION_ENDED)
                self.sessions.end(session)
            case _:
                pass
