"""The governor of hosts that only observes: its journal has what would have been, nobody hears it.

An observed session has runs of its own: one for each prompt, judged like any other. What a governed
agent would have been kept from happens here all the same, so each run is brought to where it would
be if the agent had done what it would have been told: it stated its checkpoint, a person said yes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from flyball.app.answering import RESTING
from flyball.app.hosts.calls import is_plain
from flyball.app.hosts.governor import HostGovernor
from flyball.app.hosts.prompts import HostPrompts
from flyball.app.hosts.runs.hosted_run import NO_WORDS, HostedRun
from flyball.app.hosts.runs.kept import KeptWorkspaces
from flyball.app.hosts.runs.opening import HostedRuns
from flyball.app.hosts.words import NEXT_PROMPT, SESSION_ENDED, is_notification
from flyball.app.project import Home
from flyball.app.sessions import Session, Sessions
from flyball.core.host.event import GO_ON, HostAnswer, HostEvent, Moment
from flyball.core.host.tool import PLAN_EXIT
from flyball.core.record.observed import OBSERVED
from flyball.core.run.event import Answered, AnyEvent, Extended, Finish, Resumed
from flyball.core.run.state import Asking, Checkpoint
from flyball.core.terms.call import Access, Call
from flyball.core.terms.intent import LIMITS
from flyball.core.terms.phase import PLAN, Phase

STOPPED = "the agent stopped, and nobody held it"
NOBODY = "nobody (observed)"
ASSUMED = "(assumed: the agent was only observed, and not told to state it)"
FEW = 3
"""With so few calls left the budget would soon have asked for a person."""
MORE = 25
LONGEST_OUTCOME = 8_000


def observed_at(home: Home) -> Path:
    """Where observed sessions are kept: apart, so that they explain nothing to who governs."""
    return home.state / "observed"


class HostObserver(HostGovernor):
    """Takes the moments of all hosts in one project down, and lets every one of them pass."""

    def __init__(
        self, home: Home, kept: KeptWorkspaces | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(home, kept, clock)
        self.sessions = Sessions(observed_at(home))
        kept = kept or KeptWorkspaces()
        self.runs = HostedRuns(home, self.sessions, self._rules, clock, kept, ObservedRun)
        self.prompts = HostPrompts(home, self.sessions, self.runs, {OBSERVED: "yes"})

    async def answer(self, event: HostEvent, *, gives_leave: bool = False) -> HostAnswer:  # noqa: ARG002
        """Nothing, whatever it is."""
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


class ObservedRun(HostedRun):
    """A run of a session that is only observed: nothing is refused, held or taken back."""

    async def before(self, event: HostEvent) -> HostAnswer:
        """Judge a call, which is made whatever comes of it."""
        await self._go_past()
        await super().before(event)
        await self._go_past()
        if self._owed_call(event.call) == 0 and self.card.phase.is_in(PLAN):
            await self._assume_checkpoint()
        return GO_ON

    async def after(self, event: HostEvent) -> HostAnswer:
        """Take down what a call came to."""
        await super().after(event)
        await self._go_past()
        return GO_ON

    async def stop(self, event: HostEvent) -> HostAnswer | None:
        """Take down that the agent stopped, and on which tree; the verdict is not taken."""
        await self._forget_calls()
        await self.look()
        await self._go_past()
        await self._reply((), Finish.STOP, event.text.strip() or NO_WORDS)
        return GO_ON

    async def look(self, since: str = "") -> str:  # noqa: ARG002
        """Take down what has changed and no call explains."""
        card = self.card
        if any(call.access is not Access.READ for call in card.in_flight):
            return ""
        now, changed = await self._changes()
        if changed:
            await self._record_look(now, changed=changed)
        return ""

    async def _outcome(self, event: HostEvent, call: Call, owed: int) -> AnyEvent:
        is_read = is_plain(event, self._rules) and call.access is Access.READ
        if event.is_interrupted or event.tool == PLAN_EXIT or is_read:
            return await super()._outcome(event, call, owed)
        return await self._only_seen(event, call)

    async def _assume_checkpoint(self) -> None:
        """Go on as if what a governed agent is told had been done."""
        tops = sorted(each.name for each in os.scandir(self._workspace.root) if each.is_dir())
        files = [each.name for each in os.scandir(self._workspace.root) if not each.is_dir()]
        point = Checkpoint(
            goal=ASSUMED,
            findings=ASSUMED,
            proposed_action=ASSUMED,
            files=(*(f"{top}/" for top in tops), *sorted(files)) or ("./",),
            verify_with=("the project's tests",),
        )
        # What it would be followed by, a first run of the tests, is not observing.
        await self._append(replace(self._stated(point, ""), effect=self._owed_thought()))
        await self._go_past()

    async def _go_past(self) -> None:
        """Answer what a person would have been asked, as the agent went on without them."""
        budget, spend = self.state.budget, self.state.spend
        if budget.calls and budget.limit - spend.calls <= FEW:
            calls = LIMITS[self.state.intent] if self.state.intent else 0
            await self._append(Extended(by=NOBODY, calls=max(calls, MORE), why=STOPPED))
        question = self.card.question
        if self.card.phase is not Phase.PAUSED or question is None:
            return
        if question.kind is Asking.EXTENSION:
            await self._append(Extended(by=NOBODY, calls=MORE, why=STOPPED))
        elif question.kind in RESTING:
            await self._append(Resumed(by=NOBODY, tree=self.card.tree))
        else:
            await self._append(Answered(question=question.id, granted=True, by=NOBODY))
