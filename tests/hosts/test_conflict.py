"""The honest way out in a host: stated from the agent's shell, answered by the next prompt."""

from __future__ import annotations

import subprocess

import pytest
from tests.governed import CART, Shell, objects
from tests.hosts.hooking import IDS, HostSession

SAYS = "self.assertEqual(total([(2, 3)]), 6)"
REQUEST = "Fix cart.py: total([(2, 3)]) must be 7."
RIGHT = CART.replace("result += price", "result += price * quantity")
WRONG = CART.replace("result += price", "result -= price")


def states(host: HostSession, **more: str) -> subprocess.CompletedProcess[str]:
    """The call by which a host's model states a conflict from its shell."""
    fields = {"says": SAYS, "but": "must be 7", "where": "test_cart.py:11"} | more
    words = [word for name, text in fields.items() for word in (f"--{name}", text)]
    id, command = f"c{next(IDS)}", "flyball conflict --says 'x' --but 'y' --where z"
    assert host.before("Bash", id, command=command).is_allowed
    done = host.shell("conflict", *words)
    host.after("Bash", id, {"command": command}, {"stdout": done.stdout, "stderr": done.stderr})
    return done


def told(host: HostSession) -> dict[str, object]:
    (run,) = objects(host.shell("runs", "show", "last", "--json").stdout)
    return run


def test_conflict_holds_the_session_until_the_person_decides(host: HostSession):
    assert "flyball conflict" in host.prompt(REQUEST).told
    done = states(host)
    assert done.returncode == 0, done.stderr
    assert SAYS in done.stdout
    assert host.write("cart.py", RIGHT).is_refused
    stop = host.stop("The test and the request contradict each other.")
    assert stop.is_allowed
    assert SAYS in stop.notice
    assert REQUEST in stop.notice
    assert told(host)["ending"] == "needs-you"
    assert "A person must decide" in host.prompt("which test is that?").told
    answered = host.prompt("Please follow the test.").told
    assert "follow test_cart.py:11" in answered
    host.checkpoint()
    assert host.write("cart.py", RIGHT).is_allowed
    assert "red → green" in host.stop().notice
    assert "follow test_cart.py:11" in str(told(host)["request"])


@pytest.mark.exhaustive
def test_question_outlives_the_session(host: HostSession):
    host.prompt(REQUEST)
    assert states(host).returncode == 0
    host.end()
    assert told(host)["ending"] == "needs-you"


@pytest.mark.exhaustive
def test_a_quote_that_is_not_there_asks_nobody(host: HostSession):
    host.prompt(REQUEST)
    done = states(host, says="assertEqual(total([]), 9)")
    assert done.returncode == 2
    assert "`says` was not found" in done.stderr
    assert not told(host)["questions"]
    assert host.checkpoint().returncode == 0


@pytest.mark.exhaustive
def test_second_refused_stop_offers_the_way_out(host: HostSession):
    host.prompt()
    host.checkpoint()
    host.write("cart.py", WRONG)
    first, second = host.stop(), host.stop()
    assert first.is_refused
    assert "conflict" not in first.err
    assert second.is_refused
    assert "flyball conflict --says" in second.err


@pytest.mark.exhaustive
def test_level_verdict_asks_and_lets_an_agent_go_on(shell: Shell):
    host = HostSession(shell, "claude", "s1", "verdict")
    host.prompt(REQUEST)
    assert states(host).returncode == 0
    assert SAYS in host.stop("I cannot.").notice
    assert "The task was changed" in host.prompt("It is 6 after all, so fix that.").told
    assert states(host).returncode == 0
    # An agent that does not wait is judged by what it did.
    assert host.write("cart.py", RIGHT).is_allowed
    assert "red → green" in host.stop().notice
    host.end()
