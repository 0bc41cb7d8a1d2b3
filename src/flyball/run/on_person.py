"""Handlers for a person's input: answers, extensions, resuming.

These events arrive from a person's surface only; no model can forge them.
"""

from __future__ import annotations

from msgspec.structs import replace

from flyball.errors import IllegalEvent
from flyball.guards.guard_memory import Memory
from flyball.guards.handover import should_reset
from flyball.plan.suite_checks import WEAKENED
from flyball.plan.template import Escalation
from flyball.run.call_queue import drop_dependent, go_on, promote
from flyball.run.event import Answered, Extended, Resumed
from flyball.run.finishing import settle
from flyball.run.mistake import remember
from flyball.run.on_outcome import open_build, set_tree
from flyball.run.setback import (
    APPROVED,
    diagnosed_by,
    drop_observations,
    fail,
    finish,
    try_again,
)
from flyball.run.state import Asking, CardState, Clock, Ending, Question
from flyball.run.working_copy import WorkingCopy
from flyball.terms.budget import spent_limit
from flyball.terms.call import Call
from flyball.terms.conflict import decision, overruled
from flyball.terms.evidence import AnyEvidence, ApprovalReport, VerdictReport
from flyball.terms.phase import Phase
from flyball.terms.shape import counted


def take_answer(d: WorkingCopy, event: Answered) -> None:
    """Handle a person's answer; a model cannot forge one."""
    question = d.card.question
    assert question is not None, "the table lets only the asked card hear an answer"
    # First back to where the card was: the handlers below enter phases, and a row that leads out of
    # `paused` is checked against where they end, not against the pause.
    d.return_from_pause()
    if event.note:
        d.say("person", event.note)
    if question.kind is Asking.GUARD:
        _on_guard(d, event, question)
    elif question.kind is Asking.CONFLICT:
        _on_conflict(d, event, question)
    else:
        ANSWERS[question.kind](d, event, question.call, question.appeal)


def answer_held_call(d: WorkingCopy, event: Answered) -> None:
    """Grant or refuse the one call that a host's model was told to get approved."""
    question = d.card.question
    assert question is not None, "the table lets only the asked card hear an answer"
    assert question.call is not None, "around a host only calls are held"
    d.set(question=None)
    if event.granted:
        d.set(granted=(*d.card.granted, question.call.digest))
        d.say("person", f"The person approved `{question.call.name}`: make that call again.")
    else:
        d.set(refused=(*d.card.refused, question.call.digest))
        d.say("person", f"The person refused `{question.call.name}`. {event.note}".rstrip())


def _on_call(d: WorkingCopy, event: Answered, call: Call | None, _appeal: str) -> None:
    assert call is not None
    if event.granted:
        d.set(granted=(*d.card.granted, call.digest), queue=(call, *d.card.queue))
    else:
        d.set(refused=(*d.card.refused, call.digest))
        d.spend(blocked=1)
        d.say("denial", f"A person refused `{call.tool}`. {event.note}".rstrip(), call.id)
        drop_dependent(d, call)
    go_on(d)


def _on_checkpoint(d: WorkingCopy, event: Answered, _call: Call | None, _appeal: str) -> None:
    if event.granted:
        open_build(d)
        return
    d.set(checkpoint=None)
    d.enter(Phase.CHECKPOINT)
    d.say("guidance", "The checkpoint was not accepted. State a better one.")
    go_on(d)


def _on_promotion(d: WorkingCopy, event: Answered, _call: Call | None, _appeal: str) -> None:
    if event.granted:
        promote(d)
        open_build(d)
        return
    d.set(checkpoint=None)
    if spent_limit(d.run.budget, d.run.spend):
        finish(d, Ending.SUCCEEDED, "")
        return
    d.say(
        "guidance",
        "The person wants nothing changed. Keep reading if you need to, and stop with the answer.",
    )
    go_on(d)


def _on_extension(d: WorkingCopy, event: Answered, _call: Call | None, _appeal: str) -> None:
    if event.granted:
        raise IllegalEvent("an extension says how many calls; append `extended` instead")
    give_up(d, "The budget is spent and was not extended.")


def _on_weakening(d: WorkingCopy, event: Answered, _call: Call | None, _appeal: str) -> None:
    if event.granted:
        d.set(accepted_weakening=d.card.tree, evidence=_accepted(d.card, event.by))
        _approve(d, event, WEAKENED)
        settle(d)
        return
    d.enter(Phase.EXECUTE)
    d.say("guidance", "The weakened tests were not accepted. Restore them and fix the code.")
    go_on(d)


def _accepted(card: CardState, by: str) -> tuple[AnyEvidence, ...]:
    """Return the card's evidence, with the verdict naming who accepted its findings."""
    return tuple(
        [
            replace(item, verdict=replace(item.verdict, accepted_by=by or "a person"))
            if isinstance(item, VerdictReport) and item.tree == card.tree
            else item
            for item in card.evidence
        ]
    )


def _on_appeal(d: WorkingCopy, event: Answered, _call: Call | None, appeal: str) -> None:
    if event.granted:
        d.set(granted=(*d.card.granted, appeal))
        d.say("guidance", "The appeal was granted. Make the call again.")
    else:
        d.say("guidance", "The appeal was refused. Do something else.")
    go_on(d)


