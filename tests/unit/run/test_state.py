"""What follows from a stored state: of a card, and how a run ended."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.unit.run.stories import fixed

from flyball.plan.library import FIX, VERIFY
from flyball.plan.message import Status
from flyball.run.effect import OpenWorkspace, Owed, Think
from flyball.run.ending import CANCELLED, ending_of, status_of, words_of
from flyball.run.state import LONGEST_SUBJECT, CardState, Checkpoint, Ending, RunState
from flyball.terms.phase import Phase

CARD = CardState("step-1", FIX, "the tests fail, fix it", "t0", "t1")
POINT = Checkpoint(
    goal="The total counts every piece.\nAnd more.",
    findings="f",
    proposed_action="p",
    files=("cart.py",),
    verify_with=("pytest",),
)


@pytest.mark.parametrize(
    ("card", "subject"),
    [
        (replace(CARD, checkpoint=POINT), "The total counts every piece"),
        (replace(CARD, checkpoint=POINT, commit_message="Count pieces\n\nWhy"), "Count pieces"),
        (replace(CARD, commit_message=" \n"), "the tests fail, fix it"),
        (replace(CARD, title=" "), "step-1"),
    ],
)
def test_a_commit_says_what_it_does_and_not_what_was_asked(card, subject):
    assert card.subject == subject


def test_a_subject_is_one_short_line():
    many = replace(CARD, commit_message="word " * 40)
    assert many.subject.endswith("word…")
    assert len(many.subject) <= LONGEST_SUBJECT + 1
    assert len(replace(CARD, commit_message="x" * 300).subject) == LONGEST_SUBJECT + 1


def test_a_card_that_was_undone_stands_in_no_other_column():
    done = replace(CARD, phase=Phase.SUCCEEDED)
    assert done.status == "done"
    assert replace(done, is_taken_back=True).status == "reverted"


def test_a_paused_card_holds_back_what_it_is_owed_and_nothing_of_the_run():
    owed = (
        Owed(1, Think(card="step-1", role="executor", phase=Phase.EXECUTE)),
        Owed(2, OpenWorkspace()),
    )
    state = RunState(run="r", cards=(replace(CARD, phase=Phase.PAUSED),), owed=owed)
    assert state.due == owed[1:]
    assert replace(state, cards=(CARD,)).due == owed


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
