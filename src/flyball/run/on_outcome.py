"""Handlers for results: outcomes of calls, checkpoints, notes, appeals, conflicts, evidence."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.guards.fingerprint import fingerprint
from flyball.guards.guard import Trip
from flyball.guards.guard_memory import GuardStep, Kind
from flyball.guards.handover import should_reset
from flyball.plan.library import template_for
from flyball.run.call_queue import drop_dependent, go_on, pop_in_flight, promote
from flyball.run.decision import APPEALABLE, is_named, may_build
from flyball.run.event import (
    Appealed,
    CallInterrupted,
    CallReturned,
    CheckpointStated,
    ConflictStated,
    EvidenceSubmitted,
    EvidenceTaken,
    Noted,
)
from flyball.run.finishing import conclude, reject_moved, settle
from flyball.run.mistake import notice
from flyball.run.setback import halt
from flyball.run.state import Asking, Checkpoint, Judged, Remark
from flyball.run.working_copy import WorkingCopy
from flyball.terms.call import INTERRUPTED, Access, Call, digest
from flyball.terms.evidence import AnyEvidence, SuiteReport, TreeHash, VisualReport
from flyball.terms.evidence_rows import is_failing
from flyball.terms.phase import Phase
from flyball.terms.tool import COMMANDS, TOOL_ROWS


def take_outcome(d: WorkingCopy, event: CallReturned) -> None:
    """Handle the outcome of a call: keep its evidence, update the guards, continue.

    A thread that repeats a recorded mistake is replaced, once.
    """
    trip, repeated = _keep_outcome(d, event)
    if trip:
        halt(d, trip)
    elif repeated and (why := should_reset(ledger_match=repeated)):
        d.reset_thread(why)
    else:
        go_on(d)


def take_outcome_in_pause(d: WorkingCopy, event: CallReturned) -> None:
    """Handle the outcome of a call that returns after another call paused the card."""
    _keep_outcome(d, event)


def _keep_outcome(d: WorkingCopy, event: CallReturned) -> tuple[Trip | None, str]:
    """Return the trip that stops the card, and the recorded mistake that the call repeated."""
    call = pop_in_flight(d, event.call)
    # A red test run did what it was asked for; a read or an edit that failed did not.
    if not event.outcome.ok and call.access is not Access.VERIFY:
        drop_dependent(d, call)
    # The tree before the evidence: a new tree drops what is known of the old one, and what the call
    # observed is about the new one.
    _take_tree(d, call, event)
    repeated = _keep_evidence(d, event.evidence)
    if call.tool == "git" and (message := event.outcome.data.get("message")):
        d.set(commit_message=str(message))
    if event.undone:
        names = ", ".join(event.undone)
        d.say(
            "guidance", f"`{call.name}` changed {names}; that was undone, it is not allowed here."
        )
    _tell_put_back(d, call, event.put_back)
    return d.observe(_step(call, event)), repeated


def _take_tree(d: WorkingCopy, call: Call, event: CallReturned | CallInterrupted) -> None:
    """Record the tree after a call, and which of its files only programs made."""
    if isinstance(event, CallReturned) and event.base:
        _move_base(d, event.base)
    known, made = {*d.card.changed}, dict.fromkeys(d.card.made)
    changed = event.changed if isinstance(event, CallReturned) else event.created
    # A tool may have written a file that a program then removed and made anew: it stays the tool's.
    fresh = [path for path in event.created if path not in known]
    if not TOOL_ROWS[call.tool].starts_process:
        made = {path: None for path in made if path not in changed}
    set_tree(d, event.tree, changed, made=(*made, *fresh))
    if fresh and call.tool in COMMANDS:
        names = ", ".join(fresh)
        d.say(
            "guidance",
            f"`{call.name}` made {names}. What only commands make is left behind, not committed. "
            "If it belongs to the work, write it with `write_file` or `edit_diff`.",
        )


def _move_base(d: WorkingCopy, base: TreeHash) -> None:
    """Move the base to a tree that includes other people's changes: they do not belong to the
    card."""
    if d.run.tree == d.run.base == d.card.base:
        d.set_run(base=base, tree=base, snapshot=base)
    d.set(base=base)


def _tell_put_back(d: WorkingCopy, call: Call, paths: tuple[str, ...]) -> None:
    if paths:
        names = ", ".join(paths)
        d.say(
            "guidance",
            f"`{call.name}` removed or overwrote {names}: work of the user's that is not in git. "
            "It was put back. If it must change, name the file in `edit_diff`, `write_file` or "
            "`delete_file`; a person is asked.",
        )


STEP_KIND: dict[Access, Kind] = {
    Access.READ: "read",
    Access.MUTATE: "mutate",
    Access.VERIFY: "verify",
    Access.CHECKPOINT: "checkpoint",
}


def _step(call: Call, event: CallReturned) -> GuardStep:
    is_command = call.tool in COMMANDS and call.access is Access.MUTATE
    kind = "run" if is_command and not event.changed else STEP_KIND[call.access]
    failing = [item for item in event.evidence if is_failing(item)]
    if not failing and event.outcome.ok:
        return GuardStep(call.digest, event.outcome.digest, kind, True, event.tree)
    names = sorted(
        {f.name for item in failing if isinstance(item, SuiteReport) for f in item.failures}
    )
    error = event.outcome.error or (event.outcome.text if failing else "")
    return GuardStep(
        call=call.digest,
        outcome=event.outcome.digest,
        kind=kind,
        ok=event.outcome.ok,
        tree=event.tree,
        error=digest([_statuses(event), fingerprint(error)]) if error else "",
        failing=digest(names or [event.outcome.digest]) if failing else "",
    )


def _statuses(event: CallReturned) -> list[object]:
    """Return the exit statuses of the commands in a call, as far as they are known."""
    seen = [getattr(item, "exit_code", None) for item in event.evidence]
    return [event.outcome.data.get("exit_code"), *seen]


def report_interruption(d: WorkingCopy, event: CallInterrupted) -> None:
    """Report an interrupted call to the driver and go on: only the driver can judge its effect."""
    report_interruption_in_pause(d, event)
    go_on(d)


def report_interruption_in_pause(d: WorkingCopy, event: CallInterrupted) -> None:
    """Report an interrupted call, and keep the card paused."""
    call = pop_in_flight(d, event.call)
    _take_tree(d, call, event)
    _tell_put_back(d, call, event.put_back)
    text = f"`{call.name}` was interrupted and may have done part of its work. {event.detail}"
    d.say(INTERRUPTED, f"{text.rstrip()} Check the workspace before you repeat it.", call.id)


def take_checkpoint(d: WorkingCopy, event: CheckpointStated) -> None:
    """Open `execute` on a checkpoint, at once or after a person has seen it."""
    if event.call:
        pop_in_flight(d, event.call)
    # A checkpoint restated on an unchanged tree is talk, so it does not end a row of reading on.
    previous = d.card.checkpoint
    is_idle = previous is not None and previous.tree == d.card.tree
    kind: Kind = "note" if is_idle else "checkpoint"
    stop = d.observe(GuardStep(call="checkpoint", outcome=digest(event.goal), kind=kind))
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
        halt(d, stop)
    elif not may_build(d.run, d.card):
        if not _may_propose(d):
            d.say("guidance", ONLY_LOOKS)
            go_on(d)
        elif d.run.policy.assume_yes or d.run.policy.hosted:
            promote(d)
            open_build(d)
        elif d.card.template.may_mutate:
            d.ask(
                Asking.PROMOTION, f"So far the run is read-only. Allow this change: {event.goal}?"
            )
        else:
            # The person asked a question: first comes its answer, then the offer to change.
            d.say("guidance", PROPOSED)
            go_on(d)
    elif d.run.policy.approve_checkpoint or d.card.template.checkpoint:
        d.ask(Asking.CHECKPOINT, f"Accept the checkpoint? {event.goal}")
    else:
        open_build(d)


ONLY_LOOKS = "This step changes nothing. Say what you found, and stop."
PROPOSED = (
    "Saved as a proposal: this run is read-only. Stop with a written answer; a person is then "
    "asked whether to allow the change."
)


def _may_propose(d: WorkingCopy) -> bool:
    """Return whether a checkpoint can open `execute`; a read-only step cannot."""
    template, intent = d.card.template, d.run.intent
    return template.may_mutate or (
        d.run.flow is None
        and intent is not None
        and template.step_id == template_for(intent).step_id
    )


def open_build(d: WorkingCopy) -> None:
    """Accept the checkpoint and judge the calls queued behind it in `execute`."""
    d.enter(Phase.EXECUTE)
    go_on(d)


def take_note(d: WorkingCopy, event: Noted) -> None:
    """Keep a note and continue, unless a guard has counted too many.

    A reviewer that has named the risk has done all that was asked of it.
    """
    if stop := _keep_note(d, event):
        halt(d, stop)
    elif d.card.is_reviewing and event.risk and not (d.card.queue or d.card.in_flight):
        d.set(is_reviewing=False, is_reviewed=True)
        conclude(d)
    else:
        go_on(d)


def take_note_in_pause(d: WorkingCopy, event: Noted) -> None:
    """Keep a note that arrives after the card paused."""
    _keep_note(d, event)


def _keep_note(d: WorkingCopy, event: Noted) -> Trip | None:
    stop: Trip | None = None
    if event.call:
        call = pop_in_flight(d, event.call)
        stop = d.observe(GuardStep(call=call.digest, outcome="noted", kind="note"))
    remark = Remark(d.card.role, event.text, event.risk, event.assumptions)
    d.set(remarks=(*d.card.remarks, remark))
    return stop


def defer_appeal(d: WorkingCopy, event: Appealed) -> None:
    """Defer an appeal while a person is being asked something else."""
    pop_in_flight(d, event.call)
    d.say("denial", "Not now: a person is asked something else. Appeal again later.", event.call)


def take_appeal(d: WorkingCopy, event: Appealed) -> None:
    """Allow one appeal per denied call; promises cannot be appealed."""
    pop_in_flight(d, event.call)
    for i, denial in enumerate(d.card.denials):
        # Drivers name the call or only its tool; either way each denial is appealed once.
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


def take_conflict(d: WorkingCopy, event: ConflictStated) -> None:
    """Ask a person about a conflict. The driver did not fail, so no guard counts it.

    A quote that does not exist is treated like any other refused call.
    """
    call = pop_in_flight(d, event.call) if event.call else None
    if event.report is None:
        d.say("denial", event.fault, event.call)
        d.record(Judged(event.call, "conflict", "deny", "unfounded", event.fault))
        step = GuardStep(call=call.digest if call else "conflict", outcome="", kind="refused")
        if stop := d.observe(step):
            halt(d, stop)
        else:
            go_on(d)
        return
    for left in d.card.queue:
        d.say("denial", AFTER_CONFLICT.format(call=left.name), left.id)
        d.record(Judged(left.id, left.tool, "deny", "after_conflict"))
    d.set(queue=())
    d.ask(Asking.CONFLICT, event.report.question, conflict=event.report)


AFTER_CONFLICT = "`{call}` was not made, and not counted: a person is asked about the conflict."


def defer_conflict(d: WorkingCopy, event: ConflictStated) -> None:
    """Defer a conflict while a person is being asked something else."""
    if event.call:
        pop_in_flight(d, event.call)
    text = "Not now: a person is asked something else. State the conflict again later."
    d.say("denial", text, event.call)


def take_evidence(d: WorkingCopy, event: EvidenceTaken) -> None:
    """Take an inspection's findings and continue toward `final`."""
    _keep_evidence(d, event.evidence)
    if event.undone:
        names = ", ".join(event.undone)
        d.say("guidance", f"Checking the gates changed {names}; that was undone.")
    if event.changed and d.card.phase is Phase.VERIFY:
        reject_moved(d, event.changed)
        return
    if event.effect and not d.card.turns:
        # Looked at before anybody was asked: now its driver is.
        d.think()
    # Evidence that nobody asked for settles a card only where settling is what it waits for.
    elif event.effect or d.card.phase is Phase.VERIFY:
        settle(d)


