"""What may be said of a change: one story for each finding, and one for each label."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from flyball.terms.change_verdict import (
    ChangeStrength,
    ChangeVerdict,
    FindingKind,
    MutantCount,
    Weight,
)
from flyball.terms.evidence import ChangedTest, Comparison
from flyball.verdict.case import CaseOutcome
from flyball.verdict.judge import judge_change, with_mutants
from flyball.verdict.reports import (
    AskedFor,
    ChangeFacts,
    Inverted,
    Named,
    NamedEnd,
    RunnerReach,
    SharedFile,
    SuiteRuns,
    TreeRun,
    Unsteady,
)

ENDS = {".": CaseOutcome.PASSED, "F": CaseOutcome.FAILED, "s": CaseOutcome.SKIPPED}
TESTS = "tests/test_cart.py"


def run(exit_code: int | None = None, **ends: str) -> TreeRun:
    """A run in which test `x` ended as the letter says: `.` passed, `F` failed, `s` skipped."""
    found = {f"{TESTS}::{name}": ENDS[end] for name, end in ends.items()}
    code = int("F" in ends.values()) if exit_code is None else exit_code
    return TreeRun("pytest", code, found)


def runs(a: TreeRun | None, c: TreeRun | None, **more: TreeRun) -> SuiteRuns:
    return SuiteRuns(".", "pytest", a, c, **more)


def changed(function: str, comparison: Comparison, **more: str) -> ChangedTest:
    return ChangedTest(TESTS, function, comparison, f"it got {comparison.value}", **more)


CODE = ChangeFacts(("cart.py",))
BOTH = ChangeFacts(("cart.py", TESTS), testing_side=frozenset({TESTS}))


def kinds(verdict) -> set[tuple[FindingKind, Weight]]:
    return {(each.kind, each.weight) for each in verdict.findings}


def test_red_before_and_green_now_by_tests_that_were_there_is_the_strongest():
    verdict = judge_change((runs(run(x="F", y="."), run(x=".", y=".")),), CODE, AskedFor())
    assert verdict.is_shown
    assert verdict.strength is ChangeStrength.OLD_TESTS
    assert verdict.mended == (f"{TESTS}::x",)
    assert verdict.findings == ()


def test_what_is_repaired_in_some_runs_only_is_a_question():
    name = f"{TESTS}::x"
    suite = runs(run(x="F", y="."), run(x=".", y="."))
    suite = suite._replace(unsteady=(Unsteady(name, 2, 5, 5, 5),))
    verdict = judge_change((suite,), CODE, AskedFor(wants_red=False))
    assert kinds(verdict) == {(FindingKind.HIDDEN_RED, Weight.ASKS)}
    assert verdict.mended == ()


def test_new_tests_count_when_they_fail_without_the_change():
    suite = runs(
        run(y="."),
        run(x=".", y="."),
        old_tests_new_code=run(y="."),
        new_tests_old_code=run(x="F", y="."),
    )
    verdict = judge_change((suite,), BOTH, AskedFor())
    assert verdict.is_shown
    assert verdict.strength is ChangeStrength.NEW_TESTS


def test_a_change_whose_tests_pass_without_it_is_sent_back_once():
    suite = runs(
        run(y="."),
        run(x=".", y="."),
        old_tests_new_code=run(y="."),
        new_tests_old_code=run(x=".", y="."),
    )
    first = judge_change((suite,), BOTH, AskedFor())
    assert not first.is_shown
    assert kinds(first) == {(FindingKind.NOTHING_FAILED_BEFORE, Weight.BLOCKS)}
    again = judge_change((suite,), BOTH, AskedFor(wants_red=False))
    assert again.is_shown
    assert again.strength is ChangeStrength.GREEN


def test_a_new_test_whose_run_on_the_base_is_no_evidence_shows_nothing():
    bad = run(x="F")._replace(trouble="it was ended by signal 9")
    suite = runs(
        run(y="."), run(x=".", y="."), old_tests_new_code=run(y="."), new_tests_old_code=bad
    )
    assert judge_change((suite,), BOTH, AskedFor()).strength is ChangeStrength.GREEN


@pytest.mark.parametrize(
    "now",
    [run(x=".", y="F"), run(x="."), run(x=".", y="s")],
    ids=["red", "gone", "skipped"],
)
def test_what_was_green_and_no_longer_is_goes_back(now: TreeRun):
    verdict = judge_change((runs(run(x="F", y="."), now),), CODE, AskedFor())
    assert not verdict.is_shown
    assert kinds(verdict) == {(FindingKind.REGRESSION, Weight.BLOCKS)}
    assert verdict.blocking[0].tests == (f"{TESTS}::y",)


def test_a_selection_does_not_miss_what_it_left_out():
    now = run(x=".")._replace(whole=2)
    verdict = judge_change((runs(run(x="F", y="."), now),), CODE, AskedFor())
    assert verdict.is_shown


def test_tests_that_were_made_to_agree_are_found_by_the_old_ones():
    suite = runs(
        run(x="F"), run(x="."), old_tests_new_code=run(x="F"), new_tests_old_code=run(x=".")
    )
    verdict = replace(judge_change((suite,), BOTH, AskedFor()), accepted_by="ann")
    assert not verdict.is_shown
    assert (FindingKind.HIDDEN_RED, Weight.BLOCKS) in kinds(verdict)


def made(exit_code: int, *counts: int) -> TreeRun:
    """A run of a suite that only counts; its command is its one test."""
    end = CaseOutcome.FAILED if exit_code else CaseOutcome.PASSED
    return TreeRun("make", exit_code, {"make": end}, is_counted=False, counts=counts or None)


@pytest.mark.parametrize(
    ("before", "with_old_tests", "weight"),
    [
        (made(2, 0, 0, 0), made(2, 0, 0, 0), Weight.ASKS),
        (made(2, 4, 1, 0), made(2, 0, 0, 0), Weight.BLOCKS),
        (made(2, 0, 0, 0), made(2, 4, 1, 0), Weight.BLOCKS),
    ],
    ids=["no test ran", "red before", "red with the old tests"],
)
def test_a_suite_that_could_not_be_built_is_asked_about_unless_a_test_was_red(
    before, with_old_tests, weight
):
    suite = runs(
        before,
        made(0, 5, 0, 0),
        old_tests_new_code=with_old_tests,
        new_tests_old_code=made(2, 0, 0, 0),
    )
    verdict = judge_change((suite,), BOTH, AskedFor())
    assert [each.weight for each in verdict.findings] == [weight]
    assert not verdict.is_shown
    assert verdict.findings[0].tests == ("make",)
    assert replace(verdict, accepted_by="ann").is_shown is (weight is Weight.ASKS)


def test_a_suite_that_never_counts_is_not_excused():
    suite = runs(made(1), made(0), old_tests_new_code=made(1), new_tests_old_code=made(1))
    verdict = judge_change((suite,), BOTH, AskedFor())
    assert kinds(verdict) == {(FindingKind.HIDDEN_RED, Weight.BLOCKS)}


@pytest.mark.parametrize(
    ("comparison", "asked", "weight"),
    [
        (Comparison.WEAKER, AskedFor(keeps_behaviour=False, announced=("x",)), Weight.ASKS),
        (Comparison.SKIPPED, AskedFor(), Weight.ASKS),
        (Comparison.GONE, AskedFor(), Weight.ASKS),
        (Comparison.NOT_UNDERSTOOD, AskedFor(), Weight.ASKS),
        (Comparison.OTHER_EXPECTATION, AskedFor(), Weight.ASKS),
        (Comparison.OTHER_EXPECTATION, AskedFor(keeps_behaviour=False), Weight.ASKS),
        (
            Comparison.OTHER_EXPECTATION,
            AskedFor(keeps_behaviour=False, announced=("I will change test_x, as asked",)),
            Weight.NOTES,
        ),
        (Comparison.STRONGER, AskedFor(), Weight.NOTES),
    ],
)
def test_a_promise_that_the_new_code_does_not_keep(comparison, asked, weight):
    suite = runs(
        run(test_x=".", y="F"), run(test_x=".", y="."), old_tests_new_code=run(test_x="F", y=".")
    )
    change = BOTH._replace(tests=(changed("test_x", comparison, before="old", after="new"),))
    verdict = judge_change((suite,), change, asked)
    assert kinds(verdict) == {(FindingKind.PROMISE_CHANGED, weight)}
    assert verdict.is_shown is (weight is Weight.NOTES)
    assert (verdict.findings[0].before, verdict.findings[0].after) == ("old", "new")
    assert replace(verdict, accepted_by="ann").is_shown


def test_a_weaker_text_is_no_question_where_the_old_one_still_passes():
    suite = runs(run(x=".", y="F"), run(x=".", y="."), old_tests_new_code=run(x=".", y="."))
    change = BOTH._replace(tests=(changed("x", Comparison.WEAKER),))
    assert judge_change((suite,), change, AskedFor()).is_shown


def test_where_the_old_tests_cannot_run_their_texts_are_compared():
    change = BOTH._replace(
        tests=(changed("x", Comparison.WEAKER), changed("y", Comparison.STRONGER))
    )
    verdict = judge_change((runs(run(x="F"), run(x=".")),), change, AskedFor())
    assert [each.tests for each in verdict.questions] == [(f"{TESTS}::x",)]


def test_old_tests_that_cannot_be_loaded_say_nothing_where_their_texts_stayed():
    b = TreeRun("pytest", 2, {TESTS: CaseOutcome.FAILED})
    suite = runs(
        run(x=".", y="."),
        run(x=".", y="."),
        old_tests_new_code=b,
        new_tests_old_code=run(x=".", y="."),
    )
    assert judge_change((suite,), BOTH, AskedFor(wants_red=False)).is_shown
    other = BOTH._replace(tests=(changed("x", Comparison.WEAKER),))
    assert not judge_change((suite,), other, AskedFor(wants_red=False)).is_shown


def test_a_test_that_passes_only_with_other_helpers_is_a_question():
    suite = runs(run(x=".", y="F"), run(x=".", y="."), old_tests_new_code=run(x="F", y="."))
    change = ChangeFacts(("cart.py", "conftest.py"), testing_side=frozenset({"conftest.py"}))
    verdict = judge_change((suite,), change, AskedFor())
    assert kinds(verdict) == {(FindingKind.PROMISE_CHANGED, Weight.ASKS)}


def test_one_test_with_many_cases_is_asked_about_once():
    names = {"x": ".", "x::one": ".", "x::two": "."}
    suite = runs(run(**names), run(**names), old_tests_new_code=run(x="F", y="."))
    change = BOTH._replace(tests=(changed("x", Comparison.WEAKER),))
    assert len(judge_change((suite,), change, AskedFor()).questions) == 1


def test_tests_that_vanish_with_their_file_are_a_question_unless_they_moved():
    suite = runs(run(x=".", y="F"), run(y="."), old_tests_new_code=run(x=".", y="."))
    verdict = judge_change((suite,), BOTH, AskedFor())
    assert kinds(verdict) == {(FindingKind.FEWER_TESTS, Weight.ASKS)}
    moved = BOTH._replace(tests=(changed("x", Comparison.SAME, became="tests/b.py::x"),))
    assert judge_change((suite,), moved, AskedFor()).is_shown


def test_a_test_whose_assertions_are_all_in_others_now_is_none_fewer():
    suite = runs(run(x=".", y="F"), run(y="."), old_tests_new_code=run(x=".", y="."))
    merged = changed("x", Comparison.SAME)
    assert judge_change((suite,), BOTH._replace(tests=(merged,)), AskedFor()).is_shown
    # Where only its name is gone, something else may leave it out.
    named = BOTH._replace(tests=(changed("x", Comparison.SAME, after="def test_x()"),))
    assert kinds(judge_change((suite,), named, AskedFor())) == {
        (FindingKind.FEWER_TESTS, Weight.ASKS)
    }


def test_without_a_run_of_the_old_tests_vanished_ones_are_a_question_too():
    suite = runs(run(x=".", y="F"), run(y="."))
    verdict = judge_change((suite,), BOTH, AskedFor())
    assert kinds(verdict) == {(FindingKind.FEWER_TESTS, Weight.ASKS)}


@pytest.mark.parametrize(
    ("reach", "b", "weight"),
    [
        (RunnerReach("cart.py ends the process", in_product=True), None, Weight.ASKS),
        (RunnerReach("conftest.py is new", in_product=False), run(x=".", y="."), Weight.NOTES),
        (RunnerReach("conftest.py is new", in_product=False), run(x=".", y="s"), Weight.ASKS),
        (RunnerReach("conftest.py is new", in_product=False), None, Weight.NOTES),
    ],
)
def test_what_reaches_into_the_runner_is_named(reach, b, weight):
    suite = SuiteRuns(".", "pytest", run(x="F", y="s"), run(x=".", y="."), b)
    verdict = judge_change((suite,), CODE._replace(reaches=(reach,)), AskedFor())
    assert (FindingKind.REACHES_RUNNER, weight) in kinds(verdict)


@pytest.mark.parametrize("end", [NamedEnd.RED, NamedEnd.NOT_RUN])
def test_what_was_named_as_verification_must_be_green(end):
    suite = runs(run(x="F"), run(x="."))
    named = (Named("npm test", NamedEnd.GREEN), Named("tsc --noEmit", end, "2 errors"))
    verdict = judge_change((suite,), CODE, AskedFor(named=named))
    assert kinds(verdict) == {(FindingKind.NAMED_NOT_GREEN, Weight.BLOCKS)}
    assert "2 errors" in verdict.blocking[0].sentence
    plain = judge_change((suite,), CODE, AskedFor(named=(Named("tsc", end),)))
    assert plain.blocking[0].sentence.endswith(f"is {end.value}.")


def test_old_failures_are_listed_and_excused_unless_they_were_the_request():
    suite = runs(run(x="F", y="F", z="F"), run(x=".", y="F", z="F"))
    verdict = judge_change((suite,), CODE, AskedFor())
    assert verdict.is_shown
    assert verdict.old_failures == (f"{TESTS}::y", f"{TESTS}::z")
    assert kinds(verdict) == {(FindingKind.OLD_FAILURE, Weight.NOTES)}
    one = judge_change((suite,), CODE, AskedFor(must_mend=("::y",), is_run=True))
    assert one.blocking[0].tests == (f"{TESTS}::y",)
    both = judge_change((suite,), CODE, AskedFor(mends_all=True, is_run=True))
    assert both.blocking[0].tests == (f"{TESTS}::y", f"{TESTS}::z")


@pytest.mark.parametrize(
    ("a", "c", "sentence"),
    [
        (run(x="F"), None, "could not be run on the new tree"),
        (None, run(x="."), "nothing to compare"),
        (run(x="F"), run(), "ran no test"),
        (run(x="F"), run(x="s"), "ran no test"),
        (run(x="F"), run(3, x="."), "exit code 3"),
        (run(x="F"), run(x=".")._replace(trouble="a canary passed"), "a canary passed"),
    ],
)
def test_a_run_that_says_nothing_is_no_evidence(a, c, sentence):
    verdict = judge_change((runs(a, c),), CODE, AskedFor())
    assert not verdict.is_shown
    assert sentence in verdict.blocking[0].sentence
    assert verdict.blocking[0].kind is FindingKind.NOT_EVIDENCE


def test_old_tests_whose_run_is_no_evidence_block_where_the_others_ran_well():
    b = run(x=".")._replace(trouble="a canary passed")
    verdict = judge_change((runs(run(x="F"), run(x="."), old_tests_new_code=b),), BOTH, AskedFor())
    assert kinds(verdict) == {(FindingKind.NOT_EVIDENCE, Weight.BLOCKS)}


@pytest.mark.parametrize(
    ("reason", "advice"), [("larger than 10 MB", "smaller"), ("not readable", "readable")]
)
def test_files_that_could_not_be_kept_make_it_another_tree(reason: str, advice: str):
    change = CODE._replace(unkept={"data.bin": reason})
    verdict = judge_change((runs(run(x="F"), run(x=".")),), change, AskedFor())
    assert kinds(verdict) == {(FindingKind.NOT_EVIDENCE, Weight.BLOCKS)}
    told = verdict.blocking[0].sentence
    assert f"data.bin could not be kept ({reason})" in told
    assert told.endswith(f"Make the file {advice} or remove it.")


def test_flaky_tests_count_for_nothing_and_are_shown():
    flaky = frozenset({f"{TESTS}::z"})
    suite = runs(run(x="F", z="."), run(x=".", z="F"))._replace(flaky=flaky)
    verdict = judge_change((suite,), CODE, AskedFor())
    assert verdict.is_shown
    assert verdict.flaky == (f"{TESTS}::z",)
    alone = runs(run(z="F"), run(z="."))._replace(flaky=flaky)
    assert not judge_change((alone,), CODE, AskedFor()).is_shown


@pytest.mark.parametrize(
    ("before", "now", "strength", "is_shown"),
    [
        (2, 0, ChangeStrength.EXIT_MENDED, True),
        (0, 0, ChangeStrength.EXIT_ZERO, False),
        (0, 2, ChangeStrength.UNVERIFIED, False),
    ],
)
def test_a_suite_that_does_not_count_speaks_by_its_exit_code(before, now, strength, is_shown):
    a, c = (TreeRun("make test", code, is_counted=False) for code in (before, now))
    verdict = judge_change((runs(a, c),), CODE, AskedFor())
    assert verdict.strength is strength
    assert verdict.is_shown is is_shown


@pytest.mark.parametrize(
    ("before", "now", "strength"),
    [
        ((349, 0, 0), (349, 0, 0), ChangeStrength.GREEN),
        ((349, 0, 0), (350, 0, 0), ChangeStrength.GREEN),
        ((349, 0, 0), (348, 0, 1), ChangeStrength.EXIT_ZERO),
        ((0, 0, 0), (349, 0, 0), ChangeStrength.EXIT_ZERO),
    ],
)
def test_a_suite_that_names_no_test_is_green_by_the_counts_it_prints(before, now, strength):
    a, c = (TreeRun("make test", 0, is_counted=False, counts=counts) for counts in (before, now))
    verdict = judge_change((runs(a, c),), CODE, AskedFor(wants_red=False))
    assert verdict.strength is strength
    assert verdict.is_shown is (strength is ChangeStrength.GREEN)
    assert not judge_change((runs(a, c),), CODE, AskedFor()).is_shown


def test_every_part_must_show_something_and_the_strongest_green_one_gives_the_label():
    mended, green = runs(run(x="F"), run(x=".")), runs(run(y="."), run(y="."))
    verdict = judge_change((mended, green), CODE, AskedFor())
    assert verdict.is_shown
    assert verdict.strength is ChangeStrength.OLD_TESTS
    silent = runs(run(y="."), None)
    assert not judge_change((mended, silent), CODE, AskedFor()).is_shown


@pytest.mark.parametrize(
    ("asked", "strength", "is_shown"),
    [
        (AskedFor(checked=True), ChangeStrength.CHECKED, True),
        (AskedFor(shown=True), ChangeStrength.SHOWN, True),
        (AskedFor(), ChangeStrength.UNVERIFIED, False),
    ],
)
def test_without_any_suite_the_label_says_what_there_is(asked, strength, is_shown):
    verdict = judge_change((), CODE, asked)
    assert verdict.strength is strength
    assert verdict.is_shown is is_shown


def test_long_lists_of_names_are_cut():
    before, now = run(**{f"t{n}": "." for n in range(9)}), run(t0=".")
    verdict = judge_change((runs(before, now),), CODE, AskedFor())
    assert "and 3 more" in verdict.blocking[0].sentence


def old_failure(asked: AskedFor, facts: ChangeFacts = CODE, **ends: str):
    """A change under which `x` was red and stays red; what else there is, is green on both."""
    both = run(x="F", y=".", **ends)
    return judge_change((runs(both, both),), facts, asked)


OLD = (FindingKind.OLD_FAILURE, Weight.NOTES)
OWED = (FindingKind.NAMED_NOT_GREEN, Weight.BLOCKS)


def test_old_failures_are_listed_and_not_blamed():
    assert kinds(old_failure(AskedFor(wants_red=False))) == {OLD}


def test_a_repair_that_shows_nothing_owes_the_failures_near_it():
    found = old_failure(AskedFor(repairs=True, is_run=True, wants_red=False))
    assert kinds(found) == {OWED}
    assert found.findings[0].tests == (f"{TESTS}::x",)
    assert found.old_failures == (f"{TESTS}::x",)


def test_a_repair_owes_the_failures_near_it_where_nothing_is_green():
    both = run(x="F")
    asked = AskedFor(repairs=True, is_run=True, wants_red=False)
    assert kinds(judge_change((runs(both, both),), CODE, asked)) == {OWED}


def test_a_repair_owes_no_failure_that_uses_nothing_of_it():
    apart = CODE._replace(tests_apart=frozenset({TESTS}))
    assert kinds(old_failure(AskedFor(repairs=True, wants_red=False), apart)) == {OLD}


def with_new_test(asked: AskedFor) -> ChangeVerdict:
    """A change with a new test of its own, beside a test that failed before and still does."""
    suite = runs(
        run(x="F"),
        run(x="F", y="."),
        old_tests_new_code=run(x="F"),
        new_tests_old_code=run(x="F", y="F"),
    )
    return judge_change((suite,), BOTH, asked)


def test_a_new_test_buys_off_no_failure_that_was_there():
    found = with_new_test(AskedFor(repairs=True, is_run=True))
    assert found.strength is ChangeStrength.NEW_TESTS
    assert kinds(found) == {OWED}


def test_where_nobody_can_be_sent_back_a_person_is_asked_about_an_old_failure():
    found = with_new_test(AskedFor(repairs=True, wants_red=False))
    assert kinds(found) == {(FindingKind.NAMED_NOT_GREEN, Weight.ASKS)}


def test_a_feature_owes_a_failure_near_it_only_where_it_shows_nothing():
    asked = AskedFor(adds=True, is_run=True, wants_red=False)
    assert with_new_test(asked).is_shown
    assert kinds(old_failure(asked)) == {OWED}


def test_another_failure_beside_one_that_was_repaired_is_a_question():
    before, now = run(x="F", y="F"), run(x="F", y=".")
    found = judge_change((runs(before, now),), CODE, AskedFor(repairs=True, is_run=True))
    assert found.strength is ChangeStrength.OLD_TESTS
    assert kinds(found) == {(FindingKind.NAMED_NOT_GREEN, Weight.ASKS)}


def test_a_row_that_breaks_is_not_excused_by_one_that_was_red():
    def rows(first: str, second: str) -> TreeRun:
        ends = {f"{TESTS}::x[1]": ENDS[first], f"{TESTS}::x[2]": ENDS[second]}
        return run(x="F", y=".")._replace(row_ends=ends)

    suite = runs(rows("F", "."), rows("F", "F"))
    verdict = judge_change((suite,), CODE, AskedFor(wants_red=False))
    assert (FindingKind.REGRESSION, Weight.BLOCKS) in kinds(verdict)
    assert verdict.blocking[0].tests == (f"{TESTS}::x[2]",)
    same = runs(rows("F", "."), rows("F", "."))
    assert not judge_change((same,), CODE, AskedFor(wants_red=False)).blocking


def test_what_was_green_always_and_is_red_at_times_is_a_question():
    suite = runs(run(x=".", y="F"), run(x="F", y="."))
    suite = suite._replace(unsteady=(Unsteady(f"{TESTS}::x", 2, 5, 0, 5),))
    verdict = judge_change((suite,), CODE, AskedFor())
    assert kinds(verdict) == {(FindingKind.REGRESSION, Weight.ASKS)}
    assert "2 of 5" in verdict.questions[0].sentence


def test_what_passes_only_after_other_tests_is_a_question_that_says_so():
    suite = runs(run(x=".", y="F"), run(x=".", y="."))
    suite = suite._replace(unsteady=(Unsteady(f"{TESTS}::x", 1, 2, 0, 2, by_order=True),))
    verdict = judge_change((suite,), CODE, AskedFor())
    assert kinds(verdict) == {(FindingKind.REGRESSION, Weight.ASKS)}
    assert "another order" in verdict.questions[0].sentence


def test_a_fixed_test_that_cannot_fail_any_more_blocks_with_both_texts():
    suite = runs(run(x="F"), run(x="."))
    deceived = suite._replace(deceived=(Inverted(f"{TESTS}::x", "== 6", "== 7"),))
    verdict = judge_change((deceived,), CODE, AskedFor())
    assert kinds(verdict) == {(FindingKind.NOT_EVIDENCE, Weight.BLOCKS)}
    assert (verdict.blocking[0].before, verdict.blocking[0].after) == ("== 6", "== 7")


def test_a_fixed_test_that_passes_with_what_it_saw_before_is_a_question():
    suite = runs(run(x="F"), run(x="."))
    suite = suite._replace(agreeing=(Inverted(f"{TESTS}::x", "6", "2"),))
    verdict = judge_change((suite,), CODE, AskedFor())
    assert kinds(verdict) == {(FindingKind.NOT_EVIDENCE, Weight.ASKS)}


@pytest.mark.parametrize(
    ("strength", "noticed", "asks"),
    [
        (ChangeStrength.NEW_TESTS, 0, True),
        (ChangeStrength.NEW_TESTS, 1, False),
        (ChangeStrength.OLD_TESTS, 0, False),
    ],
)
def test_new_tests_that_notice_no_small_change_are_a_question(strength, noticed, asks):
    found = MutantCount(3, noticed, ("cart.py:1 `1` → `2`",))
    verdict = with_mutants(ChangeVerdict(strength), found)
    assert (verdict.mutants, bool(verdict.questions)) == (found, asks)
    assert with_mutants(ChangeVerdict(strength), None).is_shown


def test_a_fixed_test_that_could_not_be_altered_is_said_in_the_label():
    suite = runs(run(x="F"), run(x="."))._replace(uninverted=frozenset({f"{TESTS}::x"}))
    assert "uninverted" in judge_change((suite,), CODE, AskedFor()).headline


def test_what_a_shared_file_decides_is_a_question_and_no_accusation():
    suite = runs(run(x="F"), run(x="."), old_tests_new_code=run(x="F"))
    suite = suite._replace(by_shared=frozenset({f"{TESTS}::x"}))
    change = CODE._replace(shared=(SharedFile("package.json", "{}", '{"exports": 1}'),))
    verdict = judge_change((suite,), change, AskedFor())
    assert kinds(verdict) == {(FindingKind.HIDDEN_RED, Weight.ASKS)}
    assert verdict.questions[0].after == '{"exports": 1}'


def test_compiled_files_that_a_change_brings_are_a_question():
    change = CODE._replace(compiled=("shop/cart.pyc",))
    verdict = judge_change((runs(run(x="F"), run(x=".")),), change, AskedFor())
    assert kinds(verdict) == {(FindingKind.NOT_EVIDENCE, Weight.ASKS)}


def test_a_refactoring_owes_no_test_that_was_red_and_has_a_label_of_its_own():
    asked = AskedFor(is_run=True, is_refactoring=True)
    verdict = judge_change((runs(run(x="."), run(x=".")),), CODE, asked)
    assert verdict.is_shown
    assert verdict.headline.startswith("refactoring: green before and after")


def test_documents_alone_owe_no_test_that_was_red():
    change = CODE._replace(documents=True)
    verdict = judge_change((runs(run(x="."), run(x=".")),), change, AskedFor(is_run=True))
    assert verdict.is_shown


def test_what_the_runner_said_stands_behind_what_could_not_be_run():
    told = TreeRun("go test", 1, {"go test": ENDS["F"]}, is_counted=False, says=("cart.go:3: no",))
    verdict = judge_change((runs(told, told),), CODE, AskedFor())
    assert "cart.go:3: no" in verdict.blocking[0].sentence


def test_a_suite_that_fails_as_it_did_is_told_once():
    told = TreeRun("make", 2, {"make": ENDS["F"]}, is_counted=False, says=("a.h: no such file",))
    verdict = judge_change((runs(told, told),), CODE, AskedFor(repairs=True))
    assert [each.kind for each in verdict.findings] == [FindingKind.NOT_EVIDENCE]


def test_a_suite_that_runs_no_test_any_more_is_one_regression_with_what_it_said():
    dead = TreeRun("go test", 1, {"go test": ENDS["F"]}, is_counted=False, says=("a.go:3: no",))
    verdict = judge_change((runs(run(x="."), dead),), CODE, AskedFor())
    assert [each.kind for each in verdict.findings] == [FindingKind.REGRESSION]
    assert "a.go:3: no" in verdict.findings[0].sentence


def test_a_regression_says_what_its_test_said():
    broken = run(x="F")._replace(messages={f"{TESTS}::x": "assert 6 == 4"})
    verdict = judge_change((runs(run(x="."), broken),), CODE, AskedFor())
    assert "assert 6 == 4" in verdict.blocking[0].sentence


def test_a_suite_that_can_be_started_on_neither_tree_is_told_once():
    why = "there is no program 'vitest'. A person runs `npm install`."
    gone = TreeRun("vitest", 1, trouble=why)
    verdict = judge_change((runs(gone, gone)._replace(unavailable=why),), CODE, AskedFor())
    assert [each.kind for each in verdict.findings] == [FindingKind.NOT_EVIDENCE]
    assert verdict.ran == ()


def test_a_submodule_whose_files_are_not_there_is_a_question():
    change = ChangeFacts((), submodules={"lib": "submodule 6abe691 → dd35116"})
    verdict = judge_change((runs(run(x="."), run(x=".")),), change, AskedFor(wants_red=False))
    assert kinds(verdict) == {(FindingKind.NOT_EVIDENCE, Weight.ASKS)}
    assert verdict.changed == ("lib (submodule 6abe691 → dd35116)",)


def test_a_failure_that_the_request_names_is_owed_and_the_others_are_listed():
    both = run(x="F", z="F", y=".")
    found = judge_change(
        (runs(both, both),),
        CODE,
        AskedFor(must_mend=("::x",), repairs=True, is_run=True, wants_red=False),
    )
    assert kinds(found) == {OWED, OLD}
    assert "still fails, and to repair that was the request" in found.findings[0].sentence
    assert [each.tests for each in found.findings] == [(f"{TESTS}::x",), (f"{TESTS}::z",)]


def test_a_request_about_the_failing_tests_owes_all_of_them():
    found = old_failure(AskedFor(mends_all=True, is_run=True, wants_red=False))
    assert kinds(found) == {OWED}


def test_new_tests_that_cannot_be_loaded_without_the_change_fail_there():
    gone = TreeRun("pytest", 2, {f"{TESTS}::(collection)": CaseOutcome.ERROR})
    suite = runs(
        run(y="."), run(x=".", y="."), old_tests_new_code=run(y="."), new_tests_old_code=gone
    )
    found = judge_change((suite,), BOTH, AskedFor())
    assert found.strength is ChangeStrength.NEW_TESTS
    assert found.mended == (f"{TESTS}::x",)


def test_what_is_not_told_of_a_run_that_ended_well_did_not_fail():
    suite = runs(
        run(y="."),
        run(x=".", y="."),
        old_tests_new_code=run(y="."),
        new_tests_old_code=TreeRun("pytest", 0),
    )
    assert judge_change((suite,), BOTH, AskedFor()).strength is ChangeStrength.GREEN


def test_a_file_that_ran_without_the_change_was_loaded():
    suite = runs(
        run(y=".", z="F"),
        run(x=".", y=".", z="F"),
        old_tests_new_code=run(y=".", z="F"),
        new_tests_old_code=run(y=".", z="F"),
    )
    assert judge_change((suite,), BOTH, AskedFor()).strength is ChangeStrength.GREEN


def test_the_first_tests_of_all_may_not_load_on_the_old_code():
    suite = runs(
        None, run(x="."), new_tests_old_code=TreeRun("go test", 1, is_counted=False)
    )._replace(is_new=True)
    assert judge_change((suite,), BOTH, AskedFor()).strength is ChangeStrength.NEW_TESTS


def gone(function: str) -> ChangedTest:
    return changed(function, Comparison.GONE, before=f"def {function}(): ...")


def test_tests_that_went_together_are_one_question():
    facts = BOTH._replace(tests=(gone("x"), gone("y"), changed("z", Comparison.WEAKER)))
    suite = runs(
        run(x=".", y=".", z=".", k="."),
        run(z=".", k="."),
        old_tests_new_code=run(x="F", y="F", z="F", k="."),
    )
    found = judge_change((suite,), facts, AskedFor(wants_red=False)).questions
    assert [each.tests for each in found] == [(f"{TESTS}::z",), (f"{TESTS}::x", f"{TESTS}::y")]
    assert found[1].sentence == (
        f"{TESTS}: 2 tests are gone: x, y; as they were, 2 of them fail on the new code"
    )
    assert found[1].before == "def x(): ...\n\ndef y(): ..."


def test_one_test_that_is_gone_is_told_in_its_own_words():
    facts = BOTH._replace(tests=(gone("x"),))
    suite = runs(run(x=".", k="."), run(k="."), old_tests_new_code=run(x="F", k="."))
    (found,) = judge_change((suite,), facts, AskedFor(wants_red=False)).questions
    assert found.sentence == f"{TESTS}::x: it got gone; as it was, it fails on the new code"


def test_several_tests_that_went_with_their_code_do_not_run_on_what_is_left():
    facts = BOTH._replace(tests=(gone("x"), gone("y")))
    suite = runs(run(x=".", y=".", k="."), run(k="."), old_tests_new_code=run(k="."))
    (found,) = judge_change((suite,), facts, AskedFor(wants_red=False)).questions
    assert found.sentence == f"{TESTS}: 2 tests are gone: x, y"


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (run(x=".", k="."), "passes only with what the change did around the tests"),
        (run(k="."), "passed before and does not run now; as it was, it fails on the new code."),
    ],
)
def test_an_old_text_that_the_new_code_breaks_is_told_by_what_became_of_it(now, said):
    suite = runs(run(x=".", k="."), now, old_tests_new_code=run(x="F", k="."))
    found = judge_change((suite,), BOTH, AskedFor(wants_red=False)).questions
    assert f"{TESTS}::x {said}" in found[0].sentence


def test_an_old_text_that_fails_now_is_a_regression_and_nothing_else():
    suite = runs(
        run(x=".", y=".", k="."),
        run(x="F", y="F", k="."),
        old_tests_new_code=run(x="F", y="F", k="."),
    )
    (found,) = judge_change((suite,), BOTH, AskedFor(wants_red=False)).findings
    assert found.kind is FindingKind.REGRESSION
    assert "y fail; they passed before or are new. Repair that." in found.sentence


@pytest.mark.parametrize("ends", [{}, {f"{TESTS}::(collection)": CaseOutcome.ERROR}])
def test_old_tests_that_cannot_be_loaded_promise_what_their_texts_say(ends):
    """As when a name that they import moved: texts that did not change promise the same."""
    b = TreeRun("pytest", 2, ends)
    facts = BOTH._replace(tests=(changed("x", Comparison.SAME),))
    suite = runs(run(x=".", y="."), run(x=".", y="."), old_tests_new_code=b)
    assert judge_change((suite,), facts, AskedFor(wants_red=False)).questions == ()


def test_a_broken_promise_of_a_go_test_is_told_by_its_text():
    def go(end: str) -> TreeRun:
        ends = {
            "a_test.go::example.com/shop::TestTotal": ENDS[end],
            "a_test.go::shop::TestB": ENDS["."],
        }
        return TreeRun("go", int(end == "F"), ends)

    test = ChangedTest(
        "a_test.go", "TestTotal", Comparison.OTHER_EXPECTATION, "2 became 6", "old", "new"
    )
    change = ChangeFacts(
        ("a.go", "a_test.go"), testing_side=frozenset({"a_test.go"}), tests=(test,)
    )
    suite = SuiteRuns(
        ".", "go", go("."), go("."), old_tests_new_code=go("F"), new_tests_old_code=go("F")
    )
    verdict = judge_change((suite,), change, AskedFor())
    assert [each.sentence for each in verdict.questions] == [
        "a_test.go::TestTotal: 2 became 6; as it was, it fails on the new code"
    ]


def test_a_changed_installation_is_not_called_a_file_that_could_not_be_kept():
    change = CODE._replace(installation=".venv/pyvenv.cfg")
    (found,) = judge_change((runs(run(x="F"), run(x=".")),), change, AskedFor()).blocking
    assert found.kind is FindingKind.NOT_EVIDENCE
    assert ".venv/pyvenv.cfg" in found.sentence
    assert "smaller" not in found.sentence
