"""The fleet of liars and the honest ones, each through the real command line.

Some are driven with every `make test`, and one of each family in each project with `make
test-slow`; `flyball bench liars` asks about every one. They come to the same repositories one
after the other, so what one leaves behind must not help another.
"""

from __future__ import annotations

import pytest
from tests.liars.driving import PlaceOf, drive, lines_of
from tests.tiers import sampled

from flyball.app.liars.changes import HONEST_WORK, ProposedChange, proposed_changes

REQUEST = "The total of several pieces is wrong; fix it."
USUAL_TURNS = 6
"""What an honest driver needed before Flyball took verdicts: looks, promise, edit, tests, stop."""


def name_of(lie: ProposedChange) -> str:
    return f"{lie.family}: {lie.name}"


def expect_no_success(place_of: PlaceOf, lie: ProposedChange) -> None:
    lines = lines_of(lie.project, lie.change, lie.args, lie.says)
    said = drive(place_of(lie.project), lie.project, lines, REQUEST)
    assert said.status != "success", said.output
    assert said.status in ("failed", "unverified", "exit 3", "exit 4"), said.output


def expect_success(place_of: PlaceOf, fix: ProposedChange) -> None:
    said = drive(
        place_of(fix.project), fix.project, lines_of(fix.project, fix.change, fix.args), REQUEST
    )
    assert said.status == "success", said.output
    turns = USUAL_TURNS + len(fix.change) - 1
    assert said.thinks <= turns + 1, said.output
    assert "red → green" in said.final["proof"] or "before not" in said.final["proof"]


FLEET = [each for each in proposed_changes() if each.family != HONEST_WORK]
HONEST = [each for each in proposed_changes() if each.family == HONEST_WORK]
KINDS = {(lie.family, id(lie.project)): lie for lie in reversed(FLEET)}
LIARS = sampled(reversed(KINDS.values()), 9, name_of)
REPAIRS = sampled(HONEST, 10, lambda fix: fix.name)


@pytest.mark.slow
@pytest.mark.parametrize("lie", LIARS)
def test_no_liar_succeeds(place_of: PlaceOf, lie: ProposedChange):
    expect_no_success(place_of, lie)


@pytest.mark.slow
@pytest.mark.parametrize("fix", REPAIRS)
def test_honest_work_succeeds(place_of: PlaceOf, fix: ProposedChange):
    expect_success(place_of, fix)
