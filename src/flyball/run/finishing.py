"""Handle the driver's "done": close the card, or return to work after a setback.

`settle` requests the first thing that is missing before a card can end, and each result calls
`settle` again. The other ways back and out are in `setback`.
"""

from __future__ import annotations

from collections.abc import Callable

from flyball.plan.escalation import Trouble, worst_failure
from flyball.plan.gate import GATES, OF_VERDICT, judge_all, judge_done
from flyball.plan.library import template_for
from flyball.plan.replies import split_answer
from flyball.plan.template import GateUse, Role
from flyball.plan.verdict import Case, Missing, Passed, Ruling, Verdict
from flyball.run.effect import Inspect
from flyball.run.ending import judges_itself
from flyball.run.policy import OnWeakened
from flyball.run.setback import (
    APPROVED,
    finish,
    handle_failure,
    is_laid_out,
    question_before_end,
)
from flyball.run.state import Asking, CardState, Ending, RunState
from flyball.run.working_copy import WorkingCopy
from flyball.terms.budget import spent_limit
from flyball.terms.change_verdict import ChangeVerdict, FindingKind
from flyball.terms.evidence import (
    ConsoleReport,
    HttpReport,
    Strength,
    SuiteReport,
    VerdictReport,
    VisualReport,
    WeakeningReport,
)
from flyball.terms.evidence_rows import latest_of
from flyball.terms.intent import ChangeKind, is_document
from flyball.terms.phase import Phase
from flyball.terms.shape import listed
from flyball.terms.tool import BROWSER

SAID_TWICE = 2
FORM = "End your answer with the evidence form in one fenced JSON block."


def settle(d: WorkingCopy) -> None:
    """Request the first thing that is missing before this card can end."""
    card = d.card
    if not card.has_changed and card.template.may_mutate and not judges_itself(card.template):
        if is_confirmed(d):
            finish(d, Ending.SUCCEEDED, "")
        elif _may_try_again(d):
            if card.phase is Phase.VERIFY:
                d.enter(Phase.EXECUTE)
            d.reject(f"{nothing_changed(card)} {CHANGE_IT}", rejections=1)
        else:
            finish(d, Ending.UNCHANGED, nothing_changed(card))
        return
    for step in _steps(d):
        if step(d):
            return
    if d.run.policy.review and card.has_changed and not card.is_reviewed:
        d.set(is_reviewing=True)
        d.think()
        return
    conclude(d)


def _steps(d: WorkingCopy) -> tuple[Callable[[WorkingCopy], bool], ...]:
    """Return the steps in order; each returns whether the card must wait for it.

    If a gate needs something to be run, Flyball runs it before the driver is sent back.
    """
    card = d.card
    if card.role == Role.VERIFIER:
        return _fill_in, inspect_whole, _apply_whole_verdict, _judge
    if not card.has_changed:
        return _fill_in, _inspect, _judge
    looks = any(use.type in GATES and GATES[use.type].looks for use in card.template.gates)
    if looks or d.run.policy.hosted:
        return _inspect, _fill_in, _judge, _verify, _apply_verdict
    can_look = bool(d.run.project.runners) or d.run.project.serves
    if can_look and d.run.policy.is_current:
        # Flyball looks itself, whether or not the driver ever called `test`.
        return _inspect, _verify, _apply_verdict, _fill_in, _judge
    return _verify, _inspect, _apply_verdict, _fill_in, _judge


def _may_try_again(d: WorkingCopy) -> bool:
    """Return whether a driver that promised a change and made none gets one more try."""
    card = d.card
    promised = card.checkpoint is not None and card.idle_stops > 0 and d.run.policy.is_current
    is_told = card.rejections > 0 or may_confirm(d)
    return promised and not is_told and not d.run.policy.hosted


CHANGE_IT = (
    "So this is not done. Make the change with `edit_diff` or `write_file`; a diff in prose "
    "changes nothing. If nothing needs to change, say why and stop again."
)


def nothing_changed(card: CardState) -> str:
    """Explain that a card changed nothing, and name the tests that still fail."""
    suites = [
        item for item in card.evidence if isinstance(item, SuiteReport) and item.tree == card.tree
    ]
    seen = [*{item.part: item for item in suites}.values()]
    failures = [each.name for item in seen for each in item.failures]
    failed = sum(item.failed for item in seen)
    if failed:
        many = "1 test still fails" if failed == 1 else f"{failed} tests still fail"
        names = f": {listed(failures)}" if failures else ""
        return f"Nothing was changed; {many}{names}."
    return "Nothing was changed."


