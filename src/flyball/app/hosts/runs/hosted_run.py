"""One run of a host's session, open for one of its moments.

The host thinks and makes the calls; here each of its moments becomes the event that our own loop
would have had. What is owed to the driver (`Think`, `Perform`) stays owed until the host comes back
with it; everything else is done at once.
"""

from __future__ import annotations

from msgspec.structs import replace

from flyball.app.answering import RESTING
from flyball.app.hosts.calls import HostRules, call_of, is_plain, is_waiting
from flyball.app.hosts.runs.watched_run import WatchedRun, owed_verdict
from flyball.app.hosts.words import (
    ending_of,
    greeting,
    plan_as_checkpoint,
    refusal,
    rejection,
    told,
    under_way,
    waiting_for,
)
from flyball.core.host.event import GO_ON, HostAnswer, HostEvent, Moment
from flyball.core.host.tool import PLAN_EXIT
from flyball.core.record.observed import WOULD_UNDO
from flyball.core.run.decision import Deny, judge, may_build
from flyball.core.run.event import (
    AnyEvent,
    CallInterrupted,
    CallReturned,
    CheckpointStated,
    DriverReplied,
    EvidenceTaken,
    Extended,
    Finish,
    Noted,
    Resumed,
    ThreadReset,
)
from flyball.core.run.state import Checkpoint, RunState
from flyball.core.terms.call import Access, Call, Outcome, digest
from flyball.core.terms.intent import LIMITS
from flyball.core.terms.phase import Phase
from flyball.engine.perform import settle_foreign
from flyball.engine.prompt.handover_text import hand_over
from flyball.tools.call.protocol import Result, bounded
from flyball.workspace.trees.trees import TreeHash

LONGEST_OUTCOME = 8_000
WRITE = "Write"
MOST_LIKELY = 12
RECENT = 60
"""Events; what lies further back is no longer likely."""
NO_WORDS = "(The agent stopped without words.)"


def stopped(state: RunState, rules: HostRules) -> HostAnswer:
    """What a stop has come to, once its verdict is known."""
    if state.has_ended:
        return HostAnswer(notice=ending_of(state))
    card = state.cards[-1]
    if card.phase is Phase.PAUSED:
        return HostAnswer(notice=waiting_for(card))
    if rules.only_advises:
        return HostAnswer(notice=rejection(card))
    return HostAnswer(is_refused=True, text=rejection(card))


