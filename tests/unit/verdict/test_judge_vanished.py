"""Failing tests that are made to vanish, tests within the code, and runs that tell of less."""

from __future__ import annotations

import pytest
from tests.unit.verdict.test_judge import BOTH, CODE, TESTS, kinds, run, runs

from flyball.terms.change_verdict import ChangeStrength, FindingKind, Weight
from flyball.terms.evidence import ChangedTest, Comparison
from flyball.verdict.case import CaseOutcome
from flyball.verdict.judge import judge_change
from flyball.verdict.promises import EXAMPLE, changed_examples
from flyball.verdict.reports import AskedFor, ChangeFacts, SuiteRuns, TreeRun

QUIET = AskedFor(wants_red=False)
HIDDEN = FindingKind.HIDDEN_RED


def found_in(before: TreeRun, now: TreeRun, change: ChangeFacts = CODE, **more: TreeRun):
    return kinds(judge_change((runs(before, now, **more),), change, QUIET))


def test_a_failing_test_that_is_skipped_now_was_not_repaired():
    assert (HIDDEN, Weight.BLOCKS) in found_in(run(x="F", y="."), run(x="s", y="."))


def test_a_failing_test_that_no_longer_runs_is_a_question():
    assert (HIDDEN, Weight.ASKS) in found_in(run(x="F", y="."), run(y="."))


def test_rows_of_a_failing_test_that_no_longer_run_are_a_question():
    name = f"{TESTS}::x"
    before, now = run(x="F", y=".")._replace(rows={name: 3}), run(x=".", y=".")
    assert (HIDDEN, Weight.ASKS) in found_in(before, now._replace(rows={name: 2}))
    assert found_in(before, now._replace(rows={name: 3})) == set()
    assert found_in(before, now._replace(rows={name: 2}, whole=9)) == set()


def test_a_suite_that_could_not_begin_before_is_a_question_when_it_counts_now():
    stuck = TreeRun("pytest", 4, {"pytest": CaseOutcome.FAILED}, is_counted=False)
    found = found_in(stuck, run(x=".")._replace(counts=(1, 0, 0)), BOTH, old_tests_new_code=stuck)
    assert (FindingKind.PROMISE_CHANGED, Weight.ASKS) in found
    assert all(weight is not Weight.BLOCKS for _, weight in found)


def within(*ends: tuple[str, CaseOutcome]) -> TreeRun:
    """A run that tells of two subtests that passed, and of these."""
    inner = [("TestCart::one", CaseOutcome.PASSED), ("TestCart::two", CaseOutcome.PASSED)]
    found = {f"{TESTS}::{name}": end for name, end in (*inner, *ends)}
    return TreeRun("go", int(CaseOutcome.FAILED in found.values()), found)


@pytest.mark.parametrize(
    ("now", "is_repaired"),
    [
        (within(), True),
        (within(("TestCart::three", CaseOutcome.FAILED)), False),
        (within(("TestCart", CaseOutcome.FAILED)), False),
        (run(y="."), False),
    ],
)
def test_a_test_that_fails_beside_its_subtests_is_repaired_with_all_of_them(
    now: TreeRun, is_repaired: bool
):
    before = within(("TestCart", CaseOutcome.FAILED))
    verdict = judge_change((runs(before, now),), CODE, QUIET)
    assert (verdict.strength is ChangeStrength.OLD_TESTS) == is_repaired
    assert (not verdict.findings) == is_repaired
    verdict = judge_change((runs(within(), now, new_tests_old_code=before),), BOTH, QUIET)
    assert (verdict.strength is ChangeStrength.NEW_TESTS) == is_repaired


def test_a_file_that_could_not_be_loaded_is_no_test_that_passed():
    assert not run(x=".").passed([TESTS, f"{TESTS}::y"])


def test_a_failing_test_that_the_old_tests_show_repaired_may_go():
    assert not found_in(run(x="F", y="."), run(y="."), BOTH, old_tests_new_code=run(x=".", y="."))


def test_a_failing_test_that_moved_is_where_it_moved_to():
    moved = ChangedTest(TESTS, "x", Comparison.SAME, "moved", became=f"{TESTS}::z")
    facts = BOTH._replace(tests=(moved,))
    assert not found_in(run(x="F", y="."), run(y="."), facts, old_tests_new_code=run(y="."))


@pytest.mark.parametrize(
    "name",
    [
        f"{TESTS}::(collection)",
        "(loading)",
        "test/cart.test.js::test/cart.test.js",
        'test/cart.js::"before all" hook in "cart"',
        "test_cart.py::CartTest::setUpClass",
    ],
)
def test_what_stands_for_more_than_a_test_may_go(name: str):
    before = run(y=".")
    before = before._replace(ends={**before.ends, name: CaseOutcome.FAILED}, exit_code=1)
    assert not found_in(before, run(y="."))


