"""Every class of evidence has its row, and the row's columns agree with each other."""

from __future__ import annotations

import pytest
from tests.simulation.world import suite

from flyball.cli.terminal.story_words import EVIDENCE as STORY_LINES
from flyball.terms.evidence import (
    AnyEvidence,
    ApprovalReport,
    BaseRun,
    CheckKind,
    CheckReport,
    CommandReport,
    ConsoleReport,
    CoverageReport,
    DiffReport,
    FailedTest,
    FileReport,
    GateReport,
    HttpReport,
    PictureChange,
    Strength,
    SuiteReport,
    VisualReport,
    WeakeningReport,
)
from flyball.terms.evidence_rows import (
    EVIDENCE_ROWS,
    complaint_of,
    is_failing,
    is_style,
    line_of,
    new_failure,
    strength,
    verification_key,
)

HERE = {"id": "e", "tree": "t"}
RED = SuiteReport(
    **HERE, runner="pytest", command="pytest", exit_code=1, failed=1,
    failures=(FailedTest("test_a", "\nassert 1 == 2\n"),),
)  # fmt: skip
CHECK = CheckReport(**HERE, kind=CheckKind.TYPES, command="pyright", exit_code=1)


def test_every_class_has_a_row_in_the_order_of_the_union():
    assert set(EVIDENCE_ROWS) == set(AnyEvidence.__args__)


def test_the_terminal_tells_of_every_class_that_a_tool_can_take():
    tags = {str(kind.__struct_config__.tag) for kind in EVIDENCE_ROWS}
    assert tags - set(STORY_LINES) == {"console-report", "visual-report"}
    assert set(STORY_LINES) <= tags


@pytest.mark.parametrize(
    ("item", "line", "complaint"),
    [
        (RED, "pytest: 0 passed, 1 failed", "test_a fails: assert 1 == 2"),
        (
            SuiteReport(**HERE, runner="p", command="p", exit_code=1, failures=(FailedTest("a"),)),
            "p: 0 passed, 0 failed",
            "a fails",
        ),
        (
            SuiteReport(**HERE, runner="p", command="p", exit_code=2, reason="no such file"),
            "p: 0 passed, 0 failed",
            "no such file",
        ),
        (suite("g", "t", red=False), "pytest: 3 passed, 0 failed", "pytest: 3 passed, 0 failed"),
        (CHECK, "pyright: exit 1", "pyright: exit 1"),
        (
            CheckReport(
                **HERE, kind=CheckKind.LINT, command="ruff", exit_code=1, problems=("a.py:1", "b")
            ),
            "ruff: exit 1",
            "a.py:1",
        ),
        (CommandReport(**HERE, command="make", exit_code=2), "make: exit 2", "make: exit 2"),
        (HttpReport(**HERE, url="u", status=404), "u answered 404", "u answered 404"),
        (
            HttpReport(**HERE, url="u", status=0, error="refused"),
            "u answered refused",
            "u answered refused",
        ),
        (
            ConsoleReport(**HERE, url="u", errors=("boom",), failed_requests=("x",)),
            "the console of u has 2 errors",
            "boom",
        ),
        (
            ConsoleReport(**HERE, url="u", failed_requests=("x",)),
            "the console of u has 1 errors",
            "x",
        ),
        (
            VisualReport(**HERE, url="u", expectation="a hat", ok=True),
            "u shows a hat",
            "u shows a hat",
        ),
        (
            VisualReport(**HERE, url="u", expectation="a hat", ok=False),
            "u does not show a hat",
            "u does not show a hat",
        ),
        (
            VisualReport(**HERE, url="u", expectation="a hat", ok=True, own=True),
            "a picture of u: nothing is plainly wrong (not judged by a model)",
            "a picture of u: nothing is plainly wrong (not judged by a model)",
        ),
        (
            VisualReport(**HERE, url="u", expectation="a hat", ok=True, own=True, judged_by="m"),
            "u shows a hat (judged by m)",
            "u shows a hat (judged by m)",
        ),
        (
            VisualReport(**HERE, url="u", expectation="a hat", ok=False, note="a shoe"),
            "u does not show a hat",
            "a shoe",
        ),
        (
            ConsoleReport(**HERE, url="u", change=PictureChange("b.png", 0.125)),
            "the console of u has 0 errors; 12.5 % of the picture differs from before",
            "the console of u has 0 errors; 12.5 % of the picture differs from before",
        ),
        (
            BaseRun(**HERE, report="r", base="b", outcome="red", detail="1 failed"),
            "on the base tree: red (1 failed)",
            "on the base tree: red (1 failed)",
        ),
        (
            WeakeningReport(**HERE, base="b"),
            "tests weakened in 0 places",
            "tests weakened in 0 places",
        ),
        (DiffReport(**HERE, base="b"), "0 files changed", "0 files changed"),
        (FileReport(**HERE, path="A.md", exists=True), "A.md is there", "A.md is there"),
        (FileReport(**HERE, path="A.md", exists=False), "A.md is not there", "A.md is not there"),
        (
            CoverageReport(**HERE, before=90, after=87.5),
            "coverage: 90 % before, 87.5 % now",
            "coverage: 90 % before, 87.5 % now",
        ),
        (ApprovalReport(**HERE, by="ann", granted=True), "ann accepted", "ann accepted"),
        (
            ApprovalReport(**HERE, by="ann", granted=False, what="it"),
            "ann refused it",
            "ann refused it",
        ),
        (
            GateReport(**HERE, gate="visual_ok", why="No browser."),
            "not checked for visual_ok: No browser.",
            "not checked for visual_ok: No browser.",
        ),
    ],
)
def test_a_line_and_a_complaint(item: AnyEvidence, line: str, complaint: str):
    assert line_of(item) == line
    assert complaint_of(item) == complaint


