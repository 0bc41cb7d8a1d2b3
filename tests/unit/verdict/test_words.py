"""The words of a verdict, and what the words of a request demand of it."""

from __future__ import annotations

import pytest

from flyball.terms.change_verdict import (
    ChangeFinding,
    ChangeStrength,
    ChangeVerdict,
    FindingKind,
    MutantCount,
    SuiteLine,
    Weight,
)
from flyball.terms.intent import Intent
from flyball.verdict.named import asked_for
from flyball.verdict.words import verdict_lines

AFTER = SuiteLine("after", ".", "pytest", 11, 1, 2, 0.5)


def test_the_label_comes_with_its_counts():
    assert ChangeVerdict().headline == "unverified"
    green = ChangeVerdict(strength=ChangeStrength.OLD_TESTS, ran=(AFTER,))
    assert green.headline == "red → green (tests that were there) (11 of 12 tests pass)"
    one = ChangeVerdict(ran=(SuiteLine("after", ".", "pytest", 1),))
    assert one.headline == "unverified (1 test)"


def test_a_part_of_a_suite_is_said_in_front():
    part = SuiteLine("after", ".", "pytest", 12, of=1994)
    verdict = ChangeVerdict(strength=ChangeStrength.NEW_TESTS, ran=(part,))
    assert verdict.headline == "12 of 1,994 tests: red → green (new tests)"


def test_all_facts_are_told_and_the_driver_comes_last():
    verdict = ChangeVerdict(
        strength=ChangeStrength.OLD_TESTS,
        changed=tuple(f"f{n}.py" for n in range(10)),
        ran=(
            AFTER,
            SuiteLine("before", "web", "vitest", 3, 1, of=9),
            SuiteLine("old tests", ".", "pytest", trouble="a canary passed"),
        ),
        mended=("t::x",),
        findings=(
            ChangeFinding(FindingKind.OLD_FAILURE, Weight.NOTES, "t::o failed before."),
            ChangeFinding(FindingKind.PROMISE_CHANGED, Weight.ASKS, "t::p got weaker."),
            ChangeFinding(FindingKind.REGRESSION, Weight.BLOCKS, "t::r fails."),
        ),
        flaky=("t::f",),
        not_run=("mypy: it is not installed",),
        left_behind=("a.out",),
        shared_literals=("'10.0.0.3'",),
        mutants=MutantCount(10, 7, ("a.py:3 `<` → `<=`",)),
        accepted_by="ann",
    )
    lines = verdict_lines(verdict, " all 1969 tests pass ")
    assert lines[1:] == (
        "changed: f0.py, f1.py, f2.py, f3.py, f4.py, f5.py, f6.py, f7.py and 2 more",
        "ran now: pytest: 11 passed, 1 failed, 2 skipped, 0.5 s",
        "ran before: vitest in web: 3 passed, 1 failed of 9, 0.0 s",
        "ran with the old tests: pytest: 0 passed, 0 failed, 0.0 s (no evidence: a canary passed)",
        "red → green: t::x",
        "not shown: t::r fails.",
        "question: t::p got weaker.",
        "note: t::o failed before.",
        "flaky, counted for nothing: t::f",
        "not run: mypy: it is not installed",
        "left behind by commands, not committed: a.out",
        "in the tests and in the new code alike: '10.0.0.3'",
        "7 of 10 small changes to the new lines would be noticed; not a.py:3 `<` → `<=`",
        "changed expectations accepted by ann",
        "The driver says: all 1969 tests pass",
    )
    assert verdict_lines(ChangeVerdict(is_unchanged=True), "  ") == ("nothing changed",)


def test_a_verdict_without_any_run_says_why_nothing_is_shown():
    nothing = ChangeVerdict(has_suite=False, changed=("main.py",))
    assert nothing.missing_reason and "main.py" in nothing.missing_reason
    assert f"not shown: {nothing.missing_reason}" in verdict_lines(nothing)
    asks = ChangeFinding(FindingKind.NAMED_NOT_GREEN, Weight.ASKS, "t::x still fails")
    assert ChangeVerdict(findings=(asks,)).missing_reason == ""
    assert ChangeVerdict(strength=ChangeStrength.GREEN).missing_reason == ""


def test_a_run_that_told_of_no_test_is_shown_with_its_exit_code():
    verdict = ChangeVerdict(ran=(SuiteLine("after", ".", "go test", exit_code=2),))
    assert "ran now: go test: exit code 2, no tests reported, 0.0 s" in verdict_lines(verdict)


def test_the_file_of_several_tests_is_said_once():
    verdict = ChangeVerdict(mended=("a.py::x", "a.py::y", "b.py::z", "alone"))
    assert "red → green: a.py::x, y, b.py::z, alone" in verdict_lines(verdict)


def test_one_small_change_that_is_noticed_is_said_in_the_singular():
    green = ChangeVerdict(strength=ChangeStrength.GREEN, mutants=MutantCount(1, 1))
    lines = verdict_lines(green)
    assert lines[1:] == ("1 of 1 small change to the new lines would be noticed",)


def test_a_command_that_names_many_tests_is_folded():
    command = " ".join(["pytest", *(f"tests/test_cart.py::test_{n}" for n in range(45))])
    verdict = ChangeVerdict(ran=(SuiteLine("after", ".", command, 45),))
    [ran] = [line for line in verdict_lines(verdict) if line.startswith("ran now")]
    assert len(ran) < 160
    assert "words more" in ran


def ask(request: str, intent: Intent = Intent.SMALL_FIX):
    return asked_for(request, ("I will change test_total",), intent, wants_red=True)


@pytest.mark.parametrize(
    "request_",
    ["the tests fail, fix it", "Two failing tests.", "CI is red", "repair the broken suite"],
)
def test_failing_tests_without_names_are_all_meant(request_):
    assert ask(request_).mends_all


def test_named_tests_are_meant_alone():
    found = ask("test_pieces fails, and so does cart.test.js")
    assert found.must_mend == ("test_pieces", "cart.test.js")
    assert not found.mends_all


def test_other_requests_are_about_no_failing_test():
    found = ask("the total is wrong when the cart is empty")
    assert not found.mends_all
    assert found.must_mend == ()


@pytest.mark.parametrize(
    ("request_", "intent", "keeps"),
    [
        ("the total is wrong", Intent.SMALL_FIX, True),
        ("refactor the cart", Intent.FEATURE_BUILD, True),
        ("change the label to Save", Intent.SMALL_FIX, False),
        ("add a pricing page", Intent.FEATURE_BUILD, False),
        ("look at the cart", Intent.DIAGNOSE, True),
    ],
)
def test_who_repairs_or_rearranges_changes_no_expectation(request_, intent, keeps):
    found = ask(request_, intent)
    assert found.keeps_behaviour is keeps
    assert found.announced == (request_, "I will change test_total")
    assert found.wants_red
