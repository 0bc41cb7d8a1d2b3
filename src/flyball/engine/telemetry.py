"""Project telemetry for watchers from the events that move the run.

The objects are those of the event stream: every surface shows these and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from flyball.plan.coordinator import progress
from flyball.plan.message import AnyMessage, ExecutionPlan, UserResponse, VerificationReport
from flyball.plan.template import Escalation
from flyball.run.ending import ending_of, ending_of_card, status_of
from flyball.run.event import (
    Appealed,
    CallInterrupted,
    CallReturned,
    CardEvent,
    CheckpointStated,
    ConflictStated,
    DriverFailed,
    DriverReplied,
    Event,
    EvidenceTaken,
    Extended,
    Finish,
    IntentRead,
    Messaged,
    Noted,
    RolledBack,
    RunStarted,
    ThreadReset,
    WorkspaceFailed,
    WorkspaceReady,
)
from flyball.run.finishing import CHANGE_IT
from flyball.run.state import Asking, CardState, Ending, Question, RunState
from flyball.terms.budget import Usage
from flyball.terms.call import Call
from flyball.terms.evidence import Evidence, VerdictReport, VisualReport
from flyball.terms.evidence_rows import is_failing, strength
from flyball.verdict.words import verdict_lines

Telemetry = dict[str, Any]


def telemetry(before: RunState, event: Event, after: RunState) -> tuple[Telemetry, ...]:
    """Return everything a watcher receives about one event, in reading order."""
    lines = tuple(_lines(before, event, after))
    for line in lines:
        line["seq"] = after.seq
    return lines


def _lines(before: RunState, event: Event, after: RunState) -> Iterator[Telemetry]:
    if not isinstance(event, CardEvent):
        yield from _about_run(event)
    for card in after.cards:
        previous = before.card(card.id)
        if previous is card:
            continue
        if isinstance(event, CardEvent) and event.card == card.id:
            yield from _about_event(previous or card, event)
        yield from _about_card(previous, card)
    if after.spend.calls != before.spend.calls or after.budget != before.budget:
        yield {"type": "budget", "used": after.spend.calls, "limit": after.budget.limit}
    if isinstance(event, Messaged):
        yield from _about_message(event.message, after)
    if after.coordinator is not before.coordinator:
        yield from _about_results(before, after)
        yield from _about_course(before, after)
    for card in after.cards:
        if card.question is None:
            continue
        previous = before.card(card.id)
        if previous is None or previous.question != card.question:
            yield approval(card, card.question)
    if after.response is not None and before.response is None:
        yield final(after, after.response)


def resumed(state: RunState, driver: str) -> Telemetry:
    """Return the state of a resumed run, for a watcher that joins now."""
    at_work = [card for card in state.cards if card.is_live]
    return {
        "type": "resumed",
        "run": state.run,
        "request": state.request,
        "driver": driver,
        "planned": bool(state.coordinator and state.coordinator.planned),
        "used": state.spend.calls,
        "limit": state.budget.limit,
        "cards": [{"card": card.id, "title": card.title, **phase_words(card)} for card in at_work],
    }


def _about_course(before: RunState, after: RunState) -> Iterator[Telemetry]:
    """Yield the state of a planned run, each time it advances."""
    was, now = before.coordinator, after.coordinator
    if now is None or not now.planned or now.response is not None:
        return
    text = progress(now)
    # Not the text alone: a plan that failed like the one before it is told in the same words.
    if was is None or (was.iteration, was.stage, progress(was)) != (now.iteration, now.stage, text):
        yield {
            "type": "iteration",
            "iteration": now.iteration,
            "limit": now.max_iterations,
            "stage": now.stage.value,
            "text": text,
        }


def _about_message(message: AnyMessage, after: RunState) -> Iterator[Telemetry]:
    """Yield the plan of a planned run, and the findings of its verifier."""
    if after.coordinator is None or not after.coordinator.planned:
        return
    match message:
        case ExecutionPlan():
            steps = msgspec.to_builtins(message.steps)
            yield {"type": "plan", "goal": message.goal, "steps": steps}
        case VerificationReport():
            yield {
                "type": "report",
                "goal_achieved": message.goal_achieved,
                "issues": [str(issue) for issue in message.issues],
            }
        case _:
            return


def _about_run(event: Event) -> Iterator[Telemetry]:
    match event:
        case RunStarted():
            yield {
                "type": "run",
                "run": event.run,
                "request": event.request,
                "driver": event.shell.get("driver", ""),
            }
        case IntentRead():
            yield {
                "type": "intent",
                "intent": event.intent.value,
                "budget": event.budget,
                "confidence": event.confidence,
                "reasons": list(event.reasons),
                "by": event.by,
            }
        case WorkspaceReady():
            yield {
                "type": "workspace",
                "branch": event.branch,
                "sandbox": event.project.sandbox,
                "runners": list(event.project.runners),
                "carried": event.has_carried,
            }
        case RolledBack():
            yield {"type": "rollback", "cards": list(event.cards)}
        case WorkspaceFailed():
            yield {"type": "error", "code": "workspace", "message": event.error}
        case Extended():
            yield {
                "type": "extension",
                "by": event.by,
                "calls": event.calls,
                "why": event.why,
            }
        case _:
            return


def _about_reply(card: CardState, event: DriverReplied) -> Iterator[Telemetry]:
    """Yield the driver's text, its provider's web lookups, and the cost of the reply."""
    for look in event.looks:
        yield {
            "type": "call",
            "card": card.id,
            "call": look.id,
            "state": "returned",
            "tool": look.tool,
            "about": look.about,
            "ok": look.ok,
            "elapsed": 0.0,
            "bytes": look.bytes,
            "summary": look.text.strip().partition("\n")[0][:200],
            "snapshotId": "",
            "evidence": [],
        }
    if event.finish is Finish.ERROR:
        message = event.text or "the reply ended in an error"
        yield {"type": "error", "code": "driver", "card": card.id, "message": message}
    elif event.text:
        yield {"type": "text", "card": card.id, "role": card.role, "text": event.text}
    yield _usage(card, event.model, event.usage)


def _about_event(card: CardState, event: CardEvent) -> Iterator[Telemetry]:
    match event:
        case DriverReplied():
            yield from _about_reply(card, event)
        case DriverFailed():
            yield {"type": "error", "code": "driver", "card": card.id, "message": event.error}
        case CallReturned():
            yield from _about_outcome(card, event)
        case CallInterrupted():
            yield {**_returned(card, event.call, ok=False), "state": "interrupted"}
        case Appealed():
            yield _returned(card, event.call)
        case ConflictStated():
            if event.call:
                yield _returned(card, event.call, ok=event.report is not None)
        case CheckpointStated():
            if event.call:
                yield _returned(card, event.call)
            yield {
                "type": "checkpoint",
                "goal": event.goal,
                "findings": event.findings,
                "proposed_action": event.proposed_action,
                "files": list(event.files),
                "verify_with": list(event.verify_with),
                "card": card.id,
            }
        case EvidenceTaken():
            yield from _seen(card, event.evidence)
        case Noted():
            if event.call:
                yield _returned(card, event.call)
            yield {
                "type": "note",
                "card": card.id,
                "role": card.role,
                "text": event.text,
                "risk": event.risk,
                "assumptions": list(event.assumptions),
            }
        case ThreadReset():
            yield {"type": "thread", "card": card.id, "reason": event.reason}
        case _:
            return


def _returned(
    card: CardState,
    call: str,
    *,
    ok: bool = True,
    elapsed: float = 0.0,
    size: int = 0,
    summary: str = "",
    snapshot: str = "",
    evidence: Sequence[Evidence] = (),
) -> Telemetry:
    made = next((each for each in card.in_flight if each.id == call), None)
    return {
        "type": "call",
        "card": card.id,
        "call": call,
        "state": "returned",
        "tool": made.tool if made else "",
        "about": about_call(made) if made else "",
        "ok": ok,
        "elapsed": elapsed,
        "bytes": size,
        "summary": summary,
        "snapshotId": snapshot,
        "evidence": [each.id for each in evidence],
    }


def _about_outcome(card: CardState, event: CallReturned) -> Iterator[Telemetry]:
    outcome = event.outcome
    # What went wrong says more than how the answer begins; a lone word there is an error's code.
    is_told = not outcome.ok and " " in outcome.error
    summary = (outcome.error if is_told else outcome.text).strip().partition("\n")[0][:200]
    yield _returned(
        card,
        event.call,
        ok=outcome.ok,
        elapsed=outcome.elapsed,
        size=outcome.bytes,
        summary=summary,
        snapshot=str(outcome.data.get("snapshotId", "")),
        evidence=event.evidence,
    )
    if patch := outcome.data.get("patch"):
        yield {"type": "patch", "card": card.id, "event": outcome.data.get("event"), "patch": patch}
    yield from _seen(card, event.evidence)
    if undone := [*event.undone, *event.put_back]:
        yield {"type": "undone", "card": card.id, "paths": undone}


def _seen(card: CardState, evidence: Sequence[Evidence]) -> Iterator[Telemetry]:
    """Yield the observations, and the cost of a model that was asked about one."""
    for item in evidence:
        yield _evidence(card, item)
        if isinstance(item, VisualReport) and item.usage != Usage():
            yield _usage(card, item.judged_by, item.usage)


def _usage(card: CardState, model: str, usage: Usage) -> Telemetry:
    return {
        "type": "usage",
        "card": card.id,
        "model": model,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "money": usage.money,
    }


def _evidence(card: CardState, item: Evidence) -> Telemetry:
    body: Telemetry = msgspec.to_builtins(item)
    kind = body.pop("type")
    return {
        "type": "evidence",
        "card": card.id,
        "kind": kind,
        "passing": not (is_failing(item) or _is_blocked(item)),
        "strength": strength(item).name.lower(),
        "evidence": body,
    }


def _is_blocked(item: Evidence) -> bool:
    return isinstance(item, VerdictReport) and bool(item.verdict.blocking)


def _about_card(previous: CardState | None, card: CardState) -> Iterator[Telemetry]:
    if previous is None:
        yield {"type": "card", "card": card.id, "title": card.title, "status": card.status}
    if previous is None or previous.phase is not card.phase:
        yield from _about_phase(previous, card)
    for judged in card.judged:
        yield {
            "type": "decision",
            "card": card.id,
            "call": judged.call,
            "tool": judged.tool,
            "decision": judged.answer,
            "code": judged.code,
            "reason": judged.reason,
        }
    yield from _about_setback(previous, card)
    known = previous.in_flight if previous else ()
    for call in card.in_flight:
        if call not in known:
            yield {
                "type": "call",
                "card": card.id,
                "call": call.id,
                "state": "started",
                "tool": call.tool,
                "about": about_call(call),
            }
    for trip in card.tripped:
        yield {"type": "guard", "card": card.id, "guard": trip.guard, "level": trip.level.value,
               "reason": trip.reason}  # fmt: skip
    for message in card.said:
        if message.kind in ("rejection", "guidance"):
            # How to change files is said to the driver only: people have no such tools.
            text = message.text.replace(CHANGE_IT, "").strip()
            yield {"type": "governor", "card": card.id, "kind": message.kind, "text": text}


def _about_setback(previous: CardState | None, card: CardState) -> Iterator[Telemetry]:
    """Yield what follows a card's failure: every policy, including a retry."""
    if previous is None:
        return
    has_ended = card.escalation is not None and previous.escalation is not card.escalation
    if not has_ended and card.failures_in_row == previous.failures_in_row:
        return
    is_asked = card.question is not None and card.question.kind is Asking.FAILURE
    choice = Escalation.PAUSE_FOR_HUMAN if is_asked else Escalation.RETRY
    reasons = [message.text for message in card.said if message.kind == "rejection"]
    yield {
        "type": "escalation",
        "card": card.id,
        "escalation": (card.escalation or choice).value,
        "reason": card.ending_reason or "\n".join(reasons),
    }


