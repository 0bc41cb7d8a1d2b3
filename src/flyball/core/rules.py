"""One small handler per row of the table.

A handler changes the draft and names the next phase by entering it; `advance` checks that its row
allows that phase.
"""

from __future__ import annotations

from msgspec.structs import replace

from flyball.core.call import Access, Call
from flyball.core.closing import conclude, finish, settle
from flyball.core.decision import APPEALABLE, RECOVERY, is_named, may_build
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
    EvidenceSubmitted,
    EvidenceTaken,
    Extended,
    Finish,
    Noted,
    PauseAsked,
    Resumed,
    ThreadReset,
)
from flyball.core.evidence import AnyEvidence, SuiteReport, TreeHash, is_failing
from flyball.core.guard import Kind, Memory, Step, digest, fingerprint
from flyball.core.phase import RECON, Phase
from flyball.core.pump import go_on, promote, take_back
from flyball.core.state import Asking, Checkpoint, Clock, Ending, Judged, Remark
from flyball.errors import IllegalEvent

EMPTY_REPLY = "Your reply was empty. Make a call, or stop with an answer in words."
NO_REPLY = "the reply ended in an error"
GO_ON = "Your reply was cut off. Go on from where it ended, and be brief."
STATE_IT = (
    "Nothing may be changed before a checkpoint. Call `checkpoint` with goal, findings, "
    "proposed_action, files and verify_with."
)


def reply(d: Draft, event: DriverReplied) -> None:
    """The driver spoke: pass on its calls, or find out what its silence means."""
    d.use(event.usage)
    d.set(turns=d.card.turns + 1)
    if d.card.turns >= d.run.policy.max_turns:
        limit = d.run.policy.max_turns
        d.set(turns=0)
        d.ask(Asking.LIMIT, f"The driver has spoken {limit} times (max_turns).")
        return
    if d.card.is_summing_up:
        d.set(answer=event.text or d.card.answer, is_summing_up=False)
        d.ask(Asking.EXTENSION, f"The budget of {d.run.budget.limit} calls is spent. Extend it?")
        return
    if event.finish is Finish.CONTENT_FILTER:
        d.ask(Asking.CONTENT_FILTER, "The model's provider withheld its reply.")
        return
    if event.finish is Finish.ERROR:
        retry(d, event.text or NO_REPLY, retryable=True)
        return
    if event.calls:
        d.set(queue=(*d.card.queue, *event.calls), continues=0, driver_errors=0)
        go_on(d, event.usage.input_tokens)
        return
    d.set(driver_errors=0)
    _reply_without_calls(d, event)


def _reply_without_calls(d: Draft, event: DriverReplied) -> None:
    if event.finish is Finish.LENGTH:
        d.set(continues=d.card.continues + 1)
        if d.card.continues > d.run.policy.max_continues:
            limit = d.run.policy.max_continues
            d.ask(Asking.LIMIT, f"The reply was cut off more than {limit} times (max_continues).")
            return
        _nudge_on(d, "monologue", GO_ON)
    elif event.finish is Finish.TOOL_CALLS:
        _nudge_on(d, "monologue", "You announced calls but made none. Make one, or stop.")
    elif not event.text.strip():
        _nudge_on(d, "refused", EMPTY_REPLY)
    elif d.card.is_reviewing:
        remark = Remark("reviewer", event.text)
        d.set(continues=0, remarks=(*d.card.remarks, remark))
        stop(d)
    else:
        d.set(continues=0, answer=event.text)
        stop(d)


def _nudge_on(d: Draft, kind: Kind, text: str) -> None:
    step = Step(call="reply", outcome=digest(text), kind=kind)
    d.say("guidance", text)
    if reason := d.observe(step):
        d.halt(reason)
        return
    d.think()


