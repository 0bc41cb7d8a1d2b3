"""Every legal move of a card. A rule can only go where its row says.

Inner rows win over outer ones. `STAY` is "where it is", `HISTORY` is "where it was when paused".
The diagram, the list of possible moves and the exported machine are all drawn from these rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from flyball.core import answers, outcomes, rules
from flyball.core.draft import Draft
from flyball.core.event import (
    Answered,
    Appealed,
    CallInterrupted,
    CallReturned,
    Cancelled,
    CardClosed,
    CheckpointStated,
    DriverFailed,
    DriverReplied,
    Event,
    EvidenceSubmitted,
    EvidenceTaken,
    Extended,
    Noted,
    PauseAsked,
    Resumed,
    ThreadReset,
)
from flyball.core.phase import ENDINGS, LIVE, PLAN, RECON, REGIONS, Phase

P = Phase

STAY = "stay"
HISTORY = "history"

Rule = Callable[[Draft, Any], None]


class Row(NamedTuple):
    """One legal move: in a region, on an event, by a rule, to one of these targets."""

    region: str
    event: type[Event]
    rule: Rule
    targets: tuple[str, ...]

    @property
    def rule_name(self) -> str:
        return self.rule.__name__

    def target(self, before: Phase, was: Phase, after: Phase) -> str | None:
        """Which of the row's targets a move took; `was` is where the card was before a pause."""
        if after is before and STAY in self.targets:
            return STAY
        if before is P.PAUSED and after is was and HISTORY in self.targets:
            return HISTORY
        return after.value if after in self.targets else None


def on(region: str, event: type[Event], rule: Rule, *targets: str) -> Row:
    return Row(region, event, rule, targets)


ONWARD = (HISTORY, STAY, P.CHECKPOINT, P.EXECUTE, P.VERIFY, P.FINAL)
"""Where a pause leads: back, nowhere yet, or to where the pausing step was already heading."""

STOPS = (P.FINAL, P.PAUSED)
"""Where a guard sends a card: to its end on a step of a plan, else to a person."""