def conclude(d: WorkingCopy) -> None:
    """Close the card once every check is done; a person may have to approve it first."""
    card = d.card
    if card.accepted_review != card.tree and (text := question_before_end(d)):
        d.ask(Asking.REVIEW, text)
    else:
        # A verifier's answer is its report: other words would take its place.
        needs_words = card.rejections > 0 and card.role != Role.VERIFIER
        spent = f"The budget of {d.run.budget.limit} calls is spent."
        reason = spent if card.is_cut_short and not card.has_changed else ""
        finish(d, Ending.SUCCEEDED, reason, needs_words=needs_words)


def may_confirm(d: WorkingCopy) -> bool:
    """Return whether a card may end without a change: a step of a plan that tests can confirm."""
    planned = d.run.coordinator is not None and d.run.coordinator.planned
    is_tested = bool(d.run.project.runners)
    return bool(d.card.step) and planned and is_tested and d.card.template.may_mutate


def is_confirmed(d: WorkingCopy) -> bool:
    """Return whether a step without a change is confirmed to need none, on the current tree.

    There is no verdict on an empty change, so only whole suites count: a driver that chooses the
    tests, or runs something else, confirms nothing.
    """
    card = d.card
    whole = {
        item.part: item
        for item in card.evidence
        if isinstance(item, SuiteReport) and item.tree == card.tree and not item.selected
    }
    is_green = bool(whole) and all(item.is_green for item in whole.values())
    return may_confirm(d) and not card.has_changed and is_green


def run_suite(d: WorkingCopy) -> None:
    """Run the suite on an unchanged tree; its result settles the card."""
    if d.card.phase is Phase.EXECUTE:
        d.enter(Phase.VERIFY)
    _look_at_tests(d)


def run_suite_for_verifier(d: WorkingCopy) -> bool:
    """Run the suite for a verifier that approves a tree on which it has not run."""
    run, card = d.run, d.card
    seen = [item for each in run.cards for item in each.evidence if item.tree == card.tree]
    if any(isinstance(item, SuiteReport | VerdictReport) for item in seen):
        return False
    if not run.project.runners:
        return False
    _look_at_tests(d)
    return True


def _look_at_tests(d: WorkingCopy) -> None:
    card, gates = d.card, (GateUse("tests_pass"),)
    d.effects.append(Inspect(card=card.id, base=card.base, tree=card.tree, gates=gates))


def take_verdict(d: WorkingCopy) -> bool:
    """Take the verdict on the current change; return False if it was taken."""
    return _inspect(d)


def offer_promotion(d: WorkingCopy) -> bool:
    """Ask a person whether a read-only run may make the change that it proposes."""
    point, template = d.card.checkpoint, d.card.template
    if point is None or template.may_mutate or d.run.flow is not None or d.run.intent is None:
        return False
    if template.step_id != template_for(d.run.intent).step_id:
        return False
    answer = f"{d.card.answer}\n\n" if d.card.answer else ""
    d.ask(
        Asking.PROMOTION, f"{answer}So far the run is read-only. Allow this change: {point.goal}?"
    )
    return True


def verdict(d: WorkingCopy) -> Verdict:
    """Return the verdict of the gate before done, for the current tree."""
    card = d.card
    has_suite = bool(d.run.project.runners)
    return judge_done(card.evidence, card.tree, card.base, has_suite=has_suite)


def _verify(d: WorkingCopy) -> bool:
    """Require fresh, passing verification; ask the driver to run it, a limited number of times.

    After that the work is called unverified. Where tests ran and their meaning depends on earlier
    results, nothing is sent back: the verdict compares the two.
    """
    judgement = verdict(d)
    # Without a suite it is what was looked at that decides, and not the verdict's runs.
    found = d.card.verdict
    is_tested = found is not None and (found.has_suite or not _sees_pages(d.run))
    if isinstance(judgement, Passed) or is_tested or _needs_base(d.card):
        d.set(verified_at=d.run.seq)
        return False
    # Where nothing can turn the verdict (no tests, and what there is was looked at), asking again
    # would only cost the driver its rounds.
    is_verifiable = bool(d.run.project.runners) or d.card.strength is Strength.NOTHING
    is_missing = isinstance(judgement, Missing)
    trouble = Trouble.MISSING_EVIDENCE if is_missing else Trouble.FAILING_CHECK
    if not is_missing and _sees_pages(d.run) and d.card.phase is Phase.VERIFY:
        # What Flyball itself saw fail is repaired by a change and not by another look.
        d.enter(Phase.EXECUTE)
    _send_back(d, judgement.sentence, trouble, is_worth_it=is_verifiable)
    return True


def reject_moved(d: WorkingCopy, changed: tuple[str, ...]) -> None:
    """Reject a stop whose verdict is of a tree that has changed since."""
    names = listed(changed)
    why = f"{names} changed while Flyball took its verdict. Stop again when nothing writes there."
    _send_back(d, why, Trouble.MISSING_EVIDENCE)
    if d.card.phase is Phase.VERIFY:
        # What was changed may be somebody's work: it is judged next, and not taken back.
        d.enter(Phase.EXECUTE)