def stop(d: Draft) -> None:
    """The driver means to be done with this phase."""
    card = d.card
    if card.phase.is_in(RECON):
        _leave_recon(d)
    elif card.phase is Phase.CHECKPOINT:
        d.set(idle_stops=card.idle_stops + 1)
        if d.card.idle_stops > 1:
            finish(d, Ending.UNVERIFIED, "The driver stopped without changing anything.")
        else:
            d.say("guidance", STATE_IT)
            d.think()
    elif card.phase is Phase.EXECUTE:
        if not card.has_changed:
            finish(d, Ending.UNVERIFIED, "The driver stopped without changing anything.")
        else:
            d.enter(Phase.VERIFY)
            settle(d)
    elif card.is_reviewing:
        d.set(is_reviewing=False, is_reviewed=True)
        conclude(d)
    else:
        settle(d)


def _leave_recon(d: Draft) -> None:
    card = d.card
    if card.role == "researcher":
        d.set(remarks=(*card.remarks, Remark("researcher", card.answer)))
        d.say("findings", f"The researcher found: {card.answer}")
    phases = card.template.phases
    following = phases[phases.index(card.phase) + 1 :] if card.phase in phases else ()
    for phase in following:
        if phase.is_in(RECON) or phase is Phase.CHECKPOINT:
            d.enter(phase)
            if phase is Phase.CHECKPOINT:
                d.say("guidance", STATE_IT)
            d.think()
            return
    finish(d, Ending.SUCCEEDED, "")


def last_word(d: Draft, event: DriverReplied) -> None:
    """In `final` the driver only answers; whatever it asks for besides is not made."""
    d.use(event.usage)
    d.spend(blocked=len(event.calls))
    d.set(turns=d.card.turns + 1)
    for call in event.calls:
        d.record(Judged(call.id, call.tool, "deny", "out_of_phase", RECOVERY[Phase.FINAL]))
        d.say("denial", RECOVERY[Phase.FINAL], call.id)
    if event.finish is Finish.ERROR:
        no_last_word(d, DriverFailed(card=d.card.id, error=event.text or NO_REPLY))
        return
    d.set(answer=event.text.strip() or d.card.answer)
    if _owes_an_answer(d):
        _nudge_on(d, "refused", EMPTY_REPLY)
    else:
        d.close()


def no_last_word(d: Draft, event: DriverFailed) -> None:
    """A driver that cannot sum up does not undo work that is done; an answer is asked for again."""
    if _owes_an_answer(d):
        retry(d, event.error, retryable=event.retryable)
    else:
        d.close()


def _owes_an_answer(d: Draft) -> bool:
    """Whether the answer is all there is to this card, and nobody has given it yet."""
    card = d.card
    return card.ending is Ending.SUCCEEDED and not card.answer and not card.has_changed


def driver_failed(d: Draft, event: DriverFailed) -> None:
    retry(d, event.error, retryable=event.retryable)


def retry(d: Draft, error: str, *, retryable: bool) -> None:
    """Ask again after a pause that doubles, then leave it to a person."""
    errors = d.card.driver_errors + 1
    d.set(driver_errors=errors)
    if retryable and errors <= d.run.policy.max_driver_errors:
        is_last = d.card.is_summing_up or d.card.phase is Phase.FINAL
        d.think(text_only=is_last, wait=float(2 ** (errors - 1)))
        return
    d.set(driver_errors=0)
    d.ask(Asking.DRIVER, f"The driver failed: {error}")


def call_returned(d: Draft, event: CallReturned) -> None:
    """A call came back: take its evidence, let the guards see it, go on."""
    if reason := _take_outcome(d, event):
        d.halt(reason)
        return
    go_on(d)


def call_returned_in_pause(d: Draft, event: CallReturned) -> None:
    """One of several calls came back after another had paused the card."""
    _take_outcome(d, event)


def _take_outcome(d: Draft, event: CallReturned) -> str:
    call = take_back(d, event.call)
    _set_tree(d, event.tree, event.changed)
    _take_evidence(d, event.evidence)
    if event.undone:
        names = ", ".join(event.undone)
        d.say(
            "guidance", f"`{call.tool}` changed {names}; that was undone, it is not allowed here."
        )
    return d.observe(_step(call, event))


