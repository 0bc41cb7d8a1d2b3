"""A run whose driver is an agent in its own program."""

from __future__ import annotations

from msgspec.structs import replace
from tests.simulation.verdicts import QUESTIONED, REGRESSED, SHOWN, judged
from tests.simulation.world import call
from tests.unit.run.stories import ALONE, CARD, Story

from flyball.run.effect import Inspect
from flyball.run.event import (
    Answered,
    DriverReplied,
    EvidenceTaken,
    Finish,
    Resumed,
    ThreadReset,
)
from flyball.terms.budget import Spend, spent_limit
from flyball.terms.intent import Intent
from flyball.terms.phase import Phase

HOSTED = replace(ALONE, hosted=True, slack=10)


def side_by_side(story: Story, *ids: str) -> Story:
    """Calls that a host asks about one by one, before any of them has come back."""
    for id in ids:
        write = call(id, "write_file", f"{id}.py")
        story.happens(DriverReplied(card=CARD, calls=(write,), finish=Finish.TOOL_CALLS))
    return story


def test_its_calls_are_judged_when_it_asks_and_not_when_another_one_has_ended():
    story = side_by_side(Story(policy=HOSTED).checkpoints("a.py"), "w1", "w2")
    assert [each.id for each in story.card.in_flight] == ["w1", "w2"]
    assert story.card.queue == ()


def test_our_own_drivers_wait_for_one_write_before_the_next():
    story = side_by_side(Story().checkpoints("a.py"), "w1", "w2")
    assert [each.id for each in story.card.in_flight] == ["w1"]
    assert [each.id for each in story.card.queue] == ["w2"]


def test_its_stop_is_answered_by_our_own_verdict_and_not_by_a_demand_for_tests():
    story = Story(policy=HOSTED).checkpoints("cart.py").edits("t1").stops("done")
    assert any(isinstance(owed.effect, Inspect) for owed in story.state.owed)
    assert "rejection" not in [said.kind for said in story.card.said]
    own = Story().checkpoints("cart.py").edits("t1").stops("done")
    assert any(isinstance(owed.effect, Inspect) for owed in own.state.owed)


def test_its_person_sees_its_checkpoint_so_that_alone_lets_it_build():
    story = Story(Intent.DIAGNOSE, policy=HOSTED).checkpoints("cart.py")
    assert story.phase is Phase.EXECUTE
    assert Story(Intent.DIAGNOSE).checkpoints("cart.py").phase is not Phase.EXECUTE


def test_a_refusal_names_the_tool_as_the_host_does():
    write = replace(call("1", "write_file"), called="Write")
    story = Story(policy=HOSTED).says(write)
    assert story.said.startswith("`Write` changes things")
    assert write.name == "Write"
    assert call("2", "read").name == "read"


def rejections(story: Story) -> int:
    return [said.kind for said in story.card.said].count("rejection")


def test_what_it_heard_twice_and_did_not_mend_is_not_said_a_third_time():
    story = Story(policy=HOSTED).checkpoints("cart.py").edits("t1").stops().inspects(REGRESSED)
    assert rejections(story) == 1
    story.stops()
    assert rejections(story) == 1
    story.stops()
    assert story.phase is Phase.FINAL
    assert "unverified" in str(story.card.ending)


def test_what_it_fixed_wrongly_is_said_as_often_as_to_anybody():
    story = Story(policy=HOSTED).checkpoints("cart.py")
    for tree in ("t1", "t2", "t3"):
        story.edits(tree).stops().inspects(REGRESSED)
        assert rejections(story) == 1
    story.edits("t4").stops().inspects(REGRESSED)
    assert story.phase is Phase.FINAL


def test_a_person_who_speaks_into_the_verdict_has_the_work_go_on():
    for policy, phase in ((HOSTED, Phase.EXECUTE), (ALONE, Phase.VERIFY)):
        story = Story(policy=policy).checkpoints("cart.py").edits("t1").tests().stops()
        assert story.phase is Phase.VERIFY
        story.happens(ThreadReset(card=CARD, reason="the person spoke", text="go on"))
        assert story.phase is phase


