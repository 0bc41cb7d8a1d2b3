"""The state of a run, described for an agent in another program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from flyball.app.answering import Pending, next_steps, pending
from flyball.drivers.protocol import Request
from flyball.engine.telemetry import Telemetry, phase_words
from flyball.plan.template import CHECKLIST, EvidenceSchema
from flyball.regex import regex
from flyball.run.effect import Think
from flyball.run.ending import ending_of, status_of
from flyball.run.state import CardState, RunState
from flyball.run.thread import STANDING, Speaker, ThreadLine, status_line
from flyball.verdict.words import verdict_lines

STEP_TOOLS = ("read", "grep", "edit_diff", "test", "checkpoint")
"""The tools that are offered to clients."""
_WRITERS = regex(r"`edit_diff`(?:, `write_file`)? or `\w+_file`|`write_file` or `edit_diff`")
"""Names of writing tools in our own texts; only one of them is offered."""
FOR_NEW_FILES = "; `write_file` is for new files"
ENDED = "The run has ended."
WAITS = "A person must decide; `request_approval` asks them."


@dataclass(frozen=True, kw_only=True)
class OwedEvidence:
    """The form of a step: its values are claims, and those that can be checked are checked."""

    required: dict[str, str]
    optional: dict[str, str]
    checklist: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class GateView:
    """A condition that Flyball checks before the step is done."""

    type: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ObservedView:
    """Something that Flyball observed."""

    card: str
    kind: str
    passing: bool
    strength: str


@dataclass(frozen=True, kw_only=True)
class QuestionView:
    """A question that only a person can answer, and what they can type."""

    id: str
    kind: str
    text: str
    call: dict[str, Any]
    commands: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class StandingView:
    """A short view of a run's state."""

    run: str
    status: str
    ending: str
    card: str
    role: str
    phase: str
    missing: str
    calls_used: int
    calls_limit: int
    calls_left: int
    question: QuestionView | None


@dataclass(frozen=True, kw_only=True)
class StepView(StandingView):
    """The pending step, with everything needed to do it."""

    goal: str
    intent: str
    title: str
    label: str
    instructions: str
    tools: list[str]
    evidence: OwedEvidence
    gates: list[GateView]
    answer: str
    verdict: list[str]


@dataclass(frozen=True, kw_only=True)
class TurnView(StandingView):
    """The result of a call or submission, and the state of the run after it."""

    call: str
    ok: bool
    code: str
    text: str
    words: list[str]
    """Flyball's message: why something was sent back, or a hint."""
    observed: list[ObservedView]
    verdict: list[str]
    """Flyball's own verdict on the change, if this turn took one."""


class Asked(NamedTuple):
    """A pending request to a driver: the card and the input."""

    number: int
    effect: Think
    request: Request


def in_served_tools(text: str) -> str:
    """Return our text for a driver, naming only tools that a client has."""
    return _WRITERS.sub("`edit_diff`", text.replace(FOR_NEW_FILES, ""))


def standing_view(state: RunState, asked: Asked | None) -> StandingView:
    """Return a run's state; `asked` is the pending request to its driver, if any."""
    card = card_at_work(state, asked)
    limit, used = state.budget.limit, state.spend.calls
    waiting, ending = pending(state), ending_of(state)
    phase = phase_words(card)["phase"] if card else ""
    if state.has_ended:
        missing = ENDED
    elif waiting:
        missing = WAITS
    else:
        missing = in_served_tools(status_line(state, card, asked.effect)) if asked and card else ""
    return StandingView(
        run=state.run,
        status=status_of(state),
        ending=ending or "",
        card=card.id if card else "",
        role=asked.effect.role if asked else "",
        phase=ending.value if state.has_ended and ending else phase,
        missing=missing,
        calls_used=used,
        calls_limit=limit,
        calls_left=max(limit - used, 0),
        question=question_view(state, waiting[0]) if waiting else None,
    )


