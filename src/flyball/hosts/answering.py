"""Convert a payload to the hook process's output and exit code.

Allowed is exit 0 with nothing on standard output; refused is exit 2 with the reason on standard
error and nothing on standard output. Every host obeys these two. Messages for the model or the
person are added as JSON if the host supports it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from msgspec.structs import replace

from flyball.agents.event import NAMELESS, HostAnswer, HostEvent, Moment
from flyball.agents.tool import host_tool
from flyball.app.project import Home
from flyball.app.sessions import Sessions
from flyball.bounds import DEEPEST, is_nested_too_deeply
from flyball.errors import FlyballError, UsageError
from flyball.hosts.client import LEVEL_VARIABLE
from flyball.hosts.client import MOST as MOST_BYTES
from flyball.hosts.governor import HostGovernor
from flyball.hosts.kept import KeptWorkspaces
from flyball.hosts.observer import HostObserver
from flyball.hosts.person import may_govern
from flyball.hosts.place import from_there, governed_at, governed_by
from flyball.regex import regex
from flyball.terms.call import Access, digest
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
    """Return the output for a payload; errors become answers, too.

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


def _printed(answer_given: HostAnswer, event: HostEvent) -> Printed:
    if answer_given.is_refused:
        return Printed(REFUSED, err=f"{answer_given.text or NO_REASON}\n")
    told: dict[str, object] = {}
    if event.moment is Moment.BEFORE_CALL:
        told = _about_call(answer_given, event)
    elif answer_given.text and event.moment in TELLS:
        told["hookSpecificOutput"] = {
            "hookEventName": event.name,
            "additionalContext": answer_given.text,
        }
    if answer_given.notice:
        told["systemMessage"] = answer_given.notice
    return Printed(out=f"{json.dumps(told)}\n" if told else "")


def _about_call(answer_given: HostAnswer, event: HostEvent) -> dict[str, object]:
    """Return a host's fields for an answer other than a plain yes; empty for a plain yes."""
    if event.host == "gemini":
        if answer_given.args is None:
            return {}
        own = {"hookEventName": event.name, "tool_input": answer_given.args}
        return {"decision": "allow", "hookSpecificOutput": own}
    more = {} if answer_given.args is None else {"updatedInput": answer_given.args}
    if answer_given.asks:
        return _decided(event, "ask", answer_given.text, **more)
    if more:
        return _decided(event, "allow", CONFINED, **more)
    return (
        _decided(event, "allow", SAFE) if answer_given.is_granted and event.host in GRANTING else {}
    )


def _decided(event: HostEvent, decision: str, reason: str, **more: object) -> dict[str, object]:
    answer_given = {"permissionDecision": decision, "permissionDecisionReason": reason, **more}
    return {"hookSpecificOutput": {"hookEventName": event.name, **answer_given}}


HOSTS = ("claude", "codex", "gemini", "opencode")

MOMENTS: Mapping[str, Moment] = {
    "SessionStart": Moment.SESSION_STARTED,
    "UserPromptExpansion": Moment.EXPANDING,
    "UserPromptSubmit": Moment.PROMPTED,
    "BeforeAgent": Moment.PROMPTED,
    "PreToolUse": Moment.BEFORE_CALL,
    "BeforeTool": Moment.BEFORE_CALL,
    "PostToolUse": Moment.AFTER_CALL,
    "PostToolUseFailure": Moment.AFTER_CALL,
    "AfterTool": Moment.AFTER_CALL,
    "Stop": Moment.STOPPING,
    "AfterAgent": Moment.STOPPING,
    "SubagentStop": Moment.AGENT_STOPPING,
    "PreCompact": Moment.COMPACTING,
    "PreCompress": Moment.COMPACTING,
    "ConfigChange": Moment.CONFIG_CHANGED,
    "SessionEnd": Moment.SESSION_ENDED,
}
OUTSIDE_CALLS = frozenset(
    {"PermissionRequest", "PermissionDenied", "PostToolBatch", "Notification"}
)
"""Other events about calls; the permission is requested separately."""


def read_payload(host: str, data: bytes) -> HostEvent:
    """Return the event of a host's payload; an invalid one is refused with a reason."""
    if host not in HOSTS:
        raise UsageError(f"There is no host {host!r}.", f"Name one of {', '.join(HOSTS)}.")
    if len(data) > MOST_BYTES or is_nested_too_deeply(data):
        most = f"{MOST_BYTES >> 20} MB and {DEEPEST} levels"
        raise UsageError(f"What {host} sent its hook is more than {most}.", NO_PAYLOAD)
    try:
        payload = _whole(json.loads(data.decode("utf-8", "replace")), data)
    except ValueError as error:
        raise UsageError(
            f"What {host} sent to the hook is not JSON: {error}.", NO_PAYLOAD
        ) from error
    if not isinstance(payload, dict):
        raise UsageError(f"What {host} sent to the hook is not an object.", NO_PAYLOAD)
    return _event(host, cast(dict[str, Any], payload))


_HALF = regex("[\ud800-\udfff]")
"""Half of a surrogate pair, left where a text was cut: files and the journal cannot store it."""


