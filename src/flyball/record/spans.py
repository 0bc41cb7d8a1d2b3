"""Export a run's log as OpenTelemetry spans, following the conventions for generative AI.

A run is a workflow, a card an agent in it; below a card are the requests to its model, its tool
calls and Flyball's own inspections. Names, counts, times and outcomes are exported, but no messages
and no file contents. The same log always gives the same spans with the same ids: a run driven by
several processes is one trace.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from flyball.plan.message import Status
from flyball.run.ending import ending_of_card
from flyball.run.event import (
    AnyEvent,
    Appealed,
    CallInterrupted,
    CallReturned,
    CardEvent,
    CheckpointStated,
    ConflictStated,
    DriverFailed,
    DriverReplied,
    EvidenceTaken,
    Finish,
    Noted,
    RunStarted,
)
from flyball.run.machine import advance
from flyball.run.state import CardState, Ending, RunState
from flyball.terms.budget import Usage
from flyball.terms.call import INTERRUPTED
from flyball.terms.change_verdict import ChangeVerdict
from flyball.terms.evidence import AnyEvidence, VerdictReport, VisualReport

Value = str | int | float | tuple[str, ...]
Attributes = dict[str, Value]

OWN = "flyball"
"""The workflow's name, and the provider of a driver that is not a model."""
PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "google-gla": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "grok": "x_ai",
    "mistral": "mistral_ai",
    "moonshotai": "moonshot_ai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "xai": "x_ai",
}
"""Providers that the conventions know by another name."""
NO_REPLY = "driver"
"""The error type of a driver that failed; its message is not exported."""


class TraceSpan(msgspec.Struct, frozen=True, kw_only=True):
    """An operation that took time; ids are in hexadecimal, times in nanoseconds since 1970."""

    trace: str
    id: str
    parent: str = ""
    name: str
    start: int
    end: int
    attributes: Attributes
    is_request: bool = False
    """Whether something outside was asked."""

    @property
    def is_error(self) -> bool:
        return "error.type" in self.attributes


class _Action(NamedTuple):
    """An operation of a card: its permanent id, its time, and its attributes."""

    key: str
    card: CardState
    start: float
    end: float
    about: Attributes


def spans_of(events: Iterable[AnyEvent]) -> Iterator[TraceSpan]:
    """Yield the spans of a whole log; unfinished ones end with it."""
    state, told = RunState(), SpanBuilder()
    for event in events:
        after = advance(state, event).state
        yield from told.take(state, event, after)
        state = after
    if not state.has_ended:
        yield from told.open_spans(state)


