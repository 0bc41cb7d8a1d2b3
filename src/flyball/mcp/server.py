"""The MCP server: its tools and resources, and the shape of its errors."""

from __future__ import annotations

import hmac
import importlib.metadata
import json
import socket
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, InputRequiredResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field, ValidationError
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from flyball.app.answering import pending
from flyball.app.project import Home, redactor_of
from flyball.app.runs.description import describe
from flyball.app.runs.files import diff_of
from flyball.app.runs.overview import overviews
from flyball.errors import FlyballError, NotAPerson, NotFound, UsageError
from flyball.hosts.steps.steps import Steps
from flyball.hosts.steps.view import TurnView, question_view, turn_view
from flyball.mcp import tool
from flyball.mcp.tool import Run, StepContext, steps_of
from flyball.run.state import RunState
from flyball.web.http_bounds import HEADERS_WITHIN, BoundedBodies, TimelyProtocol
from flyball.workspace.cards.artifacts import artifact_path
from flyball.workspace.files.plain import read_within
from flyball.workspace.process.process_identity import process_at, process_name

# Asking a person: by elicitation if the client supports it, else by a command in their terminal.
#
# The answer comes from the client's own form. No argument of the tool carries it, so that a model
# cannot give it.

SHOWN = 4_000
"""Maximum number of characters of a call in the question about it."""
UNASKED = "Nobody answered here. A person can, in their own terminal: {commands}."


class ApprovalForm(BaseModel):
    """The form that a person fills in."""

    approve: bool = Field(description="Whether to allow it.")
    note: str = Field(default="", description="An optional message to the agent.")


class Unasked(BaseModel):
    """The reason why no person was asked."""

    why: str = ""


async def waiting_run(ctx: StepContext, run: str, call: str, reason: str) -> RunState:
    """Return the run's state when its person is asked: the answer applies to that question."""
    return await steps_of(ctx).question(run, call, reason)


Waiting = Annotated[RunState, Resolve(waiting_run)]


async def ask(ctx: StepContext, state: Waiting) -> Elicit[ApprovalForm] | Unasked:
    """Return the question for the person, or why they cannot be asked here."""
    try:
        steps_of(ctx).require_person(state.run)
    except NotAPerson as error:
        return Unasked(why=str(error))
    if not _can_ask(ctx):
        return Unasked(why="This client cannot ask its person: it has no elicitation.")
    return Elicit(_words(state), ApprovalForm)


async def request_approval(
    ctx: StepContext,
    state: Waiting,
    outcome: Annotated[ElicitationResult[Any], Resolve(ask)],
    run: Run = "",  # noqa: ARG001 - this and the next two are read where the question is found
    call: Annotated[str, Field(description="A refused call to appeal; empty: the question.")] = "",  # noqa: ARG001
    reason: Annotated[str, Field(description="Why the refused call should be allowed.")] = "",  # noqa: ARG001
) -> TurnView:
    """Ask the person the question that the run waits for; only they can answer it.

    If your program can ask them, it does. Otherwise the question stays open, and the person answers
    in their own terminal.
    """
    waiting = pending(state)[0]
    if isinstance(outcome, AcceptedElicitation) and isinstance(outcome.data, ApprovalForm):
        said, by = outcome.data, f"the person at {_client_name(ctx)}"
        return await steps_of(ctx).answer(
            state.run, waiting.question.id, by, granted=said.approve, note=said.note
        )
    why = outcome.data.why if isinstance(outcome, AcceptedElicitation) else ""
    commands = question_view(state, waiting).commands
    told = UNASKED.format(commands="; ".join(f"`{c}` to {e}" for c, e in commands.items()))
    view = turn_view(state, None, "", (), ())
    return replace(view, ok=False, text=" ".join(filter(None, (why, told))))


def _can_ask(ctx: StepContext) -> bool:
    found = ctx.client_capabilities
    able = found.elicitation if found else None
    return able is not None and (able.form is not None or able.url is None)


def _words(state: RunState) -> str:
    card, question = pending(state)[0]
    lines = [f"Flyball, run {state.run}, {question.id}, {card.title}: {question.text}"]
    if question.call is not None:
        args = json.dumps(question.call.args, ensure_ascii=False)[:SHOWN]
        lines.append(f"{question.call.tool} {args}")
    return "\n".join(lines)


def _client_name(ctx: Context[Steps, Any]) -> str:
    params = ctx.session.client_params
    return params.client_info.name if params and params.client_info else "an MCP client"


