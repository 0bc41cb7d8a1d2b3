"""A run in which no call is refused or reverted: levels `verdict` and `observe`.

Calls that a governed agent could not make can happen here. The run then moves to the state it would
have if the agent had followed the governor: it recorded its checkpoint, and a person approved.
"""

from __future__ import annotations

import os

from msgspec.structs import replace

from flyball.agents.event import GO_ON, HostAnswer, HostEvent
from flyball.agents.tool import PLAN_EXIT
from flyball.app.answering import RESTING
from flyball.hosts.calls import is_plain
from flyball.hosts.hosted_run import LONGEST_OUTCOME, NO_WORDS, HostedRun
from flyball.hosts.words import asks_about_conflict, waiting_for
from flyball.record.observed import WOULD_UNDO
from flyball.run.event import (
    Answered,
    AnyEvent,
    CallReturned,
    Extended,
    Finish,
    Resumed,
)
from flyball.run.state import Asking, Checkpoint
from flyball.terms.call import Access, Call, Outcome, digest
from flyball.terms.intent import LIMITS
from flyball.terms.phase import PLAN, Phase
from flyball.tools.call.protocol import bounded

NOBODY = "nobody (not held)"
ASSUMED = "(assumed: this agent is not held, and was not asked for it)"
NOT_HELD = "the agent continued and was not held"
FEW = 3
"""With so few calls left, the budget would soon have required a person."""
MORE = 25


class UnheldRun(HostedRun):
    """A run whose calls are journaled and never refused; its stop is judged like any other."""

    async def before(self, event: HostEvent) -> HostAnswer:
        """Judge a call and allow it whatever the result."""
        await self._go_past()
        await super().before(event)
        await self._go_past()
        if self.pending_call(event.call) == 0 and self.card.phase.is_in(PLAN):
            await self._assume_checkpoint()
        return GO_ON

    async def after(self, event: HostEvent) -> HostAnswer:
        """Record the result of a call."""
        await super().after(event)
        await self._go_past()
        return GO_ON

    async def stop(self, event: HostEvent) -> HostAnswer | None:
        """Judge the stop; questions that would have been asked on the way count as answered."""
        if asks_about_conflict(self.card):
            _, changed = await self._changes()
            if not changed:
                return HostAnswer(notice=waiting_for(self.card))
            # The agent went on in spite of it, so what it did is judged.
            await self._withdraw()
            if self.card.phase.is_in(PLAN):
                await self._assume_checkpoint()
        await self._go_past()
        return await super().stop(event)

    async def _withdraw(self) -> None:
        """Drop a conflict for which the agent did not wait."""
        question = self.card.question
        assert question is not None, "only a card that asks has a conflict"
        await self._append(Answered(question=question.id, granted=True, by=NOBODY))

    async def check_changes(self, since: str = "") -> str:  # noqa: ARG002
        """Record changes that no call explains."""
        card = self.card
        if asks_about_conflict(card) or any(
            call.access is not Access.READ for call in card.in_flight
        ):
            return ""
        now, changed = await self._changes()
        if changed:
            await self._record_changes(now, changed=changed)
        return ""

    async def _outcome(self, event: HostEvent, call: Call, owed: int) -> AnyEvent:
        is_read = is_plain(event, self._rules) and call.access is Access.READ
        if event.is_interrupted or event.tool == PLAN_EXIT or is_read:
            return await super()._outcome(event, call, owed)
        return await self._only_seen(event, call, self._key(owed))

    async def _only_seen(self, event: HostEvent, call: Call, key: str) -> CallReturned:
        """Return a call's result, with a note of what would have been reverted."""
        now, changed = await self._changes()
        text = self._context.redactor.text(bounded(event.text, LONGEST_OUTCOME)[0])
        undone = [path for path in changed if self._would_undo(path)]
        builds = self.card.phase is Phase.EXECUTE
        return CallReturned(
            card=self.card.id,
            call=call.id,
            outcome=Outcome(
                ok=event.ok,
                text=text,
                data={WOULD_UNDO: undone} if undone else {},
                digest=digest(text),
                error="" if event.ok else text[:500],
            ),
            tree=now,
            changed=changed,
            snapshot=self._workspace.snapshot(key) if builds else "",
        )

    async def _assume_checkpoint(self) -> None:
        """Proceed as if the checkpoint had been recorded as requested."""
        tops = sorted(each.name for each in os.scandir(self._workspace.root) if each.is_dir())
        files = [each.name for each in os.scandir(self._workspace.root) if not each.is_dir()]
        point = Checkpoint(
            goal=ASSUMED,
            findings=ASSUMED,
            proposed_action=ASSUMED,
            files=(*(f"{top}/" for top in tops), *sorted(files)) or ("./",),
            verify_with=("the project's tests",),
        )
        # The next step, a first run of the tests, is more than observing.
        await self._append(replace(self._stated(point, ""), effect=self.pending_thought()))
        await self._go_past()

    async def _go_past(self) -> None:
        """Answer the questions to a person, since the agent continued without them."""
        budget, spend = self.state.budget, self.state.spend
        if budget.calls and budget.limit - spend.calls <= FEW:
            calls = LIMITS[self.state.intent] if self.state.intent else 0
            await self._append(Extended(by=NOBODY, calls=max(calls, MORE), why=NOT_HELD))
        question = self.card.question
        if self.card.phase is not Phase.PAUSED or question is None:
            return
        if asks_about_conflict(self.card):
            return
        if question.kind is Asking.EXTENSION:
            await self._append(Extended(by=NOBODY, calls=MORE, why=NOT_HELD))
        elif question.kind in RESTING:
            await self._append(Resumed(by=NOBODY, tree=self.card.tree))
        else:
            await self._append(Answered(question=question.id, granted=True, by=NOBODY))


class ObservedRun(UnheldRun):
    """A run of a session that is only observed: its stop is not held either."""

    async def stop(self, event: HostEvent) -> HostAnswer | None:
        """Journal that the agent stopped, and on which tree; the verdict is not taken."""
        if asks_about_conflict(self.card):
            await self._withdraw()
        await self._forget_calls()
        await self.check_changes()
        await self._go_past()
        await self._reply((), Finish.STOP, event.text.strip() or NO_WORDS)
        return GO_ON