def test_what_stood_for_tests_that_are_told_of_now_may_go():
    assert not found_in(run(whole_file="F"), run(x=".", y="."))


def test_a_part_of_a_suite_leaves_failing_tests_out_on_purpose():
    now = run(y=".")._replace(whole=2)
    assert not found_in(run(x="F", y="."), now)


def test_tests_that_could_not_be_loaded_before_are_not_bent_to_agree():
    before = TreeRun("pytest", 2, {f"{TESTS}::(collection)": CaseOutcome.ERROR})
    found = found_in(
        before, run(x="."), BOTH, old_tests_new_code=run(x="F"), new_tests_old_code=before
    )
    assert (HIDDEN, Weight.BLOCKS) in found
    part = before._replace(whole=9)
    assert not found_in(
        part,
        run(x=".")._replace(whole=9),
        BOTH,
        old_tests_new_code=run(x="F"),
        new_tests_old_code=before,
    )


def uncounted(exit_code: int, *counts: int) -> TreeRun:
    end = CaseOutcome.FAILED if exit_code else CaseOutcome.PASSED
    told = (counts[0], counts[1], counts[2]) if counts else None
    return TreeRun("make", exit_code, {"make": end}, is_counted=False, counts=told)


def test_a_program_that_tells_of_fewer_checks_than_before_is_a_question():
    fewer = FindingKind.FEWER_TESTS, Weight.ASKS
    assert found_in(uncounted(2, 1, 2, 0), uncounted(0, 0, 0, 0)) == {fewer}
    assert not found_in(uncounted(2, 1, 2, 0), uncounted(0, 3, 0, 0))
    assert not found_in(uncounted(2), uncounted(0))


def test_a_command_that_fails_as_before_shows_nothing_and_says_so():
    verdict = judge_change((runs(uncounted(2), uncounted(2)),), CODE, QUIET)
    assert [each.sentence for each in verdict.blocking] == [
        "make fails on the new tree as it did on the tree from before."
    ]


RUST = "src/lib.rs"


def test_a_test_within_the_code_is_compared_by_its_text():
    bent = ChangedTest(RUST, "pieces", Comparison.OTHER_EXPECTATION, "6 became 2")
    facts = ChangeFacts((RUST,), (bent,))
    before = TreeRun("cargo test", 101, {"tests::pieces": CaseOutcome.FAILED})
    now = TreeRun("cargo test", 0, {"tests::pieces": CaseOutcome.PASSED})
    promise = FindingKind.PROMISE_CHANGED, Weight.ASKS
    assert found_in(before, now, facts) == {promise}
    beside = facts._replace(testing_side=frozenset({"tests/other.rs"}))
    assert promise in found_in(before, now, beside, old_tests_new_code=now)


DOCUMENTED = 'def total(items):\n    """All.\n\n    >>> total([(2, 3)])\n    6\n    """\n'


@pytest.mark.parametrize(
    ("after", "comparison"),
    [
        (DOCUMENTED.replace("    6\n", "    2\n"), Comparison.OTHER_EXPECTATION),
        (DOCUMENTED.replace("    >>> total([(2, 3)])\n    6\n", ""), Comparison.GONE),
        (None, Comparison.GONE),
    ],
)
def test_an_example_that_is_run_as_a_test_is_a_promise(after: str | None, comparison: Comparison):
    changes = changed_examples({"cart.py": DOCUMENTED}, {"cart.py": after})
    assert [(each.function, each.comparison) for each in changes] == [(EXAMPLE, comparison)]
    facts = ChangeFacts(("cart.py",), changes)
    run_as_test = TreeRun("pytest", 0, {"cart.py::cart.total": CaseOutcome.PASSED})
    assert (FindingKind.PROMISE_CHANGED, Weight.ASKS) in found_in(run_as_test, run_as_test, facts)
    assert not found_in(run(x="."), run(x="."), facts)


def test_examples_that_stay_or_come_are_no_change():
    more = DOCUMENTED.replace(
        "    6\n", "    6\n    >>> for x in (1, 2):\n    ...     print(x)\n    1\n    2\n"
    )
    assert changed_examples({"cart.py": DOCUMENTED}, {"cart.py": more}) == ()
    assert changed_examples({"new.py": None}, {"new.py": DOCUMENTED}) == ()
    (lost,) = changed_examples({"cart.py": more}, {"cart.py": DOCUMENTED})
    assert lost.before == ">>> for x in (1, 2):\n    print(x)\n1\n2"


def test_a_suite_that_nobody_could_compare_says_nothing_about_what_vanished():
    suite = SuiteRuns(".", "pytest", None, run(x="."), is_new=True)
    assert not kinds(judge_change((suite,), CODE, QUIET))
