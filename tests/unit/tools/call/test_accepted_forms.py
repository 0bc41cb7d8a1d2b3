"""Other ways to write a call that can only mean one thing."""

import pytest

from flyball.tools.call.accepted_forms import in_own_form


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
    ],
)
def test_what_is_not_certain_is_left_as_it_is(tool, args):
    assert in_own_form(tool, args) is args


def test_the_call_is_judged_and_kept_in_its_own_form(make_bench):
    bench = make_bench()
    call = bench.call("GIT", commit="Mend it")
    assert (call.tool, call.fault) == ("git", "")
    assert call.args == {"action": "commit", "message": "Mend it"}
    bash = bench.call("BASH", cmd="rm -rf .", allow="rm")
    assert bash.args == {"cmd": "rm -rf ."}
    assert bash.command.decision == bench.call("bash", cmd="rm -rf .").command.decision
    assert "is not a known field" in bench.call("GIT", commit="a", revert=["b"]).fault
