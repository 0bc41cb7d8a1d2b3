"""One small handler per row of the table: what the driver says, and how a card starts and ends.

A handler changes the working copy and names the next phase by entering it; `advance` checks that
its row allows that phase. Results of calls are in `on_outcome`, a person's answers in `on_person`.
"""

from __future__ import annotations

from collections.abc import Callable

from flyball.guards.guard import Trip
from flyball.guards.guard_memory import GuardStep, Kind, Memory
from flyball.plan.message import ExecutionPlan, Message
from flyball.plan.plan import plan_issues
from flyball.plan.replies import Unclear, spoken_plan, spoken_report
from flyball.plan.template import Escalation, Role
from flyball.run.call_queue import go_on
from flyball.run.decision import RECOVERY, may_build
from flyball.run.ending import judges_itself
from flyball.run.event import (
    Cancelled,
    CardClosed,
    DriverFailed,
    DriverReplied,
    Finish,
    PauseAsked,
    ThreadReset,
)
from flyball.run.finishing import (
    CHANGE_IT,
    conclude,
    inspect_whole,
    is_confirmed,
    may_confirm,
    offer_promotion,
    run_suite,
    run_suite_for_verifier,
    settle,
    take_verdict,
)
from flyball.run.setback import fail, finish, halt, try_again
from flyball.run.state import BY_PROVIDER, Asking, CardState, Ending, Judged, Remark
from flyball.run.working_copy import WorkingCopy
from flyball.terms.call import digest
from flyball.terms.evidence import SuiteReport
from flyball.terms.phase import BUILD, RECON, Phase

SPOKEN: dict[str, Callable[..., Message | Unclear]] = {
    Role.PLANNER: spoken_plan,
    Role.VERIFIER: spoken_report,
}
"""How to read the last words of cards whose answer is a message."""

EMPTY_REPLY = "Your reply was empty. Make a call, or stop with a written answer."
NO_REPLY = "the reply ended in an error"
GO_ON = "Your reply was cut off. Go on from where it ended, and be brief."
NOTHING_DONE = "The driver stopped without changing anything."
ANNOUNCED = "You announced calls but made none. Make one, or stop."
FINISH = (
    "Several replies neither made a call nor stopped. Make the next call now, or stop with your "
    "answer."
)
WRAP_UP_AT = 3
"""After this many replies without a call or a stop, Flyball itself inspects the work."""
CONFIRM_IT = (
    "Nothing has changed yet. If this step's goal is already met, run `test` to show it and stop "
    "again; otherwise make the change with `edit_diff`."
)
IDLE_STOPS = 2
"""How often a driver that stops without a change is asked to go on."""
STATE_IT = (
    "Nothing may be changed before a checkpoint. Call `checkpoint` with goal, findings, "
    "proposed_action, files and verify_with."
)


def reply(d: WorkingCopy, event: DriverReplied) -> None:
    """Handle a reply: queue its calls, or interpret a reply without calls."""
    d.use(event.usage)
    d.set(turns=d.card.turns + 1)
    stop = _count_looks(d, event)
    if d.card.turns >= d.run.policy.max_turns:
        limit = d.run.policy.max_turns
        d.set(turns=0)
        d.ask(Asking.LIMIT, f"The driver has replied {limit} times (max_turns).")
        return
    # Before anything else is made of the reply: it was asked for words alone, and whatever calls it
    # holds would be denied for lack of budget and lead here again.
    if d.card.is_summing_up:
        d.set(answer=event.text.strip() or d.card.answer, is_summing_up=False)
        _take_summary(d)
        return
    if stop:
        halt(d, stop)
        return
    if event.finish is Finish.CONTENT_FILTER:
        d.ask(Asking.CONTENT_FILTER, "The model's provider withheld its reply.")
        return
    if event.finish is Finish.ERROR:
        retry(d, event.text or NO_REPLY, retryable=True)
        return
    if event.calls:
        queue = (*d.card.queue, *event.calls)
        d.set(queue=queue, continues=0, idle_stops=0, driver_errors=0)
        go_on(d, event.usage.input_tokens or event.estimate)
        return
    d.set(driver_errors=0)
    _reply_without_calls(d, event)


