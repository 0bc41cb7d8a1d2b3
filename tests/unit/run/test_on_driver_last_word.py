"""A card whose answer is all there is to it does not end without one."""

from __future__ import annotations

from tests.simulation.verdicts import REGRESSED
from tests.simulation.world import call
from tests.unit.run.stories import CARD, Story

from flyball.run.effect import Think
from flyball.run.event import DriverFailed, Finish, Resumed
from flyball.run.state import Asking
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase


def asked_again(story: Story) -> Think:
    (owed,) = story.state.owed
    assert isinstance(owed.effect, Think)
    return owed.effect


def test_a_call_instead_of_an_answer_is_refused_and_words_are_asked_for():
    story = Story(Intent.CONVERSATIONAL).says(call("1", "read"))
    assert [(each.tool, each.answer) for each in story.card.judged] == [("read", "deny")]
    assert "in text" in story.said
    assert story.state.spend.calls == 0
    asked_again(story)
    assert story.stops("Hello!").closes().state.response.message == "Hello!"


def test_an_empty_answer_is_asked_for_again_and_then_a_person_is():
    story = Story(Intent.CONVERSATIONAL)
    for _ in range(4):
        story.says()
        asked_again(story)
    story.says()
    assert story.phase is Phase.PAUSED
    assert story.card.question.kind is Asking.GUARD


def test_a_failed_answer_is_asked_for_again_with_back_off():
    story = Story(Intent.CONVERSATIONAL).answers(DriverFailed(card=CARD, error="overloaded"))
    assert asked_again(story).wait == 1.0
    assert asked_again(story).text_only
    story.says(text="overloaded", finish=Finish.ERROR)
    assert asked_again(story).wait == 2.0
    assert story.card.answer == ""
    assert story.stops("Hello!").closes().state.response.message == "Hello!"


def test_a_driver_that_never_answers_is_left_to_a_person_who_may_try_again():
    story = Story(Intent.CONVERSATIONAL)
    story.answers(DriverFailed(card=CARD, error="no key", retryable=False))
    assert story.card.question.kind is Asking.DRIVER
    story.happens(Resumed(by="ann"))
    assert story.phase is Phase.FINAL
    asked_again(story)


def test_work_that_is_proven_ends_without_words():
    story = Story().checkpoints().edits("t1").stops().inspects(REGRESSED)
    story.edits("t2").stops().inspects()
    assert asked_again(story).text_only
    story.answers(DriverFailed(card=CARD, error="overloaded"))
    assert story.owed == ["CloseCard"]