class HostedRun(WatchedRun):
    """The verbs that a host's moments need, on one run."""

    async def before(self, event: HostEvent) -> HostAnswer:
        """Whether a call may be made; of one that may, the tree before it is kept."""
        if owed_verdict(self.state):
            if is_waiting(event):
                return GO_ON
            return self._refused(event, "", under_way())
        plain = is_plain(event, self._rules)
        if event.is_past:
            self._present = TreeHash(self.card.tree)
        found = "" if plain or event.is_past else await self.look()
        call = call_of(
            event,
            self._rules,
            self._context.redactor,
            lambda: self._call_context(event.call),
        )
        if why := self._closed(call):
            return replace(self._refused(event, found, why), stands=not found)
        await self._reply((call,), Finish.TOOL_CALLS)
        perform = self._owed_call(call.id)
        if perform:
            if not (plain and call.access is Access.READ):
                self._workspace.snapshot(self._key(perform), self._present)
            return HostAnswer(text=found, notice=found) if found else GO_ON
        judged = [each for each in self.card.judged if each.call == call.id]
        why = refusal(self.card, call.id, judged[-1].code if judged else "")
        return self._refused(event, found, why)

    def _refused(self, event: HostEvent, found: str, why: str) -> HostAnswer:
        """A refusal, or where Flyball only advises, what it would have been."""
        if self._rules.only_advises:
            return HostAnswer(notice=f"Flyball would refuse `{event.tool}`: {why}")
        return HostAnswer(is_refused=True, text="\n".join(filter(None, (found, why))))

    def _closed(self, call: Call) -> str:
        """Why no call at all is made now: a person is asked, or only words are wanted."""
        card = self.card
        if card.phase is Phase.PAUSED:
            return waiting_for(card)
        found = judge(self.state, card, call) if card.is_summing_up else None
        return found.reason if isinstance(found, Deny) else ""

    async def after(self, event: HostEvent) -> HostAnswer:
        """What a call came to; what it changed where nothing may be changed is taken back."""
        call = next((each for each in self.card.in_flight if each.id == event.call), None)
        owed = self._owed_call(event.call)
        if call is None or not owed:
            found = "" if event.is_past else await self.look()
            return HostAnswer(text=found, notice=found) if found else GO_ON
        outcome = await self._outcome(event, call, owed)
        if isinstance(outcome, CallReturned):
            outcome = await self._without_others(outcome)
        await self._append(replace(outcome, effect=owed))
        card = self.card
        undone = [each.text for each in card.said if "that was undone" in each.text]
        words = told(card.said)
        if card.phase is Phase.PAUSED:
            words = "\n".join(filter(None, (words, waiting_for(card))))
        return HostAnswer(text=words, notice="\n".join(undone)) if words else GO_ON

    async def _outcome(self, event: HostEvent, call: Call, owed: int) -> AnyEvent:
        card = self.card
        if event.is_interrupted:
            return CallInterrupted(card=card.id, call=call.id, tree=self._workspace.tree_hash())
        if event.tool == PLAN_EXIT and call.access is Access.CHECKPOINT and event.ok:
            plan = str(event.args.get("plan") or event.text)
            return self._stated(plan_as_checkpoint(plan), call.id)
        text = bounded(event.text, LONGEST_OUTCOME)[0]
        result = Result(event.ok, text, error="" if event.ok else text[:500])
        is_read = is_plain(event, self._rules) and call.access is Access.READ
        if is_read or event.is_past:
            shown = self._context.redactor.text(text)
            outcome = Outcome(ok=event.ok, text=shown, digest=digest(text), error=result.error)
            return CallReturned(card=card.id, call=call.id, outcome=outcome, tree=card.tree)
        if self._rules.only_advises:
            return await self._only_seen(event, call, self._key(owed))
        context = self._call_context(call.id, self._key(owed), call)
        if not context.workspace.has_snapshot(context.key):
            # Whoever took it up when it began has died over it; since then it was made.
            context.workspace.snapshot(context.key, TreeHash(card.tree))
        return await settle_foreign(context, call, result, self._others)

    async def _only_seen(self, event: HostEvent, call: Call, key: str = "") -> CallReturned:
        """What a call came to, where nothing is ever taken back: what would have been is noted."""
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
            snapshot=self._workspace.snapshot(key) if key and builds else "",
        )

    async def stop(self, event: HostEvent) -> HostAnswer | None:
        """Whether the host may stop; None where Flyball's own verdict must be taken first."""
        if owed_verdict(self.state):
            return None
        await self._forget_calls()
        self.found = await self.look()
        card = self.card
        if card.phase is Phase.PAUSED:
            return HostAnswer(notice=waiting_for(card))
        if not card.has_changed and may_build(self.state, card):
            # Somebody talked, and nothing came of it yet: the next prompt goes on from here.
            return GO_ON
        await self._reply((), Finish.STOP, event.text.strip() or NO_WORDS)
        return await self._settled()

    async def judged(self, seen: EvidenceTaken) -> HostAnswer | None:
        """What a verdict makes of a stop; None where it leads to another one."""
        if all(each.n != seen.effect for each in self.state.owed):
            # A person went on meanwhile: nobody waits for it any more.
            return GO_ON
        _, changed = await self._changes()
        await self._append(replace(seen, changed=changed))
        return await self._settled()

    async def _settled(self) -> HostAnswer | None:
        await self._bring_on()
        while self.card.phase is Phase.FINAL and not self.state.has_ended:
            if owed_verdict(self.state):
                return None
            # It is over and only the last words are asked for, which are known already.
            await self._reply((), Finish.STOP, self.card.answer or NO_WORDS)
            await self._bring_on()
        return None if owed_verdict(self.state) else stopped(self.state, self._rules)

    async def heard(self, event: HostEvent) -> HostAnswer:
        """A person spoke into work that is not done: more budget, and no grudge of the guards."""
        await self._forget_calls()
        found = await self.look()
        card, intent = self.card, self.state.intent
        if card.question is not None and card.question.kind in RESTING:
            await self._append(Resumed(by=event.host, tree=self._workspace.tree_hash()))
        calls = LIMITS[intent] if intent else 0
        if calls:
            await self._append(Extended(by=event.host, calls=calls, why="the person went on"))
        text = self._context.redactor.text(event.text)
        # A verdict that is being taken is of work that goes on: its debt ends here.
        moot = owed_verdict(self.state)
        await self._append(
            ThreadReset(
                card=card.id,
                reason="the person spoke",
                text=text,
                effect=moot.n if moot else 0,
            )
        )
        await self._bring_on()
        return HostAnswer(text=found, notice=found)

    async def cut_off(self) -> HostAnswer:
        """What calls have left that never came back, for model and person.

        Where none of them could write, what has changed since is the person's own.
        """
        calls = self.card.in_flight
        if not any(call.access is not Access.READ or call.command for call in calls):
            return GO_ON
        await self._forget_calls()
        return await self.seen()

    async def state_checkpoint(self, point: Checkpoint) -> None:
        """A checkpoint from the host's shell; the call that brings it is answered by it."""
        own = [call for call in self.card.in_flight if call.access is Access.CHECKPOINT]
        call = own[-1].id if own else ""
        effect = self._owed_call(call) if call else self._owed_thought()
        await self._append(replace(self._stated(point, call), effect=effect))
        await self._bring_on()

    def _stated(self, point: Checkpoint, call: str) -> CheckpointStated:
        clean = self._context.redactor.text
        return CheckpointStated(
            card=self.card.id,
            call=call,
            goal=clean(point.goal),
            findings=clean(point.findings),
            proposed_action=clean(point.proposed_action),
            files=point.files,
            verify_with=tuple(map(clean, point.verify_with)),
        )

    async def likely_changes(self) -> tuple[Call, ...]:
        """What the host may do next, as it would be judged now: it was named or done before.

        That is to write a file of its checkpoint or of its work, and to run a command again.
        """
        card, root = self.card, self._workspace.root
        if card.phase is not Phase.EXECUTE:
            return ()
        named = card.checkpoint.files if card.checkpoint else ()
        files = [path for path in dict.fromkeys((*card.changed, *named)) if (root / path).is_file()]
        asked: list[tuple[str, dict[str, object]]] = [
            (WRITE, {"file_path": f"{root}/{path}"}) for path in files[:MOST_LIKELY]
        ]
        since = max(self.state.seq - RECENT, 0)
        entries = await self._engine.journal.events(self.state.run, since)
        replies = (each.event for each in entries if isinstance(each.event, DriverReplied))
        done = {call.digest: call for reply in replies for call in reply.calls if call.command}
        # One whose arguments were cut, or held a secret, cannot be asked about again.
        again = [each for each in done.values() if digest([each.called, each.args]) == each.digest]
        asked += [(each.called, each.args) for each in again[-MOST_LIKELY:]]
        calls = [self._call_of(tool, args) for tool, args in asked]
        return tuple(each for each in calls if each.access is not Access.READ)

    def _call_of(self, tool: str, args: dict[str, object]) -> Call:
        """A call as it would be judged now."""
        made = HostEvent("", Moment.BEFORE_CALL, "", "", tool=tool, args=args, call="likely")
        clean = self._context.redactor
        return call_of(made, self._rules, clean, lambda: self._call_context(made.call))

    async def note(self, text: str) -> HostAnswer:
        """Put a word about the run into its log."""
        await self._append(Noted(card=self.card.id, text=text))
        return GO_ON

    async def greeted(self) -> HostAnswer:
        """What a model is told when its work begins."""
        return HostAnswer(text=greeting(self.state, self.card))

    async def handed_over(self) -> HostAnswer:
        """For a model whose memory was shortened: goal, plan, what is done, what is open."""
        return HostAnswer(text=hand_over(self.state, self.card))
