"""A conflict: put to a person, held against nobody, and gone on from."""

import pytest
from tests.simulation.verdicts import REGRESSED
from tests.unit.run.stories import ALONE, CARD, Story

from flyball.run.ending import ending_of
from flyball.run.event import Answered, ConflictStated, PauseAsked
from flyball.run.policy import Policy
from flyball.run.state import Asking, Ending
from flyball.run.working_copy import WAY_OUT
from flyball.terms.conflict import REQUEST, Choice, ConflictReport, Quote
from flyball.terms.phase import Phase

REPORT = ConflictReport(
    Quote("tests/test_x.py:3", "assert half(3) == 5"), Quote(REQUEST, "half(3) is 6")
)


def stated(story: Story, **more: object) -> Story:
    """The driver states a conflict, and Flyball has looked its quotes up."""
    story.asks("conflict")
    call = story.card.in_flight[0].id
    return story.answers(ConflictStated(card=CARD, call=call, **(more or {"report": REPORT})))


def decided(story: Story, choice: Choice | None, note: str = "", *, granted: bool = True) -> Story:
    question = story.card.question
    assert question is not None
    return story.happens(
        Answered(question=question.id, granted=granted, by="ann", choice=choice, note=note)
    )


STORIES = {
    Phase.ANALYZE_CODE: Story,
    Phase.EXECUTE: lambda: Story().checkpoints(),
    Phase.CHECKPOINT: lambda: Story().asks("read").returns().stops(),
}


@pytest.mark.parametrize("phase", STORIES)
def test_a_conflict_needs_a_person_in_every_phase(phase: Phase):
    story = STORIES[phase]()
    assert story.phase.is_in(phase) or story.phase is phase
    stated(story)
    question = story.card.question
    assert question is not None
    assert (question.kind, question.conflict) == (Asking.CONFLICT, REPORT)
    assert REPORT.says.text in question.text
    assert REPORT.but.text in question.text
    assert ending_of(story.state) is Ending.NEEDS_YOU


def test_nobody_who_says_yes_in_advance_decides_a_conflict():
    policy = Policy(review=False, plan_big_requests=False, assume_yes=True)
    assert stated(Story(policy=policy)).phase is Phase.PAUSED


def test_a_conflict_costs_nothing_and_no_guard_counts_it():
    story = Story().checkpoints()
    before = story.state.spend, story.card.memory, story.card.failures_in_row, story.card.rejections
    stated(story)
    after = story.state.spend, story.card.memory, story.card.failures_in_row, story.card.rejections
    assert after == before
    assert not story.card.failures


def test_what_was_asked_for_beside_a_conflict_is_not_made():
    story = Story().checkpoints().asks("conflict", "edit_diff")
    call = story.card.in_flight[0].id
    story.answers(ConflictStated(card=CARD, call=call, report=REPORT))
    assert not story.card.queue
    assert [each.call for each in story.card.said if each.kind == "denial"] == ["edit_diff-1"]


@pytest.mark.parametrize(
    ("choice", "note", "told"),
    [
        (Choice.SAYS, "", "follow tests/test_x.py:3."),
        (Choice.BUT, "", "follow the request."),
        (Choice.TASK, "Return None.", "The task was changed: Return None."),
    ],
)
def test_a_decision_is_part_of_the_task_from_then_on(choice: Choice, note: str, told: str):
    story = decided(stated(Story().checkpoints()), choice, note)
    assert story.phase is Phase.EXECUTE
    assert told in story.state.request
    assert story.state.request.startswith("do it\n\n")
    assert REPORT.says.text not in story.state.request
    assert story.owed == ["Think"]


def test_a_verdict_is_taken_again_after_a_decision():
    story = Story().checkpoints().edits("t1").tests().stops().inspects()
    assert story.card.verdict is not None
    story = Story(policy=ALONE).checkpoints().edits("t1").tests()
    decided(stated(story), Choice.BUT)
    assert story.card.verdict is None
    assert story.stops().owed == ["Inspect"]


def test_a_no_ends_the_run_and_a_yes_without_a_side_goes_on():
    refused = decided(stated(Story()), None, granted=False)
    assert refused.card.ending is Ending.STOPPED
    story = stated(Story().checkpoints())
    request = story.state.request
    decided(story, None)
    assert story.phase is Phase.EXECUTE
    assert story.state.request == request


def test_a_quote_that_does_not_exist_is_a_refused_call():
    story = stated(Story(), fault="`says` was not found.")
    assert story.phase is Phase.ANALYZE_CODE
    assert story.card.question is None
    assert "`says` was not found." in story.said
    for _ in range(12):
        if story.phase is Phase.PAUSED:
            break
        stated(story, fault="`says` was not found.")
    question = story.card.question
    assert question is not None
    assert question.kind is Asking.GUARD


def test_an_event_says_what_was_found_or_what_was_not():
    with pytest.raises(ValueError, match="conflict-stated"):
        ConflictStated(card=CARD, call="c")


def test_only_a_stop_that_is_refused_again_names_the_way_out():
    story = Story().checkpoints().edits("t1").tests(red=True).stops()
    offered: list[bool] = []
    for _ in range(2):
        if "Inspect" in story.owed:
            story.inspects(REGRESSED)
        offered.append(WAY_OUT in story.said)
        story.stops()
    assert offered == [False, True]


def test_a_conflict_while_something_else_is_asked_is_put_off():
    story = stated(Story().checkpoints())
    before = story.card.question
    story.happens(ConflictStated(card=CARD, report=REPORT))
    assert story.card.question == before
    assert "State the conflict again" in story.said


def test_work_goes_on_from_a_conflict_that_came_up_in_verification():
    story = stated(Story().checkpoints().edits("t1").stops())
    assert story.card.was is Phase.VERIFY
    decided(story, Choice.SAYS)
    assert story.phase is Phase.EXECUTE


def test_a_conflict_that_comes_during_a_pause_is_put_off():
    story = Story().checkpoints().asks("conflict")
    call = story.card.in_flight[0].id
    story.happens(PauseAsked(by="ann"))
    story.answers(ConflictStated(card=CARD, call=call, report=REPORT))
    assert story.phase is Phase.PAUSED
    assert story.card.in_flight == ()
