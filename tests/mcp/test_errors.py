"""What goes wrong is said with a stable code, and nothing is lost by it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.governed import FIX, Shell
from tests.mcp.serving import (
    FLYBALL,
    POINT,
    TOKEN,
    Agent,
    http,
    listening,
    mended,
    play,
    stdio,
)

from mcp import MCPError

pytestmark = pytest.mark.slow

GOAL = "fix the failing test"


@pytest.mark.exhaustive
def test_what_is_not_there_is_said_with_what_is(shell: Shell):
    async def story() -> None:
        async with stdio(shell) as agent:
            none = await agent("next_step")
            assert none.is_error and none.code == "not-found" and "start_run" in none["hint"]
            run = (await agent("start_run", goal=GOAL))["run"]
            other = await agent("next_step", run="0101-000000-zzzz")
            assert other.is_error and other.code == "not-found"
            card = await agent("read", path="cart.py", card="step-9")
            assert card.code == "not-found" and "step-1" in card["hint"]
            assert (await agent("revert", card="step-9")).code == "not-found"
            assert (await agent("revert", card="step-1")).code == "conflict"
            assert (await agent("request_approval")).code == "conflict"
            with pytest.raises(MCPError, match="not-found"):
                await agent.resource("flyball://runs/0101-000000-zzzz")
            with pytest.raises(MCPError, match="not-found"):
                await agent.resource(f"flyball://runs/{run}/cards/step-9")
            with pytest.raises(MCPError, match="no account yet"):
                await agent.resource(f"flyball://runs/{run}/cards/step-1/account")

    play(story)


MISFITS: list[tuple[str, dict[str, Any], str]] = [
    ("read", {}, "path"),
    ("read", {"path": ["cart.py"]}, "path"),
    ("read", {"path": "cart.py", "offset": -1}, "offset"),
    ("read", {"path": "cart.py", "approve": True}, "approve"),
    ("checkpoint", {"goal": "g"}, "findings"),
    ("checkpoint", {**POINT, "files": "cart.py, test_cart.py"}, "files"),
    ("start_run", {"goal": 7}, "goal"),
    ("request_approval", {"outcome": {"approve": True}}, "outcome"),
]


@pytest.mark.exhaustive
def test_arguments_that_do_not_fit_are_named_and_start_nothing(shell: Shell):
    async def story() -> None:
        async with stdio(shell) as agent:
            for tool, args, named in MISFITS:
                answer = await agent(tool, **args)
                assert answer.is_error and answer.code == "bad-arguments", (tool, args)
                assert named in answer["message"], (tool, args)
            assert (await agent("status"))["runs"] == []

    play(story)


@pytest.mark.exhaustive
def test_a_goal_or_flow_that_says_nothing_starts_nothing(shell: Shell):
    (shell.cwd / "broken.yaml").write_text("steps: [{step_id: S1}]\n")

    async def story() -> None:
        async with stdio(shell) as agent:
            assert (await agent("start_run", goal="  ")).code == "usage"
            broken = await agent("start_run", flow="broken.yaml")
            assert broken.code == "template" and "title" in broken["message"]
            assert (await agent("start_run", flow="../../etc/passwd")).code == "outside-workspace"
            both = await agent("start_run", flow="broken.yaml", plan={"steps": []})
            assert both.code in ("usage", "template")
            assert (await agent("status"))["runs"] == []

    play(story)


@pytest.mark.exhaustive
def test_a_diff_that_does_not_fit_changes_nothing_and_says_why(shell: Shell):
    async def story() -> None:
        async with stdio(shell) as agent:
            await agent("start_run", goal=GOAL)
            await agent("checkpoint", **POINT)
            for diff, why in (
                ("this is no diff", "not_a_diff"),
                (FIX.replace("result += price", "result += cost"), "no_match"),
                (FIX.replace("cart.py", "../cart.py"), "outside"),
            ):
                refused = await agent("edit_diff", diff=diff)
                assert not refused["ok"] and why in f"{refused['code']} {refused['text']}"
            assert (await agent("edit_diff", diff=FIX))["ok"]
            again = await agent("edit_diff", diff=FIX)
            assert not again["ok"] and "already_applied" in again["text"]

    play(story)


@pytest.mark.exhaustive
def test_a_server_that_is_killed_goes_on_where_it_was(shell: Shell):
    """Also in the middle of a test run: the call is told as cut off, and can be made again."""
    (shell.cwd / "test_slow.py").write_text("import time\n\nif 1:\n    time.sleep(60)\n")

    async def begin(agent: Agent) -> str:
        run = (await agent("start_run", goal=GOAL))["run"]
        await agent("checkpoint", **POINT)
        await agent("edit_diff", diff=FIX)
        return run

    async def story() -> None:
        async with stdio(shell) as agent:
            run = await begin(agent)
            doomed = asyncio.create_task(agent("test"))
            await until_running("unittest", shell.env["FLYBALL_STATE_DIR"])
            (server,) = processes(str(shell.cwd), f"{FLYBALL} mcp")
            os.kill(server, signal.SIGKILL)
            with pytest.raises((MCPError, OSError)):
                await doomed
        async with stdio(shell) as agent:
            step = await agent("next_step", run=run)
            assert step["phase"] == "execute" and step["run"] == run
            assert (step["calls_used"], step["calls_limit"]) == (2, 15)
            assert "price * quantity" in await agent.resource(f"flyball://runs/{run}/diff")

    play(story)


def processes(*signs: str) -> list[int]:
    """The processes whose command lines hold all of these."""
    found: list[int] = []
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            where = str((place / "cwd").readlink())
            if all(sign in f"{where} {words}" for sign in signs):
                found.append(int(place.name))
    return found


async def until_running(*signs: str) -> None:
    for _ in range(6000):
        if processes(*signs):
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"nothing with {signs} runs")


@pytest.mark.exhaustive
def test_two_clients_at_once_take_turns(shell: Shell):
    """No call is lost and none is made twice, whether or not they work on the same run."""

    async def story() -> None:
        async with stdio(shell) as one, stdio(shell) as other:
            run = (await one("start_run", goal=GOAL))["run"]
            turns = enumerate((one, other) * 3)
            reads = [each("read", path="cart.py", offset=n, run=run) for n, each in turns]
            answers = await asyncio.gather(*reads)
            assert not [answer.view for answer in answers if answer.is_error]
            assert sorted(answer["calls_used"] for answer in answers) == [1, 2, 3, 4, 5, 6]
            second = (await other("start_run", goal=GOAL))["run"]
            assert second != run
            (await asyncio.gather(mended_in(one, run), mended_in(other, second)))

    play(story)


async def mended_in(agent: Agent, run: str) -> None:
    await agent("checkpoint", run=run, **POINT)
    await agent("edit_diff", run=run, diff=FIX)
    await agent("test", run=run)
    done = await agent("submit_evidence", run=run, summary="Mended.")
    assert done["ok"], done.view


@pytest.mark.exhaustive
def test_an_address_is_taken_once_and_serves_only_who_knows_the_token_and_comes_from_here(
    shell: Shell,
):
    with listening(shell) as address:
        ask = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        good = {
            "Authorization": f"Bearer {TOKEN}",
            "Accept": "application/json, text/event-stream",
        }
        for headers, status in (
            ({**good, "Authorization": "Bearer wrong"}, 401),
            ({**good, "Authorization": TOKEN}, 401),
            ({"Accept": good["Accept"]}, 401),
            ({**good, "Host": "evil.example"}, 421),
            ({**good, "Origin": "http://evil.example"}, 403),
        ):
            answer = httpx2.post(address, json=ask, headers=headers)
            assert answer.status_code == status, headers
            if status == 401:
                assert answer.json()["code"] == "bad-token"
        missing = httpx2.get(address.replace("/mcp", "/"), headers=good)
        assert missing.status_code == 404

        async def story(token: str) -> None:
            async with http(address, token=token) as agent:
                assert (await agent("status"))["runs"] == []

        play(partial(story, TOKEN))
        # A wrong token is an error for the official client, too.
        with pytest.raises((MCPError, httpx2.HTTPStatusError)):
            play(partial(story, "wrong"))

        port = address.rpartition(":")[2].partition("/")[0]
        again = shell("mcp", "--http", "--port", port)
    assert again.returncode == 2, "an address that is taken is a sentence"
    assert "error[usage]" in again.stderr and "another --host or --port" in again.stderr


def test_without_the_extra_the_install_line_is_told(shell: Shell):
    hide = "import sys; sys.modules['mcp'] = None; from flyball.cli import main; main()"
    argv = (sys.executable, "-c", hide, "mcp")
    done = subprocess.run(argv, cwd=shell.cwd, env=shell.env, capture_output=True, text=True)
    assert done.returncode == 2
    assert "error[extra-missing]" in done.stderr
    assert "pip install 'flyball[mcp]'" in done.stderr


@pytest.mark.exhaustive
def test_one_card_from_goal_to_commit_and_back(shell: Shell):
    async def story() -> None:
        async with stdio(shell) as agent:
            run = (await agent("start_run", goal=GOAL))["run"]
            done = await mended(agent)
            assert done["ok"] and "red → green" in " ".join(done["verdict"])
            while (step := await agent("next_step"))["status"] == "running":
                await agent("submit_evidence", summary=f"Low risk. ({step['phase']})")
            assert step["status"] == "success"
            back = await agent("revert", card="step-1", run=run)
            assert back["files"] == ["cart.py"]
            twice = await agent("revert", card="step-1", run=run)
            assert twice["files"] == []

    play(story)


@pytest.mark.exhaustive
def test_a_plan_of_the_agents_own_is_carried_out_step_by_step(shell: Shell):
    step = {"id": "mend", "title": "Multiply by the quantity", "success_criteria": ["it passes"]}
    report = {"goal_achieved": True, "issues": [], "next_actions": []}

    async def story() -> None:
        async with stdio(shell) as agent:
            bad = await agent("start_run", goal=GOAL, plan={"goal": GOAL, "steps": "all of it"})
            assert bad["role"] == "planner" and "`steps` must be a" in bad["instructions"]
            good = {"goal": GOAL, "steps": [step]}
            mend = await agent("submit_evidence", run=bad["run"], evidence=good)
            assert mend["ok"] and (mend["card"], mend["role"]) == ("mend", "executor")
            await mended_in(agent, bad["run"])
            await agent("submit_evidence", run=bad["run"], summary="Low risk.")
            over = await agent("submit_evidence", run=bad["run"], evidence=report)
            assert over["status"] == "success", over.view

    play(story)
