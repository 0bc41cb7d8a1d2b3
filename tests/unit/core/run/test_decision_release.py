"""A keep region may change once it was let go of, and only then."""

from __future__ import annotations

from tests.simulation.world import call
from tests.unit.core.stories import Story

from flyball.core.run.event import Answered, Appealed
from flyball.core.run.policy import Policy


def test_a_file_whose_regions_the_policy_releases_is_remembered():
    story = Story(policy=Policy(review=False, release_keep_regions=True)).checkpoints("a.py")
    story.says(call("1", "edit_diff", keeps_regions=False))
    assert story.card.released == ("a.py",)


def test_a_refused_release_releases_nothing_until_a_person_grants_it():
    story = Story().checkpoints("a.py").says(call("1", "edit_diff", keeps_regions=False))
    assert story.card.released == ()
    story.asks("appeal").answers(_appeal(story))
    story.happens(Answered(question=story.card.question.id, granted=True, by="ann"))
    story.says(call("2", "edit_diff", keeps_regions=False))
    assert story.card.released == ("a.py",)


def test_an_ordinary_edit_releases_nothing():
    story = Story().checkpoints("a.py").edits("t1")
    assert story.card.released == ()


def _appeal(story: Story) -> Appealed:
    (asked,) = story.card.in_flight
    return Appealed(card=story.card.id, call=asked.id, about="edit_diff", reason="it is meant")
