"""Whatever else is true of a change, what speaks against it is never bought off."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flyball.terms.evidence import ChangedTest, Comparison
from flyball.verdict.case import CaseOutcome
from flyball.verdict.judge import judge_change
from flyball.verdict.reports import (
    AskedFor,
    ChangeFacts,
    Named,
    NamedEnd,
    RunnerReach,
    SuiteRuns,
    TreeRun,
)

FILES = ("t/test_a.py", "t/test_b.py")
NAMES = [f"{file}::{name}" for file in FILES for name in ("x", "y", "z")]


def some_run(r: Random) -> TreeRun | None:
    if r.random() < 0.15:
        return None
    ends = {name: r.choice(list(CaseOutcome)) for name in NAMES if r.random() < 0.8}
    is_red = CaseOutcome.FAILED in ends.values()
    return TreeRun(
        "pytest",
        r.choice([0, 1, 3]) if r.random() < 0.2 else int(is_red),
        ends,
        is_counted=r.random() < 0.9,
        trouble="a canary passed" if r.random() < 0.1 else "",
    )


def some_suite(r: Random) -> SuiteRuns:
    flaky = frozenset(r.sample(NAMES, r.randrange(2)))
    return SuiteRuns(".", "pytest", *(some_run(r) for _ in range(4)), flaky=flaky)


def some_change(r: Random) -> ChangeFacts:
    tests = [
        ChangedTest(
            r.choice(FILES),
            r.choice("xyz"),
            r.choice(list(Comparison)),
            "it changed",
            became=r.choice(["", "t/test_b.py::y"]),
        )
        for _ in range(r.randrange(4))
    ]
    side = [*FILES, "conftest.py"]
    reaches = [RunnerReach("it reaches", r.random() < 0.5)] if r.random() < 0.2 else []
    return ChangeFacts(
        ("a.py",),
        tuple(tests),
        frozenset(r.sample(side, r.randrange(4))),
        reaches=tuple(reaches),
        unkept={"big.bin": "not readable"} if r.random() < 0.1 else {},
    )


def some_asked(r: Random) -> AskedFor:
    named = [Named("tsc", r.choice(list(NamedEnd)))] if r.random() < 0.3 else []
    names = ("mends_all", "repairs", "adds", "keeps_behaviour", "wants_red", "is_run")
    flags = {name: r.random() < 0.5 for name in names}
    announced, must_mend = r.choice([(), ("x y z",)]), r.choice([(), ("x",)])
    return AskedFor(tuple(named), announced, must_mend=must_mend, **flags)


def some_case(seed: int) -> tuple[tuple[SuiteRuns, ...], ChangeFacts, AskedFor]:
    """A verdict's inputs, all fields at random: drawn from one seed, since that is fast."""
    r = Random(seed)
    suites = tuple(some_suite(r) for _ in range(r.randrange(3)))
    return suites, some_change(r), some_asked(r)


VERDICTS = st.integers(0, 2**32).map(some_case)


@settings(max_examples=500, deadline=None)
@given(VERDICTS)
def test_nothing_that_fails_now_and_did_not_before_is_ever_shown(case):
    suites, change, asked = case
    broken = any(
        suite.old is not None
        and suite.new is not None
        and suite.new.red - suite.old.red - suite.flaky
        for suite in suites
    )
    if broken:
        assert not judge_change(suites, change, asked).is_shown


@settings(max_examples=500, deadline=None)
@given(VERDICTS)
def test_a_test_that_vanished_untouched_is_never_excused(case):
    suites, change, asked = case
    moved = {each.name for each in change.tests if each.became}
    lost = [
        name
        for suite in suites
        if suite.old is not None and suite.new is not None
        for name in suite.old.green - suite.new.green - suite.flaky
        if name.partition("::")[0] not in change.testing_side and name not in moved
    ]
    if lost:
        assert not judge_change(suites, change, asked).is_shown


@settings(max_examples=500, deadline=None)
@given(VERDICTS)
def test_a_test_that_vanished_with_its_file_needs_a_person(case):
    suites, change, asked = case
    known = {each.name for each in change.tests}
    lost = [
        name
        for suite in suites
        if suite.old is not None and suite.new is not None
        for name in suite.old.green - suite.new.green - suite.new.red - suite.flaky
        if name not in known
        and name.partition("::")[0] in change.testing_side
        and suite.old_tests_new_code is not None
        and name in suite.old_tests_new_code.green
    ]
    if lost:
        assert not judge_change(suites, change, asked).is_shown


@settings(max_examples=500, deadline=None)
@given(VERDICTS)
def test_what_the_old_tests_still_call_red_is_never_shown(case):
    suites, change, asked = case
    hidden = any(
        (suite.old.red & suite.old_tests_new_code.red) - suite.new.red - suite.flaky
        for suite in suites
        if suite.old is not None and suite.old_tests_new_code is not None and suite.new is not None
    )
    if hidden:
        assert not judge_change(suites, change, asked).is_shown


@settings(max_examples=500, deadline=None)
@given(VERDICTS)
def test_a_run_that_is_no_evidence_never_shows_anything(case):
    suites, change, asked = case
    silent = any(suite.new is None or suite.old is None or suite.new.trouble for suite in suites)
    if silent or change.unkept:
        assert not judge_change(suites, change, asked).is_shown


@settings(max_examples=500, deadline=None)
@given(VERDICTS)
def test_an_old_failure_or_a_flaky_test_is_never_named_as_repaired(case):
    suites, change, asked = case
    verdict = judge_change(suites, change, asked)
    for suite in suites:
        if suite.new is not None and len(suites) == 1:
            assert not set(verdict.mended) & (suite.new.red | suite.set_aside)


@settings(max_examples=500, deadline=None)
@given(VERDICTS)
def test_what_was_named_and_is_not_green_sends_back(case):
    suites, change, asked = case
    if any(each.end is not NamedEnd.GREEN for each in asked.named):
        assert not judge_change(suites, change, asked).is_shown


@settings(max_examples=500, deadline=None)
@given(VERDICTS)
def test_a_person_can_answer_questions_and_nothing_else(case):
    suites, change, asked = case
    alone = judge_change(suites, change, asked)
    answered = replace(alone, accepted_by="ann")
    if alone.is_shown:
        assert answered.is_shown
