"""What follows from a card's state without being stored."""

import pytest
from msgspec.structs import replace

from flyball.core.flow.library import FIX
from flyball.core.run.effect import OpenWorkspace, Owed, Think
from flyball.core.run.state import LONGEST_SUBJECT, CardState, Checkpoint, RunState
from flyball.core.terms.phase import Phase

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


def test_a_card_that_was_taken_back_stands_in_no_other_column():
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
