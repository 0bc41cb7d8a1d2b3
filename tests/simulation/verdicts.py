"""Verdicts of every kind that the machine tells apart."""

from __future__ import annotations

from msgspec.structs import replace

from flyball.terms.change_verdict import (
    ChangeFinding,
    ChangeStrength,
    ChangeVerdict,
    FindingKind,
    SuiteLine,
    Weight,
)
from flyball.terms.evidence import TreeHash, VerdictReport

REGRESSION = ChangeFinding(
    FindingKind.REGRESSION, Weight.BLOCKS, "test_a fails; it passed before.", tests=("test_a",)
)
NOTHING_RED = ChangeFinding(
    FindingKind.NOTHING_FAILED_BEFORE, Weight.BLOCKS, "Every test passes without the change, too."
)
PROMISE = ChangeFinding(
    FindingKind.PROMISE_CHANGED,
    Weight.ASKS,
    "tests/test_a.py::test_a: it checks less.",
    tests=("tests/test_a.py::test_a",),
    before="assert f() == 2",
    after="assert f()",
)
REACH = ChangeFinding(
    FindingKind.REACHES_RUNNER, Weight.ASKS, "src/a.py names the arguments of the runner."
)


def verdict_of(
    *findings: ChangeFinding,
    strength: ChangeStrength = ChangeStrength.OLD_TESTS,
    has_suite: bool = True,
) -> ChangeVerdict:
    """A verdict with these findings, of a suite with three tests unless there is none."""
    is_red_green = strength >= ChangeStrength.NEW_TESTS
    ran = (SuiteLine("before", ".", "pytest", 2, 1), SuiteLine("after", ".", "pytest", 3))
    return ChangeVerdict(
        strength=strength,
        findings=findings,
        ran=ran if has_suite else (),
        mended=("test_a",) if is_red_green else (),
        has_suite=has_suite,
    )


SHOWN = verdict_of()
REGRESSED = verdict_of(REGRESSION)
NEVER_RED = verdict_of(NOTHING_RED, strength=ChangeStrength.GREEN)
QUESTIONED = verdict_of(PROMISE)
STILL_RED = replace(verdict_of(), old_failures=("test_old",))
TOO_WEAK = verdict_of(strength=ChangeStrength.UNVERIFIED)
CHECKED = verdict_of(strength=ChangeStrength.CHECKED, has_suite=False)
UNTESTED = verdict_of(strength=ChangeStrength.UNVERIFIED, has_suite=False)

TESTED = (SHOWN, REGRESSED, NEVER_RED, QUESTIONED, TOO_WEAK)
"""What may be said where there is a suite."""
WITHOUT_SUITE = (CHECKED, UNTESTED, QUESTIONED)
"""What may be said where there is none; a question may be asked anywhere."""


def judged(tree: TreeHash, base: TreeHash, verdict: ChangeVerdict = SHOWN) -> VerdictReport:
    """The verdict as evidence about a tree."""
    return VerdictReport(id=f"v{tree}", tree=tree, base=base, verdict=verdict)