COMMANDS = frozenset({"bash", "git", "dev_server_start", "dev_server_stop"})
"""Mutating tools whose effect is known only by looking: a failure is no failed edit."""

STEP_KIND: dict[Access, Kind] = {
    Access.READ: "read",
    Access.MUTATE: "mutate",
    Access.VERIFY: "verify",
    Access.CHECKPOINT: "checkpoint",
}


def _step(call: Call, event: CallReturned) -> Step:
    is_command = call.tool in COMMANDS and call.access is Access.MUTATE
    kind = "run" if is_command and not event.changed else STEP_KIND[call.access]
    failing = [item for item in event.evidence if is_failing(item)]
    if not failing and event.outcome.ok:
        return Step(call.digest, event.outcome.digest, kind, True, event.tree)
    names = sorted(
        {f.name for item in failing if isinstance(item, SuiteReport) for f in item.failures}
    )
    error = event.outcome.error or (event.outcome.text if failing else "")
    return Step(
        call=call.digest,
        outcome=event.outcome.digest,
        kind=kind,
        ok=event.outcome.ok,
        tree=event.tree,
        error=fingerprint(error) if error else "",
        failing=digest(names or [event.outcome.digest]) if failing else "",
    )


def call_interrupted(d: Draft, event: CallInterrupted) -> None:
    call_interrupted_in_pause(d, event)
    go_on(d)


def call_interrupted_in_pause(d: Draft, event: CallInterrupted) -> None:
    call = take_back(d, event.call)
    _set_tree(d, event.tree, ())
    text = f"`{call.tool}` was interrupted and may have done part of its work. {event.detail}"
    d.say("denial", f"{text.rstrip()} Look at the workspace before you repeat it.", call.id)


def checkpoint_stated(d: Draft, event: CheckpointStated) -> None:
    """A checkpoint opens `execute`, at once or when a person has seen it."""
    if event.call:
        take_back(d, event.call)
    previous = d.card.checkpoint
    is_idle = previous is not None and previous.tree == d.card.tree
    kind: Kind = "note" if is_idle else "checkpoint"
    stop = d.observe(Step(call="checkpoint", outcome=digest(event.goal), kind=kind))
    d.set(
        checkpoint=Checkpoint(
            goal=event.goal,
            findings=event.findings,
            proposed_action=event.proposed_action,
            files=event.files,
            verify_with=event.verify_with,
            tree=d.card.tree,
        ),
        drift=(),
        idle_stops=0,
        is_reviewing=False,
    )
    if stop:
        d.halt(stop)
    elif not may_build(d.run, d.card):
        if d.run.policy.assume_yes:
            promote(d)
            open_build(d)
        else:
            d.ask(Asking.PROMOTION, f"The run only looks so far. Let it change: {event.goal}?")
    elif d.run.policy.approve_checkpoint or d.card.template.checkpoint:
        d.ask(Asking.CHECKPOINT, f"Accept the checkpoint? {event.goal}")
    else:
        open_build(d)


def open_build(d: Draft) -> None:
    d.enter(Phase.EXECUTE)
    go_on(d)


def noted(d: Draft, event: Noted) -> None:
    if stop := _take_note(d, event):
        d.halt(stop)
    else:
        go_on(d)


def noted_in_pause(d: Draft, event: Noted) -> None:
    _take_note(d, event)


def _take_note(d: Draft, event: Noted) -> str:
    stop = ""
    if event.call:
        call = take_back(d, event.call)
        stop = d.observe(Step(call=call.digest, outcome="noted", kind="note"))
    remark = Remark(d.card.role, event.text, event.risk, event.assumptions)
    d.set(remarks=(*d.card.remarks, remark))
    return stop


def appealed_in_pause(d: Draft, event: Appealed) -> None:
    """A person is being asked something else already."""
    take_back(d, event.call)
    d.say("denial", "Not now: a person is asked something else. Appeal again later.", event.call)


