"""Convert a payload to the hook process's output and exit code.

Allowed is exit 0 with nothing on standard output; refused is exit 2 with the reason on standard
error and nothing on standard output. Every host obeys these two. Messages for the model or the
person are added as JSON if the host supports it.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from flyball.app.hosts.asker.place import from_there, governed_at, governed_by
from flyball.app.hosts.asker.process import may_govern
from flyball.app.hosts.governor import HostGovernor
from flyball.app.hosts.observer import HostObserver
from flyball.app.hosts.runs.kept import KeptWorkspaces
from flyball.app.project import Home
from flyball.app.sessions import Sessions
from flyball.core.host.event import HostAnswer, HostEvent, Moment
from flyball.core.host.tool import host_tool
from flyball.core.terms.call import Access
from flyball.errors import FlyballError, UsageError
from flyball.surfaces.hooks.client import LEVEL_VARIABLE
from flyball.surfaces.hooks.payload import read_payload
from flyball.workspace.errors import disk_trouble
from flyball.workspace.process.process_identity import environ_of, starter_of

REFUSED = 2
FAILED = 1
NO_REASON = "Flyball refuses this."
"""Used for a refusal without a reason, which some hosts treat as a yes."""
SAFE = "Flyball: it only reads, or can be undone."
CONFINED = "Flyball: it runs confined, and cannot change the project."
GRANTING = frozenset({"claude", "codex"})
"""Hosts that do not ask their user about a call that a hook has allowed."""
TELLS = frozenset({Moment.SESSION_STARTED, Moment.PROMPTED, Moment.AFTER_CALL})
"""Events at which hosts accept a message for the model with an allowance."""


class Printed(NamedTuple):
    """The output and exit code of a hook process."""

    code: int = 0
    out: str = ""
    err: str = ""


def decide(
    host: str,
    data: bytes,
    process: int,
    kept: KeptWorkspaces | None = None,
) -> tuple[int, bytes, bytes]:
    """Return the answer to a hook's payload: exit code, output, errors."""
    printed = answer(host, data, process, kept or KeptWorkspaces())
    return printed.code, _bytes(printed.out), _bytes(printed.err)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def answer(host: str, data: bytes, process: int, kept: KeptWorkspaces) -> Printed:
    """Return what to print for a payload; errors become answers, too.

    The host may name the level of its hooks: `claude/verdict`.
    """
    host, _, level = host.partition("/")
    if level == "observe":
        return _observed(host, data, process, kept)
    try:
        event = read_payload(host, data)
    except UsageError as error:
        # The event is unknown, so a call that is not understood is refused.
        return Printed(REFUSED, err=f"Flyball: {error}\n")
    try:
        event, environ = _as_called(event, process, level)
        governed = governed_by(event, environ)
    except Exception as error:  # noqa: BLE001
        # Whatever the error, hosts treat a crashed hook as a yes.
        return _failed(event, error)
    told = [_answered(event, home, kept) for home in governed.homes]
    # An error in one project must not prevent the others from being asked.
    return _together([*(_failed(event, each) for each in governed.lost), *told])


def _answered(event: HostEvent, home: Home, kept: KeptWorkspaces) -> Printed:
    """Return the answer of one project's governor, or of its failure."""
    settings = home.effective.settings
    meant = replace(event, cwd=from_there(event, home))
    try:
        if settings.hooks_level == "observe":
            asyncio.run(HostObserver(home, kept).answer(meant))
            return Printed()
        return _printed(asyncio.run(HostGovernor(home, kept).answer(meant)), event)
    except Exception as error:  # noqa: BLE001
        fails_open = settings.hooks_fail == "open" or settings.hooks_level in ("observe", "verdict")
        return _failed(event, error, fails_open=fails_open)


