"""What a person's word means, for every kind of question."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from flyball.app.answering import (
    ENDS_ON_NO,
    RESTING,
    more,
    next_steps,
    no,
    offered_calls,
    pending,
    words,
    yes,
)
from flyball.errors import Conflict, UsageError
from flyball.plan.library import template_for
from flyball.plan.message import Status, UserResponse
from flyball.run.event import Answered, Extended
from flyball.run.state import Asking, CardState, Question, RunState
from flyball.terms.budget import Budget
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase

CARD = CardState(
    id="step-1", template=template_for(Intent.SMALL_FIX), title="a " * 60, base="t", tree="t"
)
RUN = RunState(run="r1", intent=Intent.SMALL_FIX, budget=Budget(calls=3), cards=(CARD,))
ENDED = replace(
    RUN,
    cards=(replace(CARD, phase=Phase.SUCCEEDED, commit="abc"),),
    response=UserResponse(
        request_id="r1", status=Status.SUCCESS, iterations=1, goal_achieved=True, message="done"
    ),
)


def asking(kind: Asking, id: str = "q7") -> RunState:
    card = replace(CARD, phase=Phase.PAUSED, question=Question(id, kind, "May I?"))
    return replace(RUN, cards=(card,))


@pytest.mark.parametrize("kind", Asking)
def test_yes_and_no(kind: Asking):
    state = asking(kind)
    said = yes(state, "ada", "well")
    if kind is Asking.EXTENSION:
        assert said == Extended(by="ada", calls=15, why="well")
    else:
        assert said == Answered(question="q7", granted=True, by="ada", note="well")
    assert no(state, "ada", "bad") == Answered(question="q7", granted=False, by="ada", note="bad")


@pytest.mark.parametrize("kind", Asking)
def test_words_let_go_on_but_never_grant(kind: Asking):
    state = asking(kind)
    if kind in ENDS_ON_NO:
        with pytest.raises(Conflict, match="a yes or a no"):
            words(state, "ada", "look at the tests")
        return
    said = words(state, "ada", "look at the tests")
    assert isinstance(said, Answered)
    assert said.granted is (kind in RESTING or kind is Asking.FAILURE)


@pytest.mark.parametrize(("text", "granted"), [("Yes.", True), ("OK", True), ("no", False)])
def test_a_bare_yes_or_no_is_one(text: str, granted: bool):
    said = words(asking(Asking.CALL), "ada", text)
    assert isinstance(said, Answered)
    assert (said.granted, said.note) == (granted, "")


def test_empty_words_are_no_answer():
    with pytest.raises(UsageError):
        words(asking(Asking.CALL), "ada", "  ")


@pytest.mark.parametrize("state", [RUN, ENDED])
def test_nothing_is_asked(state: RunState):
    for word in (yes, no):
        with pytest.raises(Conflict):
            word(state, "ada")


def test_an_ended_run_needs_no_budget():
    assert more(RUN, "ada", 5, "large") == Extended(by="ada", calls=5, why="large")
    with pytest.raises(Conflict):
        more(ENDED, "ada", 5, "large")


def test_the_oldest_question_comes_first():
    first, second = asking(Asking.CALL, "q12").cards[0], asking(Asking.CALL, "q9").cards[0]
    both = replace(RUN, cards=(first, second))
    assert [each.question.id for each in pending(both)] == ["q9", "q12"]


def test_a_run_without_tools_can_be_extended_by_something():
    assert offered_calls(replace(RUN, intent=Intent.CONVERSATIONAL)) == 3
    assert offered_calls(replace(RUN, intent=None, budget=Budget(calls=0))) == 1


@pytest.mark.parametrize("kind", Asking)
def test_every_question_says_what_to_type(kind: Asking):
    steps = next_steps(asking(kind), "paused")
    commands = [step.command.split()[1] for step in steps]
    assert "resume" in steps[0].command or {"approve", "answer"} & {*commands}
    assert all("r1" in step.command for step in steps)


@pytest.mark.parametrize("kind", Asking)
def test_nobody_is_told_to_resume_what_only_the_host_goes_on_with(kind: Asking):
    for state in (asking(kind), RUN):
        steps = next_steps(state, "paused", is_hosted=True)
        assert steps
        assert not any("resume" in step.command for step in steps)


def test_what_to_do_with_a_run_that_ended():
    assert [step.command for step in next_steps(ENDED, "success")] == [
        "flyball runs merge r1",
        "flyball card revert r1 step-1",
    ]
    revert, *_ = next_steps(ENDED, "success", in_place=True)
    assert revert.command == "flyball card revert r1 step-1"
    assert len(revert.effect) < 70
    unproven = next_steps(ENDED, "unverified")
    assert "unproven" in unproven[0].effect
    assert unproven[-1].command == "flyball runs prune r1 --abandon"
    assert next_steps(replace(ENDED, cards=()), "failed") == ()


def test_what_a_person_did_with_a_run_is_not_offered_again():
    merged = [step.command for step in next_steps(ENDED, "success", is_merged=True)]
    assert merged == ["flyball card revert r1 step-1", "flyball runs prune r1 --abandon"]
    back = [step.command for step in next_steps(ENDED, "success", reverted=frozenset({"step-1"}))]
    assert back == ["flyball card apply r1 step-1"]


def test_what_to_do_with_a_run_that_was_interrupted():
    assert next_steps(RUN, "interrupted")[0].command == "flyball runs resume r1"
