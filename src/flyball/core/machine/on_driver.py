"""One small handler per row of the table: what the driver says, and how a card comes and goes.

A handler changes the working copy and names the next phase by entering it; `advance` checks that
its row allows that phase. Calls coming back are in `on_outcome`, a person's words in `on_person`.
"""

from __future__ import annotations

from collections.abc import Callable

from flyball.core.flow.template import Role
from flyball.core.machine.call_queue import go_on
from flyball.core.machine.finishing import conclude, inspect_whole, judges_itself, settle
from flyball.core.machine.setback import finish, halt
from flyball.core.memory.fingerprint import digest
from flyball.core.memory.guard import GuardStep, Kind, Memory
from flyball.core.plan.message import Message
from flyball.core.plan.replies import Unclear, spoken_plan, spoken_report
from flyball.core.run.decision import RECOVERY
from flyball.core.run.event import (
    Cancelled,
    CardClosed,
    DriverFailed,
    DriverReplied,
    Finish,
    PauseAsked,
    ThreadReset,
)
from flyball.core.run.state import Asking, Ending, Judged, Remark
from flyball.core.run.working_copy import WorkingCopy
from flyball.core.terms.phase import RECON, Phase

SPOKEN: dict[str, Callable[..., Message | Unclear]] = {
    Role.PLANNER: spoken_plan,
    Role.VERIFIER: spoken_report,
}
"""How the last words of those cards are read whose answer is a message."""

EMPTY_REPLY = "Your reply was empty. Make a call, or stop with an answer in words."
NO_REPLY = "the reply ended in an error"
GO_ON = "Your reply was cut off. Go on from where it ended, and be brief."
NOTHING_DONE = "The driver stopped without changing anything."
STATE_IT = (
    "Nothing may be changed before a checkpoint. Call `checkpoint` with goal, findings, "
    "proposed_action, files and verify_with."
)


def reply(d: WorkingCopy, event: DriverReplied) -> None:
    """The driver spoke: pass on its calls, or find out what its silence means."""
    d.use(event.usage)
    d.set(turns=d.card.turns + 1)
    if d.card.turns >= d.run.policy.max_turns:
        limit = d.run.policy.max_turns
        d.set(turns=0)
        d.ask(Asking.LIMIT, f"The driver has spoken {limit} times (max_turns).")
        return
    # Before anything else is made of the reply: it was asked for words alone, and whatever calls it
    # holds would be denied for lack of budget and lead here again.
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


def _reply_without_calls(d: WorkingCopy, event: DriverReplied) -> None:
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


def _nudge_on(d: WorkingCopy, kind: Kind, text: str) -> None:
    step = GuardStep(call="reply", outcome=digest(text), kind=kind)
    d.say("guidance", text)
    if trip := d.observe(step):
        halt(d, trip)
        return
    d.think(text_only=d.card.phase is Phase.FINAL)


def stop(d: WorkingCopy) -> None:
    """The driver means to be done with this phase."""
    card = d.card
    if card.phase is Phase.EXECUTE:
        if not card.has_changed and not judges_itself(card.template):
            finish(d, Ending.UNCHANGED, NOTHING_DONE)
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


def _leave_checkpoint(d: WorkingCopy) -> None:
    """A card that owes a checkpoint is told so once; one that only looks is done with it."""
    card = d.card
    d.set(idle_stops=card.idle_stops + 1)
    if not card.template.may_mutate and card.checkpoint is not None:
        settle(d)
    elif card.idle_stops <= 1:
        d.say("guidance", STATE_IT)
        d.think()
    elif judges_itself(card.template) or not card.template.may_mutate:
        settle(d)
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
        if card.role != Role.VERIFIER or not inspect_whole(d):
            finish(d, Ending.SUCCEEDED, "")
        return
    phases = card.template.phases
    following = phases[phases.index(card.phase) + 1 :] if card.phase in phases else ()
    for phase in following:
        if phase.is_in(RECON) or phase is Phase.CHECKPOINT:
            d.enter(phase)
            if phase is Phase.CHECKPOINT:
                d.say("guidance", STATE_IT)
            d.think()
            return
    if fault is None:
        settle(d)
    else:
        _ask_again(d, fault)