ROWS: tuple[Row, ...] = (
    on(RECON, DriverReplied, rules.reply, STAY, P.RESEARCH, P.DESIGN, P.CHECKPOINT, *STOPS),
    on(RECON, DriverFailed, rules.driver_failed, STAY, P.PAUSED),
    on(RECON, CallReturned, outcomes.call_returned, STAY, *STOPS),
    on(RECON, CallInterrupted, outcomes.call_interrupted, STAY, *STOPS),
    on(RECON, CheckpointStated, outcomes.checkpoint_stated, STAY, P.EXECUTE, P.CHECKPOINT, *STOPS),
    on(RECON, Noted, outcomes.noted, STAY, *STOPS),
    on(RECON, Appealed, outcomes.appealed, STAY, *STOPS),
    on(P.CHECKPOINT, DriverReplied, rules.reply, STAY, *STOPS),
    on(P.CHECKPOINT, DriverFailed, rules.driver_failed, STAY, P.PAUSED),
    on(P.CHECKPOINT, CheckpointStated, outcomes.checkpoint_stated, P.EXECUTE, STAY, *STOPS),
    on(P.CHECKPOINT, Noted, outcomes.noted, STAY, *STOPS),
    on(P.CHECKPOINT, Appealed, outcomes.appealed, STAY, *STOPS),
    on(P.CHECKPOINT, CallReturned, outcomes.call_returned, STAY, *STOPS),
    on(P.CHECKPOINT, CallInterrupted, outcomes.call_interrupted, STAY, *STOPS),
    on(PLAN, EvidenceTaken, outcomes.evidence_taken, STAY, *STOPS),
    on(P.EXECUTE, DriverReplied, rules.reply, STAY, P.CHECKPOINT, P.VERIFY, *STOPS),
    on(P.EXECUTE, DriverFailed, rules.driver_failed, STAY, P.PAUSED),
    on(P.EXECUTE, CallReturned, outcomes.call_returned, STAY, P.CHECKPOINT, *STOPS),
    on(P.EXECUTE, CallInterrupted, outcomes.call_interrupted, STAY, P.CHECKPOINT, *STOPS),
    on(P.EXECUTE, CheckpointStated, outcomes.checkpoint_stated, STAY, P.CHECKPOINT, *STOPS),
    on(P.EXECUTE, Noted, outcomes.noted, STAY, P.CHECKPOINT, *STOPS),
    on(P.EXECUTE, Appealed, outcomes.appealed, STAY, P.CHECKPOINT, *STOPS),
    on(P.VERIFY, DriverReplied, rules.reply, STAY, P.EXECUTE, *STOPS),
    on(P.VERIFY, DriverFailed, rules.driver_failed, STAY, P.PAUSED),
    on(P.VERIFY, CallReturned, outcomes.call_returned, STAY, P.EXECUTE, *STOPS),
    on(P.VERIFY, CallInterrupted, outcomes.call_interrupted, STAY, P.EXECUTE, *STOPS),
    on(P.VERIFY, CheckpointStated, outcomes.checkpoint_stated, P.EXECUTE, P.CHECKPOINT, *STOPS),
    on(P.VERIFY, Noted, outcomes.noted, STAY, P.EXECUTE, *STOPS),
    on(P.VERIFY, Appealed, outcomes.appealed, STAY, P.EXECUTE, *STOPS),
    on(P.VERIFY, EvidenceTaken, outcomes.evidence_taken, STAY, P.EXECUTE, *STOPS),
    on(P.FINAL, EvidenceTaken, outcomes.evidence_taken, STAY, P.PAUSED),
    on(P.FINAL, DriverReplied, rules.last_word, STAY, P.PAUSED),
    on(P.FINAL, DriverFailed, rules.no_last_word, STAY, P.PAUSED),
    on(P.FINAL, CardClosed, rules.closed, P.SUCCEEDED, P.FAILED),
    on(P.PAUSED, Answered, answers.answered, *ONWARD),
    on(P.PAUSED, Resumed, answers.resumed, *ONWARD),
    on(P.PAUSED, Extended, answers.extended_in_pause, *ONWARD),
    on(P.PAUSED, PauseAsked, rules.stay, STAY),
    on(P.PAUSED, CallReturned, outcomes.call_returned_in_pause, STAY),
    on(P.PAUSED, CallInterrupted, outcomes.call_interrupted_in_pause, STAY),
    on(P.PAUSED, Noted, outcomes.noted_in_pause, STAY),
    on(P.PAUSED, Appealed, outcomes.appealed_in_pause, STAY),
    on(LIVE, ThreadReset, rules.thread_reset, STAY, P.CHECKPOINT, P.EXECUTE, P.FINAL, P.PAUSED),
    on(LIVE, EvidenceTaken, outcomes.evidence_seen, STAY),
    on(LIVE, EvidenceSubmitted, outcomes.evidence_submitted, STAY),
    on(LIVE, Extended, answers.extended, STAY),
    on(LIVE, PauseAsked, rules.rest, P.PAUSED),
    on(LIVE, Cancelled, rules.cancel, P.CANCELLED),
)


def _index() -> dict[tuple[Phase, type[Event]], Row]:
    found: dict[tuple[Phase, type[Event]], Row] = {}
    for phase in Phase:
        if phase in ENDINGS:
            continue
        inner_first = REGIONS[phase]
        for row in sorted(
            (r for r in ROWS if r.region in inner_first), key=lambda r: inner_first.index(r.region)
        ):
            found.setdefault((phase, row.event), row)
    return found


MOVES = _index()


def row_for(phase: Phase, event: type[Event]) -> Row | None:
    """The row that rules here: the innermost one for this event."""
    return MOVES.get((phase, event))
