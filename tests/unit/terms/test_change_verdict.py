"""What a verdict comes to: shown, a question for a person, or not shown."""

from __future__ import annotations

import pytest

from flyball.terms.change_verdict import (
    ChangeFinding,
    ChangeStrength,
    ChangeVerdict,
    FindingKind,
    SuiteLine,
    VerdictStatus,
    Weight,
)

RED_GREEN = ChangeStrength.OLD_TESTS
WRONG = ChangeFinding(FindingKind.REGRESSION, Weight.BLOCKS, "a test fails that passed")
ASKED = ChangeFinding(FindingKind.PROMISE_CHANGED, Weight.ASKS, "a test expects something else")


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        (ChangeVerdict(RED_GREEN), VerdictStatus.SHOWN),
        (ChangeVerdict(RED_GREEN, (ASKED,)), VerdictStatus.QUESTION),
        (ChangeVerdict(RED_GREEN, (ASKED,), accepted_by="ada"), VerdictStatus.SHOWN),
        (ChangeVerdict(RED_GREEN, (ASKED, WRONG)), VerdictStatus.NOT_SHOWN),
        (ChangeVerdict(RED_GREEN, (WRONG,), accepted_by="ada"), VerdictStatus.NOT_SHOWN),
        (ChangeVerdict(), VerdictStatus.NOT_SHOWN),
    ],
    ids=["proven", "a question", "accepted", "wrong besides", "wrong all the same", "nothing"],
)
def test_what_it_comes_to(verdict: ChangeVerdict, status: VerdictStatus):
    assert verdict.status is status


@pytest.mark.parametrize(
    ("verdict", "headline"),
    [
        (
            ChangeVerdict(RED_GREEN, ran=(SuiteLine("after", ".", "pytest", 12, of=1994),)),
            "12 of 1,994 tests: red → green (tests that were there)",
        ),
        (
            ChangeVerdict(RED_GREEN, ran=(SuiteLine("after", ".", "pytest", 11, 1),)),
            "red → green (tests that were there) (11 of 12 tests pass)",
        ),
        (
            ChangeVerdict(RED_GREEN, ran=(SuiteLine("after", ".", "pytest", 1),)),
            "red → green (tests that were there) (1 test)",
        ),
        (ChangeVerdict(is_unchanged=True), "nothing changed"),
        (
            ChangeVerdict(is_unchanged=True, old_failures=("test_a",)),
            "nothing changed; 1 test still fails: test_a",
        ),
        (
            ChangeVerdict(is_unchanged=True, old_failures=("test_a", "test_b")),
            "nothing changed; 2 tests still fail: test_a, test_b",
        ),
        (
            ChangeVerdict(ChangeStrength.GREEN, is_refactoring=True),
            "refactoring: green before and after, no promise changed",
        ),
        (
            ChangeVerdict(RED_GREEN, uninverted=True),
            "red → green (tests that were there), uninverted",
        ),
    ],
)
def test_headline_names_what_was_shown(verdict: ChangeVerdict, headline: str):
    assert verdict.headline == headline


def test_a_verdict_without_findings_says_what_it_lacks():
    assert "no" in ChangeVerdict().missing_reason.lower()
    asks = ChangeFinding(FindingKind.PROMISE_CHANGED, Weight.ASKS, "Is that meant?")
    assert ChangeVerdict(findings=(asks,)).missing_reason == ""
    doubt = ChangeFinding(FindingKind.NOT_EVIDENCE, Weight.NOTES, "Nobody saw the work.")
    assert ChangeVerdict(findings=(doubt,)).missing_reason == ""
    assert "test.command" in ChangeVerdict(has_suite=False, changed=("main.py",)).missing_reason