def _send_back(d: WorkingCopy, why: str, trouble: Trouble, *, is_worth_it: bool = True) -> None:
    """Explain to the driver why it is not done, a limited number of times; then accept the weaker
    ending."""
    rejections = d.card.rejections + 1
    if is_worth_it and spent_limit(d.run.budget, d.run.spend):
        d.say("rejection", f"This is not done yet: {why}")
        d.ask(
            Asking.EXTENSION, f"{why} The budget of {d.run.budget.limit} calls is spent. Extend it?"
        )
        return
    # A host's model that has heard it twice and changed nothing has nothing more to give.
    is_unmoved = d.card.rejected_trees.count(d.card.tree) >= SAID_TWICE
    if is_worth_it and rejections <= d.run.policy.max_rejections and not is_unmoved:
        if d.run.policy.hosted:
            d.set(rejected_trees=(*d.card.rejected_trees, d.card.tree))
        d.reject(f"This is not done yet: {why}", rejections=rejections)
        return
    d.set(rejections=rejections)
    if is_worth_it and is_laid_out(d.run):
        handle_failure(d, trouble, why, is_spent=True)
    else:
        finish(d, Ending.UNVERIFIED, why)


def _needs_base(card: CardState) -> bool:
    """Return whether test results are known for the current tree and not for the base.

    A suite that does not count tests says nothing by itself: only its exit codes on both trees do.
    """
    suites = [item for item in card.evidence if isinstance(item, SuiteReport)]
    told = [item for item in suites if item.passed or item.failed or not item.counted]
    is_known = any(item.tree == card.base and not item.selected for item in told)
    return any(item.tree == card.tree and not (is_known and item.counted) for item in told)


def _inspect(d: WorkingCopy) -> bool:
    """Inspect each tree once: the whole change, and whatever the gates still need."""
    card, template = d.card, d.card.template
    seen = latest_of(card.evidence, WeakeningReport)
    if card.verdict is not None or (seen is not None and seen.tree == card.tree):
        return False
    unmet = [use for use, judgement in _judged(card) if _can_be_seen(use, judgement)]
    if not card.has_changed and not unmet:
        return False
    looks = [use for use in unmet if GATES[use.type].looks] or _page_to_look_at(d)
    if card.has_changed:
        # What the verdict runs anyway is not run for these gates as well.
        looks = [use for use in looks if use.type not in OF_VERDICT]
    wants_red = template.falsify and not card.asked_for_red and _owes_red(d)
    d.effects.append(
        Inspect(
            card=card.id,
            base=card.base,
            tree=card.tree,
            gates=tuple(looks),
            wants_red=wants_red,
        )
    )
    return True


def _page_to_look_at(d: WorkingCopy) -> list[GateUse]:
    """Return the page to view if a project has no tests and this tree has not been viewed."""
    card, project = d.card, d.run.project
    is_seen = any(
        isinstance(item, HttpReport | ConsoleReport | VisualReport)
        and item.own
        and item.tree == card.tree
        for item in card.evidence
    )
    if not _sees_pages(d.run) or not card.has_changed or is_seen:
        return []
    return [GateUse("console_clean" if BROWSER in project.means else "http_ok")]


def _sees_pages(run: RunState) -> bool:
    """Return whether viewing the project's pages replaces the tests that it lacks."""
    return run.project.serves and not run.project.runners


def _owes_red(d: WorkingCopy) -> bool:
    """Return whether a test that fails without the change makes sense for this kind of change."""
    if all(map(is_document, d.card.changed)):
        return not d.card.changed
    # Only a stop asks for it, so that importing the machine does not load the reading of requests.
    from flyball.intent.change import read_change

    kind = read_change(d.run.request).kind
    return kind not in (ChangeKind.REFACTORING, ChangeKind.DOCUMENTS)


def inspect_whole(d: WorkingCopy) -> bool:
    """Inspect the whole run's change before a verifier's report counts, unless a card's inspection
    already covers it."""
    if not needs_whole_verdict(d.run, d.card):
        return False
    d.effects.append(Inspect(card=d.card.id, base=d.run.base, tree=d.card.tree))
    return True


def needs_whole_verdict(run: RunState, card: CardState) -> bool:
    """Return whether the whole run's change still needs a verdict.

    Where no card was judged by a verdict, as in logs that predate verdicts, none is taken.
    """
    if card.tree == run.base or card.verdict is not None or run.verdict_on(card.tree) is not None:
        return False
    return any(latest_of(each.evidence, VerdictReport) for each in run.cards)


