"""Every ending, on every surface that composes words from a run's state: they must agree."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace
from tests.simulation.verdicts import UNTESTED
from tests.unit.core.stories import Story, fixed

from flyball.app.board.account import why_stopped
from flyball.app.board.watching import card_row
from flyball.app.hosts.words import ending_notice
from flyball.app.steps.view import standing_view
from flyball.core.plan.message import Status
from flyball.core.run.effect import CloseCard
from flyball.core.run.ending import ending_of, ending_of_card, status_of
from flyball.core.run.event import Cancelled, CardClosed, PauseAsked
from flyball.core.run.policy import Project
from flyball.core.run.state import Ending, RunState
from flyball.core.terms.intent import Intent
from flyball.engine.telemetry import final
from flyball.surfaces.cli.terminal import exits
from flyball.surfaces.cli.terminal.story import Story as Terminal
from flyball.surfaces.cli.terminal.story_words import ENDING_MARKS


def succeeded() -> Story:
    return fixed().closes()


def answered() -> Story:
    return Story(Intent.DIAGNOSE).stops("Because of a.py.").closes()


def small_talk() -> Story:
    return Story(Intent.CONVERSATIONAL).stops("Hello.").closes()


def cut_short() -> Story:
    story = Story(Intent.STATUS_CHECK, budget=1).asks("read").returns()
    return story.asks("read").says(text="It is in a.py.").closes()


def nothing_changed() -> Story:
    story = Story().checkpoints()
    while not story.card.ending:
        story.stops("It is fixed, all tests pass.")
    return story.closes()


def unverified() -> Story:
    story = Story(project=Project(sandbox="kernel")).checkpoints().edits("t1").stops()
    return story.inspects(UNTESTED).closes()


def needs_you() -> Story:
    return Story().happens(PauseAsked(by="ann"))


def stopped_by_person() -> Story:
    return Story().checkpoints().edits("t1").happens(Cancelled(by="ann")).deliver()


def stopped_by_no() -> Story:
    return needs_you().refuses().says(text="I stop.").closes()


def failed() -> Story:
    return fixed().answers(CardClosed(card="step-1", error="git cannot write")).deliver()


def failed_as_a_whole() -> Story:
    """A plan whose step was shown, and that failed afterwards."""
    story = succeeded()
    response = story.state.response
    assert response is not None
    status = replace(response, status=Status.FAILED, goal_achieved=False, message="No goal.")
    story.state = replace(story.state, response=status)
    return story


STORIES = (
    (succeeded, Ending.SUCCEEDED),
    (answered, Ending.ANSWERED),
    (small_talk, Ending.ANSWERED),
    (cut_short, Ending.STOPPED),
    (nothing_changed, Ending.UNCHANGED),
    (unverified, Ending.UNVERIFIED),
    (needs_you, Ending.NEEDS_YOU),
    (stopped_by_person, Ending.STOPPED),
    (stopped_by_no, Ending.STOPPED),
    (failed, Ending.FAILED),
    (failed_as_a_whole, Ending.FAILED),
)


every_ending = pytest.mark.parametrize(
    ("tell", "ending"), STORIES, ids=[tell.__name__ for tell, _ in STORIES]
)


def lines_of(state: RunState) -> str:
    """Everything that the surfaces say of a run's end, as people and programs get it."""
    told: dict[str, Any] = {
        # A card that was shown says so, also in a run that failed as a whole.
        "row": [
            card_row(card, card.status)
            for card in state.cards
            if ending_of_card(card) is not Ending.SUCCEEDED
        ],
        "step": vars(standing_view(state, None)),
        "why": why_stopped(state, status_of(state)),
        "host": ending_notice(state, "govern"),
    }
    if state.response is not None:
        last = final(state, state.response)
        told |= {"final": last, "terminal": [line.plain for line in Terminal().tell(last)]}
    return json.dumps(told, default=str, ensure_ascii=False)


@pytest.mark.parametrize(
    ("tell", "ending"), STORIES, ids=lambda each: getattr(each, "__name__", "")
)
def test_every_surface_shows_the_one_ending(tell, ending):
    state = tell().state
    assert ending_of(state) is ending
    assert standing_view(state, None).ending == ending
    assert status_of(state) in exits.BY_STATUS
    if state.response is not None:
        line = final(state, state.response)
        assert (line["ending"], line["status"]) == (ending, status_of(state))
        last = next(said for said in Terminal().tell(line))
        assert last.mark == ENDING_MARKS[ending][1]


@pytest.mark.parametrize(
    ("tell", "ending"), STORIES, ids=lambda each: getattr(each, "__name__", "")
)
def test_success_is_said_of_nothing_that_was_not_shown(tell, ending):
    state = tell().state
    if ending is not Ending.SUCCEEDED:
        told = lines_of(state)
        assert "success" not in told.lower()
        assert "succeeded" not in told.lower()
        assert "✓" not in told


@pytest.mark.parametrize(
    ("tell", "ending"), STORIES, ids=lambda each: getattr(each, "__name__", "")
)
def test_the_exit_code_is_zero_only_for_shown_and_answered(tell, ending):
    code = exits.BY_STATUS[status_of(tell().state)]
    assert (code == 0) == (ending in (Ending.SUCCEEDED, Ending.ANSWERED))


def test_a_closed_card_carries_the_ending_into_its_artifact():
    story = Story(Intent.DIAGNOSE).stops("Because of a.py.")
    (close,) = [owed.effect for owed in story.state.owed if isinstance(owed.effect, CloseCard)]
    assert close.ending == ending_of_card(story.card) == Ending.ANSWERED


def test_a_running_run_has_no_ending():
    state = Story().state
    assert ending_of(state) is None
    assert status_of(state) == "running"
