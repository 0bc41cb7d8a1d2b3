"""From the driver's "done" to a closed card, or back to work after a setback.

`settle` owes the first thing that still stands between a card and its end; whoever brings it calls
`settle` again. `fall_short` is the way back, and `finish` the only way to `final`.
"""

from __future__ import annotations

from collections.abc import Callable

from flyball.core.flow.escalation import Strictness, Trouble, escalate, trouble_of
from flyball.core.flow.flow import DIAGNOSIS
from flyball.core.flow.gates.gate import GATES, judge_all, judge_done
from flyball.core.flow.gates.verdict import Case, Missing, Passed, Ruling, Verdict
from flyball.core.flow.template import Escalation, GateUse, Template
from flyball.core.machine.mistake import remember
from flyball.core.memory.guard import Trip
from flyball.core.memory.handover import should_reset
from flyball.core.plan.replies import split_answer
from flyball.core.plan.step_run import Errand
from flyball.core.run.effect import Inspect
from flyball.core.run.policy import OnWeakened
from flyball.core.run.state import Asking, CardState, Clock, Ending, RunState
from flyball.core.run.working_copy import STOPPED, WorkingCopy
from flyball.core.terms.evidence import (
    GateReport,
    Strength,
    SuiteReport,
    WeakeningReport,
    latest_of,
)
from flyball.core.terms.phase import Phase

FORM = "End your answer with the evidence form in one fenced JSON block."
APPROVED = "human_approved"


def settle(d: WorkingCopy) -> None:
    """Owe the first thing that still stands between this card and its end."""
    card = d.card
    if not card.has_changed and card.template.may_mutate and not judges_itself(card.template):
        finish(d, Ending.UNVERIFIED, "Nothing is changed in the end.")
        return
    for step in _steps(card):
        if step(d):
            return
    if d.run.policy.review and card.has_changed and not card.is_reviewed:
        d.set(is_reviewing=True)
        d.think()
        return
    conclude(d)


def judges_itself(template: Template) -> bool:
    """Whether the gates ask for more than that nothing forbidden was done."""
    return any(use.type in GATES and not GATES[use.type].forbids for use in template.gates)


def _steps(card: CardState) -> tuple[Callable[[WorkingCopy], bool], ...]:
    """What is to be done, in order; each says whether the card must wait for it.

    Where the gates themselves have something run, Flyball runs it before anyone is sent away to.
    """
    if not card.has_changed:
        return _fill_in, _inspect, _judge
    # Dearest last: an inspection may run the suite again, so a driver that has not verified at all
    # is sent back before it. A gate that looks would make that sending back superfluous.
    if any(use.type in GATES and GATES[use.type].looks for use in card.template.gates):
        return _inspect, _fill_in, _judge, _verify, _ask_about_weakening
    return _verify, _inspect, _ask_about_weakening, _fill_in, _judge


def conclude(d: WorkingCopy) -> None:
    """All that Flyball can check is checked; a person may want the last look."""
    card = d.card
    if card.accepted_review != card.tree and (text := _for_review(d)):
        d.ask(Asking.REVIEW, text)
    else:
        finish(d, Ending.SUCCEEDED, "", needs_words=card.rejections > 0)


def _for_review(d: WorkingCopy) -> str:
    """What a person is asked before the card ends, or nothing."""
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
    """One question about a diagnosis; where its answer would change nothing, none."""
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


def verdict(d: WorkingCopy) -> Verdict:
    """The gate before done, for the tree as it is now."""
    card = d.card
    return judge_done(card.evidence, card.tree, card.base, has_suite=bool(d.run.project.runners))


def _verify(d: WorkingCopy) -> bool:
    """Fresh, passing verification; without it the driver is told what to run, a few times.

    Then the work is called what it is.
    """
    judgement = verdict(d)
    if isinstance(judgement, Passed):
        d.set(verified_at=d.run.seq)
        return False
    card, run, why = d.card, d.run, judgement.sentence
    rejections = card.rejections + 1
    # Where nothing can turn the verdict (no tests, and what there is was looked at), asking again
    # would only cost the driver its rounds.
    is_verifiable = bool(run.project.runners) or card.strength is Strength.NOTHING
    if is_verifiable and rejections <= run.policy.max_rejections:
        d.reject(f"This is not done yet: {why}", rejections=rejections)
        return True
    d.set(rejections=rejections)
    if is_verifiable and is_laid_out(run):
        is_missing = isinstance(judgement, Missing)
        trouble = Trouble.MISSING_EVIDENCE if is_missing else Trouble.FAILING_CHECK
        fall_short(d, trouble, why, is_spent=True)
    else:
        finish(d, Ending.UNVERIFIED, why)
    return True


