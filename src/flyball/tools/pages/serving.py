"""A server of this run, started from the current tree and ready for requests."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from flyball.errors import ToolError, ToolUnavailable
from flyball.tools.call.protocol import CallContext, bounded
from flyball.tools.pages.confined import ask
from flyball.tools.pages.detect import server_plans
from flyball.verdict.runners.launch import set_up
from flyball.verdict.runners.layout import look
from flyball.verdict.runners.start_env import (
    environment,
    python_of,
    readable,
    with_own_programs,
)
from flyball.workspace.files.paths import Root
from flyball.workspace.run.clean import clean_checkout
from flyball.workspace.servers.network import NO_NETWORK, Listener, can_serve
from flyball.workspace.servers.server import RunServer, ServerPlan, ServerStart, WantedServer

READY_SECONDS = 60.0
GLANCE = 0.05
SHOWN_OUTPUT = 2_000
"""Maximum number of log characters at the end of an error message."""

NO_SERVER = "Nothing in this project says how it is served."
HOW_TO_SETTLE = "The user can name the command as `server.command` in the settings."


class Served(NamedTuple):
    """A server that was started from the current tree, and the requested URL."""

    server: RunServer
    url: str
    note: str = ""
    """What had to be done to start it."""


def plans(context: CallContext) -> tuple[ServerPlan, ...]:
    """Return the servers of the current tree, and those this run started from an earlier one."""
    found = server_plans(look(context.root.path), context.settings.commands)
    known = {plan.name for plan in found}
    started = (each.plan for each in context.servers.wanted().values())
    return (*found, *(plan for plan in started if plan.name not in known))


def choose_plan(name: str, context: CallContext) -> ServerPlan:
    """Return the server for a name, a directory or a command; by default the most likely one."""
    found = plans(context)
    if not found:
        raise ToolUnavailable(NO_SERVER, HOW_TO_SETTLE)
    for plan in found:
        if not name or name in (plan.name, plan.at, f"{plan.at}/", plan.command, plan.origin):
            return plan
    known = ", ".join(f"{plan.name} (`{plan.command}`)" for plan in found)
    raise ToolError(f"This project has no server {name!r}.", f"It has: {known}.")


async def serve(url: str, context: CallContext, seconds: float = READY_SECONDS) -> Served:
    """Return the server of a URL, started from the current tree if necessary.

    A path alone means the run's only server, or else the most likely one. In a whole URL the port
    decides, and a server of this run must listen on it.
    """
    parts = urlsplit(url)
    async with context.servers.lock:
        if not parts.netloc:
            names = [*context.servers.wanted()]
            plan = choose_plan(names[0] if len(names) == 1 else "", context)
            server, note = await start_server(plan, context, seconds)
            return Served(server, f"{server.url}{url if url.startswith('/') else f'/{url}'}", note)
        port = parts.port or 80
        server, note = await start_server(_plan_at(port, context), context, seconds)
        if port not in ports_of(server, context):
            raise _not_ours(port, context)
        return Served(server, url, note)


def _plan_at(port: int, context: CallContext) -> ServerPlan:
    """Return the server that listens, or would listen, on a port; no other port is ever
    requested."""
    servers = context.servers
    for server in servers.under_way.values():
        if port in ports_of(server, context):
            return server.plan
    for wanted in servers.wanted().values():
        if port in (wanted.port, wanted.plan.port):
            return wanted.plan
    if not servers.wanted():
        for plan in plans(context):
            if plan.port in (0, port) or "{port}" in plan.command:
                return msgspec.structs.replace(plan, port=port)
    raise _not_ours(port, context)


def _not_ours(port: int, context: CallContext) -> ToolError:
    known = [each.url for each in context.servers.under_way.values() if each.url]
    there = f"This run serves {', '.join(known)}." if known else "This run serves nothing yet."
    return ToolError(
        f"No server that this run started listens on port {port}, and nothing else may be asked.",
        f"{there} A path such as / means the project's own server.",
    )


def ports_of(server: RunServer, context: CallContext) -> dict[int, Listener]:
    """Return listening ports that belong to no other server of the run."""
    others = context.servers.taken(but=server.plan.name)
    found = context.servers.network.listeners()
    return {port: each for port, each in found.items() if port not in others}


async def start_server(
    plan: ServerPlan, context: CallContext, seconds: float
) -> tuple[RunServer, str]:
    """Return a plan's server for this exact tree; a running one is not started again."""
    there = context.servers.under_way.get(plan.name)
    is_up = there and not there.is_over and there.tree == context.tree
    if there and is_up and there.plan.command == plan.command:
        return there, ""
    note = f"The server {plan.name} was started from the current tree."
    if there:
        why = "had ended" if there.is_over else "ran an earlier tree"
        note = f"The server {plan.name} {why} and was started again from the current tree."
    return await _start(plan, context, seconds), note


async def _start(plan: ServerPlan, context: CallContext, seconds: float) -> RunServer:
    if not can_serve():
        raise ToolUnavailable(NO_NETWORK, "Run `flyball doctor` to see why.")
    servers = context.servers
    servers.end(plan.name)
    port = _port_for(plan, context)
    server = servers.start(plan, context.tree, _prepared(plan, port, context))
    try:
        await _get_ready(server, context, port, seconds)
    except BaseException:
        servers.end(plan.name)
        raise
    listener = server.listener
    servers.remember(plan.name, WantedServer(plan, listener.port if listener else 0))
    return server