class SpanBuilder:
    """Yields the spans that each event ends, while a log is folded from its start."""

    def __init__(self) -> None:
        self._trace = ""
        self._driver = ""
        self._began = 0.0
        self._since: dict[str, float] = {}
        """When each card that has not ended began."""

    def take(self, before: RunState, event: AnyEvent, after: RunState) -> Iterator[TraceSpan]:
        """Yield the spans that end with an event, inner spans first."""
        if isinstance(event, RunStarted):
            self._trace = _digest(event.run, str(event.at))[:32]
            self._driver = event.shell.get("driver", "").removeprefix("model:")
            self._began = event.at
        if isinstance(event, CardEvent) and (card := before.card(event.card)) is not None:
            yield from self._actions(before, card, event, after.seq)
        for card in after.cards:
            was = before.card(card.id)
            if card is was:
                continue
            if was is None:
                self._since[card.id] = event.at
            yield from self._denials(card, event.at, after)
            if not card.is_live and card.id in self._since:
                yield self._card_span(card, after)
        if after.has_ended and not before.has_ended:
            yield from self.open_spans(after)

    def open_spans(self, state: RunState) -> Iterator[TraceSpan]:
        """Yield the cards that have not ended, and the run itself, as if they ended now."""
        for card in state.cards:
            if card.id in self._since:
                yield self._card_span(card, state)
        yield self._run_span(state)

    def _run_span(self, state: RunState) -> TraceSpan:
        status = state.response.status if state.response else None
        told: Attributes = {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": OWN,
            "gen_ai.conversation.id": state.run,
            "flyball.run.status": status.value if status else "open",
            "flyball.run.cards": len(state.cards),
            "flyball.run.calls": state.spend.calls,
            "flyball.run.denied": state.spend.blocked,
            "flyball.run.budget": state.budget.limit,
            "flyball.run.cost_usd": state.spend.money,
        }
        if state.intent is not None:
            told["flyball.run.intent"] = state.intent.value
        told |= _verdict(state.verdict_on(state.tree))
        if status is Status.FAILED:
            told["error.type"] = status.value
        name = f"invoke_workflow {OWN}"
        return self._span("run", "", name, self._began, state.at, told)

    def _card_span(self, card: CardState, state: RunState) -> TraceSpan:
        role = str(card.template.role)
        told: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": _provider(self._driver),
            "gen_ai.agent.name": role,
            "gen_ai.conversation.id": state.run,
            "flyball.card": card.id,
            "flyball.card.template": card.template.step_id,
            "flyball.card.phase": card.phase.name_for_people,
            "flyball.card.attempts": card.attempt,
            "flyball.card.turns": card.turns,
            "flyball.card.calls": card.calls,
        }
        if (ending := ending_of_card(card)) is not None:
            told["flyball.card.ending"] = ending.value
        if card.commit:
            told["flyball.card.commit"] = card.commit
        if card.has_changed:
            told |= {"flyball.proof": card.strength.label} | _verdict(card.verdict)
        if ending is Ending.FAILED:
            told["error.type"] = ending.value
        since = self._since.pop(card.id)
        return self._span(_key(card), "run", f"invoke_agent {role}", since, state.at, told)

    def _actions(
        self, before: RunState, card: CardState, event: CardEvent, seq: int
    ) -> Iterator[TraceSpan]:
        """Yield the operations of a card that end with this event."""
        action = _Action(str(seq), card, card.at or event.at, event.at, _about(before, card))
        match event:
            # A host does not say what it asked its model, only which calls that wants.
            case DriverReplied() if not before.policy.hosted:
                more: Attributes = {"gen_ai.response.finish_reasons": (event.finish.value,)}
                if event.finish is Finish.ERROR:
                    more["error.type"] = NO_REPLY
                yield self._chat(action, event.model, event.usage, more)
            case DriverFailed():
                yield self._chat(action, "", Usage(), {"error.type": NO_REPLY})
            case CallReturned():
                action = action._replace(start=event.at - event.outcome.elapsed)
                yield from self._call(action, event.call, "" if event.outcome.ok else "failed")
                yield from self._pictures(action, event.evidence)
            case CallInterrupted():
                # Nobody knows when it began.
                yield from self._call(action._replace(start=event.at), event.call, INTERRUPTED)
            case CheckpointStated() | Noted() | Appealed() | ConflictStated():
                yield from self._call(action._replace(start=event.at), event.call)
            case EvidenceTaken():
                yield from self._pictures(action, event.evidence)
                taken = [e.verdict for e in event.evidence if isinstance(e, VerdictReport)]
                yield self._action_span(action, "verify", _verdict(taken[-1] if taken else None))
            case _:
                return

    def _chat(self, action: _Action, model: str, usage: Usage, more: Attributes) -> TraceSpan:
        """Return a request to a model; the journal names only the model that answered."""
        name = model.partition(":")[2] or model
        told: Attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _provider(model or self._driver),
        }
        if name:
            told |= {"gen_ai.request.model": name, "gen_ai.response.model": name}
        if usage != Usage():
            told |= {
                "gen_ai.usage.input_tokens": usage.input_tokens,
                "gen_ai.usage.output_tokens": usage.output_tokens,
                "gen_ai.usage.cache_read.input_tokens": usage.cached_tokens,
                "flyball.cost_usd": usage.money,
            }
        return self._action_span(action, f"chat {name}".strip(), told | more, is_request=True)

    def _pictures(self, action: _Action, evidence: Sequence[AnyEvidence]) -> Iterator[TraceSpan]:
        """Yield the requests to a model that judged pictures during an inspection."""
        for n, item in enumerate(evidence):
            if isinstance(item, VisualReport) and item.usage != Usage():
                asked = action._replace(key=f"{action.key} {n}")
                yield self._chat(asked, item.judged_by, item.usage, {})

    def _call(self, action: _Action, call: str, error: str = "") -> Iterator[TraceSpan]:
        for made in action.card.in_flight:
            if made.id == call:
                yield self._tool(action, made.name, call, error)

    def _denials(self, card: CardState, at: float, after: RunState) -> Iterator[TraceSpan]:
        """Yield calls that were denied: they took no time, and were never performed."""
        about: Attributes = {**_about(after, card), "flyball.decision": "deny"}
        for n, judged in enumerate(card.judged):
            if judged.answer == "deny":
                action = _Action(f"{after.seq} {card.id} {n}", card, at, at, about)
                yield self._tool(action, judged.tool, judged.call, judged.code)

    def _tool(self, action: _Action, tool: str, call: str, error: str) -> TraceSpan:
        told: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gen_ai.tool.call.id": call,
            "gen_ai.tool.type": "function",
        }
        if error:
            told["error.type"] = error
        return self._action_span(action, f"execute_tool {tool}", told)

    def _action_span(
        self, action: _Action, name: str, told: Attributes, *, is_request: bool = False
    ) -> TraceSpan:
        made = self._span(
            action.key, _key(action.card), name, action.start, action.end, {**action.about, **told}
        )
        return replace(made, is_request=is_request)

    def _span(
        self,
        key: str,
        parent: str,
        name: str,
        start: float,
        end: float,
        told: Attributes,
    ) -> TraceSpan:
        return TraceSpan(
            trace=self._trace,
            id=_digest(self._trace, key)[:16],
            parent=_digest(self._trace, parent)[:16] if parent else "",
            name=name,
            start=round(start * 1e9),
            end=round(end * 1e9),
            attributes=told,
        )


