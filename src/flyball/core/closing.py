"""From the driver's "done" to a closed card: one missing piece at a time."""

from __future__ import annotations

from flyball.core.draft import Draft
from flyball.core.effect import Inspect
from flyball.core.evidence import Strength, SuiteReport, WeakeningReport, latest
from flyball.core.gate import judge_all, proven
from flyball.core.phase import Phase
from flyball.core.policy import OnWeakened
from flyball.core.state import Asking, Ending
from flyball.core.verdict import Case, Passed, Verdict


def settle(d: Draft) -> None:
    """Owe the first thing that still stands between this card and its end."""
    if not d.card.has_changed:
        finish(d, Ending.UNVERIFIED, "Nothing is changed in the end.")
        return
    judgement = verdict(d)
    if not isinstance(judgement, Passed):
        _reject(d, judgement.sentence)
        return
    d.set(verified_at=d.run.seq)
    if _inspect(d) or _ask_about_weakening(d) or _stopped_by_gates(d):
        return
    if d.run.policy.review and not d.card.is_reviewed:
        d.set(is_reviewing=True)
        d.think()
        return
    conclude(d)


def conclude(d: Draft) -> None:
    """All that Flyball can check is checked; a person may want the last look."""
    card = d.card
    if card.template.human_review and card.accepted_review != card.tree:
        d.ask(Asking.REVIEW, "The work is verified and waits for your review.")
    else:
        finish(d, Ending.SUCCEEDED, "", needs_words=card.rejections > 0)


def verdict(d: Draft) -> Verdict:
    """The gate before done, for the tree as it is now."""
    card = d.card
    return proven(card.evidence, card.tree, card.base, has_suite=d.run.project.has_suite)


def _reject(d: Draft, why: str) -> None:
    """Not done: say what to run, a few times; then call the work what it is."""
    d.set(rejections=d.card.rejections + 1)
    provable = d.run.project.has_suite or d.card.proof is Strength.NOTHING
    if d.card.rejections > d.run.policy.max_rejections or not provable:
        finish(d, Ending.UNVERIFIED, why)
        return
    d.say("rejection", f"This is not done yet: {why}")
    d.think()


def _inspect(d: Draft) -> bool:
    """Look at the whole change once per tree: red before, tests not weakened, nothing forbidden."""
    card = d.card
    seen = latest(card.evidence, WeakeningReport)
    if seen is not None and seen.tree == card.tree:
        return False
    suite = latest(card.evidence, SuiteReport)
    falsify = suite.id if suite and suite.tree == card.tree and card.template.falsify else ""
    d.owe(Inspect(card=card.id, base=card.base, tree=card.tree, falsify=falsify))
    return True


def _ask_about_weakening(d: Draft) -> bool:
    card = d.card
    report = latest(card.evidence, WeakeningReport)
    policy = d.run.policy.weakened_tests
    if report is None or not report.findings or policy is OnWeakened.ALLOW:
        return False
    if card.accepted_weakening == card.tree:
        return False
    first = report.findings[0]
    what = f"{first.path}:{first.line}: {first.detail or first.kind}"
    if policy is OnWeakened.REFUSE:
        d.enter(Phase.EXECUTE)
        d.say("rejection", f"Tests were weakened ({what}). Restore them and mend the code.")
        d.think()
    else:
        count = len(report.findings)
        d.ask(
            Asking.WEAKENED_TESTS, f"{count} tests got easier to pass, first {what}. Accept that?"
        )
    return True


def _stopped_by_gates(d: Draft) -> bool:
    """The template's own gates; weakened tests are a question of their own."""
    card = d.card
    case = Case(card.evidence, card.tree, card.base, card.claims)
    for use, judgement in judge_all(card.template, case):
        if use.type == "tests_not_weakened" or isinstance(judgement, Passed):
            continue
        if d.card.rejections >= d.run.policy.max_rejections:
            finish(d, Ending.FAILED, f"The gate {use.type} did not pass: {judgement.sentence}")
            return True
        d.set(rejections=card.rejections + 1)
        d.enter(Phase.EXECUTE)
        d.say("rejection", f"The gate {use.type} did not pass: {judgement.sentence}")
        d.think()
        return True
    return False


def finish(d: Draft, ending: Ending, reason: str, *, needs_words: bool = False) -> None:
    """Go to `final`: with the answer already given, or after asking for one."""
    d.forget()
    d.set(ending=ending, ending_reason=reason, is_reviewing=False)
    d.enter(Phase.FINAL)
    if needs_words or not d.card.answer:
        d.think(text_only=True)
    else:
        d.close()