def _inspect(d: WorkingCopy) -> bool:
    """Look once per tree: at the whole change, and at what the gates need and nobody has seen."""
    card, template = d.card, d.card.template
    seen = latest_of(card.evidence, WeakeningReport)
    if seen is not None and seen.tree == card.tree:
        return False
    unmet = [use for use, judgement in _judged(card) if _can_be_seen(use, judgement)]
    if not card.has_changed and not unmet:
        return False
    gates = tuple([use for use in unmet if GATES[use.type].looks])
    suite = latest_of(card.evidence, SuiteReport)
    is_wanted = template.falsify or any(use.type == "new_test_fails_before" for use in unmet)
    falsify = suite.id if suite and suite.tree == card.tree and is_wanted else ""
    d.effects.append(
        Inspect(card=card.id, base=card.base, tree=card.tree, falsify=falsify, gates=gates)
    )
    return True


def _can_be_seen(use: GateUse, judgement: Verdict) -> bool:
    """Whether a gate that has not passed asks for something that Flyball can look at."""
    gate = GATES.get(use.type)
    if gate is None or gate.claims or use.type == APPROVED:
        return False
    return not isinstance(judgement, Passed)


def _ask_about_weakening(d: WorkingCopy) -> bool:
    card = d.card
    report = latest_of(card.evidence, WeakeningReport)
    policy = d.run.policy.weakened_tests
    if report is None or not report.findings or policy is OnWeakened.ALLOW:
        return False
    if card.accepted_weakening == card.tree:
        return False
    first = report.findings[0]
    what = f"{first.path}:{first.line}: {first.detail or first.kind}"
    if policy is OnWeakened.REFUSE:
        words = f"Tests were weakened ({what}). Restore them and mend the code."
        d.reject(words, phase=Phase.EXECUTE)
    else:
        count = len(report.findings)
        d.ask(
            Asking.WEAKENED_TESTS, f"{count} tests got easier to pass, first {what}. Accept that?"
        )
    return True


def _fill_in(d: WorkingCopy) -> bool:
    """The evidence form in the last answer: claims when it is right, a rejection when it is not."""
    card, form = d.card, d.card.template.evidence_schema
    if not form.names and not form.criteria_checklist:
        return False
    spoken, rest = split_answer(card.answer)
    errors = form.validate(card.claims if spoken is None else spoken)
    if not errors:
        if spoken is not None:
            told = "\n".join(f"{name}: {value}" for name, value in spoken.items())
            d.set(claims=dict(spoken), answer=rest or told)
        return False
    wrong = "\n".join(f"- {error.message}" for error in errors)
    if card.form_slips >= d.run.policy.max_rejections:
        d.set(form_slips=0)
        fall_short(d, Trouble.MISSING_EVIDENCE, f"The evidence form was not filled in.\n{wrong}")
    else:
        d.reject(f"This is not done yet. {FORM}\n{wrong}", form_slips=card.form_slips + 1)
    return True


def _judge(d: WorkingCopy) -> bool:
    """The template's own gates; weakened tests and a person's word are questions of their own."""
    judged = _judged(d.card)
    d.set(verdicts=tuple([Ruling(use.type, judgement) for use, judgement in judged]))
    against = [each for each in judged if not _may_pass(*each)]
    trouble = trouble_of(against)
    if trouble is None:
        return False
    said = [f"The gate {use.type} did not pass: {judged.sentence}" for use, judged in against]
    fall_short(d, trouble, "\n".join(said))
    return True


def _may_pass(use: GateUse, judgement: Verdict) -> bool:
    is_asked = use.type == APPROVED and isinstance(judgement, Missing)
    return is_asked or use.type == "tests_not_weakened" or isinstance(judgement, Passed)


