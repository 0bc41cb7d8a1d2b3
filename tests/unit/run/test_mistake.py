"""What counts as a card's own mistake, and what a repeat of one changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from tests.simulation.world import suite
from tests.unit.run.stories import CARD, Story
from tests.unit.run.walking import Walk, look, step

from flyball.guards.ledger import Mistake, fingerprint_failure
from flyball.plan.template import GateUse, Template
from flyball.run.effect import ResetThread
from flyball.run.event import CardClosed, ThreadReset
from flyball.run.mistake import KEPT, new_error, on_record, sightings
from flyball.run.state import Ending, Remark
from flyball.terms.evidence import (
    CheckKind,
    CheckReport,
    CommandReport,
    ConsoleReport,
    Evidence,
    FailedTest,
    FileReport,
    HttpReport,
    SuiteReport,
    VisualReport,
)
from flyball.terms.phase import Phase

NAME_ERROR = FailedTest(
    "test_total", "Traceback…\n  x = prize\nNameError: name 'prize' is not defined"
)
WRONG_SUM = FailedTest("test_total", "AssertionError: 2 != 6")


def red(tree: str, *failures: FailedTest, **more: Any) -> SuiteReport:
    fields = {"runner": "pytest", "command": "pytest", "exit_code": 1, "passed": 1, **more}
    return SuiteReport(
        id=f"e-{tree}-{len(failures)}", tree=tree, failed=len(failures), failures=failures, **fields
    )


def known(*mistakes: Mistake) -> Story:
    """A story in a project with this ledger."""
    story = Story()
    story.state = replace(story.state, ledger=mistakes)
    return story


def fails(story: Story, *failures: FailedTest) -> Story:
    """The suite is run, and it is red."""
    return story.asks("test").returns("", red(story.card.tree, *failures))


def building(story: Story | None = None) -> Story:
    return (story or Story()).checkpoints("a.py").edits("t1")


def errors(story: Story) -> list[str]:
    return [failure.error for failure in story.card.failures]


def test_a_test_that_fails_after_an_edit_is_a_mistake():
    story = fails(building(), NAME_ERROR)
    (failure,) = story.card.failures
    assert failure.error == "test_total failed: NameError: name 'prize' is not defined"
    assert (failure.step_kind, failure.files) == ("fix", ("a.py",))
    assert story.owed == ["Think"]


def test_what_was_red_before_the_card_changed_anything_is_not_its_mistake():
    story = fails(Story(), WRONG_SUM)
    assert story.card.failures == ()
    building(story)
    fails(story, FailedTest("test_total", "AssertionError: 4 != 6"))
    assert story.card.failures == ()
    story.edits("t2")
    fails(story, NAME_ERROR, FailedTest("test_other", "it broke"))
    assert errors(story) == [
        "test_other failed: it broke\ntest_total failed: NameError: name 'prize' is not defined"
    ]


def test_a_test_that_is_written_first_fails_as_it_should():
    story = Story().checkpoints("test_a.py", "a.py").edits("t1", path="test_a.py")
    assert fails(story, WRONG_SUM).card.failures == ()
    assert len(fails(story.edits("t2"), WRONG_SUM).card.failures) == 1


def test_the_same_failure_is_kept_once_and_only_so_many_are():
    story = fails(building(), NAME_ERROR)
    fails(story.edits("t2"), NAME_ERROR)
    assert len(story.card.failures) == 1
    kept = tuple(fingerprint_failure(f"error {c}") for c in "abcdefgh")
    full = replace(story.card, failures=kept)
    story.state = replace(story.state, cards=(full,))
    fails(story.edits("t3"), WRONG_SUM)
    assert story.card.failures == kept
    assert len(story.card.failures) == KEPT


def test_when_the_tree_is_as_it_was_nothing_is_changed_any_more():
    story = building()
    assert story.card.changed == ("a.py",)
    assert story.edits("t0").card.changed == ()


MISTAKE = Mistake(
    fingerprint_failure("test_total failed: NameError: name 'prize' is not defined").fingerprint,
    "test_total failed: NameError: name 'prize' is not defined",
    step_kind="step",
    files=("a.py", "b.py"),
    resolution="spell it right",
)


def test_a_mistake_on_record_ends_the_thread_that_repeats_it_once():
    story = fails(building(known(MISTAKE)), NAME_ERROR)
    assert story.owed == ["ResetThread"]
    effect = story.state.owed[0].effect
    assert isinstance(effect, ResetThread)
    assert "in the ledger: test_total failed: NameError" in effect.reason
    assert story.card.failures[0].fingerprint == MISTAKE.fingerprint
    story.answers(ThreadReset(card=CARD, reason="r", text="t"))
    assert (story.card.attempt, story.phase) == (2, Phase.EXECUTE)
    fails(story.edits("t2"), NAME_ERROR)
    assert story.owed == ["Think"]


def test_a_repeat_seen_in_verify_goes_on_in_execute():
    story = building(known(MISTAKE)).stops()
    assert story.phase is Phase.VERIFY
    fails(story, NAME_ERROR)
    assert story.owed == ["ResetThread"]
    story.answers(ThreadReset(card=CARD, reason="r", text="t"))
    assert story.phase is Phase.EXECUTE
    assert "Verification failed." in story.said


def test_another_error_is_no_repeat():
    story = fails(building(known(MISTAKE)), FailedTest("test_total", "TypeError: no"))
    assert story.owed == ["Think"]
    assert story.card.failures[0].fingerprint != MISTAKE.fingerprint


def test_cards_of_the_same_run_that_ended_are_on_record_too():
    story = fails(building(), NAME_ERROR)
    assert on_record(story.state, story.card) == ()
    story.edits("t3").tests().stops().inspects().closes()
    ended, other = story.card, Story().card
    assert on_record(story.state, ended) == ()
    later = replace(other, id="step-2")
    run = replace(story.state, cards=(ended, replace(ended, id="again"), later))
    (found,) = on_record(run, later)
    assert found.fingerprint == ended.failures[0].fingerprint
    assert on_record(replace(run, ledger=(found,)), later) == (found,)


def test_what_a_card_that_succeeds_ran_into_was_resolved():
    story = fails(building(), NAME_ERROR).edits("t2").tests().stops("Spelled it right.\nBye.")
    story.inspects()
    (seen,) = sightings(story.state, story.card, CardClosed(card=CARD, commit="abc"))
    assert (seen.run, seen.card, seen.failure) == ("r", CARD, story.card.failures[0])
    assert seen.resolution == "edit a.py (changed a.py)"
    failed = CardClosed(card=CARD, error="Merge conflict with another step in a.py: both changed")
    first, second = sightings(story.state, story.card, failed)
    assert (first.resolution, second.resolution) == ("", "")
    assert second.failure.error.startswith("Merge conflict")


def test_a_card_that_did_not_succeed_resolves_nothing():
    story = fails(building(), NAME_ERROR)
    (seen,) = sightings(story.state, story.card, CardClosed(card=CARD))
    assert seen.resolution == ""
    bare = Story()
    assert sightings(bare.state, bare.card, CardClosed(card=CARD)) == ()
    (late,) = sightings(bare.state, bare.card, CardClosed(card=CARD, error="The disk is full."))
    assert late.failure.files == ()


def test_a_later_card_of_the_same_step_resolves_what_an_earlier_one_ran_into():
    story = fails(building(), NAME_ERROR)
    failed = story.card
    mended = replace(
        failed, id="again", failures=(), ending=Ending.SUCCEEDED, checkpoint=None, changed=(),
        answer="Spelled it right.\nMore words.",
    )  # fmt: skip
    diagnosis = replace(mended, id="d", template=replace(failed.template, step_id="D1"))
    run = replace(story.state, cards=(failed, diagnosis, mended))
    (seen,) = sightings(run, mended, CardClosed(card="again"))
    assert (seen.card, seen.resolution) == (failed.id, "Spelled it right.")
    assert sightings(run, diagnosis, CardClosed(card="d")) == ()


def test_a_guard_that_a_person_agrees_with_leaves_a_mistake():
    story = Story()
    for _ in range(5):
        story.asks("read").returns()
    assert story.phase is Phase.PAUSED
    story.refuses()
    (error,) = errors(story)
    assert error.startswith("Stopped by a guard. repetition: ")


def test_a_persons_words_to_a_guard_are_owed_to_the_new_thread():
    story = Story()
    for _ in range(5):
        story.asks("read").returns()
    story.grants("Look at b.py instead.")
    effect = story.state.owed[0].effect
    assert isinstance(effect, ResetThread)
    assert effect.words == "Look at b.py instead."
    assert effect.reason == "the repetition guard stopped this thread"


CHECK = CheckReport(id="c", tree="t1", kind=CheckKind.TYPES, command="mypy", exit_code=1)
LOOSE = CheckReport(
    id="c", tree="t1", kind=CheckKind.TYPES, command="mypy", exit_code=1, problems=("a.py:3: bad",)
)


@pytest.mark.parametrize(
    ("item", "before", "error"),
    [
        (suite("s", "t1", red=False), (), ""),
        (FileReport(id="f", tree="t1", path="a", exists=False), (), ""),
        (red("t1", exit_code=5, passed=0), (), ""),
        (red("t1", exit_code=2, reason="cannot collect"), (), "error: cannot collect"),
        (red("t1", exit_code=2), (), "error: the test run failed without naming a test"),
        (red("t1", exit_code=2), (red("t0", exit_code=2),), ""),
        (red("t1", timed_out=True, exit_code=0, reason="too slow"), (), "error: too slow"),
        (
            red("t1", WRONG_SUM),
            (red("t0", NAME_ERROR),),
            "test_total failed: AssertionError: N != N",
        ),
        (red("t1", FailedTest("x", "boom")), (red("t0", FailedTest("x", "KeyError: k")),), ""),
        (CheckReport(id="l", tree="t1", kind=CheckKind.LINT, command="ruff", exit_code=1), (), ""),
        (CHECK, (), "error: `mypy` ended with exit code 1"),
        (CHECK, (CHECK,), ""),
        (LOOSE, (CHECK,), "a.py:3: bad"),
        (LOOSE, (LOOSE,), ""),
        (
            CommandReport(id="c", tree="t1", command="make", exit_code=2, verification=True),
            (),
            "error: `make` ended with exit code 2",
        ),
        (
            CommandReport(id="c", tree="t1", command="make", exit_code=2, verification=True),
            (CommandReport(id="c", tree="t0", command="make", exit_code=1, verification=True),),
            "",
        ),
        (HttpReport(id="h", tree="t1", url="/x", status=500), (), "error: /x answered 500"),
        (ConsoleReport(id="p", tree="t1", url="/", errors=("a", "b")), (), "a\nb"),
        (
            VisualReport(id="v", tree="t1", url="/", expectation="a red box", ok=False),
            (),
            "error: / does not look as expected",
        ),
    ],
)
def test_what_a_verification_says_went_wrong(
    item: Evidence, before: tuple[Evidence, ...], error: str
):
    assert new_error(item, before) == error


def test_a_review_is_its_notes_or_a_reviewers_own_words():
    card = Story().card
    assert card.review == Remark("reviewer")
    prose = replace(card, remarks=(Remark("executor", "hm"), Remark("reviewer", "Low risk.")))
    assert prose.review.risk == "Low risk."
    noted = Remark("reviewer", "All in all fine.", "low", ("one caller", "one thread"))
    both = replace(prose, remarks=(*prose.remarks, noted, Remark("x", assumptions=("one caller",))))
    assert both.review == Remark("reviewer", risk="low", assumptions=("one caller", "one thread"))


COMMAND = GateUse("command_succeeds", {"command": "make check"})


def gated(template: Template, item: Callable[[Walk], Evidence], *ledger: Mistake) -> Walk:
    """A card whose gate does not pass, in a project with this ledger."""
    walk = Walk(template)
    walk.state = replace(walk.state, ledger=ledger)
    if template.may_mutate:
        walk.checkpoints().edits("t1")
    return walk.stops("done").sees(item(walk))


def on_ledger(walk: Walk) -> tuple[Mistake, ...]:
    return tuple(Mistake(f.fingerprint, f.error, f.step_kind, f.files) for f in walk.card.failures)


def fails_here(walk: Walk) -> Evidence:
    return CommandReport(id="c", tree=walk.card.tree, command="make check", exit_code=1)


def test_a_gate_that_fails_as_it_did_before_ends_the_thread():
    template = step(gates=(COMMAND,))
    first = gated(template, fails_here)
    assert first.owed == ["Think"]
    again = gated(template, fails_here, *on_ledger(first))
    assert again.owed == ["ResetThread"]
    assert again.phase is Phase.EXECUTE
    assert again.resets().owed == ["Think"]


def test_a_card_that_only_answers_is_not_restarted():
    template = look(phases=(Phase.FINAL,), gates=(COMMAND,))
    first = gated(template, fails_here)
    assert first.card.failures
    again = gated(template, fails_here, *on_ledger(first))
    assert again.card.failures
    assert again.owed == ["Think"]


def test_what_nobody_has_looked_at_is_no_mistake():
    walk = Walk(step()).checkpoints().edits("t1").stops().stops().stops().stops()
    assert walk.card.failures == ()
