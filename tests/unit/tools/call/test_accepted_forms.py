"""Other ways to write a call that can only mean one thing."""

import pytest

from flyball.run.thread import SpokenCall
from flyball.tools.call.accepted_forms import in_own_form
from flyball.tools.call.inline_calls import emitted_plan


@pytest.mark.parametrize(
    ("tool", "args", "own"),
    [
        ("git", {"commit": "Mend it"}, {"action": "commit", "message": "Mend it"}),
        ("git", {"commit": {"message": "Mend it"}}, {"action": "commit", "message": "Mend it"}),
        ("git", {"commit": True, "message": "x"}, {"action": "commit", "message": "x"}),
        (
            "git",
            {"revert": "a.py", "confirm": True},
            {"action": "revert", "paths": ["a.py"], "confirm": True},
        ),
        ("git", {"revert": ["a.py"]}, {"action": "revert", "paths": ["a.py"]}),
        ("git", {"branch": "mine"}, {"action": "branch"}),
        ("git", {"branch": True}, {"action": "branch"}),
        ("git", {"branch": None}, {"action": "branch"}),
        ("bash", {"cmd": "npm test", "allow": "npm test"}, {"cmd": "npm test"}),
        ("bash", {"cmd": "npm test", "allow": ["npm"]}, {"cmd": "npm test"}),
        (
            "checkpoint",
            {"goal": "g", "tasks": [{"title": "Mend it", "files": ["a.py"]}, "Test it"]},
            {"goal": "g", "proposed_action": "Mend it\nTest it", "files": ["a.py"]},
        ),
        (
            "checkpoint",
            {"steps": [{"task": "Mend it", "path": "a.py"}], "files": ["b.py"]},
            {"files": ["b.py"], "proposed_action": "Mend it"},
        ),
    ],
)
def test_the_only_thing_it_can_mean(tool, args, own):
    assert in_own_form(tool, args) == own


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("git", {"action": "commit", "message": "x"}),
        ("git", {"commit": "x", "revert": ["a.py"]}),
        ("git", {"commit": "x", "message": "y"}),
        ("git", {"commit": 3}),
        ("git", {"revert": 3}),
        ("git", {"branch": False}),
        ("git", {"branch": ["a"]}),
        ("git", {"action": "branch", "branch": "x"}),
        ("bash", {"cmd": "x", "allow": 3}),
        ("bash", {"cmd": "x", "allow": [3]}),
        ("read", {"path": "a", "allow": "b"}),
        ("checkpoint", {"tasks": "all"}),
        ("checkpoint", {"tasks": []}),
        ("checkpoint", {"tasks": [3]}),
        ("checkpoint", {"tasks": ["a"], "proposed_action": "b"}),
        ("note", {}),
    ],
)
def test_what_is_not_certain_is_left_as_it_is(tool, args):
    assert in_own_form(tool, args) == args


def test_the_call_is_judged_and_kept_in_its_own_form(make_bench):
    bench = make_bench()
    call = bench.call("GIT", commit="Mend it")
    assert (call.tool, call.fault) == ("git", "")
    assert call.args == {"action": "commit", "message": "Mend it"}
    bash = bench.call("BASH", cmd="rm -rf .", allow="rm")
    assert bash.args == {"cmd": "rm -rf ."}
    assert bash.command.decision == bench.call("bash", cmd="rm -rf .").command.decision
    assert bench.call("PROCEED").args == {"text": "Go ahead."}
    assert bench.call("PROCEED", text="now").args == {"text": "now"}
    assert "is not a known field" in bench.call("GIT", commit="a", revert=["b"]).fault


@pytest.mark.parametrize(
    "text",
    [
        'EMIT_PLAN {"goal": "g"}\nPROCEED',
        'So:\nEMIT_PLAN:\n```json\n{"goal": "g"}\n```',
        '"EMIT_PLAN": {"goal": "g"}',
    ],
)
def test_a_plan_in_prose_is_the_call_it_means(text):
    assert emitted_plan(text) == (SpokenCall("", "EMIT_PLAN", {"goal": "g"}),)


@pytest.mark.parametrize("text", ["PROCEED", "EMIT_PLAN", "EMIT_PLAN {", "I will EMIT_PLAN [1]"])
def test_other_prose_is_prose(text):
    assert emitted_plan(text) == ()
