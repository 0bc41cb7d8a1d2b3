"""A run as other people's tools read it."""

from __future__ import annotations

from tests.simulation.world import call
from tests.unit.run.stories import ALONE, CARD, Story

from flyball.record.atif import trajectory
from flyball.run.event import Answered
from flyball.run.policy import Policy
from flyball.terms.budget import Usage
from flyball.terms.call import WebLook


def sources(told) -> list[str]:
    return [step["source"] for step in told["steps"]]


def test_a_whole_fix_is_a_trajectory_in_order():
    usage = Usage(100, 20, 0.5, 40)
    story = Story()
    story.says(
        call("1", "read"), call("2", "edit_diff"), text="Look.", usage=usage, model="a:m", at=60.0
    )
    story.returns()
    story.checkpoints("a.py").edits("t1").tests().stops().inspects().closes()
    told = trajectory(story.events, "0.1.0", str)
    assert told["schema_version"] == "ATIF-v1.4" and told["session_id"] == "r"
    assert told["agent"] == {"name": "flyball", "version": "0.1.0", "model_name": "a:m"}
    steps = told["steps"]
    assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
    assert (steps[0]["source"], steps[0]["message"]) == ("user", "do it")
    first = steps[1]
    assert first["timestamp"] == "60.0" and first["model_name"] == "a:m"
    assert first["extra"] == {"card": CARD, "role": "executor", "phase": "recon"}
    assert first["metrics"] == {
        "prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 40, "cost_usd": 0.5
    }  # fmt: skip
    results = first["observation"]["results"]
    assert {each["source_call_id"] for each in results} == {"1", "2"}
    assert any("checkpoint" in each["content"] for each in results)
    for step in steps:
        asked = {each["tool_call_id"] for each in step.get("tool_calls", ())}
        answered = {
            each["source_call_id"] for each in step.get("observation", {}).get("results", ())
        }
        assert answered <= asked
        assert step["source"] == "agent" or not {"tool_calls", "metrics"} & set(step)
    final = told["final_metrics"]
    assert (final["total_prompt_tokens"], final["total_steps"]) == (100, len(steps))
    assert final["extra"]["status"] == "success" and final["extra"]["blocked"] == 1


def test_a_person_and_the_governor_have_steps_of_their_own():
    policy = Policy(review=False, plan_big_requests=False, approve_checkpoint=True)
    story = Story(policy=policy)
    story.checkpoints("a.py")
    question = story.card.question.id
    story.happens(Answered(question=question, granted=False, by="ann", note="smaller"))
    told = trajectory(story.events, "1", str)
    person = next(step for step in told["steps"] if step["message"].startswith("ann"))
    assert person["message"] == "ann: no, smaller" and person["extra"] == {"question": question}
    assert "system" in sources(told) or told["steps"][-1]["source"] == "user"
    assert told["final_metrics"]["extra"]["status"] == "open"
    assert "model_name" not in told["agent"]


def test_what_the_governor_says_and_a_yes_without_a_note():
    policy = Policy(review=False, plan_big_requests=False, approve_checkpoint=True)
    story = Story(policy=policy).stops("I am done.")
    assert "system" in sources(trajectory(story.events, "1", str))
    story = Story(policy=policy).checkpoints("a.py")
    story.happens(Answered(question=story.card.question.id, granted=True, by="ann"))
    assert "ann: yes" in [step["message"] for step in trajectory(story.events, "1", str)["steps"]]


def test_what_a_provider_looked_up_is_a_call_with_its_result():
    look = WebLook("w1", "web_search", "empty cart", text="Carts")
    story = Story(policy=ALONE).says(call("1", "read"), looks=(look,))
    step = trajectory(story.events, "1", str)["steps"][1]
    assert step["tool_calls"][1]["arguments"] == {"about": "empty cart"}
    assert step["observation"]["results"] == [
        {"source_call_id": "w1", "content": "empty cart\nCarts"}
    ]
