"""Several agents in one checkout: none is blamed for another's work, nor praised for it."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from tests.governed import CART, Shell
from tests.hosts.hooking import HostSession

RIGHT = CART.replace("result += price", "result += price * quantity")


@pytest.fixture
def beside(shell: Shell) -> Generator[HostSession]:
    """Another session in the same checkout."""
    session = HostSession(shell, session="s2")
    yield session
    session.end()


def mend(host: HostSession) -> None:
    """A whole piece of work, from the prompt to a stop that is let go."""
    host.prompt()
    host.checkpoint()
    assert host.write("cart.py", RIGHT).is_allowed
    assert "success" in host.stop().notice


@pytest.mark.parametrize("request_", ["explain the cart", "the total is wrong, fix it"])
def test_what_a_session_has_finished_is_not_taken_back_by_one_that_began_before(
    host: HostSession, beside: HostSession, request_: str
):
    beside.prompt(request_)
    mend(host)
    host.prompt("and now explain it")
    host.end()
    assert beside.run("ls") == (0, "", "")
    heard = beside.stop()
    assert "cart.py" not in heard.err
    assert "reverted" not in heard.notice
    assert (beside.repo / "cart.py").read_text() == RIGHT


def test_a_write_that_is_under_way_is_not_taken_back_by_a_look(
    host: HostSession, beside: HostSession
):
    host.prompt()
    host.checkpoint()
    beside.prompt("explain the cart")
    place = host.repo / "cart.py"
    args = {"file_path": str(place), "content": RIGHT}
    assert host.before("Write", "w1", **args).is_allowed
    place.write_text(RIGHT)
    (host.repo / "notes.md").write_text("of nobody")
    assert "notes.md" in beside.run("ls").told
    assert place.read_text() == RIGHT
    assert not (host.repo / "notes.md").exists()
    assert host.after("Write", "w1", args, "").is_allowed


@pytest.mark.exhaustive
def test_nothing_is_taken_back_while_another_session_runs_a_command_that_may_write(
    host: HostSession, beside: HostSession
):
    host.prompt()
    host.checkpoint()
    beside.prompt("explain the cart")
    args = {"command": "make report"}
    assert host.before("Bash", "m1", **args).is_allowed
    (host.repo / "report.txt").write_text("3 pens")
    assert beside.run("ls") == (0, "", "")
    assert host.after("Bash", "m1", args, "").is_allowed
    assert beside.run("ls") == (0, "", "")
    assert (host.repo / "report.txt").read_text() == "3 pens"


@pytest.mark.exhaustive
@pytest.mark.parametrize("request_", ["explain the cart", "the total is wrong, fix it"])
def test_who_only_looked_is_not_praised_for_what_another_session_changed(
    host: HostSession, beside: HostSession, request_: str
):
    beside.prompt(request_)
    host.prompt()
    host.checkpoint()
    assert host.write("cart.py", RIGHT).is_allowed
    assert beside.run("ls") == (0, "", "")
    assert "success" in host.stop().notice
    assert beside.run("ls") == (0, "", "")
    heard = beside.stop()
    assert not heard.is_refused
    assert "cart.py" not in heard.notice
    assert "green" not in heard.notice


def test_each_of_two_sessions_is_judged_by_its_own_change(host: HostSession, beside: HostSession):
    beside.prompt("say in a new file pens.py what a pen costs")
    mend(host)
    beside.checkpoint("pens.py")
    assert beside.write("pens.py", "PEN = 2\n").is_allowed
    assert "Every test passes without the change" in beside.stop().err
    heard = beside.stop()
    assert "changed: pens.py\n" in heard.notice


@pytest.mark.exhaustive
def test_the_plan_of_a_sub_agent_is_no_checkpoint_of_the_session(host: HostSession):
    host.prompt()
    call: dict[str, object] = {
        "tool_name": "ExitPlanMode",
        "tool_input": {"plan": "Fix cart.py"},
        "tool_use_id": "p1",
        "agent_id": "a1",
    }
    assert host.hook("PreToolUse", **call).is_allowed
    assert host.hook("PostToolUse", **call, tool_response="ok").is_allowed
    assert host.write("cart.py", RIGHT).is_refused
    assert host.checkpoint().returncode == 0
    assert host.write("cart.py", RIGHT).is_allowed