def _about_results(before: RunState, after: RunState) -> Iterator[Telemetry]:
    """Yield what the end of a step calls for, unless one of its cards has already said so."""
    known = before.coordinator.results if before.coordinator else ()
    for result in after.coordinator.results if after.coordinator else ():
        own = [card for card in after.cards if card.step == result.step_id]
        is_told = any(card.escalation is result.escalation for card in own)
        if result.escalation is not None and result not in known and own and not is_told:
            yield {
                "type": "escalation",
                "card": own[-1].id,
                "escalation": result.escalation.value,
                "reason": result.summary,
            }


def about_call(call: Call) -> str:
    """Describe what a call is about: its command, or the paths it names."""
    if call.command is not None:
        return call.command.command
    return ", ".join(fact.path for fact in call.paths)


def approval(card: CardState, question: Question) -> Telemetry:
    """Return the question to a person, with the exact call if it is about one."""
    return {
        "type": "approval",
        "card": card.id,
        "question": question.id,
        "kind": question.kind.value,
        "text": question.text,
        "call": msgspec.to_builtins(question.call) if question.call else None,
    }


def _about_phase(previous: CardState | None, card: CardState) -> Iterator[Telemetry]:
    name = card.phase.name_for_people
    if previous is None or previous.phase.name_for_people != name:
        yield {"type": "phase", **phase_words(card), "card": card.id}
    if previous is not None and previous.status != card.status:
        yield {
            "type": "card",
            "card": card.id,
            "title": card.title,
            "status": card.status,
            "ending": ending_of_card(card),
            "proof": card.label,
            "commit": card.commit,
        }


def phase_words(card: CardState) -> dict[str, str]:
    """Return the phase of a card and its label; for a card that has ended, its ending."""
    ending = None if card.is_live else ending_of_card(card)
    if ending is None:
        return {"phase": card.phase.name_for_people, "label": card.phase.label}
    return {"phase": ending.value, "label": ending.words.capitalize()}


def final(after: RunState, response: UserResponse) -> Telemetry:
    """Return how a run ended; a watcher receives this last."""
    last = next((card for card in reversed(after.cards) if card.step), None)
    shown = [card for card in after.cards if card.tree == after.tree]
    best = max(shown, key=lambda card: card.strength, default=None)
    verdict = after.verdict_on(after.tree) or (best.verdict if best is not None else None)
    return {
        "type": "final",
        "status": status_of(after),
        "ending": ending_of(after),
        "iterations": response.iterations,
        "goal_achieved": ending_of(after) is Ending.SUCCEEDED,
        "message": response.message,
        "issues": list(response.issues),
        "next_actions": msgspec.to_builtins(response.next_actions),
        "answer": last.answer if last else "",
        "proof": best.label if best is not None and after.tree != after.base else "",
        "verdict": list(verdict_lines(verdict)) if verdict is not None else [],
    }
