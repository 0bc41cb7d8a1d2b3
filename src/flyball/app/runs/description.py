"""Describe a run for programs, from its log."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from flyball.app.answering import Pending, next_steps, pending, sides
from flyball.app.people.decisions import MERGED, decisions_of
from flyball.app.project import Home
from flyball.app.runs.journals import Record, holder_of, opened
from flyball.app.runs.overview import reverted_in, status_now
from flyball.app.sessions import Sessions
from flyball.engine.telemetry import about_call, phase_words
from flyball.journal.protocol import SUBMITTED, Journal, JournalEntry
from flyball.record.costs import CostRow, CostTally, costs, is_spent
from flyball.run.ending import ending_of, ending_of_card, status_of
from flyball.run.event import (
    AnyEvent,
    CallReturned,
    CardEvent,
    DriverReplied,
    Messaged,
    name_of,
)
from flyball.run.machine import advance
from flyball.run.state import CardState, Ending, Judged, RunState
from flyball.run.thread import ThreadLine, thread_lines
from flyball.terms.phase import Phase
from flyball.terms.tool import TOOL_ROWS, Touch
from flyball.workspace.cards.artifacts import REVERTED
from flyball.workspace.run.opening import find_workspace


class Decided(NamedTuple):
    """One decision of a run, with its time and what its call is about."""

    seq: int
    card: str
    judged: Judged
    about: str = ""


class FailedEdit(NamedTuple):
    """An allowed edit that failed, with the reason given to its driver."""

    card: str
    tool: str
    reason: str


class Folding:
    """A folded log with the outcome of each call; later reads fold only new events."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.entries: list[JournalEntry] = []
        self.decisions: list[Decided] = []
        self.failed_edits: list[FailedEdit] = []
        self.blocked: Counter[str] = Counter()
        """Blocked calls by card."""
        self._about: dict[tuple[str, str], str] = {}
        self._state = RunState()

    async def read(self, journal: Journal, run: str) -> Record:
        """Read the events appended since; read a replaced run from its start."""
        state = await journal.load(run)
        if self.entries and await journal.events(run, 0, 1) != self.entries[:1]:
            self._begin()
        for entry in await journal.events(run, len(self.entries)):
            self.entries.append(entry)
            self.take(entry.event)
        return Record(state, self.entries)

    def take(self, event: AnyEvent) -> tuple[RunState, RunState]:
        """Collect decisions and failures of one event; return the states around it."""
        state = self._state
        self._state = after = advance(state, event).state
        if isinstance(event, DriverReplied):
            self._about |= {(event.card, call.id): about_call(call) for call in event.calls}
        for card in after.cards:
            if card.judged and card is not state.card(card.id):
                self.decisions += [
                    Decided(after.seq, card.id, each, self._about.get((card.id, each.call), ""))
                    for each in card.judged
                ]
        if isinstance(event, CallReturned) and not event.outcome.ok:
            self.failed_edits += _failed_edits(state, event)
        if isinstance(event, CardEvent):
            self.blocked[event.card] += after.spend.blocked - state.spend.blocked
        return state, after


class Recounting(Folding):
    """A folded log with its threads, costs and times as well."""

    def _begin(self) -> None:
        super()._begin()
        self._costs, self._stretches = CostTally(), StretchTally()
        self.lines: list[ThreadLine] = []

    @property
    def costs(self) -> tuple[CostRow, ...]:
        """Return the costs so far by card and phase; the last row is the total."""
        return self._costs.rows()

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """Return how the time was spent so far."""
        return self._stretches.rows()

    def take(self, event: AnyEvent) -> tuple[RunState, RunState]:
        """Collect the threads, costs and times of one event as well."""
        state, after = super().take(event)
        self.lines += thread_lines(state, event, after)
        self._costs.add(state, event, after)
        self._stretches.add(state, event, after)
        return state, after


def recount(events: Iterable[AnyEvent]) -> Recounting:
    """Fold a log; collect its threads, costs and times."""
    found = Recounting()
    for event in events:
        found.take(event)
    return found


def _failed_edits(state: RunState, event: CallReturned) -> Iterator[FailedEdit]:
    card = state.card(event.card)
    for call in card.in_flight if card else ():
        if call.id == event.call and TOOL_ROWS[call.tool].touches is Touch.NAMED_FILES:
            yield FailedEdit(event.card, call.tool, event.outcome.text.strip().partition("\n")[0])


async def describe(home: Home, run: str) -> dict[str, Any]:
    """Return a run's description for programs."""
    return (await read_through(home, run)).described


class ReadThrough(NamedTuple):
    """A run's description for programs, with its log."""

    described: dict[str, Any]
    record: Record


async def read_through(home: Home, run: str, counting: Folding | None = None) -> ReadThrough:
    """Return everything about a run from a single pass over its log, or over its new events."""
    counting = counting or Folding()
    async with opened(home) as journal:
        held = await holder_of(journal, run)
        state, entries = record = await counting.read(journal, run)
    if not held and not state.has_ended:
        held = Sessions(home.state).host_of(run)
    facts = find_workspace(run, home.state)
    status = status_now(status_of(state), held or record.started.shell.get(SUBMITTED, ""))
    reverted, decided = reverted_in(home, state), decisions_of(home, run, entries)
    is_merged = any(each["what"] == MERGED for each in decided)
    steps = next_steps(
        state,
        status,
        in_place=bool(facts and facts.in_place),
        is_hosted=record.is_hosted,
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
        "driver": record.started.shell.get("driver", ""),
        "target": state.target,
        "branch": state.branch,
        "workspace": facts.root if facts else "",
        "started_at": entries[0].event.at,
        "updated_at": state.at,
        "driven_by": held,
        "events": state.seq,
        "cards": [_card(card, counting, is_reverted=card.id in reverted) for card in state.cards],
        "questions": [_asked(each) for each in pending(state)],
        "response": _response(state),
        "decided": decided,
        "next": [{"command": step.command, "effect": step.effect} for step in steps],
    }
    return ReadThrough(described, record)