def step_view(state: RunState, asked: Asked | None) -> StepView:
    """Return the pending step: the card, its phase, what is allowed and what must be shown."""
    card = card_at_work(state, asked)
    own = card is not None and asked is not None and asked.effect.role == card.template.role
    schema = card.template.evidence_schema if card and own else EvidenceSchema()
    response = state.response
    return StepView(
        **vars(standing_view(state, asked)),
        goal=state.request,
        intent=state.intent.value if state.intent else "",
        title=card.title if card else "",
        label=phase_words(card)["label"] if card else "",
        instructions=_instructions(asked.request) if asked else "",
        tools=_tools(state, asked),
        evidence=_form(schema),
        gates=_gates(card) if card else [],
        answer=response.message if response else "",
        verdict=list(verdict_lines(card.verdict)) if card and card.verdict else [],
    )


def turn_view(
    state: RunState,
    asked: Asked | None,
    call: str,
    lines: Sequence[ThreadLine],
    told: Sequence[Telemetry],
) -> TurnView:
    """Return the result of a turn: the new lines of its thread, and the run's messages."""
    answers = [line for line in lines if line.speaker is Speaker.TOOL and line.call == call]
    judged = [line for line in told if line["type"] == "decision" and line["call"] == call]
    heard = [line.text for line in lines if line.speaker is Speaker.GOVERNOR and _is_word(line)]
    words = [line for line in told if line["type"] == "governor"]
    is_refused = any(line["kind"] == "rejection" for line in words)
    return TurnView(
        **vars(standing_view(state, asked)),
        call=call,
        ok=bool(answers) and all(line.ok for line in answers) if call else not is_refused,
        code=judged[-1]["code"] if judged else "",
        text="\n".join(line.text for line in answers),
        words=[
            in_served_tools(text)
            for text in dict.fromkeys([*heard, *(line["text"] for line in words)])
        ],
        observed=[_observed(line) for line in told if line["type"] == "evidence"],
        verdict=[text for card in state.cards for text in _verdict(card, told)],
    )


def _observed(line: Telemetry) -> ObservedView:
    names = ("card", "kind", "passing", "strength")
    return ObservedView(**{name: line[name] for name in names})


def _verdict(card: CardState, told: Sequence[Telemetry]) -> Iterator[str]:
    """Yield the verdict on a card, if it is new."""
    is_new = any(line.get("kind") == "verdict-report" and line["card"] == card.id for line in told)
    if is_new and card.verdict is not None:
        yield from verdict_lines(card.verdict)


def question_view(state: RunState, waiting: Pending) -> QuestionView:
    """Return a question as shown to the person who answers it."""
    question = waiting.question
    call = question.call
    return QuestionView(
        id=question.id,
        kind=question.kind.value,
        text=question.text,
        call={"tool": call.tool, "args": call.args} if call else {},
        commands={
            step.command: step.effect
            for step in next_steps(state, status_of(state), is_hosted=True)
        },
    )


def card_at_work(state: RunState, asked: Asked | None) -> CardState | None:
    """Return the card whose driver is asked, else the one that waits, else the last one."""
    if asked:
        return state.card(asked.effect.card)
    if waiting := pending(state):
        return waiting[0].card
    return state.cards[-1] if state.cards else None


def _instructions(request: Request) -> str:
    """Return the start of the thread, and the messages in it that are not the driver's own."""
    lines = [line for line in request.lines if line.speaker is Speaker.GOVERNOR and _is_word(line)]
    parts = [request.opening, *dict.fromkeys(line.text for line in lines)]
    return in_served_tools("\n\n".join(parts))


def _is_word(line: ThreadLine) -> bool:
    """Return whether a line is more than the card's old status, which is shown separately."""
    return line.kind != STANDING


def _tools(state: RunState, asked: Asked | None) -> list[str]:
    if asked is None:
        return [] if state.has_ended else ["request_approval"]
    now = {spec.name for spec in asked.request.offered}
    return [*(name for name in STEP_TOOLS if name in now), "submit_evidence"]


def _form(schema: EvidenceSchema) -> OwedEvidence:
    return OwedEvidence(
        required={name: schema.kind(name).expected for name in schema.required},
        optional={name: schema.kind(name).expected for name in schema.optional},
        checklist={f"{CHECKLIST}.{k}": text for k, text in schema.criteria_checklist.items()},
    )


def _gates(card: CardState) -> list[GateView]:
    return [
        GateView(type=use.type, description=use.description, parameters=dict(use.parameters))
        for use in card.template.gates
    ]