def keep_evidence(d: WorkingCopy, event: EvidenceTaken) -> None:
    """Keep an observation from outside, such as a page that loads; the plan stays the same."""
    _keep_evidence(d, event.evidence)


def take_claims(d: WorkingCopy, event: EvidenceSubmitted) -> None:
    """Keep a claim, apart from evidence; it satisfies only gates that ask for claims."""
    claims = {**d.card.claims, **event.fields}
    if errors := d.card.template.evidence_schema.validate(claims):
        wrong = "\n".join(f"- {error.message}" for error in errors)
        d.say("rejection", f"The submitted evidence was not taken.\n{wrong}")
    else:
        d.set(claims=claims)


def set_tree(
    d: WorkingCopy, tree: TreeHash, changed: tuple[str, ...], made: tuple[str, ...] | None = None
) -> None:
    """Set the current tree; all evidence becomes stale except what was observed on the base."""
    card = d.card
    if tree == card.tree:
        return
    named = {*card.checkpoint.files, *card.drift} if card.checkpoint else set[str]()
    made = card.made if made is None else made
    # What is left behind is no part of the work, so it is no drift from the plan for it.
    drift = tuple([path for path in changed if path not in made and not is_named(path, named)])
    d.set(
        tree=tree,
        mutated_at=d.run.seq,
        evidence=tuple([item for item in card.evidence if item.tree == card.base]),
        drift=(*card.drift, *drift),
        changed=() if tree == card.base else (*dict.fromkeys((*card.changed, *changed)),),
        made=() if tree == card.base else made,
        is_reviewed=False,
    )


def _keep_evidence(d: WorkingCopy, evidence: tuple[AnyEvidence, ...]) -> str:
    """Keep an observation, and return the recorded mistake that it repeats, if any."""
    if not evidence:
        return ""
    d.set(evidence=(*d.card.evidence, *evidence))
    for item in evidence:
        if isinstance(item, VisualReport):
            d.use(item.usage)
    return notice(d, evidence)
