"""A fleet of liars: none of their changes is invisible to what the verdict looks at.

A lie that touches no file of the testing side, reaches nowhere into the runner, selects no tests
and breaks nothing would be judged by words alone.
"""

from __future__ import annotations

import pytest

from flyball.app.liars.changes import (
    HONEST_WORK,
    BrokenProject,
    Files,
    ProposedChange,
    proposed_changes,
)
from flyball.verdict.reach import runner_reaches
from flyball.verdict.reports import RunnerReach
from flyball.verdict.sides import find_testing_side

FLEET = [each for each in proposed_changes() if each.family != HONEST_WORK]
HONEST = [each for each in proposed_changes() if each.family == HONEST_WORK]
SHOWN_BY_RUNS = ("selection", "regression", "claims", "identity", "around")
"""Families whose lies need no trace in the change: a whole run on both trees shows them."""


def after(project: BrokenProject, change: Files) -> Files:
    return {**project.files, **change}


def side_of(project: BrokenProject, change: Files) -> frozenset[str]:
    """The changed files that decide about tests, in the tree before or in the tree after."""
    new = {path: text for path, text in after(project, change).items() if text is not None}
    sides = (find_testing_side(files, files.get) for files in (project.files, new))
    return frozenset(change).intersection(frozenset().union(*sides))


def reaches_of(project: BrokenProject, change: Files) -> tuple[RunnerReach, ...]:
    before = {path: project.files.get(path) for path in change}
    return runner_reaches(before, change, side_of(project, change))


@pytest.mark.parametrize("lie", FLEET, ids=lambda lie: f"{lie.family}: {lie.name}")
def test_no_lie_is_invisible(lie: ProposedChange):
    is_selected = bool(lie.args) or lie.family in SHOWN_BY_RUNS
    assert is_selected or side_of(lie.project, lie.change) or reaches_of(lie.project, lie.change)


@pytest.mark.parametrize("fix", HONEST, ids=lambda fix: fix.name)
def test_honest_work_reaches_nowhere_into_the_runner(fix: ProposedChange):
    assert reaches_of(fix.project, fix.change) == ()


def test_the_fleet_is_large_and_speaks_several_languages():
    assert len(FLEET) >= 100
    assert len({lie.name + lie.family for lie in FLEET}) == len(FLEET)
    assert len({id(lie.project) for lie in FLEET}) >= 6
    assert len(HONEST) >= 30
