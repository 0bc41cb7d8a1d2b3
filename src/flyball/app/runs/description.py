"""Describe a run for programs, from its log."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec

from flyball.app.answering import Pending, next_steps, pending, sides
from flyball.app.people.decisions import MERGED, decisions_of
from flyball.app.project import Home
from flyball.app.runs.history import RunHistory, read_history
from flyball.app.runs.journals import holder_of, is_hosted, opened
from flyball.app.runs.overview import reverted_in, status_now
from flyball.app.sessions import Sessions
from flyball.engine.telemetry import phase_words
from flyball.journal.protocol import SUBMITTED, JournalEntry
from flyball.record.costs import costs, is_spent
from flyball.run.ending import ending_of, ending_of_card, status_of
from flyball.run.event import Messaged, name_of
from flyball.run.machine import advance
from flyball.run.state import CardState, Ending, RunState
from flyball.run.thread import ThreadLine, thread_lines
from flyball.workspace.cards.artifacts import REVERTED
from flyball.workspace.run.opening import find_workspace


async def describe(home: Home, run: str) -> dict[str, Any]:
    """Return a run's description for programs."""
    return (await read_through(home, run)).described


class ReadThrough(NamedTuple):
    """A run's description for programs, with its state and its history."""

    described: dict[str, Any]
    state: RunState
    history: RunHistory


async def read_through(home: Home, run: str, known: RunHistory | None = None) -> ReadThrough:
    """Return everything about a run; of a known history, only newer events are read."""
    async with opened(home) as journal:
        held = await holder_of(journal, run)
        state = await journal.load(run)
        history = await read_history(home, journal, run, known)
    started = history.started
    if not held and not state.has_ended:
        held = Sessions(home.state).host_of(run)
    facts = find_workspace(run, home.state)
    status = status_now(status_of(state), held or started.shell.get(SUBMITTED, ""))
    reverted = reverted_in(home, state)
    decided = decisions_of(home, run, history.by_people)
    is_merged = any(each["what"] == MERGED for each in decided)
    steps = next_steps(
        state,
        status,
        in_place=bool(facts and facts.in_place),
        is_hosted=is_hosted(started),
        is_merged=is_merged,
        reverted=reverted,
    )
    described = {
        "run": run,
        "status": status,
        "ending": ending_of(state),
        "is_merged": is_merged,
        "request": state.request,
        "intent": state.intent.value if state.intent else None,
        "budget": {"used": state.spend.calls, "limit": state.budget.limit},
        "spend": msgspec.to_builtins(state.spend),
        "extensions": msgspec.to_builtins(state.budget.extensions),
        "driver": started.shell.get("driver", ""),
        "target": state.target,
        "branch": state.branch,
        "workspace": facts.root if facts else "",
        "started_at": started.at,
        "updated_at": state.at,
        "driven_by": held,
        "events": state.seq,
        "cards": [_card(card, history, is_reverted=card.id in reverted) for card in state.cards],
        "questions": [_asked(each) for each in pending(state)],
        "response": _response(state),
        "decided": decided,
        "next": [{"command": step.command, "effect": step.effect} for step in steps],
    }
    return ReadThrough(described, state, history)


def _asked(waiting: Pending) -> dict[str, Any]:
    question = msgspec.to_builtins(waiting.question)
    return {"card": waiting.card.id, **question, "sides": sides(waiting.question)}


def _response(state: RunState) -> dict[str, Any] | None:
    """Return the answer to the request, with the final status of the run."""
    if state.response is None:
        return None
    response = msgspec.to_builtins(state.response)
    is_shown = ending_of(state) is Ending.SUCCEEDED
    return {**response, "status": status_of(state), "goal_achieved": is_shown}


def _card(card: CardState, history: RunHistory, *, is_reverted: bool) -> dict[str, Any]:
    return {
        "id": card.id,
        "title": card.title,
        "status": REVERTED if is_reverted else card.status,
        **phase_words(card),
        "attempt": card.attempt,
        "ending": ending_of_card(card),
        "ending_reason": card.ending_reason,
        "proof": card.label if card.has_changed else "",
        "commit": card.commit,
        "is_taken_back": is_reverted,
        "checkpoint": msgspec.to_builtins(card.checkpoint) if card.checkpoint else None,
        "drift": list(card.drift),
        "evidence": [
            {"stale": item.tree != card.tree, **msgspec.to_builtins(item)} for item in card.evidence
        ],
        "verdicts": msgspec.to_builtins(card.verdicts),
        "notes": msgspec.to_builtins(card.remarks),
        "risk": card.review.risk,
        "assumptions": list(card.review.assumptions),
        "answer": card.answer,
        # Counted as the budget counts them: calls without cost are not used calls.
        "calls": card.calls,
        "blocked": history.blocked.get(card.id, 0),
        "decisions": [
            {"seq": each.seq, "about": each.about, **msgspec.to_builtins(each.judged)}
            for each in history.decisions
            if each.card == card.id
        ],
        "failed_edits": [
            {"tool": each.tool, "reason": each.reason}
            for each in history.failed_edits
            if each.card == card.id
        ],
    }


def thread_of(entries: Iterable[JournalEntry]) -> list[dict[str, Any]]:
    """Return all messages to and from the drivers of a run, in order."""
    found: list[ThreadLine] = []
    state = RunState()
    for entry in entries:
        after = advance(state, entry.event).state
        found += thread_lines(state, entry.event, after)
        state = after
    return [msgspec.to_builtins(line) for line in found]


def event_lines(entries: Iterable[JournalEntry]) -> list[dict[str, Any]]:
    """Return the log, one small object per event."""
    return [
        {
            "seq": entry.seq,
            "at": entry.event.at,
            "event": name_of(type(entry.event)),
            "card": getattr(entry.event, "card", ""),
        }
        for entry in entries
    ]


def cost_rows(entries: Iterable[JournalEntry]) -> list[dict[str, Any]]:
    """Return the costs of a run by card and phase; the last row is the total."""
    found = costs(entry.event for entry in entries)
    return [msgspec.to_builtins(row) for row in found if is_spent(row) or row is found[-1]]


def messages_of(entries: Iterable[JournalEntry]) -> list[dict[str, Any]]:
    """Return the messages between coordinator, planner, executor and verifier."""
    return [
        {"seq": entry.seq, "at": entry.event.at, **msgspec.to_builtins(entry.event.message)}
        for entry in entries
        if isinstance(entry.event, Messaged)
    ]
