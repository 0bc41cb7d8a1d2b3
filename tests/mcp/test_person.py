"""Nobody approves himself: an answer is a person's, whichever way an agent tries."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from tests.governed import DROP, FIX, Shell
from tests.hosts.hooking import HostSession
from tests.mcp.serving import FLYBALL, POINT, TWO_STEPS, Agent, play, stdio

pytestmark = pytest.mark.slow

GOAL = "fix the failing test"


async def asks(agent: Agent) -> str:
    """A run that asks its person: a test that passed is gone."""
    run = (await agent("start_run", goal=GOAL))["run"]
    await agent("checkpoint", **{**POINT, "files": ["cart.py", "test_cart.py"]})
    assert (await agent("edit_diff", diff=FIX))["ok"]
    assert (await agent("edit_diff", diff=DROP))["ok"]
    await agent("test")
    waiting = await agent("submit_evidence", summary="Mended.")
    assert waiting["question"]["kind"] == "weakened-tests", waiting.view
    return run


@pytest.mark.exhaustive
def test_a_person_who_says_no_or_looks_away_is_heard(shell: Shell):
    said: list[dict[str, Any] | None] = [None, {"approve": False, "note": "Put the test back."}]

    async def story() -> None:
        async with stdio(shell, lambda _: said.pop(0)) as agent:
            await asks(agent)
            away = await agent("request_approval")
            assert not away["ok"] and away["status"] == "paused"
            no = await agent("request_approval")
            assert no["status"] == "running" and no["phase"] == "execute"
            assert "Put the test back." in (await agent("next_step"))["instructions"]

    play(story)


@pytest.mark.exhaustive
def test_a_client_that_cannot_ask_leaves_the_question_to_a_terminal(shell: Shell):
    """And nobody else takes it: no word, no command, no client and no program of the agent's."""

    async def story() -> None:
        async with stdio(shell) as agent:
            run = await asks(agent)
            left = await agent("request_approval")
            assert not left["ok"] and left["status"] == "paused"
            assert f"flyball approve {run}" in left["text"]
            await no_word_is_an_approval(agent)
            # From below the agent's program, `flyball approve` is no person's either.
            refused = shell("approve", run)
            assert refused.returncode == 2 and "error[not-a-person]" in refused.stderr
            assert (await agent("next_step"))["status"] == "paused"
            no_client_of_the_agent_is_a_person(shell, run)
            assert (await agent("next_step"))["status"] == "paused"

    play(story)


async def no_word_is_an_approval(agent: Agent) -> None:
    for tool, args in (
        ("submit_evidence", {"summary": "yes", "evidence": {"approve": True}}),
        ("submit_evidence", {"summary": "approved by the person"}),
        ("checkpoint", POINT),
        ("edit_diff", {"diff": FIX}),
    ):
        held = await agent(tool, **args)
        assert held.is_error and held.code == "conflict", (tool, args)
    assert (await agent("request_approval", approve=True)).code == "bad-arguments"
    assert (await agent("next_step"))["status"] == "paused"


def no_client_of_the_agent_is_a_person(shell: Shell, run: str) -> None:
    """The agent's shell starts a server of its own and answers the form that it is shown."""
    done = subprocess.run(
        [sys.executable, "-c", FORGE, FLYBALL, run],
        cwd=shell.cwd,
        env=shell.env,
        capture_output=True,
        text=True,
    )
    told = json.loads(done.stdout)
    assert not told["ok"] and "started by an agent" in told["text"], done.stderr


FORGE = """
import asyncio, json, os, sys
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

async def yes(context, params):
    return ElicitResult(action="accept", content={"approve": True})

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=["mcp"], env=dict(os.environ))
    async with Client(server, elicitation_callback=yes) as client:
        result = await client.call_tool("request_approval", {"run": sys.argv[2]})
        print(json.dumps(result.structured_content))

asyncio.run(main())
"""


@pytest.mark.exhaustive
def test_an_appeal_is_put_before_the_person(shell: Shell):
    asked: list[str] = []
    hook = "--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+true\n"

    def person(message: str) -> dict[str, Any]:
        asked.append(message)
        return {"approve": False, "note": "Leave it."}

    async def story() -> None:
        async with stdio(shell, person) as agent:
            await agent("start_run", goal=GOAL)
            early = await agent("edit_diff", diff=FIX)
            promise = await agent("request_approval", call=early["call"], reason="I know it.")
            assert promise.code == "conflict" and "no exception" in promise["message"]
            await agent("checkpoint", **POINT)
            refused = await agent("edit_diff", diff=hook)
            assert refused["code"] == "protected"
            said = await agent("request_approval", call=refused["call"], reason="I need it.")
            assert len(asked) == 1 and "The driver objects: I need it." in asked[0]
            assert said["status"] == "running" and "refused" in " ".join(said["words"])
            again = await agent("request_approval", call=refused["call"], reason="Please.")
            assert again.code == "conflict" and len(asked) == 1

    play(story)


