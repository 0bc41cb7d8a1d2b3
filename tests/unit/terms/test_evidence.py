"""What evidence proves, about which tree, and for how long."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.simulation.world import suite

from flyball.terms.evidence import (
    ApprovalReport,
    BaseRun,
    CheckKind,
    CheckReport,
    CommandReport,
    ConsoleReport,
    CoverageReport,
    FailedTest,
    HttpReport,
    Strength,
    SuiteReport,
    VisualReport,
)
from flyball.terms.evidence_rows import is_failing, latest_of, strength, strongest

GREEN = suite("g", "t", red=False)
RED = suite("r", "t", red=True)


def check(kind: CheckKind, code: int = 0) -> CheckReport:
    return CheckReport(id="c", tree="t", kind=kind, command="c", exit_code=code)


@pytest.mark.parametrize(
    ("item", "proves", "fails"),
    [
        (GREEN, Strength.GREEN, False),
        (RED, Strength.NOTHING, True),
        (suite("n", "t", red=False, ran=False), Strength.NOTHING, True),
        (replace(GREEN, timed_out=True), Strength.NOTHING, True),
        (check(CheckKind.BUILD), Strength.CHECKED, False),
        (check(CheckKind.TYPES), Strength.CHECKED, False),
        (check(CheckKind.LINT), Strength.PARSES, False),
        (check(CheckKind.SYNTAX, 1), Strength.NOTHING, True),
        (
            CommandReport(id="c", tree="t", command="make", exit_code=0, verification=True),
            Strength.CHECKED,
            False,
        ),
        (
            CommandReport(id="c", tree="t", command="true", exit_code=0, verification=True,
                          proves_nothing="it cannot fail"),
            Strength.NOTHING,
            False,
        ),
        (
            CommandReport(id="c", tree="t", command="make", exit_code=2, verification=True),
            Strength.NOTHING,
            True,
        ),
        (HttpReport(id="h", tree="t", url="u", status=204), Strength.SHOWN, False),
        (HttpReport(id="h", tree="t", url="u", status=500), Strength.NOTHING, True),
        (HttpReport(id="h", tree="t", url="u", status=0, error="refused"), Strength.NOTHING, True),
        (ConsoleReport(id="k", tree="t", url="u"), Strength.SHOWN, False),
        (ConsoleReport(id="k", tree="t", url="u", errors=("x",)), Strength.NOTHING, True),
        (VisualReport(id="v", tree="t", url="u", expectation="e", ok=True), Strength.SHOWN, False),
        (CoverageReport(id="v", tree="t", before=1, after=2), Strength.NOTHING, False),
    ],
)  # fmt: skip
def test_what_one_observation_proves(item, proves, fails):
    assert strength(item) is proves
    assert is_failing(item) is fails


def test_proof_is_of_one_tree():
    assert strongest((GREEN,), "t") is Strength.GREEN
    assert strongest((GREEN,), "u") is Strength.NOTHING


def test_the_later_run_of_the_same_command_counts():
    assert strongest((GREEN, RED), "t") is Strength.NOTHING
    assert strongest((RED, GREEN), "t") is Strength.GREEN


def test_a_selection_does_not_hide_what_the_whole_suite_shows():
    part = replace(GREEN, id="p", command="pytest test_b.py", selected=True)
    assert strongest((RED, part), "t") is Strength.NOTHING
    assert (
        strongest((replace(part, passed=0, exit_code=1, failures=(FailedTest("x"),)), GREEN), "t")
        is Strength.GREEN
    )


def test_failures_that_the_base_had_do_not_count_against_the_change():
    before = suite("b", "t0", red=True)
    part = replace(GREEN, id="p", command="pytest test_b.py", selected=True)
    assert strongest((before, RED, part), "t", "t0") is Strength.GREEN
    assert strongest((before, replace(RED, failures=()), part), "t", "t0") is Strength.NOTHING


def test_red_on_the_base_makes_green_stronger():
    was = BaseRun(id="b", tree="t", report="g", base="t0", outcome="red")
    assert strongest((GREEN, was), "t") is Strength.RED_GREEN
    assert strongest((GREEN, replace(was, outcome="green")), "t") is Strength.GREEN
    assert Strength.RED_GREEN.label == "tests went from red to green"


def test_the_latest_of_a_kind_is_found():
    assert latest_of((GREEN, check(CheckKind.LINT), RED), SuiteReport) is RED
    assert latest_of((GREEN,), ApprovalReport) is None


def test_an_unnamed_failure_still_has_a_name():
    assert RED.first_failure == "test_a"
    assert GREEN.first_failure == "(unnamed)"
