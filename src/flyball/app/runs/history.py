"""What a run's log says beyond its state: decisions, failed edits, costs and times.

The history of a long run is kept in a file, so that the next process reads only newer events.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.app.people.decisions import DECISIONS
from flyball.app.project import Home
from flyball.engine.telemetry import about_call
from flyball.errors import Corrupt
from flyball.journal.protocol import Journal, JournalEntry
from flyball.record.costs import CostTally
from flyball.run import codec
from flyball.run.ending import ending_of_card
from flyball.run.event import AnyEvent, CallReturned, CardEvent, DriverReplied, RunStarted
from flyball.run.machine import advance
from flyball.run.state import CardState, Ending, Judged, RunState
from flyball.terms.phase import Phase
from flyball.terms.tool import TOOL_ROWS, Touch

LONG = 500
"""Newly folded events from which on a history is kept in a file."""
MOST_KEPT = 64
"""Files of histories per project; the oldest are deleted."""


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


MOST = 160
"""More stretches than this are drawn together: a page has no room for them."""
ALLOWED, DENIED = "allow", "deny"
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


class StretchTally(msgspec.Struct):
    """The time spent in each phase so far, computed while the log is folded."""

    found: list[Stretch] = msgspec.field(default_factory=list[Stretch])

    def add(self, before: RunState, event: AnyEvent, after: RunState) -> None:
        """Add one event, given the states before and after it."""
        if self.found and event.at:
            last = self.found[-1]
            last.seconds = max(event.at - last.begun, last.seconds)
        card = _card_of(before, event, after)
        if card is None:
            return
        if event.at and (not self.found or self._is_other(card)):
            self._close(card)
            if not card.phase.is_in("ended"):
                name, label = card.phase.name_for_people, card.phase.label
                self.found.append(Stretch(name, label, card.id, event.at))
        if self.found and card is not before.card(card.id):
            denied = sum(each.answer == DENIED for each in card.judged)
            self.found[-1].refused += [event.at] * denied

    def _is_other(self, card: CardState) -> bool:
        last = self.found[-1]
        return (last.phase, last.card) != (card.phase.name_for_people, card.id)

    def _close(self, card: CardState) -> None:
        """Record how the last stretch ended, according to the event after it."""
        if not self.found or self.found[-1].card != card.id:
            return
        last = self.found[-1]
        if not card.phase.is_in("ended") or last.phase == Phase.PAUSED.name_for_people:
            last.outcome = last.outcome or _outcome(last.phase, card.phase)
            return
        ending = ending_of_card(card)
        last.outcome = OUTCOMES.get(ending, FAIR) if ending else FAIR
        before = self.found[-2] if len(self.found) > 1 else last
        # What was looked at and not shown did not pass, though the card went on to its end.
        if (before.card, before.outcome) == (card.id, GOOD) and not _is_shown(card):
            before.outcome = last.outcome

    def rows(self) -> tuple[Stretch, ...]:
        """Return the stretches in order, few enough to draw."""
        size = math.ceil(len(self.found) / MOST)
        if size <= 1:
            return tuple(self.found)
        starts = range(0, len(self.found), size)
        return tuple(_together(self.found[n : n + size]) for n in starts)


class RunHistory(msgspec.Struct):
    """A folded log with each decision, failed edit and person's decision, its costs and times."""

    state: RunState = RunState()
    last: AnyEvent | None = None
    """The event that led to the state."""
    by_people: list[JournalEntry] = msgspec.field(default_factory=list[JournalEntry])
    """The start of the run, and every decision of a person."""
    decisions: list[Decided] = msgspec.field(default_factory=list[Decided])
    failed_edits: list[FailedEdit] = msgspec.field(default_factory=list[FailedEdit])
    blocked: dict[str, int] = msgspec.field(default_factory=dict[str, int])
    """Blocked calls by card."""
    asked: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    """What each call that is not allowed yet is about."""
    costs: CostTally = msgspec.field(default_factory=CostTally)
    stretches: StretchTally = msgspec.field(default_factory=StretchTally)

    @property
    def started(self) -> RunStarted:
        event = self.by_people[0].event if self.by_people else None
        if not isinstance(event, RunStarted):
            raise Corrupt("The log does not begin with the start of a run.")
        return event

    def take(self, event: AnyEvent) -> None:
        """Fold one more event."""
        before, after = self.state, advance(self.state, event).state
        self.state, self.last = after, event
        if isinstance(event, DECISIONS):
            self.by_people.append(JournalEntry(after.seq, event))
        if isinstance(event, DriverReplied):
            self.asked |= {f"{event.card} {call.id}": about_call(call) for call in event.calls}
        for card in after.cards:
            if card.judged and card is not before.card(card.id):
                self.decisions += [
                    Decided(after.seq, card.id, each, self._about(card.id, each))
                    for each in card.judged
                ]
        if isinstance(event, CallReturned) and not event.outcome.ok:
            self.failed_edits += _failed_edits(before, event)
        if isinstance(event, CardEvent) and (more := after.spend.blocked - before.spend.blocked):
            self.blocked[event.card] = self.blocked.get(event.card, 0) + more
        self.costs.add(before, event, after)
        self.stretches.add(before, event, after)

    def _about(self, card: str, judged: Judged) -> str:
        # An allowed call is decided once; others may be again, after an answer or an appeal.
        find = self.asked.pop if judged.answer == ALLOWED else self.asked.get
        return find(f"{card} {judged.call}", "")