def _count_looks(d: WorkingCopy, event: DriverReplied) -> Trip | None:
    """Count searches made by the provider: they already happened, so they are not judged."""
    hard: Trip | None = None
    for look in event.looks:
        d.spend(calls=1)
        d.set(calls=d.card.calls + 1)
        d.record(Judged(look.id, look.tool, "allow", BY_PROVIDER, look.about))
        step = GuardStep(digest([look.tool, look.about]), look.digest, "read", look.ok)
        hard = d.observe(step) or hard
    return hard


def _take_summary(d: WorkingCopy) -> None:
    """Use the last words of a driver whose budget is spent as the answer, if they can be one.

    The change is inspected before a person is asked for more budget: it may already be complete.
    """
    card = d.card
    if card.is_reviewing:
        d.set(remarks=(*card.remarks, Remark("reviewer", card.answer)))
        stop(d)
    elif card.has_changed and card.phase.is_in(BUILD):
        wrap_up(d)
    elif card.answer and not card.has_changed and not may_build(d.run, card) and not _fault(d):
        d.set(is_cut_short=True)
        settle(d)
    else:
        d.ask(Asking.EXTENSION, f"The budget of {d.run.budget.limit} calls is spent. Extend it?")


def wrap_up(d: WorkingCopy) -> None:
    """Start the verdict without being asked; the result is handled as if the driver had stopped."""
    d.enter(Phase.VERIFY)
    if not take_verdict(d):
        settle(d)


def _reply_without_calls(d: WorkingCopy, event: DriverReplied) -> None:
    if event.finish in (Finish.LENGTH, Finish.TOOL_CALLS):
        _let_talk(d, event.finish)
    elif not event.text.strip():
        _nudge_on(d, "refused", EMPTY_REPLY)
    elif d.card.is_reviewing:
        remark = Remark("reviewer", event.text)
        d.set(continues=0, remarks=(*d.card.remarks, remark))
        stop(d)
    else:
        d.set(continues=0, answer=event.text)
        stop(d)


def _let_talk(d: WorkingCopy, finish: Finish) -> None:
    """Ask a driver to continue if its reply was cut off or only announced something, up to a
    limit."""
    card, limit = d.card, d.run.policy.max_continues
    d.set(continues=card.continues + 1)
    if card.continues > limit:
        why = f"{card.continues} replies in a row made no call and did not stop (max_continues)."
        d.ask(Asking.LIMIT, why)
    elif finish is Finish.LENGTH:
        d.say("guidance", GO_ON)
        d.think(text_only=card.phase is Phase.FINAL)
    elif card.continues != WRAP_UP_AT:
        _nudge_on(d, "monologue", ANNOUNCED if card.continues < WRAP_UP_AT else FINISH)
    elif card.has_changed and card.phase.is_in(BUILD) and not card.is_reviewing:
        wrap_up(d)
    else:
        _nudge_on(d, "monologue", FINISH)


def _nudge_on(d: WorkingCopy, kind: Kind, text: str) -> None:
    step = GuardStep(call="reply", outcome=digest(text), kind=kind)
    d.say("guidance", text)
    if trip := d.observe(step):
        halt(d, trip)
        return
    d.think(text_only=d.card.phase is Phase.FINAL)


def stop(d: WorkingCopy) -> None:
    """Handle a driver's claim to be done with this phase."""
    card = d.card
    if card.phase is Phase.EXECUTE:
        if not card.has_changed and not judges_itself(card.template):
            _leave_unchanged(d)
        else:
            d.enter(Phase.VERIFY)
            settle(d)
    elif card.phase is Phase.CHECKPOINT:
        _leave_checkpoint(d)
    elif card.phase.is_in(RECON):
        _leave_recon(d)
    elif card.is_reviewing:
        d.set(is_reviewing=False, is_reviewed=True)
        conclude(d)
    else:
        settle(d)