def _judged(card: CardState) -> tuple[tuple[GateUse, Verdict], ...]:
    return judge_all(card.template, Case(card.evidence, card.tree, card.base, card.claims))


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


def fall_short(d: WorkingCopy, trouble: Trouble, why: str, *, is_spent: bool = False) -> None:
    """The card does not pass: the one table says what follows. `is_spent` leaves no retry."""
    card = d.card
    setbacks = card.setbacks + 1
    d.set(setbacks=setbacks, trouble=trouble)
    repeated = "" if trouble is Trouble.MISSING_EVIDENCE else remember(d, why)
    choice = escalate(
        trouble,
        max(setbacks, card.template.on_fail.max_retries + 1) if is_spent else setbacks,
        card.template.on_fail,
        Strictness(d.run.policy.strictness),
        diagnosed=_is_diagnosed(d.run, card),
    )
    if choice is Escalation.RETRY:
        try_again(d, why, repeated=repeated)
    elif choice is Escalation.PAUSE_FOR_HUMAN:
        d.set(ending_reason=why)
        d.ask(Asking.FAILURE, f"{card.title}: {why} Try once more?")
    else:
        fail(d, choice, why)


def try_again(d: WorkingCopy, why: str, *, words: str = "", repeated: str = "") -> None:
    """Back to work on the same card; what was looked at will be looked at anew.

    A thread that came to nothing, or that repeated a mistake on record, is not gone on with.
    """
    card = d.card
    # These two are taken once per tree: left in place, the same tree would not be looked at anew.
    seen_again = WeakeningReport | GateReport
    d.set(
        claims={},
        answer="",
        rejections=0,
        ending_reason="",
        evidence=tuple([item for item in card.evidence if not isinstance(item, seen_again)]),
    )
    if card.phase is Phase.VERIFY:
        d.enter(Phase.EXECUTE)
    if card.trouble is Trouble.NO_PROGRESS:
        d.set(clock=Clock())
        d.reset_thread("the last thread came to nothing", words)
        return
    reason = should_reset(ledger_match=repeated)
    if reason and card.phase is not Phase.FINAL:
        d.reset_thread(reason, words)
        return
    d.reject(why)


def fail(d: WorkingCopy, escalation: Escalation, why: str) -> None:
    """End the card, and say what its end asks for."""
    d.set(escalation=escalation)
    finish(d, Ending.FAILED, why)


def halt(d: WorkingCopy, trip: Trip) -> None:
    """A guard's hard level: no progress on a step of a plan, a question for a person elsewhere."""
    if not (d.card.step and is_laid_out(d.run)):
        d.halt(trip)
    elif d.card.in_flight:
        d.set(queue=(), halted=trip)
    else:
        d.set(halted=None)
        fall_short(d, Trouble.NO_PROGRESS, f"{STOPPED}{trip.sentence}")


def is_laid_out(run: RunState) -> bool:
    """Whether the run follows a plan or a flow, so that a failure has somewhere to go."""
    return run.flow is not None or (run.coordinator is not None and run.coordinator.planned)


def errand_of(run: RunState, card: CardState) -> Errand | None:
    """The errand that a card is on, if it is on one."""
    return next((each for each in run.errands if each.card == card.id), None)


def diagnosed_by(run: RunState, card: CardState) -> CardState | None:
    """The failed card that this one diagnoses."""
    errand = errand_of(run, card)
    return run.card(errand.failed) if errand else None


def after_diagnosis(run: RunState, failed: CardState) -> Escalation:
    """What the failed card's own policy asks for once it is diagnosed."""
    return escalate(
        failed.trouble or Trouble.FAILING_CHECK,
        failed.setbacks,
        failed.template.on_fail,
        Strictness(run.policy.strictness),
        diagnosed=True,
    )


def _is_diagnosed(run: RunState, card: CardState) -> bool:
    """A diagnosis is never diagnosed, and a step of a flow only once."""
    errand = errand_of(run, card)
    again = errand is not None and errand.at != "" and errand.at in errand.diagnosed
    return again or card.template.step_id == DIAGNOSIS