FAILING = [
    (RED, "`pytest` ended with exit code 1"),
    (CHECK, "`pyright` ended with exit code 1"),
    (
        CommandReport(**HERE, command="make", exit_code=2, verification=True),
        "`make` ended with exit code 2",
    ),
    (HttpReport(**HERE, url="u", status=500), "u answered 500"),
    (ConsoleReport(**HERE, url="u", errors=("boom",)), "u reports: boom"),
    (VisualReport(**HERE, url="u", expectation="e", ok=False), "u does not look as expected"),
]


@pytest.mark.parametrize(("item", "fault"), FAILING)
def test_what_fails_shows_nothing_and_says_how(item: AnyEvidence, fault: str):
    row = EVIDENCE_ROWS[type(item)]
    assert is_failing(item)
    assert strength(item) is Strength.NOTHING
    assert row.fault(item) == fault
    assert row.subject and verification_key(item) == (type(item), getattr(item, row.subject))


def test_what_cannot_fail_has_no_subject():
    can_fail = {type(item) for item, _ in FAILING}
    for kind, row in EVIDENCE_ROWS.items():
        assert bool(row.subject) == (kind in can_fail)


def test_only_lint_is_style():
    kinds = {kind: CheckReport(**HERE, kind=kind, command="c", exit_code=0) for kind in CheckKind}
    assert [kind for kind, item in kinds.items() if is_style(item)] == [CheckKind.LINT]
    assert not is_style(RED)


def test_a_run_that_does_not_count_speaks_by_its_exit_code_alone():
    ended = SuiteReport(**HERE, runner="make", command="make test", exit_code=0, counted=False)
    assert line_of(ended) == "make test: uncounted, exit 0"
    assert strength(ended) is Strength.NOTHING
    assert new_failure([ended], frozenset()) is None
    failed = SuiteReport(**HERE, runner="make", command="make test", exit_code=2, counted=False)
    assert new_failure([ended, failed], frozenset()) is failed