def _leave_unchanged(d: WorkingCopy) -> None:
    """Ask for a change a few times, then end as *nothing changed*.

    A step whose criteria already hold is done; that is checked, not assumed.
    """
    card = d.card
    d.set(idle_stops=card.idle_stops + 1)
    if is_confirmed(d):
        finish(d, Ending.SUCCEEDED, "")
    elif may_confirm(d):
        if card.idle_stops > 1:
            run_suite(d)
        else:
            d.say("guidance", CONFIRM_IT)
            d.think()
    elif (d.run.policy.hosted or not d.run.policy.is_current) and card.idle_stops <= IDLE_STOPS:
        d.say("guidance", f"Nothing was changed. {CHANGE_IT}")
        d.think()
    elif _looks_itself(d) and not _knows_suite(card):
        run_suite(d)
    else:
        settle(d)


def _looks_itself(d: WorkingCopy) -> bool:
    policy = d.run.policy
    return bool(d.run.project.runners) and not policy.hosted and policy.is_current


def _knows_suite(card: CardState) -> bool:
    """Return whether Flyball knows the test results of the current tree."""
    seen = [each for each in card.evidence if isinstance(each, SuiteReport)]
    return any(each.tree == card.tree and not each.selected for each in seen)


def _leave_checkpoint(d: WorkingCopy) -> None:
    """Remind a card once that it needs a checkpoint; end a card that only reads."""
    card = d.card
    d.set(idle_stops=card.idle_stops + 1)
    if not card.template.may_mutate and card.checkpoint is not None:
        settle(d)
    elif is_confirmed(d):
        finish(d, Ending.SUCCEEDED, "")
    elif card.idle_stops <= 1:
        d.say("guidance", STATE_IT)
        d.think()
    elif judges_itself(card.template) or not card.template.may_mutate:
        settle(d)
    elif may_confirm(d):
        run_suite(d)
    else:
        finish(d, Ending.UNCHANGED, NOTHING_DONE)


def _leave_recon(d: WorkingCopy) -> None:
    card = d.card
    if card.role != card.template.role:
        d.set(remarks=(*card.remarks, Remark("researcher", card.answer)))
        d.say("findings", f"The researcher found: {card.answer}")
    # Three answers: "" is a readable plan or report, None is a card that owes neither.
    fault = _fault(d)
    if fault == "":
        if card.role != Role.VERIFIER or not (inspect_whole(d) or run_suite_for_verifier(d)):
            finish(d, Ending.SUCCEEDED, "")
        return
    if fault is not None:
        _ask_again(d, fault)
        return
    phases = card.template.phases
    following = phases[phases.index(card.phase) + 1 :] if card.phase in phases else ()
    for phase in following:
        if phase is Phase.CHECKPOINT and _has_seen_nothing(card):
            # Whoever is sent on now could only promise blindly.
            d.set(idle_stops=1)
            d.say("guidance", STATE_IT)
            d.think()
            return
        if phase.is_in(RECON) or phase is Phase.CHECKPOINT:
            d.enter(phase)
            if phase is Phase.CHECKPOINT:
                d.say("guidance", STATE_IT)
            d.think()
            return
    if not offer_promotion(d):
        settle(d)


def _has_seen_nothing(card: CardState) -> bool:
    """Return whether a driver that should change something stops before making a single call."""
    is_first = card.phase is Phase.ANALYZE_CODE and not card.calls and not card.idle_stops
    return is_first and card.template.may_mutate


def _fault(d: WorkingCopy) -> str | None:
    """Return what is wrong with a planner's plan or a verifier's report, or None."""
    card = d.card
    read = None if card.step else SPOKEN.get(card.role)
    if read is None:
        return None
    found = read(card.answer, id=card.id, request_id=d.run.run)
    if isinstance(found, Unclear):
        return found.why
    if not isinstance(found, ExecutionPlan) or d.run.coordinator is None:
        return ""
    # Here and not only in the coordinator: the planner can still fix it, and no iteration is lost.
    issues = plan_issues(found, d.run.coordinator.templates)
    return " ".join(f"{each.step_id}: {each.issue}." for each in issues)


def _ask_again(d: WorkingCopy, fault: str) -> None:
    rejections = d.card.rejections + 1
    if rejections > d.run.policy.max_rejections:
        why = f"The {d.card.role} could not be understood, {rejections} times. {fault}"
        d.set(rejections=rejections, ending_reason=why)
        _try_or_rest(d, why)
        return
    d.reject(fault, rejections=rejections)


