"""Perform one effect and report its result as one event."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import cached_property, partial

import msgspec
from msgspec.structs import replace

from flyball.drivers.prompt import text_of
from flyball.drivers.protocol import Driver, Reply, Request
from flyball.engine.look.inspection import inspect
from flyball.engine.perform import perform_call, redact_evidence
from flyball.engine.prompt.injections import Maps, injections
from flyball.engine.prompt.request import CHARS_PER_TOKEN, build_request, specs_of
from flyball.engine.run_context import RunContext, card_of_effect, paths_seen
from flyball.engine.short_effects import ShortEffects
from flyball.errors import DriverError, IllegalEvent
from flyball.intent.classifier import classify
from flyball.journal.protocol import Intention, Journal
from flyball.plan.template import Role
from flyball.run.decision import ROLE_TOOLS, may_replace_untracked
from flyball.run.effect import Classify, Inspect, Owed, Perform, Think
from flyball.run.event import (
    AnyEvent,
    Appealed,
    CallReturned,
    CheckpointStated,
    DriverFailed,
    DriverReplied,
    EvidenceTaken,
    Finish,
    IntentRead,
    Noted,
    Resumed,
)
from flyball.run.state import CardState, RunState
from flyball.run.thread import SpokenCall, cut_middle, is_verified
from flyball.terms.call import Access, Call, WebLook
from flyball.terms.intent import CONFIDENCE_THRESHOLD, LIMITS, Intent, Reading, Turn
from flyball.terms.phase import Phase
from flyball.terms.tool import is_reachable
from flyball.tools.call.inline_calls import (
    SIGNS,
    UnpackedReply,
    calls_at_the_end,
    emitted_plan,
    fenced_diffs,
    unpacked,
    without_ends,
)
from flyball.tools.call.prepare import prepare, read_form
from flyball.tools.call.protocol import CallContext, Form, Tool
from flyball.tools.checkpoint import AppealForm, CheckpointForm, NoteForm
from flyball.tools.conflict import ConflictForm, Surroundings, state_conflict
from flyball.tools.delete_file import DeleteForm
from flyball.tools.edit_diff import EditForm, foresee
from flyball.tools.toolbox import TOOLS
from flyball.tools.write_file import WriteForm
from flyball.workspace.redaction import Redactor

BY_NAME: dict[str, Tool] = {tool.name: tool for tool in TOOLS}
SPECS = specs_of(TOOLS)


class EffectPerformer:
    """Performs the effects of one run with a driver, a workspace and the tools."""

    def __init__(
        self,
        journal: Journal,
        driver: Driver,
        context: RunContext,
        *,
        history: tuple[Turn, ...] = (),
        on_text: Callable[[str, str], None],
        reader: Driver | None = None,
    ) -> None:
        self._journal = journal
        self._driver = driver
        self.context = context
        self._history = history
        self._on_text = on_text
        self._reader = reader
        self._forms: dict[str, dict[str, tuple[str, Form]]] = {}
        """Card → call → digest and form, for the calls of each card's latest reply."""

    @cached_property
    def _maps(self) -> Maps:
        return Maps()

    @cached_property
    def _short(self) -> ShortEffects:
        return ShortEffects(self._journal, self.context)

    def look(self, state: RunState, by: str) -> Resumed:
        """Return an event that resumes the run, with the trees as they are now."""
        beside = [card for card in state.paused if card.place]
        return Resumed(
            by=by,
            tree=self.context.workspace.tree_hash(),
            places={card.place: self.context.at(card).workspace.tree_hash() for card in beside},
        )

    async def perform(self, state: RunState, owed: Owed, intention: Intention) -> AnyEvent:
        """Return the one event that answers an effect; errors become events too."""
        match owed.effect:
            case Classify():
                return await read_intent(state, self._history, self._reader)
            case Think() as effect:
                return await self._think(state, owed.n, effect)
            case Perform() as effect:
                return await self._call(state, effect, intention)
            case Inspect() as effect:
                card = card_of_effect(state, effect.card)
                context = self.context.at(card)
                seen = await inspect(context, state, card, effect, intention.key)
                evidence = redact_evidence(seen.evidence, self.context.redactor)
                return EvidenceTaken(card=card.id, evidence=evidence, undone=seen.undone)
            case _:
                return await self._short.perform(state, owed, intention)

    async def request(self, state: RunState, number: int, effect: Think) -> Request:
        """Return the request to the driver for an effect, without sending it."""
        card = card_of_effect(state, effect.card)
        context = self.context.at(card)
        lines = await self._journal.thread(state.run, card.id, card.attempt, effect.role)
        return build_request(
            state,
            card,
            effect,
            lines=lines,
            tools=SPECS,
            advice=context.advice(),
            injections=injections(state, card, context, self._maps),
            number=number,
            turns=await self._journal.replies(state.run, effect.role),
        )

    async def _think(self, state: RunState, number: int, effect: Think) -> AnyEvent:
        card = card_of_effect(state, effect.card)
        context = self.context.at(card)
        if effect.wait:
            await asyncio.sleep(effect.wait)
        request = await self.request(state, number, effect)
        try:
            reply = await self._driver.think(request, partial(self._on_text, card.id))
        except DriverError as error:
            text = self.context.redactor.text(str(error))
            return DriverFailed(card=card.id, error=text, retryable=error.retryable)
        self._forms[card.id] = {}
        offered = [tool.name for tool in request.tools] if request.now is None else request.now
        unpacked_reply = _unpack(state, card, effect, reply)
        ahead: dict[str, bytes | None] = {}
        calls = tuple(
            self._prepare(
                state,
                card,
                context,
                replace(named, id=named.id or f"c{number}-{n}"),
                offered,
                ahead,
            )
            for n, named in enumerate(unpacked_reply.calls, 1)
        )
        return DriverReplied(
            card=card.id,
            text=self.context.redactor.text(unpacked_reply.text),
            calls=calls,
            finish=Finish.STOP if reply.calls and not calls else reply.finish,
            usage=reply.usage,
            model=reply.model,
            looks=tuple(stored_lookup(look, self.context.redactor) for look in reply.looks),
            estimate=0 if reply.usage.input_tokens else _tokens_in(request),
        )

    def _prepare(
        self,
        state: RunState,
        card: CardState,
        context: RunContext,
        named: SpokenCall,
        offered: Sequence[str],
        ahead: dict[str, bytes | None],
    ) -> Call:
        # Facts are only looked up here, so the context may write nothing and needs no key.
        call_context = context.call_context(
            state, card, named.id, key="", phase=card.phase, access=Access.READ
        )
        call, form = prepare(named, BY_NAME, call_context, offered)
        if state.policy.preview and form is not None:
            # Nobody is asked about an edit that could not be made.
            call = _with_preview(call, form, call_context, ahead)
        if form is not None and not call.fault:
            self._forms[card.id][call.id] = call.digest, form
        return call

    def _form_of(self, card: str, call: Call, tool: Tool) -> Form:
        """Return the form that was parsed for the decision, or parse it again."""
        known, form = self._forms.get(card, {}).pop(call.id, ("", None))
        # A person may have answered since, or the driver used an id again: the digest tells.
        if form is not None and known == call.digest:
            return form
        again = read_form(call.args, tool)
        if isinstance(again, str):
            raise IllegalEvent(f"a call that cannot be read was allowed: {again}")
        return again

    async def _call(self, state: RunState, effect: Perform, intention: Intention) -> AnyEvent:
        """Perform a call; a driver's statement about its work becomes an event at once."""
        call, card = effect.call, card_of_effect(state, effect.card)
        tool = BY_NAME[call.tool]
        form = self._form_of(card.id, call, tool)
        match form:
            case CheckpointForm():
                fields = msgspec.structs.asdict(form)
                return CheckpointStated(card=card.id, call=call.id, **fields)
            case NoteForm():
                return Noted(
                    card=card.id,
                    call=call.id,
                    text=form.text,
                    risk=form.risk,
                    assumptions=form.listed_assumptions,
                )
            case AppealForm():
                return Appealed(card=card.id, call=call.id, about=form.about, reason=form.reason)
            case _:
                context = self.context.at(card)
                call_context = context.call_context(
                    state,
                    card,
                    call.id,
                    key=intention.key,
                    phase=effect.phase,
                    access=call.access,
                )
                if isinstance(form, ConflictForm):
                    known = Surroundings(state.request, card.base, card.evidence)
                    return await state_conflict(form, call_context, known)
                may_replace = partial(may_replace_untracked, state, card, call)
                call_context = call_context._replace(may_replace=may_replace)
                event = await perform_call(
                    call_context, call, tool, form, is_repeat=intention.is_repeat
                )
                if isinstance(event, CallReturned):
                    context.seen.setdefault(card.id, {}).update(paths_seen(call, event))
                return event


