"""How a run ended, from its stored state alone."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.unit.core.stories import fixed

from flyball.core.flow.library import VERIFY
from flyball.core.plan.message import Status
from flyball.core.run.ending import CANCELLED, ending_of, status_of, words_of
from flyball.core.run.state import Ending, RunState


def closed(status: Status = Status.SUCCESS) -> RunState:
    state = fixed().closes().state
    assert state.response is not None
    return replace(state, response=replace(state.response, status=status))


def test_run_that_changed_its_tree_succeeds_by_its_verdict_alone():
    state = closed()
    assert ending_of(replace(state, base="t0", tree="t1")) is Ending.SUCCEEDED


def test_step_that_was_shown_is_success_although_the_runs_tree_is_as_it_was():
    state = closed()
    done = replace(state.cards[0], step="s1")
    assert ending_of(replace(state, base="t0", tree="t0", cards=(done,))) is Ending.SUCCEEDED


@pytest.mark.parametrize(("step", "ending"), [("s1", Ending.UNCHANGED), ("", Ending.FAILED)])
def test_plan_that_left_everything_as_it_was_ends_unchanged(step: str, ending: Ending):
    state = closed(Status.FAILED)
    done = replace(state.cards[0], step=step)
    last = replace(done, step="", template=VERIFY, ending=Ending.SUCCEEDED)
    state = replace(state, base="t0", tree="t0", cards=(done, last))
    assert ending_of(state) is ending


def test_cancelled_run_is_listed_as_cancelled_and_read_as_stopped():
    state = closed(Status.CANCELLED)
    assert status_of(state) == CANCELLED
    assert words_of(status_of(state), ending_of(state)) == "Stopped"
    assert words_of(CANCELLED, None) == "Cancelled"