def _on_review(d: WorkingCopy, event: Answered, _call: Call | None, _appeal: str) -> None:
    card = d.card
    if event.granted:
        d.set(accepted_review=card.tree)
        wanted = [use for use in card.template.gates if use.type == APPROVED]
        names = [str(use.parameters.get("what") or "") for use in wanted]
        for what in dict.fromkeys((Asking.REVIEW.value, *filter(None, names))):
            _approve(d, event, what)
        settle(d)
    elif diagnosed_by(d.run, card):
        try_again(d, "The person did not accept the diagnosis. Investigate again.")
    else:
        try_again(d, "A person reviewed the work and wants it changed.")


def _approve(d: WorkingCopy, event: Answered, what: str) -> None:
    """Record a person's approval of this exact tree as evidence; no driver can produce it."""
    card = d.card
    id = f"{card.id}.{what}.{event.question}"
    report = ApprovalReport(id=id, tree=card.tree, by=event.by, granted=True, what=what)
    d.set(evidence=(*card.evidence, report))


def _on_failure(d: WorkingCopy, event: Answered, _call: Call | None, _appeal: str) -> None:
    why = d.card.ending_reason
    if event.granted:
        try_again(d, why, words=event.note)
    else:
        fail(d, Escalation.FAIL_JOB, why)


def _on_guard(d: WorkingCopy, event: Answered, question: Question) -> None:
    if event.granted:
        restart_thread(d, question, event.note)
    else:
        remember(d, question.text)
        give_up(d, "A guard stopped the run and a person agreed.")


def _on_conflict(d: WorkingCopy, event: Answered, question: Question) -> None:
    """Add a person's decision to the task and start a new thread from there.

    The driver did nothing wrong, so its counters are reset. A yes that names no side withdraws the
    conflict, and a no ends the card.
    """
    assert question.conflict is not None, "a question about a conflict holds it"
    if not event.granted:
        give_up(d, "A person did not want the run to go on after a conflict.")
        return
    if event.choice is not None:
        said = decision(question.conflict, event.choice, event.note)
        freed = overruled(question.conflict, event.choice)
        d.set_run(request=f"{d.run.request}\n\n{said}", decided=(*d.run.decided, *freed))
        d.say("guidance", said)
    drop_observations(d)
    d.set(rejections=0, rejected_trees=(), idle_stops=0, form_slips=0, memory=Memory())
    # What a reviewer found to contradict is worked on again, and then reviewed again.
    d.set(is_reviewing=False, is_reviewed=False)
    if d.card.phase is Phase.VERIFY:
        d.enter(Phase.EXECUTE)
    go_on(d)


def _on_rest(d: WorkingCopy, event: Answered, _call: Call | None, _appeal: str) -> None:
    if not event.granted:
        give_up(d, "A person did not want the run to go on.")
        return
    d.set(continues=0)
    # What was owed before the pause is still owed; going on as well would ask the driver twice.
    if not d.has_debt:
        go_on(d)


ANSWERS = {
    Asking.CALL: _on_call,
    Asking.CHECKPOINT: _on_checkpoint,
    Asking.PROMOTION: _on_promotion,
    Asking.EXTENSION: _on_extension,
    Asking.WEAKENED_TESTS: _on_weakening,
    Asking.APPEAL: _on_appeal,
    Asking.REVIEW: _on_review,
    Asking.FAILURE: _on_failure,
    Asking.DRIVER: _on_rest,
    Asking.CONTENT_FILTER: _on_rest,
    Asking.LIMIT: _on_rest,
    Asking.PERSON: _on_rest,
}


def restart_thread(d: WorkingCopy, question: Question, words: str = "") -> None:
    """Start a new thread after a guard tripped, and restart the phase clock."""
    d.set(clock=Clock())
    d.reset_thread(should_reset(hard_guard=question.guard) or question.text, words)


def give_up(d: WorkingCopy, reason: str) -> None:
    """End the card because a person does not want to continue it."""
    finish(d, Ending.STOPPED, reason)


def tell_extension(d: WorkingCopy, event: Extended) -> None:
    """Inform a working card of its larger budget; the run's budget is already raised."""
    d.say("guidance", f"{event.by} added {counted(event.calls, 'call')} to the budget: {event.why}")


def end_pause_for_budget(d: WorkingCopy, event: Extended) -> None:
    """Answer a pending question about the budget with more calls; other questions stay open."""
    question = d.card.question
    if question is None or question.kind is not Asking.EXTENSION:
        return
    d.return_from_pause()
    tell_extension(d, event)
    go_on(d)


def resume(d: WorkingCopy, event: Resumed) -> None:
    """Continue where the card paused; open questions stay open."""
    question = d.card.question
    kind = question.kind if question else Asking.PERSON
    # A person may have edited files meanwhile. That is taken over even if the question stays open:
    # evidence about the old tree must not pass for evidence about the new one.
    if tree := event.tree_of(d.card.place):
        set_tree(d, tree, ())
    # Around a host a question about the work holds none of it: the next stop puts it again.
    is_repeated = kind is Asking.WEAKENED_TESTS and d.run.policy.hosted
    if kind is not Asking.GUARD and ANSWERS.get(kind) is not _on_rest and not is_repeated:
        return
    if is_repeated:
        d.set(was=Phase.EXECUTE)
    d.return_from_pause()
    d.set(continues=0)
    if question is not None and question.call is not None and d.run.policy.hosted:
        d.set(question=replace(question, kind=Asking.CALL))
    if question is not None and kind is Asking.GUARD:
        restart_thread(d, question)
    elif not d.has_debt:
        go_on(d)
