"""Setbacks and endings: back to work, or out of the card.

`handle_failure` is the way back, following the one table of escalations, and `finish` is the only
way to `final`.
"""

from __future__ import annotations

from flyball.guards.guard import Trip
from flyball.guards.handover import should_reset
from flyball.plan.escalation import Strictness, Trouble, escalate
from flyball.plan.flow import DIAGNOSIS
from flyball.plan.plan import StepExecution
from flyball.plan.template import Escalation
from flyball.run.mistake import remember
from flyball.run.state import Asking, CardState, Clock, Ending, RunState
from flyball.run.working_copy import STOPPED, WorkingCopy
from flyball.terms.evidence import GateReport, VerdictReport, WeakeningReport
from flyball.terms.phase import Phase

APPROVED = "human_approved"
"""The gate that only a person can pass."""


def finish(d: WorkingCopy, ending: Ending, reason: str, *, needs_words: bool = False) -> None:
    """Go to `final`: with the answer already given, or after asking for one."""
    # Calls still under way would come back to a card in `final`, which has no row for them.
    d.forget()
    d.set(ending=ending, ending_reason=reason, is_reviewing=False)
    d.enter(Phase.FINAL)
    if needs_words or not d.card.answer:
        d.think(text_only=True)
    else:
        d.close()


def handle_failure(d: WorkingCopy, trouble: Trouble, why: str, *, is_spent: bool = False) -> None:
    """Handle a card that does not pass, by the escalation table; `is_spent` leaves no retry."""
    card = d.card
    failures = card.failures_in_row + 1
    d.set(failures_in_row=failures, trouble=trouble)
    repeated = "" if trouble is Trouble.MISSING_EVIDENCE else remember(d, why)
    choice = escalate(
        trouble,
        max(failures, card.template.on_fail.max_retries + 1) if is_spent else failures,
        card.template.on_fail,
        Strictness(d.run.policy.strictness),
        diagnosed=_is_diagnosed(d.run, card),
    )
    if choice is Escalation.RETRY:
        try_again(d, why, repeated=repeated)
    elif choice is Escalation.PAUSE_FOR_HUMAN:
        d.set(ending_reason=why)
        d.ask(Asking.FAILURE, f"{card.title}: {why} Try again?")
    else:
        fail(d, choice, why)


def try_again(d: WorkingCopy, why: str, *, words: str = "", repeated: str = "") -> None:
    """Return to work on the same card; everything will be inspected again.

    A thread that made no progress, or that repeated a recorded mistake, is replaced by a new one.
    """
    card = d.card
    drop_observations(d)
    d.set(claims={}, answer="", rejections=0, ending_reason="")
    if card.phase is Phase.VERIFY:
        d.enter(Phase.EXECUTE)
    if card.trouble is Trouble.NO_PROGRESS:
        d.set(clock=Clock())
        d.reset_thread("the last thread failed", words)
        return
    reason = should_reset(ledger_match=repeated)
    if reason and card.phase is not Phase.FINAL:
        d.reset_thread(reason, words)
        return
    d.reject(why)


def drop_observations(d: WorkingCopy) -> None:
    """Drop the observations made once per tree, so that the same tree is observed again."""
    seen_again = WeakeningReport | GateReport | VerdictReport
    kept = tuple([item for item in d.card.evidence if not isinstance(item, seen_again)])
    d.set(evidence=kept)


def fail(d: WorkingCopy, escalation: Escalation, why: str) -> None:
    """Fail the card, with the question or reason that its ending calls for."""
    d.set(escalation=escalation)
    finish(d, Ending.FAILED, why)


def question_before_end(d: WorkingCopy) -> str:
    """Return what a person is asked before the card ends, or nothing."""
    card, template = d.card, d.card.template
    if failed := diagnosed_by(d.run, card):
        return _for_diagnosis(d, failed)
    if template.human_review or (template.checkpoint and not template.may_mutate):
        state = "The work is verified" if card.has_changed else f"{card.title}: it is done"
        return f"{state} and waits for your review."
    if asked := [use for use in template.gates if use.type == APPROVED]:
        what = ", ".join(str(use.parameters.get("what") or "the work") for use in asked)
        return f"{card.title}: accept {what}?"
    return ""


def _for_diagnosis(d: WorkingCopy, failed: CardState) -> str:
    """Return one question about a diagnosis, or none if its answer would change nothing."""
    then = after_diagnosis(d.run, failed)
    template, flow = d.card.template, d.run.flow
    is_own = flow is not None and flow.step(DIAGNOSIS) is not None
    if is_own:
        is_wanted = template.human_review or template.checkpoint
        is_wanted = is_wanted or then is Escalation.PAUSE_FOR_HUMAN
    else:
        is_wanted = not d.run.policy.assume_yes and then is not Escalation.FAIL_JOB
    if not is_wanted:
        return ""
    return f"{failed.title}: {failed.ending_reason} It is diagnosed. Go on with the diagnosis?"


def halt(d: WorkingCopy, trip: Trip) -> None:
    """Handle a guard's hard level: no progress on a planned step, a question for a person
    elsewhere."""
    if not (d.card.step and is_laid_out(d.run)):
        d.halt(trip)
    elif d.card.in_flight:
        d.set(queue=(), halted=trip)
    else:
        d.set(halted=None)
        handle_failure(d, Trouble.NO_PROGRESS, f"{STOPPED}{trip.sentence}")


def is_laid_out(run: RunState) -> bool:
    """Return whether the run follows a plan or a flow, so that another step can handle a
    failure."""
    return run.flow is not None or (run.coordinator is not None and run.coordinator.planned)


def step_of_card(run: RunState, card: CardState) -> StepExecution | None:
    """Return the step execution that a card belongs to, if any."""
    return next((each for each in run.executions if each.card == card.id), None)


def diagnosed_by(run: RunState, card: CardState) -> CardState | None:
    """Return the failed card that this one diagnoses."""
    execution = step_of_card(run, card)
    return run.card(execution.failed) if execution else None


def after_diagnosis(run: RunState, failed: CardState) -> Escalation:
    """Return what the failed card's own policy asks for after its diagnosis."""
    return escalate(
        failed.trouble or Trouble.FAILING_CHECK,
        failed.failures_in_row,
        failed.template.on_fail,
        Strictness(run.policy.strictness),
        diagnosed=True,
    )


def _is_diagnosed(run: RunState, card: CardState) -> bool:
    """Return whether a failure has no diagnosis left: one per step of a flow, none of a
    diagnosis."""
    execution = step_of_card(run, card)
    again = execution is not None and execution.at != "" and execution.at in execution.diagnosed
    return again or card.template.step_id == DIAGNOSIS