def _try_or_rest(d: WorkingCopy, why: str) -> None:
    """Ask a person; use an approval given in advance, if there is one, once."""
    if not d.run.policy.assume_yes:
        d.ask(Asking.FAILURE, f"{why} Try again?")
    elif not d.card.failures_in_row:
        d.set(failures_in_row=1)
        try_again(d, why)
    else:
        fail(d, Escalation.FAIL_JOB, why)


def accept_answer(d: WorkingCopy, event: DriverReplied) -> None:
    """Accept the driver's answer in `final`; calls in that reply are ignored."""
    d.use(event.usage)
    d.spend(blocked=len(event.calls))
    d.set(turns=d.card.turns + 1)
    _count_looks(d, event)
    for call in event.calls:
        d.record(Judged(call.id, call.tool, "deny", "out_of_phase", RECOVERY[Phase.FINAL]))
        d.say("denial", RECOVERY[Phase.FINAL], call.id)
    if event.finish is Finish.ERROR:
        end_without_answer(d, DriverFailed(card=d.card.id, error=event.text or NO_REPLY))
        return
    d.set(answer=event.text.strip() or d.card.answer)
    if _owes_an_answer(d):
        _nudge_on(d, "refused", EMPTY_REPLY)
    elif d.card.template.phases[0] is Phase.FINAL and d.card.ending is Ending.SUCCEEDED:
        settle(d)
    else:
        d.close()


def end_without_answer(d: WorkingCopy, event: DriverFailed) -> None:
    """Keep finished work of a driver that cannot sum up; ask again if the answer is the only
    result."""
    if _owes_an_answer(d):
        retry(d, event.error, retryable=event.retryable)
    else:
        d.close()


def _owes_an_answer(d: WorkingCopy) -> bool:
    """Return whether the answer is the card's only result and is still missing."""
    card = d.card
    return card.ending is Ending.SUCCEEDED and not card.answer and not card.has_changed


def retry_driver(d: WorkingCopy, event: DriverFailed) -> None:
    """Ask again for a while when no driver replied."""
    retry(d, event.error, retryable=event.retryable)


def retry(d: WorkingCopy, error: str, *, retryable: bool) -> None:
    """Retry after a delay that doubles each time, then ask a person."""
    errors = d.card.driver_errors + 1
    d.set(driver_errors=errors)
    if retryable and errors <= d.run.policy.max_driver_errors:
        is_last = d.card.is_summing_up or d.card.phase is Phase.FINAL
        d.think(text_only=is_last, wait=float(2 ** (errors - 1)))
        return
    d.set(driver_errors=0)
    d.ask(Asking.DRIVER, f"The driver failed: {error}")


def pause(d: WorkingCopy, event: PauseAsked) -> None:
    """Pause until a person lets the card continue."""
    d.ask(Asking.PERSON, f"{event.by} asked for a pause.")


def stay(_d: WorkingCopy, _event: object) -> None:
    """Do nothing, because the card is already waiting."""


def cancel(d: WorkingCopy, event: Cancelled) -> None:
    """End the card at once, without waiting for pending calls."""
    reason = f"Cancelled by {event.by}. {event.why}".rstrip()
    d.set(ending=Ending.CANCELLED, ending_reason=reason, question=None, queue=(), in_flight=())
    d.enter(Phase.CANCELLED)


def begin_thread(d: WorkingCopy, _event: ThreadReset) -> None:
    """Start a new attempt at the same card; its checkpoint, evidence and tree are kept."""
    # The guards' memory is of an attempt: a new driver must not be stopped for the old one's loop.
    d.set(attempt=d.card.attempt + 1, memory=Memory())
    if d.run.policy.hosted and d.card.phase is Phase.VERIFY:
        # A person spoke into the verdict on a host's work: the work goes on.
        d.enter(Phase.EXECUTE)
    go_on(d)


def end_card(d: WorkingCopy, event: CardClosed) -> None:
    """End the card: only a verified card, or one with nothing to verify, succeeds."""
    if event.error:
        d.set(ending=Ending.FAILED, ending_reason=event.error)
    d.set(commit=event.commit)
    # Only a card beside the run's own tree brings one: its work was merged while it was closed.
    if event.tree:
        d.set_run(tree=event.tree)
    d.enter(Phase.SUCCEEDED if d.card.ending is Ending.SUCCEEDED else Phase.FAILED)
