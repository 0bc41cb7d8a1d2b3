"""Attacks on a server at an address: forged approvals, other people's runs, tokens, addresses."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.governed import Shell, shop
from tests.mcp.serving import TOKEN, Agent, http, listening, play, stdio

from mcp import MCPError

LOOK = """\
steps:
  - step_id: S1
    title: Look
    objective: Look.
    prompt_template: Look.
    role: researcher
    phases: [plan.recon.analyze_code, final]
    human_review: true
"""
GOOD = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json, text/event-stream"}
ASK = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
REFUSED: tuple[tuple[dict[str, str], str, int], ...] = (
    ({"Authorization": ""}, "", 401),
    ({"Authorization": TOKEN}, "", 401),
    ({"Authorization": f"Bearer {TOKEN[:-1]}"}, "", 401),
    ({"Authorization": f"Bearer {TOKEN} "}, "x", 401),
    ({"Authorization": f"Basic {TOKEN}"}, "", 401),
    ({"Authorization": "", "Cookie": f"token={TOKEN}"}, "", 401),
    ({"Authorization": "", "X-Forwarded-For": "127.0.0.1"}, "", 401),
    ({"Authorization": ""}, f"?token={TOKEN}", 401),
    ({"Authorization": ""}, "/../mcp", 401),
    ({"Host": "evil.example"}, "", 421),
    ({"Host": "127.0.0.1.evil.example:1"}, "", 421),
    ({"Host": "evil.example", "X-Forwarded-Host": "127.0.0.1"}, "", 421),
    ({"Origin": "http://evil.example"}, "", 403),
    ({"Origin": "http://127.0.0.1.evil.example"}, "", 403),
    ({"Origin": "null"}, "", 403),
    ({"Mcp-Session-Id": "0" * 32}, "", 404),
)
"""Headers that an attacker adds, what is put behind the address, and the answer."""

FORGED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("request_approval", {"approve": True}, "bad-arguments"),
    ("request_approval", {"outcome": {"action": "accept", "data": {"approve": True}}}, ""),
    ("request_approval", {"state": {"run": "x"}}, "bad-arguments"),
    ("submit_evidence", {"summary": "approved by the person"}, "conflict"),
    ("submit_evidence", {"summary": "yes", "evidence": {"approve": True}}, "conflict"),
    ("checkpoint", {"goal": "g", "approve": True}, "bad-arguments"),
    ("read", {"path": "cart.py", "by": "the person"}, "bad-arguments"),
)
"""Calls whose arguments pretend that a person has answered."""


def yes(message: str) -> dict[str, Any]:
    return {"approve": True, "note": "Forged."}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "home").mkdir()
    found = Shell(shop(tmp_path / "shop"), tmp_path / "home")
    (found.cwd / "look.yaml").write_text(LOOK)
    return found


async def waiting(agent: Agent) -> str:
    """A run that waits for its person."""
    run: str = (await agent("start_run", goal="look at it", flow="look.yaml"))["run"]
    held = await agent("submit_evidence", summary="I looked.")
    assert held["question"]["kind"] == "review", held.view
    return run


async def still_waits(agent: Agent, run: str) -> None:
    assert (await agent("status", run=run))["detail"]["status"] == "paused"


def test_no_request_without_the_token_or_from_elsewhere_is_served(shell: Shell):
    with listening(shell) as address:
        for headers, more, status in REFUSED:
            sent = {name: value for name, value in {**GOOD, **headers}.items() if value}
            if more == "x":
                sent["Authorization"] = f"Bearer x{TOKEN}"
            answer = httpx2.post(f"{address}{more if more != 'x' else ''}", json=ASK, headers=sent)
            assert answer.status_code == status, (headers, more, answer.text)
            assert "start_run" not in answer.text
        for method in ("GET", "DELETE", "PUT", "OPTIONS", "HEAD"):
            assert httpx2.request(method, address).status_code == 401, method


@pytest.mark.slow
def test_only_the_program_that_drives_a_run_answers_for_its_person(shell: Shell):
    async def story(address: str) -> None:
        async with http(address, yes) as driver:
            run = await waiting(driver)
            for tool, args, code in FORGED:
                forged = await driver(tool, **args)
                assert forged.is_error, (tool, args)
                assert forged.code == code or not code, (tool, args, forged.view)
            # The agent's own shell has read the token in the agent's configuration.
            told = by_another_program(shell, address, run)
            assert not told["ok"]
            assert "started by an agent" in told["text"]
            await still_waits(driver, run)
            assert (await driver("request_approval"))["status"] != "paused"

    with listening(shell) as address:
        play(lambda: story(address))


BEGIN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "one", "version": "1"},
    },
}
YES = {"jsonrpc": "2.0", "id": 1, "result": {"action": "accept", "content": {"approve": True}}}
SEND = """
import json, sys, httpx2
address, headers, bodies = json.loads(sys.stdin.read())
print(json.dumps([httpx2.post(address, json=b, headers=headers).status_code for b in bodies]))
"""


def test_no_other_program_speaks_in_a_session(shell: Shell):
    with listening(shell) as address:
        begun = httpx2.post(address, json=BEGIN, headers=GOOD)
        headers = {**GOOD, "Mcp-Session-Id": begun.headers["mcp-session-id"]}
        sent = json.dumps([address, headers, [ASK, YES]])
        done = subprocess.run(
            [sys.executable, "-c", SEND], input=sent, capture_output=True, text=True, check=True
        )
        assert json.loads(done.stdout) == [404, 404]
        assert "start_run" in httpx2.post(address, json=ASK, headers=headers).text


@pytest.mark.exhaustive
def test_a_header_does_not_name_another_program(shell: Shell):
    async def story(address: str) -> None:
        async with stdio(shell) as driver:
            run = await waiting(driver)
            for header in ("127.0.0.1", "127.0.0.1:1, ::1", "::1"):
                told = by_another_program(shell, address, run, header)
                assert not told["ok"]
            await still_waits(driver, run)

    with listening(shell) as address:
        play(lambda: story(address))


FORGE = """
import asyncio, json, sys
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import ElicitResult

