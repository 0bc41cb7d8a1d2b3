"""Every legal transition of a run and of a card. A rule can only go where its row says.

Theory of operation
-------------------

Three machines stand inside each other, and all three are tables.

Three machines are nested, and all three are tables.

*Run* (`RUN_ROWS`, handlers in `on_run`): from the request to the one response. Its stage is not
stored; it follows from what is known: an intent, a workspace, a response.
*Coordinator* (`plan/coordinator.ROWS`): hears and says messages only. What it says is owed as
`Publish` and comes back as `messaged`, so that every message lies in the journal before anybody
acts on it. It never sees a card: `next_card` makes cards of its steps, and results of their ends.
*Card* (`ROWS`, handlers in `on_driver`, `on_outcome`, `on_person`): where the work is done. Nearly
everything a reader will want to change is here.

From an event to effects. `advance(state, event)` is the only way on:

    event ── answers an effect? ── struck off what is owed
      │
      ├─ of a card ── row for (phase, event) ── rule(working copy, event) ── phase in the row?
      └─ of the run ─ row for (stage, event) ── rule(run, event) ─┬─ stage in the row?
                                                                  └─ cards that hear it, as above
    effects, numbered ── appended to what is owed ── performed by the engine, in order ── events

An effect that was performed twice (the process died in between) leads to the same event with the
same number, and the second one is refused: it answers nothing that is owed. No rule reads a clock,
makes an id or asks anybody; time, ids and hashes arrive inside events. That is why a journal folds
into the very state that wrote it, and why a run can be judged again under another policy.

From what the machine says to what the driver hears. A rule says something with `d.say(kind, text)`:
the words lie in `card.said`, which holds only what the last event said. `run/thread.thread_lines`
compares the run before and after an event and makes thread lines of it: what the driver said, what
its calls came to, what the governor has to say. The engine keeps these lines beside the journal and
puts them into the next request; `Think` itself carries no words. So whoever looks for a sentence
finds it where the rule says it, and nothing has to be told twice after a crash.

How to read the rows. Inner rows win over outer ones: a row for `plan.checkpoint` rules before one
for `plan`, and that before one for `live`. `STAY` is "where it is", `HISTORY` is "where it was when
paused". Without a row an event is illegal, raises, and changes nothing. The diagrams, the list of
possible moves and the machine exported to XState are drawn from these rows, so they cannot lie.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from flyball.run import on_driver, on_outcome, on_person, on_run
from flyball.run.effect import RollBack
from flyball.run.event import (
    Answered,
    Appealed,
    CallInterrupted,
    CallReturned,
    Cancelled,
    CardClosed,
    CheckpointStated,
    ConflictStated,
    DriverFailed,
    DriverReplied,
    Event,
    EvidenceSubmitted,
    EvidenceTaken,
    Extended,
    IntentRead,
    Messaged,
    Noted,
    PauseAsked,
    Resumed,
    RolledBack,
    RunStarted,
    ThreadReset,
    Tightened,
    WorkspaceFailed,
    WorkspaceReady,
)
from flyball.run.state import CardState, RunStage, RunState
from flyball.run.working_copy import WorkingCopy
from flyball.terms.phase import ENDINGS, LIVE, PLAN, RECON, REGIONS, Phase

P = Phase

STAY = "stay"
HISTORY = "history"

Rule = Callable[[WorkingCopy, Any], None]


class CardRow(NamedTuple):
    """One legal move: in a region, on an event, by a rule, to one of these targets."""

    region: str
    event: type[Event]
    rule: Rule
    targets: tuple[str, ...]

    @property
    def rule_name(self) -> str:
        return self.rule.__name__


def on(region: str, event: type[Event], rule: Rule, *targets: str) -> CardRow:
    """Build a row; its targets come last."""
    return CardRow(region, event, rule, targets)


ONWARD = (HISTORY, STAY, P.CHECKPOINT, P.EXECUTE, P.VERIFY, P.FINAL)
"""Where a pause leads: back, nowhere yet, or to where the pausing step was already heading."""

STOPS = (P.FINAL, P.PAUSED)
"""Where a guard sends a card: to its end on a step of a plan, else to a person."""

ROWS: tuple[CardRow, ...] = (
    on(RECON, DriverReplied, on_driver.reply, STAY, P.RESEARCH, P.DESIGN, P.CHECKPOINT, *STOPS),
    on(RECON, DriverFailed, on_driver.retry_driver, STAY, P.PAUSED),
    on(RECON, CallReturned, on_outcome.take_outcome, STAY, *STOPS),
    on(RECON, CallInterrupted, on_outcome.report_interruption, STAY, *STOPS),
    on(RECON, CheckpointStated, on_outcome.take_checkpoint, STAY, P.EXECUTE, P.CHECKPOINT, *STOPS),
    on(RECON, Noted, on_outcome.take_note, STAY, *STOPS),
    on(RECON, Appealed, on_outcome.take_appeal, STAY, *STOPS),
    on(RECON, ConflictStated, on_outcome.take_conflict, STAY, *STOPS),
    on(P.CHECKPOINT, DriverReplied, on_driver.reply, STAY, *STOPS),
    on(P.CHECKPOINT, DriverFailed, on_driver.retry_driver, STAY, P.PAUSED),
    on(P.CHECKPOINT, CheckpointStated, on_outcome.take_checkpoint, P.EXECUTE, STAY, *STOPS),
    on(P.CHECKPOINT, Noted, on_outcome.take_note, STAY, *STOPS),
    on(P.CHECKPOINT, Appealed, on_outcome.take_appeal, STAY, *STOPS),
    on(P.CHECKPOINT, ConflictStated, on_outcome.take_conflict, STAY, *STOPS),
    on(P.CHECKPOINT, CallReturned, on_outcome.take_outcome, STAY, *STOPS),
    on(P.CHECKPOINT, CallInterrupted, on_outcome.report_interruption, STAY, *STOPS),
    on(PLAN, EvidenceTaken, on_outcome.take_evidence, STAY, *STOPS),
    on(P.EXECUTE, DriverReplied, on_driver.reply, STAY, P.CHECKPOINT, P.VERIFY, *STOPS),
    on(P.EXECUTE, DriverFailed, on_driver.retry_driver, STAY, P.PAUSED),
    on(P.EXECUTE, CallReturned, on_outcome.take_outcome, STAY, P.CHECKPOINT, *STOPS),
    on(P.EXECUTE, CallInterrupted, on_outcome.report_interruption, STAY, P.CHECKPOINT, *STOPS),
    on(P.EXECUTE, CheckpointStated, on_outcome.take_checkpoint, STAY, P.CHECKPOINT, *STOPS),
    on(P.EXECUTE, Noted, on_outcome.take_note, STAY, P.CHECKPOINT, *STOPS),
    on(P.EXECUTE, Appealed, on_outcome.take_appeal, STAY, P.CHECKPOINT, *STOPS),
    on(P.EXECUTE, ConflictStated, on_outcome.take_conflict, STAY, P.CHECKPOINT, *STOPS),
    on(P.VERIFY, DriverReplied, on_driver.reply, STAY, P.EXECUTE, *STOPS),
    on(P.VERIFY, DriverFailed, on_driver.retry_driver, STAY, P.PAUSED),
    on(P.VERIFY, CallReturned, on_outcome.take_outcome, STAY, P.EXECUTE, *STOPS),
    on(P.VERIFY, CallInterrupted, on_outcome.report_interruption, STAY, P.EXECUTE, *STOPS),
    on(P.VERIFY, CheckpointStated, on_outcome.take_checkpoint, P.EXECUTE, P.CHECKPOINT, *STOPS),
    on(P.VERIFY, Noted, on_outcome.take_note, STAY, P.EXECUTE, *STOPS),
    on(P.VERIFY, Appealed, on_outcome.take_appeal, STAY, P.EXECUTE, *STOPS),
    on(P.VERIFY, ConflictStated, on_outcome.take_conflict, STAY, P.EXECUTE, *STOPS),
    on(P.VERIFY, EvidenceTaken, on_outcome.take_evidence, STAY, P.EXECUTE, *STOPS),
    on(P.FINAL, EvidenceTaken, on_outcome.take_evidence, STAY, P.PAUSED),
    on(P.FINAL, DriverReplied, on_driver.accept_answer, STAY, P.PAUSED),
    on(P.FINAL, DriverFailed, on_driver.end_without_answer, STAY, P.PAUSED),
    on(P.FINAL, CardClosed, on_driver.end_card, P.SUCCEEDED, P.FAILED),
    on(P.PAUSED, Answered, on_person.take_answer, *ONWARD),
    on(P.PAUSED, Resumed, on_person.resume, *ONWARD),
    on(P.PAUSED, Extended, on_person.end_pause_for_budget, *ONWARD),
    # Without this row the one for `live` would ask a second question over the first.
    on(P.PAUSED, PauseAsked, on_driver.stay, STAY),
    # Calls that were under way when the card paused still come back; they are kept, not followed.
    on(P.PAUSED, CallReturned, on_outcome.take_outcome_in_pause, STAY),
    on(P.PAUSED, CallInterrupted, on_outcome.report_interruption_in_pause, STAY),
    on(P.PAUSED, Noted, on_outcome.take_note_in_pause, STAY),
    on(P.PAUSED, Appealed, on_outcome.defer_appeal, STAY),
    on(P.PAUSED, ConflictStated, on_outcome.defer_conflict, STAY),
    on(LIVE, ThreadReset, on_driver.begin_thread, STAY, P.CHECKPOINT, P.EXECUTE, P.FINAL, P.PAUSED),
    # Evidence may also arrive unasked, from a surface: it is kept wherever the card is.
    on(LIVE, EvidenceTaken, on_outcome.keep_evidence, STAY),
    on(LIVE, EvidenceSubmitted, on_outcome.take_claims, STAY),
    on(LIVE, Extended, on_person.tell_extension, STAY),
    # Around a host a question holds one call, and the card goes on without it.
    on(LIVE, Answered, on_person.answer_held_call, STAY),
    on(LIVE, PauseAsked, on_driver.pause, P.PAUSED),
    on(LIVE, Cancelled, on_driver.cancel, P.CANCELLED),
)


def _index() -> dict[tuple[Phase, type[Event]], CardRow]:
    found: dict[tuple[Phase, type[Event]], CardRow] = {}
    for phase in Phase:
        if phase in ENDINGS:
            continue
        # The innermost region first, and `setdefault` below: the first row that is met rules.
        inner_first = REGIONS[phase]
        for row in sorted(
            (r for r in ROWS if r.region in inner_first), key=lambda r: inner_first.index(r.region)
        ):
            found.setdefault((phase, row.event), row)
    return found


MOVES = _index()


def row_for(phase: Phase, event: type[Event]) -> CardRow | None:
    """Return the row for an event: the innermost region's row wins."""
    return MOVES.get((phase, event))