def _fault(d: WorkingCopy) -> str | None:
    """What is wrong with a planner's plan or a verifier's report; None for whoever owes neither."""
    card = d.card
    read = None if card.step else SPOKEN.get(card.role)
    if read is None:
        return None
    found = read(card.answer, id=card.id, request_id=d.run.run)
    return found.why if isinstance(found, Unclear) else ""


def _ask_again(d: WorkingCopy, fault: str) -> None:
    rejections = d.card.rejections + 1
    if rejections > d.run.policy.max_rejections:
        d.set(rejections=rejections)
        finish(d, Ending.FAILED, f"The {d.card.role} could not be understood. {fault}")
        return
    d.reject(fault, rejections=rejections)


def last_word(d: WorkingCopy, event: DriverReplied) -> None:
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
    elif d.card.template.phases[0] is Phase.FINAL and d.card.ending is Ending.SUCCEEDED:
        settle(d)
    else:
        d.close()


def no_last_word(d: WorkingCopy, event: DriverFailed) -> None:
    """A driver that cannot sum up does not undo work that is done; an answer is asked for again."""
    if _owes_an_answer(d):
        retry(d, event.error, retryable=event.retryable)
    else:
        d.close()


def _owes_an_answer(d: WorkingCopy) -> bool:
    """Whether the answer is all there is to this card, and nobody has given it yet."""
    card = d.card
    return card.ending is Ending.SUCCEEDED and not card.answer and not card.has_changed


def retry_driver(d: WorkingCopy, event: DriverFailed) -> None:
    """Nobody replied: ask again for a while."""
    retry(d, event.error, retryable=event.retryable)


def retry(d: WorkingCopy, error: str, *, retryable: bool) -> None:
    """Ask again after a pause that doubles, then leave it to a person."""
    errors = d.card.driver_errors + 1
    d.set(driver_errors=errors)
    if retryable and errors <= d.run.policy.max_driver_errors:
        is_last = d.card.is_summing_up or d.card.phase is Phase.FINAL
        d.think(text_only=is_last, wait=float(2 ** (errors - 1)))
        return
    d.set(driver_errors=0)
    d.ask(Asking.DRIVER, f"The driver failed: {error}")


def pause(d: WorkingCopy, event: PauseAsked) -> None:
    """Rest until the person who asked for it, or another one, lets the card go on."""
    d.ask(Asking.PERSON, f"{event.by} asked for a pause.")


def stay(_d: WorkingCopy, _event: object) -> None:
    """Nothing to do: the card waits already."""


def cancel(d: WorkingCopy, event: Cancelled) -> None:
    """End the card at once; what was under way is not waited for."""
    reason = f"Cancelled by {event.by}. {event.why}".rstrip()
    d.set(ending=Ending.CANCELLED, ending_reason=reason, question=None, queue=(), in_flight=())
    d.enter(Phase.CANCELLED)


def begin_thread(d: WorkingCopy, _event: ThreadReset) -> None:
    """A new attempt at the same card; the checkpoint, the evidence and the tree stay."""
    # The guards' memory is of an attempt: a new driver must not be stopped for the old one's loop.
    d.set(attempt=d.card.attempt + 1, memory=Memory())
    go_on(d)


def end_card(d: WorkingCopy, event: CardClosed) -> None:
    """The last row: only a verified card, or one that had nothing to verify, succeeds."""
    if event.error:
        d.set(ending=Ending.FAILED, ending_reason=event.error)
    d.set(commit=event.commit)
    # Only a card beside the run's own tree brings one: its work was merged while it was closed.
    if event.tree:
        d.set_run(tree=event.tree)
    d.enter(Phase.SUCCEEDED if d.card.ending is Ending.SUCCEEDED else Phase.FAILED)