def _whole(value: Any, data: bytes) -> Any:
    """Return the value with a replacement character for each lone surrogate, as hosts print it."""
    # Only an escape can produce one, and few payloads contain such an escape.
    return _without_surrogates(value) if b"\\ud" in data or b"\\uD" in data else value


def _without_surrogates(value: Any) -> Any:
    match value:
        case str():
            return _HALF.sub("\N{REPLACEMENT CHARACTER}", value)
        case dict():
            found = cast(dict[str, Any], value)
            return {
                _without_surrogates(name): _without_surrogates(each) for name, each in found.items()
            }
        case list():
            return [_without_surrogates(each) for each in cast(list[Any], value)]
        case _:
            return value


QUOTING = frozenset({"opencode"})
"""Hosts that quote a prompt of several words from their command line."""
NEWER = "It may be newer than this Flyball; see the guide on hosts."
NO_PAYLOAD = "Hosts send one JSON object on standard input; see the guide on hosts."


def _event(host: str, payload: dict[str, Any]) -> HostEvent:
    name = _text(payload.get("hook_event_name"))
    moment = MOMENTS.get(name, Moment.OTHER)
    if moment is Moment.OTHER and _may_be_a_call(name, payload):
        raise UsageError(f"{host} asks about a call at {name!r}, which is not known.", NEWER)
    agent = _text(payload.get("agent_id"))
    # A subagent's own prompt comes from its parent agent, and not from a person.
    if agent and moment in (Moment.PROMPTED, Moment.STOPPING):
        moment = Moment.OTHER if moment is Moment.PROMPTED else Moment.AGENT_STOPPING
    given = payload.get("tool_input")
    args = cast(dict[str, object], given if isinstance(given, dict) else {"input": given or ""})
    tool = _text(payload.get("tool_name"))
    has_tool = moment in (Moment.BEFORE_CALL, Moment.AFTER_CALL)
    return HostEvent(
        host=host,
        moment=moment,
        session=_text(payload.get("session_id")) or NAMELESS,
        cwd=_text(payload.get("cwd")),
        name=name,
        agent=agent,
        tool=tool,
        args=args if has_tool else {},
        call=_call_id(payload, agent, tool, args) if has_tool else "",
        text=_words(host, moment, payload),
        ok=_has_succeeded(name, payload),
        is_interrupted=payload.get("is_interrupt") is True,
        works_on=_has_running_agent(payload),
        file=_text(payload.get("file_path")),
        transcript=_text(payload.get("transcript_path")),
        agent_transcript=_text(payload.get("agent_transcript_path")),
        is_anew=payload.get("source") in ("compact", "resume"),
    )


def _may_be_a_call(name: str, payload: dict[str, Any]) -> bool:
    """Return whether an unknown event may ask about a call that has not been made yet."""
    is_asked = "tool_name" in payload and "tool_response" not in payload
    return is_asked and name not in OUTSIDE_CALLS


def _call_id(payload: dict[str, Any], agent: str, tool: str, args: object) -> str:
    """Return the host's id of a call; without one, a name derived from the call itself."""
    id = _text(payload.get("tool_use_id")) or digest([tool, args])[:16]
    return f"{agent}/{id}" if agent else id


def _words(host: str, moment: Moment, payload: dict[str, Any]) -> str:
    match moment:
        case Moment.PROMPTED | Moment.EXPANDING:
            answer_given = _text(payload.get("prompt"))
            return _unquoted(answer_given) if host in QUOTING else answer_given
        case Moment.STOPPING:
            last = payload.get("last_assistant_message") or payload.get("prompt_response")
            return _text(last)
        case Moment.AFTER_CALL:
            return _text(payload.get("error")) or _response(payload.get("tool_response"))
        case _:
            return ""


def _unquoted(text: str) -> str:
    """Return the prompt without quotes that a host put around all of it."""
    inner = text.strip()[1:-1]
    is_quoted = text.strip() == f'"{inner}"' and not re.search(r'(?<!\\)"', inner)
    return inner.replace('\\"', '"') if is_quoted else text


# Different each time, so that output of a command cannot imitate it.
_OF_THE_MOMENT = regex(
    r"^(?:Process Group PGID|Background PIDs|Wall time|Chunk ID): .*\n?", re.MULTILINE
)


def _response(response: object) -> str:
    """Return the text of a call's result, as the model received it."""
    return _OF_THE_MOMENT.sub("", _words_of(response))


def _words_of(response: object) -> str:
    if isinstance(response, dict):
        found = cast(dict[str, object], response)
        for field in ("llmContent", "stdout", "output", "content"):
            if isinstance(found.get(field), str):
                return f"{found[field]}{found.get('stderr') or ''}"
    return response if isinstance(response, str) else json.dumps(response, default=str)


def _has_succeeded(name: str, payload: dict[str, Any]) -> bool:
    response = payload.get("tool_response")
    has_error = isinstance(response, dict) and bool(cast(dict[str, object], response).get("error"))
    return name != "PostToolUseFailure" and not has_error


def _has_running_agent(payload: dict[str, Any]) -> bool:
    tasks = payload.get("background_tasks")
    listed = cast(list[object], tasks) if isinstance(tasks, list) else []
    return any(
        isinstance(each, dict)
        and cast(dict[str, object], each).get("type") == "subagent"
        and cast(dict[str, object], each).get("status") == "running"
        for each in listed
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