S = RunStage

RunRule = Callable[[RunState, Any], on_run.Course]


def _always(_run: RunState) -> bool:
    return True


class RunRow(NamedTuple):
    """One legal move of a run: in these stages, on an event, by a rule, to one of these stages.

    `STAY` is implied here: a run may always stay in its stage. What a person says to the whole run
    is passed on to the cards that `listens` names; it may require that one of them handles it.
    """

    stages: tuple[RunStage, ...]
    event: type[Event]
    rule: RunRule
    targets: tuple[RunStage, ...] = ()
    is_due: Callable[[RunState], bool] = _always
    """Whether anybody waits for it, beyond the stage: `moves` lists only such events."""
    listens: Callable[[CardState, Any], bool] | None = None
    needs_card: bool = False

    @property
    def rule_name(self) -> str:
        return self.rule.__name__


def _owes_rollback(run: RunState) -> bool:
    return any(isinstance(owed.effect, RollBack) for owed in run.owed)


def _has_question(run: RunState) -> bool:
    return any(card.question for card in run.cards if card.is_live)


def _asked(card: CardState, event: Answered) -> bool:
    return card.question is not None and card.question.id == event.question


def _every(_card: CardState, _event: Event) -> bool:
    return True


GOING = (S.READING, S.OPENING, S.WORKING)