NAME = "flyball"
INSTRUCTIONS = (
    "Flyball governs work on this project: it says what may be done next, and proves what was done."
    " Begin with start_run; next_step says what is owed. Look with read, grep and test; state a"
    " checkpoint before you change anything; change files with edit_diff; end each step with"
    " submit_evidence. Flyball runs the tests itself, so report only facts. Where a person must"
    " decide, call request_approval; if it cannot be done as asked, call conflict. A refusal says"
    " what to do instead."
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
    (tool.conflict, ACTS),
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
        """Return a tool's result; a failure is a result as well, readable by a model."""
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
                    hint = "Correct these and call it again."
                    return refusal(BAD_ARGUMENTS, f"{name}: {'; '.join(wrong)}.", hint)
                case _:
                    raise


def refusal(code: str, message: str, hint: str) -> CallToolResult:
    """Return a failure in the shape that every surface uses."""
    error = {"code": code, "message": message, "hint": hint}
    said = TextContent(type="text", text=json.dumps(error))
    return CallToolResult(content=[said], structured_content=error, is_error=True)


def make_server(steps: Steps) -> StepServer:
    """Return a server for the runs of one project."""

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
    add_to(server, steps.home)
    return server


JSON = "application/json"
MARKDOWN = "text/markdown"


async def run(run: str, ctx: StepContext) -> str:
    """Everything that is known about a run."""
    return json.dumps(await _described(run, ctx), default=str)


async def diff(run: str, ctx: StepContext) -> str:
    """Return the changes of a run so far."""
    steps = steps_of(ctx)
    try:
        return await diff_of(steps.home, await steps.find(run))
    except FlyballError as error:
        raise _as_client_errors(error) from error


async def card(run: str, card: str, ctx: StepContext) -> str:
    """A card: its phase, evidence, verdicts, decisions."""
    for each in (await _described(run, ctx))["cards"]:
        if each["id"] == card:
            return json.dumps(each, default=str)
    raise ResourceNotFoundError(f"error[{NotFound.code}]: There is no card {card!r} in run {run}.")


async def account(run: str, card: str, ctx: StepContext) -> str:
    """The account of a finished card: diff, commands, verdicts, on one page."""
    home = steps_of(ctx).home
    try:
        name = await steps_of(ctx).find(run)
        path = artifact_path(home.repo, name, card, ".md").relative_to(home.repo)
        data = read_within(home.repo, path.as_posix())
        if data is not None:
            return redactor_of(home).text(data.decode("utf-8", "replace"))
    except FlyballError as error:
        raise _as_client_errors(error) from error
    else:
        said = f"error[{NotFound.code}]: Card {card!r} of run {run} has no account yet."
        raise ResourceNotFoundError(said)


async def _described(name: str, ctx: StepContext) -> dict[str, Any]:
    steps = steps_of(ctx)
    try:
        return await describe(steps.home, await steps.find(name))
    except FlyballError as error:
        raise _as_client_errors(error) from error


def _as_client_errors(error: FlyballError) -> ResourceError:
    kind = ResourceNotFoundError if isinstance(error, NotFound) else ResourceError
    return kind(f"error[{error.code}]: {error}")


def add_to(server: MCPServer[Steps], home: Home) -> None:
    """Add all resources to a server."""

    async def runs() -> str:
        """The runs of the project, newest first."""
        return json.dumps([each._asdict() for each in await overviews(home)])

    server.resource("flyball://runs", mime_type=JSON)(runs)
    server.resource("flyball://runs/{run}", mime_type=JSON)(run)
    server.resource("flyball://runs/{run}/diff", mime_type="text/x-diff")(diff)
    server.resource("flyball://runs/{run}/cards/{card}", mime_type=JSON)(card)
    server.resource("flyball://runs/{run}/cards/{card}/account", mime_type=MARKDOWN)(account)


PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
NO_TOKEN = {
    "code": "bad-token",
    "message": "The token is missing or wrong.",
    "hint": "Send it as `Authorization: Bearer TOKEN`; `flyball mcp --http` printed it at start.",
}


SESSION = b"mcp-session-id"
NOT_YOURS = {
    "code": "not-found",
    "message": "There is no such session of this program.",
    "hint": "Begin a session with `initialize`.",
}


class TokenGate:
    """Rejects requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with 401 unless the token is correct; pass on other scopes."""
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._wanted):
                headers = {"WWW-Authenticate": "Bearer"}
                body = json.dumps(NO_TOKEN)
                answer = Response(body, 401, headers, media_type="application/json")
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)


class SessionGate:
    """Accepts requests of a session only from the program that began it.

    An answer to a form is a request of its own: whoever knows the token and the session's name
    could send it in the place of the person.
    """

    MOST = 1000

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._programs: dict[bytes, str] = {}
        """The program that began each session; empty if it cannot be identified."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with 404, after which a client begins another session, if a program is not the
        session's."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        program = _program_of(scope)
        session = dict(scope["headers"]).get(SESSION, b"")
        if session and self._programs.get(session) != program:
            answer = Response(json.dumps(NOT_YOURS), 404, media_type="application/json")
            await answer(scope, receive, send)
            return

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and not session:
                self._note(dict(message["headers"]).get(SESSION, b""), program)
            await send(message)

        await self._app(scope, receive, noting)

    def _note(self, session: bytes, program: str) -> None:
        if session:
            self._programs[session] = program
        if len(self._programs) > self.MOST:
            del self._programs[next(iter(self._programs))]


def _program_of(scope: Scope) -> str:
    theirs, ours = scope["client"], scope["server"]
    pid = process_at(theirs, ours) if theirs and ours else 0
    return process_name(pid) if pid else ""


async def serve(
    server: StepServer, host: str, port: int, token: str, tell: Callable[[str], None]
) -> None:
    """Serve until stopped; `tell` receives the address once the server listens."""
    names = [*LOOPBACK, *([] if host in LOOPBACK else [f"[{host}]" if ":" in host else host])]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:*" for name in names],
        allowed_origins=[f"{scheme}://{name}:*" for name in names for scheme in ("http", "https")],
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH, transport_security=security, host=host
    )
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        raise UsageError(
            f"Cannot listen at {host}:{port}: {error.strerror or error}.",
            "Name another --host or --port; port 0 takes any that is free.",
        ) from None
    with listening:
        shown = f"[{host}]" if ":" in host else host
        tell(f"http://{shown}:{listening.getsockname()[1]}{PATH}")
        config = uvicorn.Config(
            TokenGate(SessionGate(BoundedBodies(app)), token),
            http=partial(TimelyProtocol, HEADERS_WITHIN),  # pyright: ignore[reportArgumentType]
            log_level="error",
            access_log=False,
            # The connection says who asks; a header of a client must not.
            proxy_headers=False,
            ws="none",
        )
        await uvicorn.Server(config).serve(sockets=[listening])