def appealed(d: Draft, event: Appealed) -> None:
    """One appeal per denied call; promises cannot be appealed."""
    take_back(d, event.call)
    for i, denial in enumerate(d.card.denials):
        if event.about not in (denial.call, denial.tool) or denial.appealed:
            continue
        seen = replace(denial, appealed=True)
        d.set(denials=(*d.card.denials[:i], seen, *d.card.denials[i + 1 :]))
        if denial.code in APPEALABLE:
            text = (
                f"`{denial.tool}` was refused: {denial.reason} The driver objects: {event.reason}"
            )
            d.ask(Asking.APPEAL, text, appeal=denial.digest)
            return
        d.say("denial", f"Noted, but this rule has no exception: {denial.reason}", event.call)
        go_on(d)
        return
    d.say("denial", f"There is no denied call {event.about!r} left to appeal.", event.call)
    go_on(d)


def evidence_taken(d: Draft, event: EvidenceTaken) -> None:
    """What an inspection found; the way to `final` goes on from there."""
    _take_evidence(d, event.evidence)
    settle(d)


def evidence_seen(d: Draft, event: EvidenceTaken) -> None:
    """Something observed from outside, such as a page that loads; it changes no plan."""
    _take_evidence(d, event.evidence)


def evidence_submitted(d: Draft, event: EvidenceSubmitted) -> None:
    """A claim: kept apart from evidence, and it satisfies only what asks for claims."""
    d.set(claims={**d.card.claims, **event.fields})


def answered(d: Draft, event: Answered) -> None:
    """A person spoke; the model cannot forge this."""
    question = d.card.question
    assert question is not None, "course.concerns lets only the asked card hear an answer"
    d.return_from_pause()
    if event.note:
        d.say("person", event.note)
    ANSWERS[question.kind](d, event, question.call, question.appeal)


def _on_call(d: Draft, event: Answered, call: Call | None, _appeal: str) -> None:
    assert call is not None
    if event.granted:
        d.set(granted=(*d.card.granted, call.digest), queue=(call, *d.card.queue))
    else:
        d.set(refused=(*d.card.refused, call.digest))
        d.spend(blocked=1)
        d.say("denial", f"A person refused `{call.tool}`. {event.note}".rstrip(), call.id)
    go_on(d)


def _on_checkpoint(d: Draft, event: Answered, _call: Call | None, _appeal: str) -> None:
    if event.granted:
        open_build(d)
        return
    d.set(checkpoint=None)
    d.enter(Phase.CHECKPOINT)
    d.say("guidance", "The checkpoint was not accepted. State a better one.")
    go_on(d)


def _on_promotion(d: Draft, event: Answered, _call: Call | None, _appeal: str) -> None:
    if event.granted:
        promote(d)
        open_build(d)
        return
    d.set(checkpoint=None)
    finish(d, Ending.SUCCEEDED, "", needs_words=True)


def _on_extension(d: Draft, event: Answered, _call: Call | None, _appeal: str) -> None:
    if event.granted:
        raise IllegalEvent("an extension says how many calls; append `extended` instead")
    give_up(d, "The budget is spent and was not extended.")


def _on_weakening(d: Draft, event: Answered, _call: Call | None, _appeal: str) -> None:
    if event.granted:
        d.set(accepted_weakening=d.card.tree)
        settle(d)
        return
    d.enter(Phase.EXECUTE)
    d.say("guidance", "The weakened tests were not accepted. Restore them and mend the code.")
    go_on(d)


def _on_appeal(d: Draft, event: Answered, _call: Call | None, appeal: str) -> None:
    if event.granted:
        d.set(granted=(*d.card.granted, appeal))
        d.say("guidance", "The appeal was granted. Make the call again.")
    else:
        d.say("guidance", "The appeal was refused. Do something else.")
    go_on(d)


def _on_review(d: Draft, event: Answered, _call: Call | None, _appeal: str) -> None:
    if event.granted:
        d.set(accepted_review=d.card.tree)
        settle(d)
        return
    d.enter(Phase.EXECUTE)
    d.say("guidance", "A person reviewed the work and wants it changed.")
    go_on(d)


