"""`dev_server_start`, `_stop`, `_list` and `_logs`: the servers of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

import msgspec

from flyball.errors import ToolError
from flyball.guards.fingerprint import without_volatile_parts
from flyball.tools.call.protocol import CallContext, Form, Result, Text, Tool, no_facts
from flyball.tools.pages.serving import READY_SECONDS, choose_plan, lines_of, rows, start_server

SHOWN = 20
"""Number of log lines shown when a server starts."""


class ServerStartForm(Form, frozen=True, kw_only=True):
    """Which server, by its name in `dev_server_list`; by default the most likely one."""

    name: Text = ""
    seconds: Annotated[float, msgspec.Meta(gt=0, le=600)] = READY_SECONDS


class ServerStopForm(Form, frozen=True, kw_only=True):
    """Which server; without a name, all of them."""

    name: Text = ""


class ServerListForm(Form, frozen=True, kw_only=True):
    """The form has no fields."""


class ServerLogsForm(Form, frozen=True, kw_only=True):
    """The server whose log to show, how many of its last lines, and a text that they must
    contain."""

    name: Text = ""
    lines: Annotated[int, msgspec.Meta(ge=1, le=5_000)] = 100
    q: str = ""


async def start(form: ServerStartForm, context: CallContext) -> Result:
    plan = choose_plan(form.name, context)
    async with context.servers.lock:
        server, note = await start_server(plan, context, form.seconds)
    log, cut = lines_of(server.log.text(), "", SHOWN, context.settings.max_text)
    head = f"{plan.name} answers at {server.url}/ (`{plan.command}`, from {plan.origin})."
    text = "\n".join((head, note or "It was running already.", log)).rstrip()
    return Result(
        True,
        text,
        {"name": plan.name, "url": server.url, "port": _port(server.url)},
        same=[plan.name, server.url, bool(note)],
        cut=cut,
    )


def _port(url: str) -> int:
    return int(url.rpartition(":")[2] or 0)


async def stop(form: ServerStopForm, context: CallContext) -> Result:
    servers = context.servers
    async with servers.lock:
        known = {**servers.wanted(), **servers.under_way}
        names = [form.name] if form.name else [*known]
        if form.name and form.name not in known:
            raise ToolError(f"This run has started no server {form.name!r}.", _known(known))
        lines: list[str] = []
        for name in names:
            end = servers.end(name)
            servers.remember(name, None)
            lines.append(f"{name}: {end or 'not running'}")
    return Result(True, "\n".join(lines) or "No server of this run is running.")


def _known(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"It has started {listed}." if listed else "It has started none."


async def show_all(_form: ServerListForm, context: CallContext) -> Result:
    found = list(rows(context))
    if not found:
        return Result(True, "Nothing in this project says how it is served.", {"servers": []})
    return Result(True, "\n".join(map(_line, found)), {"servers": found})


def _line(row: Mapping[str, object]) -> str:
    where = f" at {row['url']}/" if row["url"] else ""
    how = f"`{row['command']}` in {row['directory']}, from {row['from']}"
    return f"{row['name']}: {row['state']}{where}; {how}"


async def logs(form: ServerLogsForm, context: CallContext) -> Result:
    plan = choose_plan(form.name or next(iter(context.servers.wanted()), ""), context)
    log = context.servers.text_of(plan.name)
    if not log:
        server = context.servers.under_way.get(plan.name)
        why = "has printed nothing" if server else "was not started by this run"
        return Result(True, f"{plan.name} {why}.")
    text, cut = lines_of(log, form.q, form.lines, context.settings.max_text)
    if not text:
        text = f"No line of {plan.name}'s log contains {form.q!r}."
    return Result(
        True,
        text,
        {"name": plan.name, "bytes": len(log)},
        same=without_volatile_parts(text),
        cut=cut,
    )


def _was_not_done(_form: Form, _context: CallContext) -> None:
    """Return None: a server ends with the process that started it, so it must be started again."""


DEV_SERVER_LIST = Tool(
    "dev_server_list",
    "List the project's servers: which run, where, and by which command.",
    ServerListForm,
    no_facts,
    show_all,
)
DEV_SERVER_LOGS = Tool(
    "dev_server_logs",
    "Read the end of a server's log; `q` keeps only lines that contain it.",
    ServerLogsForm,
    no_facts,
    logs,
    example={"name": "web", "lines": 50},
)
DEV_SERVER_START = Tool(
    "dev_server_start",
    "Start a server of the project from the current tree, wait until it answers, and say where.",
    ServerStartForm,
    no_facts,
    start,
    _was_not_done,
    example={"name": "web"},
)
DEV_SERVER_STOP = Tool(
    "dev_server_stop",
    "Stop a server that this run has started.",
    ServerStopForm,
    no_facts,
    stop,
    _was_not_done,
    example={"name": "web"},
)
