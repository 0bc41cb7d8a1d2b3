"""The guide says what is so: its commands run, and it names every tool and resource."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.governed import Shell
from tests.mcp.serving import FLYBALL, ROOT, Agent, http, play, stdio

from mcp import Client, StdioServerParameters

pytestmark = pytest.mark.slow

GUIDE = (ROOT / "docs" / "guides" / "mcp.md").read_text()


def block(language: str, having: str) -> str:
    """The block of the guide that holds some words."""
    found = re.findall(rf"```{language}\n(.*?)```", GUIDE, re.DOTALL)
    return next(each for each in found if having in each)


def test_every_tool_and_resource_is_in_the_guide(shell: Shell):
    async def story() -> None:
        async with stdio(shell) as agent:
            tools = (await agent.client.list_tools()).tools
            assert len(tools) == 12
            for tool in tools:
                assert f"`{tool.name}" in GUIDE
                assert tool.output_schema, f"{tool.name} has structured output"
                assert tool.description
            templates = (await agent.client.list_resource_templates()).resource_templates
            for template in templates:
                assert f"`{template.uri_template}`" in GUIDE

    play(story)


def test_the_file_of_most_clients_starts_the_server(shell: Shell):
    entry = json.loads(block("json", "mcpServers"))["mcpServers"]["flyball"]
    assert entry["command"] == Path(FLYBALL).name

    async def story() -> None:
        server = StdioServerParameters(
            command=FLYBALL, args=entry["args"], env=shell.env, cwd=shell.cwd
        )
        async with Client(server) as client:
            assert (await Agent(client)("status"))["runs"] == []

    play(story)


@pytest.mark.exhaustive
def test_the_command_for_an_address_tells_it_and_a_token(shell: Shell):
    words = shlex.split(block("sh", "--http"))
    assert words[:3] == ["flyball", "mcp", "--http"]
    # Any port: that of the guide may be taken.
    argv = [FLYBALL, "mcp", "--http", "--port", "0"]
    with subprocess.Popen(
        argv,
        cwd=shell.cwd,
        env=shell.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            address = process.stdout.readline().strip()
            token = process.stderr.readline().strip().removeprefix("token: ")
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", address)
            assert len(token) > 20

            async def story() -> None:
                async with http(address, token=token) as agent:
                    assert (await agent("status"))["runs"] == []

            play(story)
        finally:
            process.terminate()
            process.wait()


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


@pytest.mark.exhaustive
def test_a_terminal_that_was_opened_beside_the_agent_is_no_persons(shell: Shell):
    """The client that asks is as old as this test, and could have opened it."""
    (shell.cwd / "look.yaml").write_text(LOOK)

    async def story() -> None:
        async with stdio(shell) as agent:
            run = (await agent("start_run", goal="look at it", flow="look.yaml"))["run"]
            waiting = await agent("submit_evidence", summary="I looked.")
            assert waiting["question"]["kind"] == "review"
            command = next(each for each in waiting["question"]["commands"] if "approve" in each)
            assert command == f"flyball approve {run}"
            alone = ["setsid", "-f", sys.executable, "-c", TERMINAL, FLYBALL, "approve", run]
            answer = shell.cwd.with_name("answer")
            with answer.open("w") as said:
                subprocess.run(alone, cwd=shell.cwd, env=shell.env, stdout=said, check=True)
            for _ in range(600):
                if "\n" in answer.read_text():
                    break
                await asyncio.sleep(0.1)
            assert "not-a-person" in answer.read_text()
            assert (await agent("next_step", run=run))["status"] == "paused"

    play(story)


TERMINAL = "import pty, sys; pty.spawn(sys.argv[1:], lambda fd: __import__('os').read(fd, 1024))"