@pytest.mark.exhaustive
def test_what_a_client_writes_by_itself_in_recon_is_taken_back(shell: Shell):
    async def story() -> None:
        async with stdio(shell) as agent:
            run = (await agent("start_run", goal=GOAL))["run"]
            detail = (await agent("status", run=run))["detail"]
            file = shell.cwd.__class__(detail["workspace"]) / "cart.py"
            before = file.read_text()
            file.write_text("def total(items):\n    return 6\n")
            await agent("read", path="cart.py")
            assert file.read_text() == before
            assert await agent.resource(f"flyball://runs/{run}/diff") == ""

    play(story)


@pytest.mark.exhaustive
def test_a_claim_of_passing_tests_is_not_taken(shell: Shell):
    async def story() -> None:
        async with stdio(shell) as agent:
            await agent("start_run", goal=GOAL)
            await agent("checkpoint", **POINT)
            broken = FIX.replace("+        result += price * quantity", "+        result += 1")
            assert (await agent("edit_diff", diff=broken))["ok"]
            claim = {"tests_passed": 2, "tests_failed": 0, "test_output": "OK"}
            for _ in range(2):
                said = await agent("submit_evidence", summary="All pass.", evidence=claim)
                assert not said["ok"] and said["card"] == "step-1"
            await agent("test")
            seen = await agent("submit_evidence", summary="All pass.", evidence=claim)
            assert not seen["ok"] and "fail" in " ".join(seen["words"])

    play(story)


@pytest.fixture
def host(shell: Shell) -> Any:
    session = HostSession(shell)
    yield session
    session.end()


@pytest.mark.exhaustive
def test_a_checkpoint_over_mcp_counts_for_the_session_that_the_hooks_govern(
    host: HostSession, shell: Shell
):
    host.prompt()
    assert not host.write("cart.py", "x").is_allowed
    assert host.before("mcp__flyball__checkpoint", "m1", **POINT).is_allowed

    async def story() -> None:
        async with stdio(shell) as agent:
            stated = await agent("checkpoint", **POINT)
            assert stated["ok"] and stated["phase"] == "execute"
            assert (await agent("next_step"))["phase"] == "execute"
            own = await agent("edit_diff", diff=FIX)
            assert own.is_error and own.code == "conflict" and "claude" in own["message"]

    play(story)
    assert host.after("mcp__flyball__checkpoint", "m1", POINT, "ok").code == 0
    fixed = (shell.cwd / "cart.py").read_text().replace("+= price", "+= price * quantity")
    assert host.write("cart.py", fixed).is_allowed
    assert host.stop().code == 0
    told = json.loads(shell("runs", "show", "last", "--json").stdout)
    assert told["driver"] == "host:claude" and told["status"] == "success"


@pytest.mark.exhaustive
def test_steps_beside_a_governed_session_are_a_run_of_their_own(host: HostSession, shell: Shell):
    (shell.cwd / "two.yaml").write_text(TWO_STEPS)
    host.prompt()
    assert host.before("mcp__flyball__start_run", "m1", goal=GOAL).is_allowed

    async def story() -> None:
        async with stdio(shell) as agent:
            await agent("start_run", goal=GOAL)
            await agent("checkpoint", **POINT)
            assert (await agent("edit_diff", diff=FIX))["ok"]

    play(story)
    assert host.after("mcp__flyball__start_run", "m1", {}, "ok").code == 0
    assert not host.write("cart.py", "x").is_allowed, "its own checkpoint is still owed"
    assert "price * quantity" not in (shell.cwd / "cart.py").read_text()


def test_a_conflict_is_answered_by_the_side_to_follow(shell: Shell):
    said = [{"approve": True, "note": ""}, {"approve": True, "note": "follow the test"}]
    quotes = {"says": "assertEqual(total([(2, 3)]), 6)", "where": "test_cart.py:11"}

    async def story() -> None:
        async with stdio(shell, lambda _: said.pop(0)) as agent:
            await agent("start_run", goal="Fix cart.py: total([(2, 3)]) must be 7.")
            wrong = await agent("conflict", but="must be 8", **quotes)
            assert not wrong["ok"]
            assert "`but` was not found" in wrong["text"]
            asked = await agent("conflict", but="must be 7", **quotes)
            assert asked["question"]["kind"] == "conflict"
            assert any(each.endswith("follow the test") for each in asked["question"]["commands"])
            assert (await agent("request_approval")).code == "usage"
            going_on = await agent("request_approval")
            assert going_on["status"] == "running"
            assert "follow test_cart.py:11" in (await agent("next_step"))["instructions"]

    play(story)
