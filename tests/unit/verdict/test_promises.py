"""Promises that only a text can speak for, since the old tests cannot be loaded any more."""

from __future__ import annotations

import pytest

from flyball.terms.change_verdict import ChangeFinding, ChangeVerdict, FindingKind, Weight
from flyball.terms.evidence import ChangedTest, Comparison
from flyball.verdict.case import CaseOutcome
from flyball.verdict.judge import judge_change
from flyball.verdict.reports import AskedFor, ChangeFacts, SuiteRuns, TreeRun

TESTS = "tests/test_cart.py"
SHARED = "tests/conftest.py"
EXAMPLE = ChangedTest("cart.py", ">>>", Comparison.OTHER_EXPECTATION, "the example says 2 now")


def run(**ends: CaseOutcome) -> TreeRun:
    return TreeRun("pytest", 0, {f"{TESTS}::{name}": end for name, end in ends.items()})


UNLOADED = TreeRun("pytest", 2, {f"{TESTS}::(collection)": CaseOutcome.FAILED})
BEFORE = run(pieces=CaseOutcome.FAILED, empty=CaseOutcome.PASSED)
NOW = run(pieces=CaseOutcome.PASSED, empty=CaseOutcome.PASSED)


def judged(*tests: ChangedTest, side: tuple[str, ...] = (TESTS,), **more: bool) -> ChangeVerdict:
    change = ChangeFacts(("cart.py", *side), tests, frozenset(side), **more)
    return judge_change((SuiteRuns(".", "pytest", BEFORE, NOW, UNLOADED),), change, AskedFor())


def asked_in(verdict: ChangeVerdict) -> list[ChangeFinding]:
    return [each for each in verdict.findings if each.weight is Weight.ASKS]


def compared(path: str, function: str, comparison: Comparison) -> ChangedTest:
    return ChangedTest(path, function, comparison, "it asks something else")


@pytest.mark.parametrize(
    "test",
    [
        compared(TESTS, "pieces", Comparison.OTHER_EXPECTATION),
        compared(TESTS, "pieces", Comparison.GONE),
        compared(TESTS, "", Comparison.OTHER_EXPECTATION),
    ],
    ids=["another value", "gone", "a constant beside it"],
)
def test_a_test_that_was_red_and_cannot_be_loaded_is_compared_by_its_text(test: ChangedTest):
    (found,) = asked_in(judged(test))
    assert found.kind is FindingKind.PROMISE_CHANGED
    assert "it asks something else" in found.sentence


def test_one_whose_text_asks_the_same_is_no_question():
    assert asked_in(judged(compared(TESTS, "pieces", Comparison.SAME))) == []


def test_what_such_tests_share_is_a_question_too():
    bent = compared(SHARED, "", Comparison.OTHER_EXPECTATION)
    (found,) = judged(bent, side=(TESTS, SHARED)).findings
    assert found.weight is Weight.ASKS
    (found,) = judged(side=(TESTS, SHARED)).findings
    assert found.sentence.startswith(f"{SHARED} was changed, and {TESTS} as it was cannot be")
    assert asked_in(judged(side=(TESTS, "pyproject.toml"))) == []


@pytest.mark.parametrize(
    ("request_text", "is_announced"),
    [
        ("Raise the tax on books.", False),
        ("Change what `tax` expects.", True),
        ("counts pieces shall give 7", True),
        ("it miscounts piecesy", False),
    ],
)
def test_a_test_is_announced_by_its_name_and_a_plain_word_by_quotes(
    request_text: str, is_announced: bool
):
    name = "tax" if "tax" in request_text else "counts pieces"
    test = ChangedTest("cart.test.js", name, Comparison.OTHER_EXPECTATION, "another value")
    file = f"cart.test.js::{name}"
    before = TreeRun("node", 0, {file: CaseOutcome.PASSED})
    old = TreeRun("node", 1, {file: CaseOutcome.FAILED})
    change = ChangeFacts(("cart.js", "cart.test.js"), (test,), frozenset({"cart.test.js"}))
    asked = AskedFor(announced=(request_text,), keeps_behaviour=False)
    verdict = judge_change((SuiteRuns(".", "node", before, before, old),), change, asked)
    (found,) = [e for e in verdict.findings if e.kind is FindingKind.PROMISE_CHANGED]
    assert found.weight is (Weight.NOTES if is_announced else Weight.ASKS)


@pytest.mark.parametrize("runs_examples", [True, False])
def test_an_example_is_a_promise_where_something_runs_it(runs_examples: bool):
    told = [each.sentence for each in judged(EXAMPLE, runs_examples=runs_examples).findings]
    assert any("the example says 2 now" in each for each in told) is runs_examples
