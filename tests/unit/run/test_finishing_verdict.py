"""What becomes of a card once Flyball's own verdict on its change is in."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.simulation.verdicts import (
    CHECKED,
    NEVER_RED,
    PROMISE,
    QUESTIONED,
    REACH,
    REGRESSED,
    REGRESSION,
    SHOWN,
    TOO_WEAK,
    UNTESTED,
    judged,
    verdict_of,
)
from tests.simulation.world import call
from tests.unit.run.stories import CARD, Story
from tests.unit.run.walking import Walk, form, look, step

from flyball.plan.template import EvidenceSchema, GateUse, OnPass, Role
from flyball.run.effect import CloseCard, Inspect
from flyball.run.policy import OnWeakened, Policy, Project
from flyball.run.state import Asking, Ending, RunState
from flyball.terms.change_verdict import ChangeStrength, ChangeVerdict, FindingKind, Weight
from flyball.terms.evidence import FileReport, HttpReport, Strength, SuiteReport
from flyball.terms.phase import Phase

P = Phase
NOTE = replace(REACH, weight=Weight.NOTES)


def told(verdict: ChangeVerdict, policy: Policy | None = None, **more: object) -> Story:
    """A fix whose driver saw its tests green, and what Flyball says of it."""
    story = Story(policy=policy, **more).checkpoints().edits("t1").tests().stops()
    return story.inspects(verdict)


def test_a_change_that_is_shown_succeeds_with_the_verdicts_label():
    story = told(SHOWN)
    assert story.phase is P.FINAL
    (owed,) = story.state.owed
    assert isinstance(owed.effect, CloseCard)
    assert owed.effect.proof == "red → green (tests that were there) (3 tests)"
    assert story.closes().phase is P.SUCCEEDED


def test_what_blocks_sends_the_driver_back_with_every_sentence():
    story = told(verdict_of(REGRESSION, replace(REGRESSION, sentence="test_b is gone.")))
    assert story.phase is P.EXECUTE
    assert "This is not done yet: test_a fails; it passed before. test_b is gone." in story.said
    assert story.card.strength is Strength.NOTHING
    assert story.owed == ["Think"]


def test_a_regression_is_never_talked_away():
    story = told(REGRESSED, Policy(review=False, max_rejections=2)).stops().stops()
    assert story.card.ending is Ending.UNVERIFIED
    assert "test_a fails" in story.card.ending_reason
    assert story.closes().phase is P.FAILED


def test_another_tree_gets_a_verdict_of_its_own():
    story = told(REGRESSED).edits("t2").tests().stops()
    assert story.card.verdict is None
    assert story.inspects().closes().phase is P.SUCCEEDED


def test_a_test_that_fails_without_the_change_is_asked_for_once():
    story = told(NEVER_RED)
    assert story.phase is P.EXECUTE
    assert "passes without the change" in story.said
    assert story.card.asked_for_red
    assert story.card.strength is Strength.GREEN
    story.stops("there can be none").stops("that is all")
    assert story.owed == ["CloseCard"]
    assert story.closes().phase is P.SUCCEEDED
    assert story.card.label == "green; nothing shown to fail before (3 tests)"


def test_it_is_not_asked_for_again_on_another_tree():
    story = told(NEVER_RED).edits("t2").tests().stops()
    (effect,) = story.effects
    assert isinstance(effect, Inspect)
    assert not effect.wants_red
    assert story.inspects(replace(NEVER_RED, findings=())).closes().phase is P.SUCCEEDED


def test_a_regression_beside_it_is_no_asking_for_red():
    assert not told(REGRESSED).card.asked_for_red


def test_only_templates_that_say_so_want_a_test_that_failed():
    assert not Walk(step()).fixes().inspect.wants_red
    assert Walk(step(falsify=True)).fixes().inspect.wants_red


def test_a_question_is_put_to_a_person_with_both_texts():
    story = told(QUESTIONED)
    question = story.card.question
    assert question.kind is Asking.WEAKENED_TESTS
    assert question.text == (
        "tests/test_a.py::test_a: it checks less.\n"
        "before:\nassert f() == 2\nafter:\nassert f()\nAccept that?"
    )
    gone = told(verdict_of(replace(PROMISE, after=""), REACH))
    assert "after:\n(gone)\nAccept that?" in gone.card.question.text
    assert REACH.sentence in gone.card.question.text


def test_a_persons_yes_is_written_into_the_verdict():
    story = told(QUESTIONED).grants()
    assert story.card.verdict.accepted_by == "ann"
    assert story.card.verdict.is_shown
    assert story.card.verdict.findings == (PROMISE,)
    assert story.closes().phase is P.SUCCEEDED


def test_a_persons_yes_counts_for_the_tree_that_was_shown_alone():
    story = told(QUESTIONED).grants()
    assert story.card.accepted_weakening == "t1"
    again = told(QUESTIONED).refuses().edits("t2").tests().stops().inspects(QUESTIONED)
    assert again.card.question.kind is Asking.WEAKENED_TESTS
    assert again.grants().card.accepted_weakening == "t2"


def test_a_persons_no_sends_the_driver_back():
    story = told(QUESTIONED).refuses()
    assert story.phase is P.EXECUTE
    assert "Restore them" in story.said


def test_what_blocks_comes_before_what_is_asked():
    story = told(verdict_of(PROMISE, REGRESSION))
    assert story.phase is P.EXECUTE
    assert story.card.question is None


def test_notes_do_not_stop():
    assert told(verdict_of(NOTE)).phase is P.FINAL


def test_policy_may_let_weakened_tests_pass_but_no_hand_in_the_runner():
    allow = Policy(review=False, weakened_tests=OnWeakened.ALLOW)
    assert told(QUESTIONED, allow).phase is P.FINAL
    fewer = replace(PROMISE, kind=FindingKind.FEWER_TESTS)
    assert told(verdict_of(fewer), allow).phase is P.FINAL
    assert told(verdict_of(PROMISE, REACH), allow).card.question.kind is Asking.WEAKENED_TESTS


def test_policy_may_refuse_weakened_tests_unasked():
    refuse = Policy(review=False, weakened_tests=OnWeakened.REFUSE)
    story = told(QUESTIONED, refuse)
    assert story.phase is P.EXECUTE
    assert "Tests were weakened. Restore them and repair the code.\ntests/test_a.py" in story.said
    assert story.card.question is None


def test_too_little_ends_unverified_without_costing_the_driver_rounds():
    story = told(TOO_WEAK)
    assert story.card.ending is Ending.UNVERIFIED
    assert story.card.ending_reason == "What can be shown of it is too little: unverified."
    assert story.card.rejections == 1


@pytest.mark.parametrize(("verdict", "ending"), [(CHECKED, "succeeded"), (UNTESTED, "unverified")])
def test_without_a_suite_a_build_is_enough_and_nothing_is_not(verdict: ChangeVerdict, ending: str):
    story = Story(project=Project(sandbox="kernel")).checkpoints().edits("t1").asks("http_probe")
    story.returns("", HttpReport(id="h", tree="t1", url="u", status=200)).stops().inspects(verdict)
    assert story.card.ending.value == ending


def test_a_verdict_outweighs_what_the_driver_ran():
    story = Story().checkpoints().edits("t1").tests(red=True).stops()
    assert story.owed == ["Inspect"]
    assert story.inspects().closes().phase is P.SUCCEEDED
    assert story.card.strength is Strength.RED_GREEN


def test_flyball_looks_itself_at_a_stop_whatever_the_driver_ran():
    assert Story().checkpoints().edits("t1").stops().owed == ["Inspect"]
    story = Story().asks("test")
    story.returns("", suite_on("t0")).checkpoints().edits("t1").tests(red=True).stops()
    assert (story.phase, story.owed) == (P.VERIFY, ["Inspect"])


def test_a_driver_that_only_edits_and_stops_ends_with_flyballs_verdict():
    story = Story().checkpoints().edits("t1").stops().inspects().closes()
    assert story.phase is P.SUCCEEDED
    assert story.state.spend.calls == 1


@pytest.mark.parametrize(
    ("request_text", "path", "wants_red"),
    [
        ("fix the total", "a.py", True),
        ("add a pricing page", "a.py", True),
        ("Refactor: move the rules into b.py. No behaviour change.", "a.py", False),
        ("fix the total", "README.md", False),
        ("say how to install it", "docs/install.rst", False),
        ("Document the public API", "a.py", False),
    ],
)
def test_a_test_that_failed_before_is_owed_by_fixes_and_features(request_text, path, wants_red):
    story = Story()
    story.state = replace(story.state, request=request_text)
    story.checkpoints(path).edits("t1", path).stops()
    (look,) = [owed.effect for owed in story.state.owed]
    assert look.wants_red is wants_red


def test_a_part_of_the_base_is_not_the_base():
    story = Story().asks("test").returns("", replace(suite_on("t0"), selected=True))
    assert story.checkpoints().edits("t1").tests(red=True).stops().owed == ["Inspect"]


def suite_on(tree: str) -> SuiteReport:
    return SuiteReport(id="b", tree=tree, runner="pytest", command="pytest", exit_code=0, passed=4)


def test_a_step_with_gates_that_look_is_held_to_the_verdict_as_well():
    page = GateUse("file_exists", {"path": "a.txt"})
    walk = Walk(step(gates=(page,))).checkpoints().edits("t1").stops()
    walk.sees(verdict=REGRESSED)
    assert "The gate file_exists did not pass" in walk.said
    assert walk.phase is P.EXECUTE


def test_a_form_is_wanted_only_of_a_change_that_is_shown():
    notes = EvidenceSchema(required=("notes",))
    walk = Walk(step(evidence_schema=notes)).fixes().sees(verdict=REGRESSED)
    assert "evidence form" not in walk.said
    walk.edits("t2").tests().stops().sees()
    assert "evidence form" in walk.said
    walk.stops(form(notes="n"))
    assert walk.card.claims == {"notes": "n"}
    assert walk.phase is P.FINAL


def _to(target: str) -> OnPass:
    return OnPass(next_step_id=target)


def test_a_verifiers_step_needs_no_second_verdict_where_a_card_made_all_of_the_change():
    walk = Walk(step("S1", on_pass=_to("S2")), look("S2", role=Role.VERIFIER))
    walk.fixes("t1").sees().closes().stops("all is well")
    assert walk.state.verdict_on("t1") == SHOWN
    assert walk.owed == ["CloseCard"]


def test_a_verifiers_step_after_two_changes_has_the_whole_judged():
    walk = Walk(
        step("S1", on_pass=_to("S2")),
        step("S2", on_pass=_to("S3")),
        look("S3", role=Role.VERIFIER),
    )
    walk.fixes("t1").sees().closes().fixes("t2").sees().closes().stops("all is well")
    assert (walk.inspect.base, walk.inspect.tree) == ("t0", "t2")
    assert not walk.inspect.wants_red
    walk.sees()
    assert walk.state.verdict_on("t2") == SHOWN
    assert walk.owed == ["CloseCard"]


def test_a_verifiers_step_does_not_pass_over_what_speaks_against_the_whole():
    walk = Walk(
        step("S1", on_pass=_to("S2")),
        step("S2", on_pass=_to("S3")),
        look("S3", role=Role.VERIFIER),
    )
    walk.fixes("t1").sees().closes().fixes("t2").sees().closes().stops("all is well")
    walk.sees(verdict=REGRESSED)
    assert walk.card.ending is not Ending.SUCCEEDED
    assert walk.card.failures_in_row == 1
    assert REGRESSION.sentence in walk.said


def test_the_verdict_on_a_run_is_about_all_that_it_changed():
    story = told(SHOWN)
    assert story.state.verdict_on("t1") == SHOWN
    assert story.state.verdict_on("t2") is None
    assert replace(story.state, base="t9").verdict_on("t1") is None
    assert RunState().verdict_on("t1") is None


def test_the_last_verdict_on_the_present_tree_is_the_cards():
    story = told(SHOWN)
    card = replace(story.card, evidence=(judged("t1", "t0", TOO_WEAK), judged("t1", "t0")))
    assert card.verdict == SHOWN
    assert replace(card, tree="t2").verdict is None
    assert replace(card, tree="t2").label == Strength.NOTHING.label
    assert ChangeStrength.OLD_TESTS.label in card.label


def test_gates_that_fail_after_the_verdict_have_it_taken_again():
    story = Story().checkpoints().edits("t1").tests().stops()
    story.inspects(secrets_added=("a.py:1",))
    assert story.card.failures_in_row == 1
    assert story.card.verdict is None
    assert story.stops().owed == ["Inspect"]
    assert story.card.id == CARD


FILE = GateUse("file_exists", {"path": "a.txt"})


def drifted(policy: Policy) -> Walk:
    """A card that was sent back to its checkpoint, and stops there with its change made."""
    walk = Walk(step(gates=(FILE,)), policy=policy).checkpoints().edits("t1")
    walk.asks(call("b", "edit_diff", "b.py"))
    assert walk.phase is P.CHECKPOINT
    return walk.stops().stops()


@pytest.mark.parametrize(
    ("verdict", "on_weakened", "words"),
    [
        (REGRESSED, OnWeakened.ASK, "This is not done yet: test_a fails"),
        (QUESTIONED, OnWeakened.REFUSE, "Tests were weakened"),
    ],
)
def test_a_card_that_owes_a_checkpoint_still_owes_it_after_a_verdict(
    verdict: ChangeVerdict, on_weakened: OnWeakened, words: str
):
    policy = Policy(
        review=False, plan_big_requests=False, max_scope_drift=0, weakened_tests=on_weakened
    )
    walk = drifted(policy)
    seen = FileReport(id="f", tree="t1", path="a.txt", exists=True)
    walk.sees(seen, verdict=verdict)
    assert words in walk.said
    assert walk.phase is P.CHECKPOINT
    assert walk.owed == ["Think"]
