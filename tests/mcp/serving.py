"""The step server as clients meet it: a process, and the official client library before it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import mcp_types
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from tests.governed import FIX, Shell, checkpoint
from tests.repos import repository

from mcp import Client, StdioServerParameters

ROOT = Path(__file__).parents[2]
FLYBALL = str(Path(sys.executable).with_name("flyball"))
TOKEN = "a-token-for-tests"
POINT = checkpoint()["calls"][0]["args"]

CART = "def total(items):\n    return sum(price for price, quantity in items)\n"
TESTS = """\
import unittest

from cart import total


class CartTest(unittest.TestCase):
    def test_one_pen(self):
        self.assertEqual(total([(2, 1)]), 2)
"""
MEND = """\
--- a/cart.py
+++ b/cart.py
@@ -1,2 +1,2 @@
 def total(items):
-    return sum(price for price, quantity in items)
+    return sum(price * quantity for price, quantity in items)
--- a/test_cart.py
+++ b/test_cart.py
@@ -6,3 +6,6 @@
 class CartTest(unittest.TestCase):
     def test_one_pen(self):
         self.assertEqual(total([(2, 1)]), 2)
+
+    def test_three_pens(self):
+        self.assertEqual(total([(2, 3)]), 6)
"""
NOTE = """\
--- a/CHANGELOG.md
+++ b/CHANGELOG.md
@@ -1 +1,3 @@
 # Unreleased
+
+- Fixed: the total counts every piece.
"""
FLOW = (ROOT / "examples" / "flows" / "careful-fix.yaml").read_text()
TWO_STEPS = """\
name: small fix
steps:
  - step_id: find
    title: Find the cause
    objective: Know what fails and why.
    prompt_template: Change nothing.
    role: researcher
    phases: [plan.recon.analyze_code, final]
    evidence_schema: {required: [root_cause]}
    on_pass: {next_step_id: mend}
  - step_id: mend
    title: Mend it
    objective: The smallest change that mends the cause.
    prompt_template: Prefer minimal diffs.
    gates: [{type: tests_pass}]
"""

GovernorMessage = Callable[[str], "dict[str, Any] | None"]
"""A person: what they fill in when they are asked something, or nothing if they look away."""


def flow_shop(root: Path) -> Path:
    """A shop with a flow of five steps for it."""
    files = {"cart.py": CART, "test_cart.py": TESTS, "CHANGELOG.md": "# Unreleased\n"}
    return repository(root, {**files, "flow.yaml": FLOW, ".gitignore": "__pycache__/\n"})


class Answer(NamedTuple):
    """What a tool gave back."""

    view: dict[str, Any]
    is_error: bool

    @property
    def code(self) -> str:
        return self.view["code"]

    def __getitem__(self, name: str) -> Any:  # type: ignore[override]
        return self.view[name]


class Agent:
    """An agent that calls tools; what its progress was told is kept."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.progress: list[str] = []

    async def __call__(self, tool: str, **args: Any) -> Answer:
        async def heard(done: float, total: float | None, message: str | None) -> None:
            self.progress.append(message or "")

        result = await self.client.call_tool(tool, args, progress_callback=heard)
        assert isinstance(result.content[0], mcp_types.TextContent)
        view = result.structured_content
        assert view == json.loads(result.content[0].text), "both forms say the same"
        return Answer(view, bool(result.is_error))

    async def resource(self, uri: str) -> str:
        found = (await self.client.read_resource(uri)).contents[0]
        assert isinstance(found, mcp_types.TextResourceContents)
        return found.text


def asking(person: GovernorMessage | None, asked: list[str]) -> Any:
    if person is None:
        return None

    async def elicit(_: Any, params: mcp_types.ElicitRequestFormParams) -> mcp_types.ElicitResult:
        asked.append(params.message)
        content = person(params.message)
        return mcp_types.ElicitResult(action="accept" if content else "cancel", content=content)

    return elicit


@asynccontextmanager
async def stdio(
    shell: Shell, person: GovernorMessage | None = None, mode: str = "auto"
) -> AsyncGenerator[Agent]:
    """An agent whose program started the server."""
    params = StdioServerParameters(command=FLYBALL, args=["mcp"], env=shell.env, cwd=shell.cwd)
    async with Client(params, mode=mode, elicitation_callback=asking(person, [])) as client:
        yield Agent(client)


@contextmanager
def listening(shell: Shell) -> Generator[str]:
    """The address of a server that somebody has started."""
    env = {**shell.env, "FLYBALL_MCP_TOKEN": TOKEN}
    with subprocess.Popen(
        [FLYBALL, "mcp", "--http"], cwd=shell.cwd, env=env, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            process.wait()


@asynccontextmanager
async def http(
    address: str, person: GovernorMessage | None = None, mode: str = "auto", token: str = TOKEN
) -> AsyncGenerator[Agent]:
    """An agent that knows the address and the token."""
    headers = {"Authorization": f"Bearer {token}"}
    async with create_mcp_http_client(headers) as over:
        transport = streamable_http_client(address, http_client=over)
        async with Client(transport, mode=mode, elicitation_callback=asking(person, [])) as client:
            yield Agent(client)


def play(story: Callable[[], Awaitable[None]]) -> None:
    """One story, in a loop of its own."""

    async def whole() -> None:
        await story()

    try:
        asyncio.run(whole())
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


async def mended(agent: Agent, diff: str = FIX) -> Answer:
    """The way of an honest agent through one card; what the last submission came to."""
    await agent("read", path="cart.py")
    await agent("checkpoint", **POINT)
    await agent("edit_diff", diff=diff)
    await agent("test")
    return await agent("submit_evidence", summary="The total counts every piece.")
