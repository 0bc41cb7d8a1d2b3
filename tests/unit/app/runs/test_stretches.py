"""Where a run spent its time: each second in one stretch, each refusal in its place."""

from __future__ import annotations

import itertools

import pytest
from msgspec.structs import replace
from tests.simulation.verdicts import REGRESSED
from tests.unit.core.stories import Story, fixed
from tests.web.test_feed import simulated

from flyball.app.runs.description import recount
from flyball.app.runs.stretches import MOST, Stretch


def stretches(story: Story) -> list[Stretch]:
    """The stretches of a story of which each event takes a second."""
    timed = [replace(event, at=100.0 + n) for n, event in enumerate(story.events)]
    return list(recount(timed).stretches)


def outcomes(story: Story) -> list[tuple[str, str]]:
    return [(each.phase, each.outcome) for each in stretches(story)]


def test_a_verify_that_sends_back_is_bad_and_one_that_passes_is_good():
    story = Story().checkpoints().edits("t1").stops().inspects(REGRESSED)
    story = story.edits("t2").tests().stops().inspects().closes()
    found = [each for each in outcomes(story) if each[0] == "verify"]
    assert found == [("verify", "bad"), ("verify", "good")]


def test_every_second_is_in_one_stretch():
    found = stretches(fixed().closes())
    for before, after in itertools.pairwise(found):
        assert before.begun + before.seconds == after.begun
    assert found[0].phase == "recon"


def test_a_refused_call_is_marked_in_the_phase_that_refused_it():
    story = Story().asks("edit_diff")
    (found,) = stretches(story)
    assert len(found.refused) == 1
    assert found.begun <= found.refused[0] <= found.begun + found.seconds


@pytest.mark.parametrize("seed", range(4))
def test_however_long_a_run_is_what_is_drawn_is_short_and_leaves_out_no_refusal(seed: int):
    steps, _ = simulated(seed, least=120)
    told = recount(replace(event, at=10.0 + n) for n, (event, _) in enumerate(steps))
    assert len(told.stretches) <= MOST
    denied = [each for each in told.decisions if each.judged.answer == "deny"]
    assert sum(len(each.refused) for each in told.stretches) == len(denied)