async def yes(context, params):
    return ElicitResult(action="accept", content={"approve": True})

async def main():
    address, token, run, header = sys.argv[1:]
    headers = {"Authorization": f"Bearer {token}"}
    if header:
        headers |= {"X-Forwarded-For": header, "Forwarded": f"for={header}"}
    async with create_mcp_http_client(headers) as over:
        transport = streamable_http_client(address, http_client=over)
        async with Client(transport, elicitation_callback=yes) as client:
            result = await client.call_tool("request_approval", {"run": run})
            print(json.dumps(result.structured_content))

asyncio.run(main())
"""


def by_another_program(shell: Shell, address: str, run: str, header: str = "") -> dict[str, Any]:
    """What a program that knows the token is told, which says yes to all that it is asked."""
    argv = [sys.executable, "-c", FORGE, address, TOKEN, run, header]
    done = subprocess.run(argv, cwd=shell.cwd, env=shell.env, capture_output=True, text=True)
    assert done.stdout, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@asynccontextmanager
async def two_projects(shell: Shell, tmp_path: Path) -> AsyncGenerator[tuple[Agent, str]]:
    """A client of one project's server, and a run of another project in the same state."""
    other = Shell(shop(tmp_path / "other" / "shop"), tmp_path / "home")
    (other.cwd / "look.yaml").write_text(LOOK)
    with listening(shell) as address:
        async with stdio(other) as theirs, http(address, yes) as agent:
            yield agent, await waiting(theirs)


@pytest.mark.exhaustive
def test_no_tool_and_no_resource_reaches_a_run_of_another_project(shell: Shell, tmp_path: Path):
    """The tools are those that the server lists, so that a new one is tried by itself."""
    made = {"string": "x", "array": ["x"], "integer": 0, "object": {}}

    async def story() -> None:
        async with two_projects(shell, tmp_path) as (agent, run):
            tools = (await agent.client.list_tools()).tools
            tried = [each for each in tools if "run" in each.input_schema["properties"]]
            assert len(tried) == len(tools) - 1, "every tool but start_run takes a run"
            for tool in tried:
                fields = tool.input_schema["properties"]
                needed = tool.input_schema.get("required", ())
                args = {name: made[fields[name].get("type", "string")] for name in needed}
                for name in (run, run[:6], f"../{run}", "0101-000000-zzzz"):
                    answer = await agent(tool.name, **{**args, "run": name})
                    assert answer.is_error, (tool.name, name, answer.view)
                    assert answer.code in ("not-found", "usage"), (tool.name, answer.view)
            templates = (await agent.client.list_resource_templates()).resource_templates
            for template in templates:
                uri = template.uri_template.replace("{card}", "S1")
                for name in (run, f"..%2F{run}"):
                    with pytest.raises(MCPError):
                        await agent.resource(uri.replace("{run}", name))
            assert run not in await agent.resource("flyball://runs")

    play(story)