def stored_lookup(look: WebLook, redactor: Redactor) -> WebLook:
    """Return a web lookup in its stored form: first redacted, then cut, as a cut could halve a
    secret."""
    about = cut_middle(redactor.text(look.about), LONGEST_QUERY)
    return replace(look, about=about, text=cut_middle(redactor.text(look.text), LONGEST_LOOKUP))


LONGEST_QUERY = 500
LONGEST_LOOKUP = 4_000
"""Characters that are kept of what one look brought."""


def _unpack(state: RunState, card: CardState, effect: Think, reply: Reply) -> UnpackedReply:
    """Return the text and calls of a reply, in any notation.

    A plan or a diff in prose counts as a call only if the driver could make that call now: a
    planner's plan is its answer, and a diff after a verified change is part of a summary.
    """
    if reply.calls or effect.text_only or reply.finish is not Finish.STOP:
        return without_ends(reply.text, unpacked(reply.calls))
    if not any(sign in reply.text for sign in SIGNS):
        return UnpackedReply(reply.text, ())
    if (plan := emitted_plan(reply.text)) and _may_state(effect):
        return UnpackedReply(reply.text, plan)
    found = calls_at_the_end(reply.text)
    if found.calls or effect.phase is not Phase.EXECUTE:
        return found
    edit = fenced_diffs(reply.text)
    return found if edit and is_verified(state, card) else UnpackedReply(reply.text, edit)