def _observed(host: str, data: bytes, process: int, kept: KeptWorkspaces) -> Printed:
    """Journal the event and return an empty answer; a failure is not reported."""
    try:
        event = read_payload(host, data)
        event, environ = _as_called(event, process, "observe")
        for home in governed_by(event, environ).homes:
            asyncio.run(HostObserver(home, kept).answer(event))
    except Exception as error:  # noqa: BLE001
        return Printed(err=f"Flyball could not observe this: {error}\n")
    return Printed()


def _as_called(event: HostEvent, hook: int, level: str) -> tuple[HostEvent, Mapping[str, str]]:
    """Return an event with its caller, and the environment that its hook was called with.

    The governor's own environment may come from another session or a script.
    """
    environ: Mapping[str, str] = (environ_of(str(hook)) if hook else {}) or os.environ
    if level:
        environ = {**environ, LEVEL_VARIABLE: level}
    return replace(event, process=starter_of(hook), hook=hook), environ


def stays_at(place: str, starter: str) -> Home | None:
    """Return the project whose governor may stay resident for a directory; None if none may.

    `starter` is the process that started the caller, as an `Ancestor` names it.
    """
    try:
        home = governed_at(Path(place), os.environ)
    except FlyballError:
        # The judged session is informed.
        return None
    if home is None or home.effective.settings.hooks_alone:
        return None
    hosts = (each.process for each in Sessions(home.state).in_checkout())
    return home if may_govern(starter, hosts) else None


def _failed(event: HostEvent, error: Exception, *, fails_open: bool = False) -> Printed:
    """Return the answer after a failure of Flyball: refuse writes, allow the rest with a note."""
    may_write = host_tool(event.tool).access is not Access.READ
    is_closed = event.moment is Moment.BEFORE_CALL and may_write and not fails_open
    text = (
        f"Flyball could not judge this call: {_why(error)} `flyball doctor` helps to find the "
        "cause.\n"
    )
    if is_closed or event.moment is Moment.CONFIG_CHANGED:
        return Printed(REFUSED, err=text)
    return Printed(FAILED, err=text)


def _why(error: Exception) -> str:
    if isinstance(error, FlyballError):
        return str(error)
    trouble = disk_trouble(error) if isinstance(error, OSError) else None
    return str(trouble) if trouble else f"{type(error).__name__}: {error}."


def _together(told: Sequence[Printed]) -> Printed:
    """Combine the answers of several projects: any refusal counts, with the messages of each."""
    code = max((each.code for each in told), default=0)
    errors = "".join(each.err for each in told)
    return Printed(code, "" if code else next((each.out for each in told if each.out), ""), errors)


def _printed(said: HostAnswer, event: HostEvent) -> Printed:
    if said.is_refused:
        return Printed(REFUSED, err=f"{said.text or NO_REASON}\n")
    told: dict[str, object] = {}
    if event.moment is Moment.BEFORE_CALL:
        told = _about_call(said, event)
    elif said.text and event.moment in TELLS:
        told["hookSpecificOutput"] = {"hookEventName": event.name, "additionalContext": said.text}
    if said.notice:
        told["systemMessage"] = said.notice
    return Printed(out=f"{json.dumps(told)}\n" if told else "")


def _about_call(said: HostAnswer, event: HostEvent) -> dict[str, object]:
    """Return a host's fields for an answer other than a plain yes; empty for a plain yes."""
    if event.host == "gemini":
        if said.args is None:
            return {}
        own = {"hookEventName": event.name, "tool_input": said.args}
        return {"decision": "allow", "hookSpecificOutput": own}
    more = {} if said.args is None else {"updatedInput": said.args}
    if said.asks:
        return _decided(event, "ask", said.text, **more)
    if more:
        return _decided(event, "allow", CONFINED, **more)
    return _decided(event, "allow", SAFE) if said.is_granted and event.host in GRANTING else {}


def _decided(event: HostEvent, decision: str, reason: str, **more: object) -> dict[str, object]:
    said = {"permissionDecision": decision, "permissionDecisionReason": reason, **more}
    return {"hookSpecificOutput": {"hookEventName": event.name, **said}}