def _verdict(verdict: ChangeVerdict | None) -> Attributes:
    if verdict is None:
        return {}
    return {"flyball.verdict": verdict.status.value, "flyball.proof": verdict.strength.label}


def _about(state: RunState, card: CardState) -> Attributes:
    return {
        "gen_ai.conversation.id": state.run,
        "gen_ai.agent.name": str(card.role),
        "flyball.card": card.id,
        "flyball.phase": card.phase.name_for_people,
    }


def _key(card: CardState) -> str:
    return f"card {card.id}"


def _digest(*words: str) -> str:
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def _provider(model: str) -> str:
    """Return the provider in `provider:model`; without a prefix it is Flyball's own."""
    family, sep, _ = model.partition(":")
    is_own = not sep or family in ("scripted", "relay", "own", "host")
    return OWN if is_own else PROVIDERS.get(family, family)


INTERNAL, CLIENT = 1, 3
ERROR = 2


def otlp(spans: Iterable[TraceSpan], resource: Mapping[str, Value], version: str) -> dict[str, Any]:
    """Return the spans in the JSON format of OTLP, with the name of their sender."""
    scope = {"name": OWN, "version": version}
    told = {"scope": scope, "spans": [_otlp_span(span) for span in spans]}
    return {
        "resourceSpans": [
            {"resource": {"attributes": _otlp_attributes(resource)}, "scopeSpans": [told]}
        ]
    }


def _otlp_span(span: TraceSpan) -> dict[str, Any]:
    return {
        "traceId": span.trace,
        "spanId": span.id,
        **({"parentSpanId": span.parent} if span.parent else {}),
        "name": span.name,
        "kind": CLIENT if span.is_request else INTERNAL,
        # 64 bits are strings there: most readers of JSON would round them.
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": _otlp_attributes(span.attributes),
        "status": {"code": ERROR} if span.is_error else {},
    }


def _otlp_attributes(attributes: Mapping[str, Value]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _otlp_value(value)} for key, value in attributes.items()]


def _otlp_value(value: Value) -> dict[str, Any]:
    match value:
        case str():
            return {"stringValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case _:
            return {"arrayValue": {"values": [{"stringValue": each} for each in value]}}