RUN_ROWS: tuple[RunRow, ...] = (
    RunRow((S.NEW,), RunStarted, on_run.start, (S.READING, S.OPENING)),
    RunRow((S.READING,), IntentRead, on_run.read_intent, (S.OPENING,)),
    RunRow((S.OPENING,), WorkspaceReady, on_run.begin_work, (S.WORKING,)),
    RunRow((S.OPENING,), WorkspaceFailed, on_run.refuse, (S.ENDED,)),
    RunRow((S.WORKING,), RolledBack, on_run.record_rollback, is_due=_owes_rollback),
    RunRow((S.WORKING,), Messaged, on_run.deliver, (S.ENDED,)),
    RunRow(
        GOING,
        Answered,
        on_run.leave_to_cards,
        is_due=_has_question,
        listens=_asked,
        needs_card=True,
    ),
    RunRow(GOING, Extended, on_run.extend, listens=_every),
    RunRow(GOING, PauseAsked, on_run.leave_to_cards, listens=_every),
    RunRow(GOING, Resumed, on_run.leave_to_cards, listens=_every),
    RunRow(GOING, Tightened, on_run.tighten),
    RunRow(GOING, Cancelled, on_run.cancel, (S.ENDED,), listens=_every),
)

RUN_MOVES = {(stage, row.event): row for row in RUN_ROWS for stage in row.stages}
