"""One run of a host's session, open for one hook event.

The host thinks and makes the calls; here each hook event becomes the event that our own loop would
have produced. Effects for the driver (`Think`, `Perform`) stay pending until the host returns with
the result; all others are performed at once.
"""

from __future__ import annotations

from collections.abc import Set

from msgspec.structs import replace

from flyball.agents.event import GO_ON, HostAnswer, HostEvent
from flyball.agents.tool import COMMAND_FIELDS, PLAN_EXIT, texts_in
from flyball.app.answering import RESTING
from flyball.app.sessions import WITHIN
from flyball.engine.perform import settle_foreign
from flyball.engine.prompt.handover_text import hand_over
from flyball.errors import Conflict
from flyball.hosts.calls import (
    CONFLICT,
    OTHER_SHELLS,
    Stance,
    call_of,
    is_plain,
    is_waiting,
)
from flyball.hosts.confining import (
    READ_ONLY,
    PersonRules,
    can_rewrite,
    confined,
    why_unconfined,
)
from flyball.hosts.install.targets import HostPlaces
from flyball.hosts.person import has_own_question
from flyball.hosts.watched_run import WatchedRun, pending_verdict
from flyball.hosts.words import (
    ALONE,
    THEN,
    ending_notice,
    governor_text,
    greeting,
    held_notice,
    plan_as_checkpoint,
    refusal,
    rejection,
    unchanged_notice,
    under_way,
    waiting_for,
)
from flyball.intent.context import orders
from flyball.regex import regex
from flyball.run.decision import Deny, judge, may_build
from flyball.run.event import (
    Answered,
    AnyEvent,
    CallInterrupted,
    CallReturned,
    CheckpointStated,
    EvidenceTaken,
    Extended,
    Finish,
    Noted,
    Resumed,
    RunStarted,
    ThreadReset,
)
from flyball.run.state import Asking, Checkpoint, RunState
from flyball.terms.call import Access, Call, Outcome, digest
from flyball.terms.conflict import Choice, read_choice
from flyball.terms.intent import LIMITS
from flyball.terms.phase import Phase
from flyball.tools.call.protocol import Result, bounded
from flyball.tools.conflict import ConflictForm, Surroundings, state_conflict
from flyball.workspace.process.process_identity import environ_of
from flyball.workspace.trees.trees import TreeHash

LONGEST_OUTCOME = 8_000
PLAIN_PUSH = regex(r"git push(?: -u| --set-upstream)?(?: origin(?: \w[\w./-]*)?)?")
"""A push that an order can mean: not by force, and to no place that an agent may have added."""
NO_WORDS = "(The agent stopped without a message.)"


def stopped(state: RunState, level: str) -> HostAnswer:
    """Return the answer to a stop, once its verdict is known."""
    card = state.cards[-1]
    if state.has_ended:
        said = (ending_notice(state, level), held_notice(card))
        return HostAnswer(notice="\n".join(filter(None, said)))
    if card.phase is Phase.PAUSED:
        return HostAnswer(notice=waiting_for(card))
    return HostAnswer(is_refused=True, text=rejection(card))


def _refused(found: str, why: str) -> HostAnswer:
    return HostAnswer(is_refused=True, text="\n".join(filter(None, (found, why))))


def _stays(event: HostEvent) -> bool:
    """Return whether a command goes on while the next ones run."""
    ends = [text.rstrip().endswith("&") for text in texts_in(event.args, COMMAND_FIELDS)]
    return event.args.get("run_in_background") is True or any(ends)