def _port_for(plan: ServerPlan, context: CallContext) -> int:
    """Return the port to use: its previous one, its usual one, or the next free one."""
    before = context.servers.wanted().get(plan.name)
    requested = (before and before.port) or plan.port or 3000
    taken = context.servers.taken(but=plan.name)
    if "{port}" not in plan.command and plan.port in taken:
        raise ToolError(
            f"Port {plan.port}, on which {plan.name} listens, is taken by the server "
            f"{taken[plan.port]} of this run.",
            f"Stop {taken[plan.port]} with `dev_server_stop` first.",
        )
    while requested in taken:
        requested += 1
    return requested


def _prepared(plan: ServerPlan, port: int, context: CallContext) -> ServerStart:
    """Prepare a server's start on a clean checkout, so that its writes are part of no change."""
    rest = ExitStack()
    try:
        place = rest.enter_context(clean_checkout(context.workspace, context.tree))
        there = context.on_tree(Root(place, protected=()), context.tree)
        there = rest.enter_context(set_up(there, plan.at))
        if not there.workdir.is_dir():
            raise ToolError(f"This tree has no directory {plan.at} to serve.")
        usual = there.sandbox_in(there.root)
        sandbox = msgspec.structs.replace(
            usual,
            read_only=False,
            network=False,
            joins=context.servers.network.joins(),
            writable=(*usual.writable, there.shelf, *there.kept),
            readable=(*usual.readable, *readable(there)),
        )
        env = {**environment(there), "PORT": str(port), "HOST": "127.0.0.1", "BROWSER": "none"}
        command = plan.command.replace("{port}", str(port))
        if command.startswith("python "):
            # Not every machine has a program of that bare name.
            command = f"{shlex.quote(python_of(there))} {command.removeprefix('python ')}"
        command = with_own_programs(command, there)
        memory = context.limits.memory
        return ServerStart(command, there.workdir, env, sandbox, context.redactor, memory, rest)
    except BaseException:
        rest.close()
        raise


async def _get_ready(
    server: RunServer, context: CallContext, requested: int, seconds: float
) -> None:
    """Wait until it listens and responds; on failure, report the end of its log."""
    deadline = time.monotonic() + seconds
    while not server.listener:
        found = ports_of(server, context)
        if found and not server.is_over:
            server.listener = found.get(requested) or found[min(found)]
            break
        if server.is_over:
            raise _trouble(server, context, _why_over(server))
        if time.monotonic() > deadline:
            raise _trouble(server, context, f"listened on no port within {seconds:g} s")
        await asyncio.sleep(GLANCE)
    left = max(1.0, deadline - time.monotonic())
    answer = await ask(f"{server.url}/", context, seconds=left, kept=0, waits=True)
    server.answers = not answer.error
    if server.is_over:
        raise _trouble(server, context, _why_over(server))
    if answer.error:
        output = f"listens on port {server.listener.port} and did not answer within {seconds:g} s"
        raise _trouble(server, context, f"{output}: {answer.error}")


def _why_over(server: RunServer) -> str:
    """Return how it ended before it was ready; a daemon that it started ended with it."""
    end = server.end()
    if end == "ended with exit code 0":
        return f"{end}, and what it left running was ended with it: it must stay in the foreground"
    return end


def _trouble(server: RunServer, context: CallContext, what: str) -> ToolError:
    output = context.servers.text_of(server.plan.name)[-SHOWN_OUTPUT:].strip()
    words = f"It printed:\n{output}" if output else "It printed nothing."
    command = f"`{server.plan.command}`"
    return ToolError(f"The server {server.plan.name} ({command}) {what}. {words}")


def rows(context: CallContext) -> Iterator[dict[str, object]]:
    """Yield every server that the project has or this run has started, with its state."""
    wanted = context.servers.wanted()
    for plan in plans(context):
        server = context.servers.under_way.get(plan.name)
        state = "not started"
        if server and not server.is_over:
            state = "running" if server.tree == context.tree else "running an earlier tree"
        elif server:
            state = server.end()
        elif plan.name in wanted:
            state = "stopped while the run was paused; opening it starts it again"
        yield {
            "name": plan.name,
            "state": state,
            "url": server.url if server and not server.is_over else "",
            "command": plan.command,
            "from": plan.origin or "this run",
            "directory": plan.at,
        }


def lines_of(log: str, q: str, limit: int, room: int) -> tuple[str, int]:
    """Return a log's last lines, or those that contain a text, and how many characters were cut."""
    lines = log.splitlines()
    if q:
        lines = [line for line in lines if q.lower() in line.lower()]
    kept: Sequence[str] = lines[-limit:]
    left = sum(len(line) + 1 for line in lines[:-limit]) if len(lines) > limit else 0
    note = [
        f"[{len(lines) - limit} earlier lines left out; ask for more `lines`, or for some by `q`]"
    ]
    text, cut = bounded("\n".join((*(note if left else ()), *kept)), room)
    return text, cut + left