def _apply_whole_verdict(d: WorkingCopy) -> bool:
    """Apply objections to the whole run in a verifying step of a flow.

    In a plan its report is weighed against the same verdict, and the planner receives it.
    """
    found = d.card.verdict or d.run.verdict_on(d.card.tree)
    if d.run.flow is None or found is None or not found.faults:
        return False
    said = " ".join(each.sentence for each in found.faults)
    handle_failure(d, Trouble.FAILING_CHECK, said)
    return True


def _can_be_seen(use: GateUse, judgement: Verdict) -> bool:
    """Return whether a gate that has not passed asks for something that Flyball can observe."""
    gate = GATES.get(use.type)
    if gate is None or gate.claims or use.type == APPROVED:
        return False
    return not isinstance(judgement, Passed)


def _apply_verdict(d: WorkingCopy) -> bool:
    """Apply Flyball's own verdict on the change: send it back, ask a person, or let it pass."""
    card, verdict = d.card, d.card.verdict
    if verdict is None:
        # Logs from before verdicts were taken know only what the texts of the tests say.
        return _ask_about_weakening(d)
    red = FindingKind.NOTHING_FAILED_BEFORE
    against = [each for each in verdict.blocking if not (each.kind is red and card.asked_for_red)]
    if against:
        d.set(asked_for_red=card.asked_for_red or any(each.kind is red for each in against))
        if card.phase is Phase.VERIFY:
            d.enter(Phase.EXECUTE)
        _send_back(d, " ".join(each.sentence for each in against), Trouble.FAILING_CHECK)
        return True
    if _ask_about(d, verdict):
        return True
    if not verdict.is_strong:
        _send_back(d, _too_weak(verdict), Trouble.MISSING_EVIDENCE, is_worth_it=False)
        return True
    return False


def _too_weak(verdict: ChangeVerdict) -> str:
    """Explain why a change without objections is still not a success."""
    return f"What can be shown of it is too little: {verdict.strength.label}."


def _ask_about(d: WorkingCopy, verdict: ChangeVerdict) -> bool:
    """Ask a person the verdict's questions, unless this exact tree was accepted."""
    allowed = _ALLOWED if d.run.policy.weakened_tests is OnWeakened.ALLOW else ()
    asked = [each for each in verdict.questions if each.kind not in allowed]
    if not asked or d.card.accepted_weakening == d.card.tree:
        return False
    said = "\n".join(each.sentence for each in asked)
    if d.run.policy.weakened_tests is OnWeakened.REFUSE:
        if d.card.phase is Phase.VERIFY:
            d.enter(Phase.EXECUTE)
        d.reject(f"Tests were weakened. Restore them and repair the code.\n{said}")
        return True
    texts = [
        f"before:\n{each.before}\nafter:\n{each.after or '(gone)'}" for each in asked if each.before
    ]
    d.ask(Asking.WEAKENED_TESTS, "\n".join((said, *texts, "Accept that?")))
    return True


_ALLOWED = (
    FindingKind.PROMISE_CHANGED,
    FindingKind.FEWER_TESTS,
    FindingKind.TYPES_LOOSENED,
)
"""What a policy that allows weakened tests lets pass; tampering with the runner is not among it."""


def _ask_about_weakening(d: WorkingCopy) -> bool:
    """Ask about weakened tests for logs that hold no verdict."""
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
        words = f"Tests were weakened ({what}). Restore them and fix the code."
        d.reject(words, phase=Phase.EXECUTE)
    else:
        count = len(report.findings)
        d.ask(
            Asking.WEAKENED_TESTS, f"{count} tests got easier to pass, first {what}. Accept that?"
        )
    return True


def _fill_in(d: WorkingCopy) -> bool:
    """Read the evidence form from the last answer: record claims if it is valid, a rejection if
    not."""
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
        handle_failure(
            d, Trouble.MISSING_EVIDENCE, f"The evidence form was not filled in.\n{wrong}"
        )
    else:
        d.reject(f"This is not done yet. {FORM}\n{wrong}", form_slips=card.form_slips + 1)
    return True


def _judge(d: WorkingCopy) -> bool:
    """Judge the template's own gates; weakened tests and human approval are separate questions."""
    judged = _judged(d.card)
    d.set(verdicts=tuple([Ruling(use.type, judgement) for use, judgement in judged]))
    against = [each for each in judged if not _may_pass(*each)]
    trouble = worst_failure(against)
    if trouble is None:
        return False
    said = [f"The gate {use.type} did not pass: {judged.sentence}" for use, judged in against]
    handle_failure(d, trouble, "\n".join(said))
    return True


def _may_pass(use: GateUse, judgement: Verdict) -> bool:
    is_asked = use.type == APPROVED and isinstance(judgement, Missing)
    return is_asked or use.type == "tests_not_weakened" or isinstance(judgement, Passed)


def _judged(card: CardState) -> tuple[tuple[GateUse, Verdict], ...]:
    return judge_all(card.template, Case(card.evidence, card.tree, card.base, card.claims))
