"""What a provider looks up by itself costs what any call costs, and is watched like one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.simulation.world import call
from tests.unit.run.stories import ALONE, Story

from flyball.run.decision import MOST_LOOKS, web_looks
from flyball.run.event import Finish
from flyball.run.state import Asking
from flyball.terms.call import WebLook
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase

WEB = replace(ALONE, web=True)


def looks(*queries: str, found: str = "pages") -> tuple[WebLook, ...]:
    return tuple(
        WebLook(f"w{n}", "web_search", query, text=found, digest=found)
        for n, query in enumerate(queries)
    )


def left(story: Story) -> int:
    return web_looks(story.state, story.card)


def test_each_look_is_a_call_of_the_budget_and_on_record():
    story = Story(policy=WEB).says(
        call("1", "read"), text="Let me see.", looks=looks("empty cart", "carts")
    )
    assert story.state.spend.calls == 3 and story.card.calls == 3
    assert [(each.tool, each.answer) for each in story.card.judged] == [
        ("web_search", "allow"),
        ("web_search", "allow"),
        ("read", "allow"),
    ]


def test_looks_are_allowed_where_a_call_that_reads_would_be():
    story = Story(policy=WEB)
    assert left(story) == MOST_LOOKS
    assert left(Story()) == 0
    assert left(Story(Intent.CONVERSATIONAL, policy=WEB)) == 0
    assert left(story.checkpoints("a.py")) == MOST_LOOKS
    assert web_looks(story.state, replace(story.card, phase=Phase.CHECKPOINT)) == 0
    assert web_looks(story.state, replace(story.card, phase=Phase.FINAL)) == 0


def test_no_more_looks_are_allowed_than_the_budget_has_left_beside_its_reserve():
    story = Story(policy=WEB, budget=6)
    story.asks("read").returns()
    assert left(story) == 5
    story.checkpoints("a.py").edits("t1")
    assert left(story) == 6 - 2 - story.state.budget.reserve
    story.says(call("5", "read"), looks=looks("carts"))
    assert left(story) == 0


def test_a_budget_that_was_looked_away_is_spent():
    story = Story(Intent.DIAGNOSE, policy=WEB, budget=2)
    story.says(call("1", "read"), looks=looks("empty cart", "carts"))
    assert story.card.is_summing_up
    assert [each.answer for each in story.card.judged] == ["allow", "allow", "deny"]
    assert story.stops("It is 0.").closes().state.response.message == "It is 0."


def test_the_same_search_over_and_over_is_stopped_by_a_guard():
    story = Story(Intent.AUTONOMOUS, policy=WEB)
    for _ in range(4):
        story.says(looks=looks("empty cart"), text="Once more.", finish=Finish.LENGTH)
        assert story.phase is not Phase.PAUSED
    story.says(looks=looks("empty cart"), text="Once more.", finish=Finish.LENGTH)
    assert story.phase is Phase.PAUSED
    assert story.card.question.kind is Asking.GUARD


def test_a_look_with_the_last_words_is_counted_too():
    story = Story(Intent.CONVERSATIONAL, policy=WEB).says(text="Hello!", looks=looks("hello"))
    assert story.state.spend.calls == 1


@pytest.mark.parametrize("finish", [Finish.STOP, Finish.LENGTH])
@pytest.mark.parametrize("intent", [Intent.DIAGNOSE, Intent.SMALL_FIX])
def test_a_provider_that_keeps_to_no_limit_ends_with_the_budget(intent: Intent, finish: Finish):
    story = Story(intent, policy=WEB, budget=3)
    story.says(text="", looks=looks(*"abcdefghi"), finish=finish)
    assert story.state.spend.calls == 9 and left(story) == 0
    story.says(call("1", "read"))
    assert story.card.is_summing_up or story.phase is Phase.PAUSED
    assert [each.answer for each in story.card.judged if each.tool == "read"] == ["deny"]