def _on_guard(d: Draft, event: Answered, _call: Call | None, _appeal: str) -> None:
    if event.granted:
        start_afresh(d)
    else:
        give_up(d, "A guard stopped the run and a person agreed.")


def _on_rest(d: Draft, event: Answered, _call: Call | None, _appeal: str) -> None:
    if not event.granted:
        give_up(d, "A person did not want the run to go on.")
        return
    d.set(continues=0)
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
    Asking.GUARD: _on_guard,
    Asking.DRIVER: _on_rest,
    Asking.CONTENT_FILTER: _on_rest,
    Asking.LIMIT: _on_rest,
    Asking.PERSON: _on_rest,
}


def start_afresh(d: Draft) -> None:
    """After a guard: a new thread, and the time of the phase begins anew."""
    d.set(clock=Clock())
    d.reset_thread("a guard stopped the last thread")


def give_up(d: Draft, reason: str) -> None:
    """End without success; work that is there and unproven is called so."""
    finish(d, Ending.UNVERIFIED if d.card.has_changed else Ending.FAILED, reason)


def extended(d: Draft, event: Extended) -> None:
    """A working card simply has more to spend (the run's budget was raised already)."""
    d.say("guidance", f"{event.by} added {event.calls} calls to the budget: {event.why}")


def extended_in_pause(d: Draft, event: Extended) -> None:
    question = d.card.question
    if question is None or question.kind is not Asking.EXTENSION:
        return
    d.return_from_pause()
    extended(d, event)
    go_on(d)


def resumed(d: Draft, event: Resumed) -> None:
    """Go on where the card was; what needs an answer keeps waiting for it."""
    question = d.card.question
    kind = question.kind if question else Asking.PERSON
    if event.tree:
        _set_tree(d, event.tree, ())
    if ANSWERS[kind] not in (_on_rest, _on_guard):
        return
    d.return_from_pause()
    d.set(continues=0)
    if kind is Asking.GUARD:
        start_afresh(d)
    elif not d.has_debt:
        go_on(d)


def rest(d: Draft, event: PauseAsked) -> None:
    d.ask(Asking.PERSON, f"{event.by} asked for a pause.")


def stay(_d: Draft, _event: object) -> None:
    """Nothing to do: the card waits already."""


def cancel(d: Draft, event: Cancelled) -> None:
    reason = f"Cancelled by {event.by}. {event.why}".rstrip()
    d.set(ending=Ending.CANCELLED, ending_reason=reason, question=None, queue=(), in_flight=())
    d.enter(Phase.CANCELLED)


def thread_reset(d: Draft, _event: ThreadReset) -> None:
    d.set(attempt=d.card.attempt + 1, memory=Memory())
    go_on(d)


def closed(d: Draft, event: CardClosed) -> None:
    """The last row: only a proven card, or one that had nothing to prove, succeeds."""
    if event.error:
        d.set(ending=Ending.FAILED, ending_reason=event.error)
    d.set(commit=event.commit)
    d.enter(Phase.SUCCEEDED if d.card.ending is Ending.SUCCEEDED else Phase.FAILED)


def _set_tree(d: Draft, tree: TreeHash, changed: tuple[str, ...]) -> None:
    """A new tree makes all evidence stale but what was seen on the base."""
    card = d.card
    if tree == card.tree:
        return
    named = {*card.checkpoint.files, *card.drift} if card.checkpoint else set[str]()
    drift = tuple([path for path in changed if not is_named(path, named)])
    d.set(
        tree=tree,
        mutated_at=d.run.seq,
        evidence=tuple([item for item in card.evidence if item.tree == card.base]),
        drift=(*card.drift, *drift),
        is_reviewed=False,
    )


def _take_evidence(d: Draft, evidence: tuple[AnyEvidence, ...]) -> None:
    if evidence:
        d.set(evidence=(*d.card.evidence, *evidence))