def _asked(waiting: Pending) -> dict[str, Any]:
    question = msgspec.to_builtins(waiting.question)
    return {"card": waiting.card.id, **question, "sides": sides(waiting.question)}


def _response(state: RunState) -> dict[str, Any] | None:
    """Return the answer to the request, with the final status of the run."""
    if state.response is None:
        return None
    told = msgspec.to_builtins(state.response)
    is_shown = ending_of(state) is Ending.SUCCEEDED
    return {**told, "status": status_of(state), "goal_achieved": is_shown}


def _card(card: CardState, told: Folding, *, is_reverted: bool = False) -> dict[str, Any]:
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
        "blocked": told.blocked[card.id],
        "decisions": [
            {"seq": each.seq, "about": each.about, **msgspec.to_builtins(each.judged)}
            for each in told.decisions
            if each.card == card.id
        ],
        "failed_edits": [
            {"tool": each.tool, "reason": each.reason}
            for each in told.failed_edits
            if each.card == card.id
        ],
    }


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


MOST = 160
"""More stretches than this are drawn together: a page has no room for them."""
DENIED = "deny"
GOOD, FAIR, BAD, WAITED = "good", "fair", "bad", "waited"
WORST_FIRST = (BAD, FAIR, WAITED, GOOD, "")
OUTCOMES = {Ending.SUCCEEDED: GOOD, Ending.ANSWERED: GOOD, Ending.FAILED: BAD}
"""What a card's last stretch shows of its ending; all others are only fair."""


class Stretch(msgspec.Struct):
    """A time in which a run was in one phase."""

    phase: str
    label: str
    card: str
    begun: float
    seconds: float = 0.0
    outcome: str = ""
    """`good`, `fair`, `bad`, `waited`, or empty where nothing was decided."""
    refused: list[float] = msgspec.field(default_factory=list[float])
    """When calls were refused."""


class StretchTally:
    """The time spent in each phase so far, computed while the log is folded."""

    def __init__(self) -> None:
        self._found: list[Stretch] = []

    def add(self, before: RunState, event: AnyEvent, after: RunState) -> None:
        """Add one event, given the states before and after it."""
        if self._found and event.at:
            last = self._found[-1]
            last.seconds = max(event.at - last.begun, last.seconds)
        card = _card_of(before, event, after)
        if card is None:
            return
        if event.at and (not self._found or self._is_other(card)):
            self._close(card)
            if not card.phase.is_in("ended"):
                name, label = card.phase.name_for_people, card.phase.label
                self._found.append(Stretch(name, label, card.id, event.at))
        if self._found and card is not before.card(card.id):
            denied = sum(each.answer == DENIED for each in card.judged)
            self._found[-1].refused += [event.at] * denied

    def _is_other(self, card: CardState) -> bool:
        last = self._found[-1]
        return (last.phase, last.card) != (card.phase.name_for_people, card.id)

    def _close(self, card: CardState) -> None:
        """Record how the last stretch ended, according to the event after it."""
        if not self._found or self._found[-1].card != card.id:
            return
        last = self._found[-1]
        if not card.phase.is_in("ended") or last.phase == Phase.PAUSED.name_for_people:
            last.outcome = last.outcome or _outcome(last.phase, card.phase)
            return
        ending = ending_of_card(card)
        last.outcome = OUTCOMES.get(ending, FAIR) if ending else FAIR
        before = self._found[-2] if len(self._found) > 1 else last
        # What was looked at and not shown did not pass, though the card went on to its end.
        if (before.card, before.outcome) == (card.id, GOOD) and not _is_shown(card):
            before.outcome = last.outcome

    def rows(self) -> tuple[Stretch, ...]:
        """Return the stretches in order, few enough to draw."""
        size = math.ceil(len(self._found) / MOST)
        if size <= 1:
            return tuple(self._found)
        starts = range(0, len(self._found), size)
        return tuple(_together(self._found[n : n + size]) for n in starts)


def _card_of(before: RunState, event: AnyEvent, after: RunState) -> CardState | None:
    """Return the card that changed phase in an event."""
    if isinstance(event, CardEvent):
        return after.card(event.card)
    moved = [card for card in after.cards if card is not before.card(card.id)]
    return moved[-1] if moved else None


def _outcome(phase: str, to: Phase) -> str:
    if phase == Phase.PAUSED.name_for_people:
        return WAITED
    if phase != Phase.VERIFY.name_for_people or to is Phase.PAUSED:
        return ""
    return GOOD if to is Phase.FINAL else BAD


def _is_shown(card: CardState) -> bool:
    if card.verdict is None:
        return ending_of_card(card) in (Ending.SUCCEEDED, Ending.ANSWERED)
    return card.verdict.is_shown


def _together(found: Sequence[Stretch]) -> Stretch:
    """Merge neighbours: the phase of the longest, the worst outcome, all refusals."""
    longest = max(found, key=lambda each: each.seconds)
    return Stretch(
        longest.phase,
        longest.label,
        longest.card,
        found[0].begun,
        sum(each.seconds for each in found),
        min((each.outcome for each in found), key=WORST_FIRST.index),
        [at for each in found for at in each.refused],
    )
