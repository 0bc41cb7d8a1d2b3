"""Parse a host's hook payload into one kind of event; nothing is decided here."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

from flyball.bounds import DEEPEST, is_nested_too_deeply
from flyball.core.host.event import NAMELESS, HostEvent, Moment
from flyball.core.terms.call import digest
from flyball.errors import UsageError
from flyball.regex import regex
from flyball.surfaces.hooks.client import MOST as MOST_BYTES

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
BESIDE_CALLS = frozenset({"PermissionRequest", "PermissionDenied", "PostToolBatch", "Notification"})
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
    return _mended(value) if b"\\ud" in data or b"\\uD" in data else value


def _mended(value: Any) -> Any:
    match value:
        case str():
            return _HALF.sub("\N{REPLACEMENT CHARACTER}", value)
        case dict():
            found = cast(dict[str, Any], value)
            return {_mended(name): _mended(each) for name, each in found.items()}
        case list():
            return [_mended(each) for each in cast(list[Any], value)]
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
        ok=_went_well(name, payload),
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
    return is_asked and name not in BESIDE_CALLS


def _call_id(payload: dict[str, Any], agent: str, tool: str, args: object) -> str:
    """Return the host's id of a call; without one, a name derived from the call itself."""
    id = _text(payload.get("tool_use_id")) or digest([tool, args])[:16]
    return f"{agent}/{id}" if agent else id


def _words(host: str, moment: Moment, payload: dict[str, Any]) -> str:
    match moment:
        case Moment.PROMPTED | Moment.EXPANDING:
            said = _text(payload.get("prompt"))
            return _unquoted(said) if host in QUOTING else said
        case Moment.STOPPING:
            last = payload.get("last_assistant_message") or payload.get("prompt_response")
            return _text(last)
        case Moment.AFTER_CALL:
            return _text(payload.get("error")) or _response(payload.get("tool_response"))
        case _:
            return ""


def _unquoted(text: str) -> str:
    """Return the prompt without the quotes that a host has put around all of it."""
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


def _went_well(name: str, payload: dict[str, Any]) -> bool:
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