def test_question_around_a_host_holds_one_call():
    doomed = call("d", "delete_file", destructive="deletes a.py", confirmed=True)
    story = Story(policy=HOSTED).checkpoints("a.py").edits("t1").says(doomed)
    question = story.card.question
    assert story.phase is Phase.EXECUTE
    assert question and question.call
    assert question.call.digest == doomed.digest
    assert story.card.asks_about(doomed.digest)
    story.happens(Answered(question=question.id, granted=True, by="ann"))
    assert not story.card.asks_about(doomed.digest)
    assert story.card.granted == (doomed.digest,)
    story.says(replace(doomed, id="e"))
    assert [each.id for each in story.card.in_flight] == ["e"]
    own = Story().checkpoints("a.py").edits("t1").says(doomed)
    assert own.phase is Phase.PAUSED


def test_question_about_the_work_holds_no_call_and_is_put_again():
    doomed = call("d", "delete_file", destructive="deletes a.py", confirmed=True)
    story = Story(policy=HOSTED).checkpoints("a.py").edits("t1").says(doomed)
    story.stops().inspects(QUESTIONED)
    assert story.phase is Phase.PAUSED
    story.happens(Resumed(by="claude"))
    assert (story.phase, story.owed) == (Phase.EXECUTE, ["Think"])
    # What the person was asked before that can still be granted.
    assert story.card.asks_about(doomed.digest)
    story.grants()
    assert story.card.granted == (doomed.digest,)
    assert story.stops().phase is Phase.PAUSED
    assert "Accept that?" in str(story.card.question)


def test_refusal_of_a_held_call_is_reported_and_kept():
    doomed = call("d", "delete_file", destructive="deletes a.py", confirmed=True)
    story = Story(policy=HOSTED).checkpoints("a.py").says(doomed)
    story.refuses("not that file")
    assert story.card.refused == (doomed.digest,)
    assert "not that file" in story.said


def test_host_that_stops_without_a_change_is_told_to_make_it():
    story = Story(policy=HOSTED).checkpoints("a.py").stops()
    assert "Nothing was changed" in story.said


def test_limit_of_a_reported_budget_is_said_once():
    story = Story(policy=HOSTED).checkpoints(*(f"{n}.py" for n in range(9)))
    said: list[str] = []
    for n in range(9):
        for tool, tree in (("edit_diff", f"t{n}"), ("test", "")):
            story.asks(tool, path=f"{n}.py")
            said += [each.text for each in story.card.said if each.kind == "budget"]
            story.returns(tree)
    assert len(said) == 1
    assert "15 calls are used" in said[0]


def test_budget_around_a_host_is_said_at_its_limit_and_holds_at_ten_times():
    story = Story(policy=HOSTED)
    limit = story.state.budget.limit
    spent = Spend(calls=limit)
    assert not spent_limit(story.state.budget, spent)
    assert spent_limit(story.state.budget, Spend(calls=10 * limit))


def moved(story: Story) -> Story:
    """The verdict is in, and a file has changed since it was begun."""
    found = (judged(story.card.tree, story.card.base, SHOWN),)
    return story.answers(EvidenceTaken(card=CARD, evidence=found, changed=("cart.py",)))


def test_a_verdict_on_a_tree_that_is_gone_holds_the_stop_and_after_some_times_ends_it():
    story = Story(policy=HOSTED).checkpoints("cart.py").edits("t1").stops()
    assert moved(story).phase is Phase.EXECUTE
    assert "cart.py changed while Flyball took its verdict." in story.said
    for tree in ("t2", "t3", "t4"):
        moved(story.edits(tree).stops())
    assert story.phase is Phase.FINAL
    assert "unverified" in str(story.card.ending)


def test_what_others_changed_is_what_the_work_begins_from():
    story = Story(policy=HOSTED).asks("read").returns("t1", changed=("b.py",), base="t1")
    assert (story.card.base, story.state.base, story.state.tree) == ("t1", "t1", "t1")
    story.checkpoints("cart.py").edits("t2", "cart.py")
    # A run that has kept the work of another card began before that.
    story.state = replace(story.state, tree="t0")
    story.asks("read").returns("t3", changed=("b.py",), base="t1b")
    assert (story.card.base, story.state.base, story.state.tree) == ("t1b", "t1", "t0")
