"""The server: its tools and resources, and the one shape of its errors."""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import ValidationError

from flyball.app.steps.steps import Steps
from flyball.errors import FlyballError
from flyball.surfaces.mcp import resource, tool
from flyball.surfaces.mcp.approval import request_approval

NAME = "flyball"
INSTRUCTIONS = (
    "Flyball governs work on this project: it says what may be done next, and proves what was done."
    " Begin with start_run; next_step says what is owed. Look with read, grep and test; state a"
    " checkpoint before you change anything; change files with edit_diff; end each step with"
    " submit_evidence. Flyball runs the tests itself, so say only what is so. Where a person must"
    " decide, call request_approval. A refusal says what to do instead."
)
BAD_ARGUMENTS = "bad-arguments"
LOOKS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ACTS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
TOOLS: tuple[tuple[Callable[..., Any], ToolAnnotations], ...] = (
    (tool.start_run, ACTS),
    (tool.next_step, LOOKS),
    (tool.status, LOOKS),
    (tool.read, LOOKS),
    (tool.grep, LOOKS),
    (tool.checkpoint, ACTS),
    (tool.edit_diff, ACTS),
    (tool.test, LOOKS),
    (tool.submit_evidence, ACTS),
    (request_approval, ACTS),
    (tool.revert, ACTS),
)


class StepServer(MCPServer[Steps]):
    """An MCP server whose failures have Flyball's codes and say what to do next."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Steps, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """The result of a tool; what went wrong is a result, too, that a model can read."""
        known = self._tool_input_schema(name)
        fields: Mapping[str, Any] = (known or {}).get("properties", {})
        if known is not None and (strange := sorted(arguments.keys() - fields.keys())):
            takes = f"{name} takes {', '.join(fields) or 'nothing'}."
            return refusal(BAD_ARGUMENTS, f"{name} does not take {', '.join(strange)}.", takes)
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            match error.__cause__:
                case FlyballError() as cause:
                    return refusal(cause.code, cause.message, cause.hint)
                case ValidationError() as cause:
                    wrong = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in cause.errors()]
                    hint = "Call it again with these mended."
                    return refusal(BAD_ARGUMENTS, f"{name}: {'; '.join(wrong)}.", hint)
                case _:
                    raise


def refusal(code: str, message: str, hint: str) -> CallToolResult:
    """A failure in the shape that every surface has."""
    error = {"code": code, "message": message, "hint": hint}
    said = TextContent(type="text", text=json.dumps(error))
    return CallToolResult(content=[said], structured_content=error, is_error=True)


def make_server(steps: Steps) -> StepServer:
    """A server for the runs of one project."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[Steps]) -> AsyncGenerator[Steps]:
        yield steps

    server = StepServer(
        NAME,
        title="Flyball",
        instructions=INSTRUCTIONS,
        version=importlib.metadata.version("flyball"),
        lifespan=lifespan,
        log_level="ERROR",
    )
    for made, hints in TOOLS:
        server.add_tool(made, annotations=hints, structured_output=True)
    resource.add_to(server, steps.home)
    return server