class HostedRun(WatchedRun):
    """Handles a host's hook events on one run."""

    async def before(self, event: HostEvent) -> HostAnswer:
        """Decide whether a call may be made; if so, snapshot the tree before it."""
        if pending_verdict(self.state):
            if is_waiting(event):
                return GO_ON
            return _refused("", under_way())
        await self._pass_question(event)
        plain = is_plain(event, self._rules)
        found = "" if plain else await self.check_changes()
        call = call_of(
            event,
            self._rules,
            self._context.redactor,
            lambda: self._call_context(event.call),
            self._stance(event),
        )
        if why := self._closed(call):
            return _refused(found, why)
        if rule := self._rule(event, call, "deny"):
            return _refused(found, f"The person's own settings forbid this: `{rule}`.")
        await self._use_up(call)
        # Ids are the host's, and some models repeat them: an allowed call under the same id says
        # nothing about this one.
        before = self.pending_call(call.id)
        await self._reply((call,), Finish.TOOL_CALLS)
        if self.card.asks_about(call.digest) and await self._has_ordered(event, call):
            await self.answered(event)
            await self._reply((call,), Finish.TOOL_CALLS)
        elif self.card.asks_about(call.digest) and has_own_question(event):
            # The host asks the question, and makes the call if the person approves.
            question = self.card.question
            assert question is not None
            await self._append(
                Answered(question=question.id, granted=True, by=f"{event.host}: question")
            )
            await self._reply((call,), Finish.TOOL_CALLS)
            return self._let(event, call, found, asks=question.text)
        if self.pending_call(call.id) > before:
            return self._let(event, call, found)
        judged = [each for each in self.card.judged if each.call == call.id]
        return _refused(found, refusal(self.card, call.id, judged[-1].code if judged else ""))

    async def _has_ordered(self, event: HostEvent, call: Call) -> bool:
        """Return whether the person's prompt orders exactly this push.

        A sub-agent and a session inside another have their prompt from a model.
        """
        asked = call.command.asks if call.command else ""
        if event.agent or not PLAIN_PUSH.fullmatch(asked) or not self._is_ordered(asked):
            return False
        started = (await self._engine.journal.events(self.state.run))[0].event
        return isinstance(started, RunStarted) and not started.shell.get(WITHIN)

    def _is_ordered(self, command: str) -> bool:
        """Return whether the prompt that began this run orders a command by its name."""
        return self.card.attempt == 1 and orders(self.state.request.rpartition(THEN)[2], command)

    async def _use_up(self, call: Call) -> None:
        """Remove an earlier, identical call that never returned, because an approval is for one
        call."""
        if call.destructive:
            same = [each.id for each in self.card.in_flight if each.digest == call.digest]
            await self._forget_calls(frozenset(same))

    def _let(self, event: HostEvent, call: Call, found: str, asks: str = "") -> HostAnswer:
        """Start a call: snapshot the tree before it, and confine a command with unclear effects."""
        is_read = call.access is Access.READ
        if not (is_read and is_plain(event, self._rules)):
            self._workspace.snapshot(self._key(self.pending_call(call.id)), self._present)
        how = call.command.confined if call.command else ""
        if rule := self._rule(event, call, "ask"):
            asks = asks or f"The person's own settings ask about this: `{rule}`."
        # What installs packages or reaches outside is allowed here, and the host asks as usual.
        is_set_up = call.command and call.command.effect == "writes" and not how
        is_safe = is_read and not call.destructive and not is_set_up
        stays = ALONE if how == READ_ONLY and _stays(event) else ""
        words = [found, stays, *(each.text for each in self.card.said if each.kind == "budget")]
        return HostAnswer(
            text=asks or "\n".join(filter(None, words)),
            notice=found,
            args=confined(event.args, how, self._rules.secrets) if how else None,
            is_granted=self._rules.answers_prompts and (is_safe or is_plain(event, self._rules)),
            asks=bool(asks),
        )

    def _rule(self, event: HostEvent, call: Call, kind: str) -> str:
        """Return the person's own rule that matches a command which is rewritten."""
        if call.command is None or not call.command.confined:
            return ""
        environ = {**self._context.environ, **environ_of(event.process)}
        places = HostPlaces(environ, self._workspace.project)
        return PersonRules(event, places).rule_for(kind, call.command.command)

    def _stance(self, event: HostEvent) -> Stance:
        root = self._workspace.project
        return Stance(
            builds=self.card.phase is Phase.EXECUTE,
            confines=lambda: can_rewrite(event) and not why_unconfined(root),
            is_bash=event.tool not in OTHER_SHELLS,
            host=event.process,
            is_clean=self._began_clean,
            commits=lambda: not event.agent and self._is_ordered("git commit"),
        )

    def _closed(self, call: Call) -> str:
        """Return why no call is allowed now: a person must answer, or only an answer is
        expected."""
        card = self.card
        if card.phase is Phase.PAUSED:
            return waiting_for(card)
        found = judge(self.state, card, call) if card.is_summing_up else None
        return found.reason if isinstance(found, Deny) else ""

    async def after(self, event: HostEvent) -> HostAnswer:
        """Record the result of a call; revert its changes where none are allowed."""
        call = next((each for each in self.card.in_flight if each.id == event.call), None)
        owed = self.pending_call(event.call)
        if call is None or not owed:
            found = await self.check_changes()
            return HostAnswer(text=found, notice=found) if found else GO_ON
        outcome = await self._outcome(event, call, owed)
        if isinstance(outcome, CallReturned):
            outcome = await self._without_others(outcome)
        await self._append(replace(outcome, effect=owed))
        card = self.card
        undone = [each.text for each in card.said if "that was undone" in each.text]
        words = governor_text(card.said)
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
        if is_read:
            shown = self._context.redactor.text(text)
            outcome = Outcome(ok=event.ok, text=shown, digest=digest(text), error=result.error)
            return CallReturned(card=card.id, call=call.id, outcome=outcome, tree=card.tree)
        context = self._call_context(call.id, self._key(owed), call)
        if not context.workspace.has_snapshot(context.key):
            # The process that began it died; the work continued since then.
            context.workspace.snapshot(context.key, TreeHash(card.tree))
        return await settle_foreign(context, call, result, self._others)

    async def stop(self, event: HostEvent) -> HostAnswer | None:
        """Decide whether the host may stop; None if Flyball's own verdict must be taken first."""
        if pending_verdict(self.state):
            return None
        await self._forget_calls()
        self.found = await self.check_changes()
        card = self.card
        if card.phase is Phase.PAUSED:
            return HostAnswer(notice=waiting_for(card))
        if not card.has_changed and may_build(self.state, card):
            # A conversation without a result: the next prompt continues from here.
            return HostAnswer(notice=held_notice(card) or unchanged_notice(self.state, event.text))
        await self._reply((), Finish.STOP, event.text.strip() or NO_WORDS)
        return await self._settled()

    async def judged(self, seen: EvidenceTaken) -> HostAnswer | None:
        """Return a stop's answer after a verdict; None if it leads to another stop."""
        if all(each.n != seen.effect for each in self.state.owed):
            # A person continued meanwhile, so no caller waits for it any more.
            return GO_ON
        _, changed = await self._changes()
        await self._append(replace(seen, changed=changed))
        return await self._settled()

    async def _settled(self) -> HostAnswer | None:
        await self._run_pending()
        while self.card.phase is Phase.FINAL and not self.state.has_ended:
            if pending_verdict(self.state):
                return None
            # The run is over and only its final message is requested, which is already known.
            await self._reply((), Finish.STOP, self.card.answer or NO_WORDS)
            await self._run_pending()
        return None if pending_verdict(self.state) else stopped(self.state, self._rules.level)

    async def message(self, event: HostEvent) -> HostAnswer:
        """Handle a person's message during unfinished work: add budget, and reset the guards."""
        await self._forget_calls()
        found = await self.check_changes()
        intent = self.state.intent
        await self._pass_question(event, RESTING)
        calls = LIMITS[intent] if intent else 0
        if calls:
            await self._append(Extended(by=event.host, calls=calls, why="the person went on"))
        text = self._context.redactor.text(event.text)
        # A verdict in progress concerns unfinished work, so its effect is cancelled here.
        moot = pending_verdict(self.state)
        await self._append(
            ThreadReset(
                card=self.card.id,
                reason="the person spoke",
                text=text,
                effect=moot.n if moot else 0,
            )
        )
        await self._run_pending()
        return HostAnswer(text=found, notice=found)

    async def _pass_question(self, event: HostEvent, more: Set[Asking] = frozenset()) -> None:
        """Skip a question about the work: it blocks no call, and the next stop asks it again.

        Questions of guards, and others that a person's message settles, are skipped when the person
        sends a message.
        """
        asked = self.card.question if self.card.phase is Phase.PAUSED else None
        if asked and asked.kind in (Asking.WEAKENED_TESTS, *more):
            await self._append(Resumed(by=event.host, tree=self._workspace.tree_hash()))

    async def answered(self, event: HostEvent) -> HostAnswer:
        """Record a person's approval in their own prompt: the pending call may be made once."""
        await self._pass_question(event, RESTING)
        question = self.card.question
        assert question is not None
        await self._append(Answered(question=question.id, granted=True, by=f"{event.host}: prompt"))
        return HostAnswer(text=governor_text(self.card.said))

    async def approved(self, event: HostEvent, call: Call) -> HostAnswer:
        """Record a person's approval of a call that an earlier run of the session was denied."""
        await self._reply((call,), Finish.TOOL_CALLS)
        return await self.answered(event) if self.card.asks_about(call.digest) else GO_ON

    async def go_on_from(self, point: Checkpoint) -> HostAnswer:
        """Take over the checkpoint of the previous run."""
        await self.state_checkpoint(point)
        return GO_ON

    async def cut_off(self) -> HostAnswer:
        """Return what unfinished calls have changed, for model and person.

        If none of them could write, the changes since then are the person's own.
        """
        calls = self.card.in_flight
        if not any(call.access is not Access.READ or call.command for call in calls):
            return GO_ON
        await self._forget_calls()
        return await self.seen()

    async def state_checkpoint(self, point: Checkpoint) -> None:
        """Record a checkpoint from the host's shell; the call that carries it gets the answer."""
        own = [call for call in self.card.in_flight if call.access is Access.CHECKPOINT]
        call = own[-1].id if own else ""
        effect = self.pending_call(call) if call else self.pending_thought()
        await self._append(replace(self._stated(point, call), effect=effect))
        await self._run_pending()

    async def state_conflict(self, form: ConflictForm) -> None:
        """Record a conflict from the host's shell; raise `Conflict` if it is refused."""
        own = [call for call in self.card.in_flight if call.tool == CONFLICT]
        call = own[-1].id if own else ""
        known = Surroundings(self.state.request, self.card.base, self.card.evidence)
        stated = await state_conflict(form, self._call_context(call or CONFLICT), known)
        effect = self.pending_call(call) if call else self.pending_thought()
        await self._append(replace(stated, call=call, effect=effect))
        if self.card.question is None or self.card.question.conflict != stated.report:
            raise Conflict(stated.fault or governor_text(self.card.said), "Nobody was asked.")

    async def decided(self, event: HostEvent) -> HostAnswer:
        """Record the decision about a conflict in a person's prompt; a question does not decide
        it."""
        question = self.card.question
        assert question is not None, "only a card that asks is decided"
        assert question.conflict is not None, "only a conflict is decided"
        text = self._context.redactor.text(event.text).strip()
        choice = read_choice(question.conflict, text)
        if choice is None and text.endswith("?"):
            return HostAnswer(text=waiting_for(self.card))
        await self._forget_calls()
        await self._append(
            Answered(
                question=question.id,
                granted=True,
                by=f"{event.host}: prompt",
                note="" if choice else text,
                choice=choice or Choice.TASK,
            )
        )
        return HostAnswer(text=governor_text(self.card.said))

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

    async def note(self, text: str) -> HostAnswer:
        """Add a note to the run's log."""
        await self._append(Noted(card=self.card.id, text=text))
        return GO_ON

    async def noted(self, text: str) -> HostAnswer:
        """Add a note that can wait while a verdict is taken."""
        return GO_ON if pending_verdict(self.state) else await self.note(text)

    async def greeted(self) -> HostAnswer:
        """Return the message for a model when its work begins."""
        return HostAnswer(text=greeting(self.state, self.card, self._rules.level))

    async def handed_over(self) -> HostAnswer:
        """Return goal, plan, finished and open work, for a model whose context was compacted."""
        return HostAnswer(text=hand_over(self.state, self.card))