def fold_history(events: Iterable[AnyEvent]) -> RunHistory:
    """Return the history of a whole log."""
    history = RunHistory()
    for event in events:
        history.take(event)
    return history


async def read_history(
    home: Home, journal: Journal, run: str, known: RunHistory | None = None
) -> RunHistory:
    """Return a run's history; of a known or kept one, fold only the events after it."""
    history = known or _kept(home, run) or RunHistory()
    seq = history.state.seq
    entries = await journal.events(run, max(seq - 1, 0))
    # A deleted run may be imported again, and differently.
    if seq and not (
        entries
        and entries[0].event == history.last
        and await journal.events(run, 0, 1) == history.by_people[:1]
    ):
        history, seq, entries = RunHistory(), 0, await journal.events(run)
    for entry in entries[1 if seq else 0 :]:
        history.take(entry.event)
    if history.state.seq - seq >= LONG:
        _keep(home, run, history)
    return history


class _Kept(msgspec.Struct):
    """The file of a history. What another release folded may differ, and is not used."""

    release: str
    history: RunHistory


def _release() -> str:
    return f"{version('flyball')} {codec.VERSION}"


def _file_of(home: Home, run: str) -> Path:
    return home.state / "histories" / f"{run}.msgpack"


def _kept(home: Home, run: str) -> RunHistory | None:
    try:
        kept = msgspec.msgpack.decode(_file_of(home, run).read_bytes(), type=_Kept)
    except (OSError, msgspec.MsgspecError):
        return None
    return kept.history if kept.release == _release() else None


def _keep(home: Home, run: str, history: RunHistory) -> None:
    """Store a history, if the state directory can be written to."""
    file = _file_of(home, run)
    spare = file.with_suffix(f".{os.getpid()}.new")
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        spare.write_bytes(msgspec.msgpack.encode(_Kept(_release(), history)))
        spare.replace(file)
        oldest_last = sorted(file.parent.iterdir(), key=lambda each: -each.stat().st_mtime)
        for each in oldest_last[MOST_KEPT:]:
            each.unlink()


def _failed_edits(state: RunState, event: CallReturned) -> Iterator[FailedEdit]:
    card = state.card(event.card)
    for call in card.in_flight if card else ():
        if call.id == event.call and TOOL_ROWS[call.tool].touches is Touch.NAMED_FILES:
            yield FailedEdit(event.card, call.tool, event.outcome.text.strip().partition("\n")[0])


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
