"""The official client library drives a whole flow of five steps, in both eras of the protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.governed import Shell
from tests.mcp.serving import MEND, NOTE, POINT, Agent, http, listening, play, stdio

pytestmark = pytest.mark.slow

WAYS = [
    ("stdio", "auto"),
    pytest.param("stdio", "legacy", marks=pytest.mark.exhaustive),
    pytest.param("http", "auto", marks=pytest.mark.exhaustive),
    pytest.param("http", "legacy", marks=pytest.mark.exhaustive),
]
WHY = "The quantity is ignored."


def patient(message: str) -> dict[str, Any]:
    """A person who reads what they are asked, and says yes."""
    assert "waits for your review" in message
    return {"approve": True, "note": "Fine."}


@asynccontextmanager
async def agent_over(way: str, mode: str, shell: Shell) -> AsyncGenerator[Agent]:
    if way == "stdio":
        async with stdio(shell, patient, mode) as agent:
            yield agent
        return
    with listening(shell) as address:
        async with http(address, patient, mode) as agent:
            yield agent


@pytest.mark.exhaustive
@pytest.mark.parametrize(("way", "mode"), WAYS, ids=lambda each: each)
def test_a_flow_of_five_steps_is_driven_to_its_end(way: str, mode: str, flow_shell: Shell):
    async def story() -> None:
        async with agent_over(way, mode, flow_shell) as agent:
            await five_steps(agent)

    play(story)
    shown = flow_shell("runs", "show", "last", "--json")
    told = json.loads(shown.stdout)
    assert told["status"] == "success"
    assert [card["status"] for card in told["cards"]] == ["done"] * 5
    assert told["driver"] == "host:mcp"


async def five_steps(agent: Agent) -> None:
    begun = await agent("start_run", goal="the total is wrong", flow="flow.yaml")
    assert (begun["card"], begun["phase"], begun["calls_left"]) == ("find", "recon", 40)
    assert begun["tools"] == ["read", "grep", "submit_evidence"]
    assert begun["evidence"]["required"] == {"root_cause": "text that is not empty"}
    assert "Reproduce the fault" in begun["instructions"]
    await finding(agent)
    await mending(agent)
    await noting(agent)
    await reviewing(agent)
    over = await agent("submit_evidence", summary="It is mended.")
    assert over["status"] == "success"
    assert (await agent("next_step"))["answer"] == "It is mended."


async def finding(agent: Agent) -> None:
    """The form is missing, and then half of it: both are sent back with the reason."""
    bare = await agent("submit_evidence", summary=WHY)
    assert not bare["ok"] and "`root_cause` is missing" in bare["words"][0]
    half = await agent("submit_evidence", summary=WHY, evidence={"root_cause": "cart.py:2"})
    assert not half["ok"] and "`criteria_checklist` is missing" in half["words"][0]
    whole = {"root_cause": "cart.py:2", "criteria_checklist": {"seen": True}}
    done = await agent("submit_evidence", summary=WHY, evidence=whole)
    assert done["ok"] and done["card"] == "fix"


async def mending(agent: Agent) -> None:
    """Nothing is written before the checkpoint, and no word stands in for the tests."""
    early = await agent("edit_diff", diff=MEND)
    assert not early["ok"] and early["code"] == "out_of_phase"
    assert "State a checkpoint first" in early["text"]
    stated = await agent("checkpoint", **{**POINT, "files": ["cart.py", "test_cart.py"]})
    assert stated["phase"] == "execute"
    # Only the code: the gate wants a test that fails without it.
    code, _, tests = MEND.partition("--- a/test_cart.py")
    assert (await agent("edit_diff", diff=code))["ok"]
    claimed = await agent("submit_evidence", summary="All tests pass, 12 of 12.")
    assert not claimed["ok"] and claimed["card"] == "fix"
    assert (await agent("edit_diff", diff=f"--- a/test_cart.py{tests}"))["ok"]
    seen = await agent("test")
    assert seen["ok"] and seen["observed"][0]["kind"] == "suite-report"
    assert agent.progress, "a test run tells how far it is"
    shown = await agent("submit_evidence", summary="Mended.")
    assert shown["ok"] and shown["role"] == "reviewer"
    assert "red → green" in " ".join(shown["verdict"])
    assert (await agent("submit_evidence", summary="Low risk."))["card"] == "note"


async def noting(agent: Agent) -> None:
    await agent("checkpoint", **{**POINT, "files": ["CHANGELOG.md"]})
    await agent("edit_diff", diff=NOTE)
    assert (await agent("submit_evidence", summary="Noted."))["ok"]
    assert (await agent("submit_evidence", summary="Low risk."))["card"] == "review"


async def reviewing(agent: Agent) -> None:
    """A person is asked by elicitation; only their yes leads on."""
    form = {"risk": "low", "assumptions": ["prices are numbers"]}
    waiting = await agent("submit_evidence", summary="Small.", evidence=form)
    assert waiting["status"] == "paused" and waiting["question"]["kind"] == "review"
    held = await agent("read", path="cart.py")
    assert held.is_error and held.code == "conflict"
    granted = await agent("request_approval")
    assert granted["card"] == "announce" and granted["question"] is None
    run = granted["run"]
    answered = json.loads(await agent.resource(f"flyball://runs/{run}"))
    assert answered["status"] == "running"
    assert "# Fix the cause" in await agent.resource(f"flyball://runs/{run}/cards/fix/account")
    assert json.loads(await agent.resource(f"flyball://runs/{run}/cards/fix"))["status"] == "done"
    assert "price * quantity" in await agent.resource(f"flyball://runs/{run}/diff")
    assert run in await agent.resource("flyball://runs")