def _may_state(effect: Think) -> bool:
    """Return whether the current driver may state a checkpoint now."""
    may_ever = Access.CHECKPOINT in ROLE_TOOLS[effect.role]
    return may_ever and is_reachable("checkpoint", Access.CHECKPOINT, effect.phase)


def _tokens_in(request: Request) -> int:
    """Estimate how many tokens a driver has to read, for drivers that do not report it."""
    thread = sum(
        len(line.text) + sum(len(str(c.args)) for c in line.calls) for line in request.lines
    )
    schemas = sum(len(tool.description) + len(str(tool.schema)) for tool in request.tools)
    return (len(request.system) + len(request.opening) + thread + schemas) // CHARS_PER_TOKEN


def _with_preview(
    call: Call, form: Form, context: CallContext, ahead: dict[str, bytes | None]
) -> Call:
    """Return the call with a preview of the files, or with the reason why it cannot be applied.

    The calls of one reply build on each other, so each is applied to the result of those before it.
    """
    match form:
        case EditForm():
            found = foresee(form, context, ahead)
            fault = context.redactor.text(found.fault)
            return replace(
                call,
                preview=context.redactor.text(found.diff),
                fault=f"Nothing was changed.\n{fault}" if fault else "",
            )
        case WriteForm():
            ahead[context.root.fact(form.path, write=True).path] = form.data
        case DeleteForm():
            ahead[context.root.fact(form.path, write=True).path] = None
        case _:
            pass
    return call


async def read_intent(
    state: RunState, history: tuple[Turn, ...], reader: Driver | None
) -> IntentRead:
    """Classify by rules; if they are unsure, ask the model, if there is one."""
    reading = classify(state.request, history)
    chosen = None
    if reading.confidence < CONFIDENCE_THRESHOLD and reader is not None:
        chosen = await _ask(state, reading, history, reader)
    intent = chosen or reading.intent
    return IntentRead(
        intent=intent,
        budget=LIMITS[intent],
        confidence=reading.confidence,
        reasons=reading.reasons,
        by="model" if chosen else "rules",
    )


async def _ask(
    state: RunState, reading: Reading, history: tuple[Turn, ...], reader: Driver
) -> Intent | None:
    """Return the model's choice among the rules' candidates; anything else does not count."""
    candidates = [reading.intent, *(each.intent for each in reading.alternatives)]
    thread = "\n".join(f"{turn.role}: {turn.text}" for turn in history)
    names = ", ".join(candidates)
    request = Request(
        run=state.run,
        card="intake",
        role=Role.PLANNER,
        phase=Phase.FINAL,
        system=text_of("intent"),
        opening=f"{thread}\nuser: {state.request}\n\nChoose one of: {names}".lstrip(),
    )
    try:
        reply = await reader.think(request, lambda _text: None)
    except DriverError:
        return None
    # Only what the rules thought possible: a model cannot talk a request into a larger budget.
    words = re.findall(r"[a-z_]+", reply.text.lower())
    return next((intent for intent in candidates if intent.value in words), None)
