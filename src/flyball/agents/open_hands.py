"""Recorded OpenHands runs as steps that the guards can judge, in both of its formats.

The older format is a list of events (or of pairs of them) with an `action` or an `observation`, the
newer one a list of events with a `kind`. Both name the call that an observation answers, and keep
the exit status of each command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from flyball.agents.swe_agent import (
    WANTED,
    Json,
    RecordedTurn,
    command_line,
    entries_of,
    object_of,
    step_of,
    text_of,
)
from flyball.errors import UsageError
from flyball.guards.guard_memory import GuardStep


def is_open_hands(recording: object) -> bool:
    """Return whether a decoded document is a recording of OpenHands."""
    entries = _listed(recording)
    flat = _flat(entries)
    events = [cast("Json", entry) for entry in flat if isinstance(entry, Mapping)]
    return any(entry.get("kind") in NEW or _is_old(entry) for entry in events)


def _flat(entries: list[object]) -> list[object]:
    """Return pairs of an action and its result as one flat list."""
    flat: list[object] = []
    for entry in entries:
        flat += cast("list[object]", entry) if isinstance(entry, list) else [entry]
    return flat


def _listed(recording: object) -> list[object]:
    if isinstance(recording, Mapping):
        document = cast("Json", recording)
        recording = document.get("history", document.get("events"))
    return cast("list[object]", recording) if isinstance(recording, list) else []


def _is_old(entry: Json) -> bool:
    is_action = isinstance(entry.get("action"), str) and isinstance(entry.get("args"), Mapping)
    return is_action or ("observation" in entry and "extras" in entry)


def open_hands_steps(recording: object) -> tuple[GuardStep, ...]:
    """Return the steps of a decoded recording, in either format."""
    return tuple(map(step_of, open_hands_turns(recording)))


def open_hands_turns(recording: object) -> list[RecordedTurn]:
    """Return the calls of a decoded recording, in either format."""
    events = entries_of(_flat(_listed(recording)), "history")
    is_new = any("kind" in event for event in events)
    turns = [*(_new_turns if is_new else _old_turns)(events)]
    if not any(turn.action for turn in turns):
        raise UsageError("its events contain no recognisable call.", WANTED)
    return turns


NOTHING: Json = {}

SAID = frozenset({"message", "think", "finish", "system", "recall", "condensation", "null"})
"""Actions of the older format that ask for nothing."""


def _old_turns(events: Sequence[Json]) -> Iterator[RecordedTurn]:
    answers = {event.get("cause"): event for event in events if "observation" in event}
    following = dict(zip(range(len(events)), events[1:], strict=False))
    replies: dict[str, int] = {}
    for place, event in enumerate(events):
        name = event.get("action")
        if not isinstance(name, str) or event.get("source") == "user" or name in SAID:
            continue
        # Pairs without ids: what a call came to stands right behind it.
        answer = answers.get(event.get("id")) if "id" in event else following.get(place)
        answer = answer if answer is not None and "observation" in answer else NOTHING
        yield RecordedTurn(
            _old_action(name, object_of(event.get("args"))),
            text_of(answer.get("content")),
            status=_old_status(object_of(answer.get("extras"))),
            reply=_number(replies, _old_reply(event)),
        )


EDITOR = "str_replace_editor"


def _old_action(name: str, args: Json) -> str:
    if name == "read":
        return command_line(EDITOR, {"command": "view", "path": args.get("path")})
    if name in ("edit", "write"):
        command = args.get("command") or ("create" if name == "write" else "str_replace")
        # Its own reasoning and numbers are no part of what it asks for.
        wanted = {key: args[key] for key in sorted(EDITED & args.keys())}
        return command_line(EDITOR, {**wanted, "command": command})
    if name == "run_ipython":
        return f"python - {text_of(args.get('code'))}"
    return command_line(name, {key: args[key] for key in sorted(ASKED & args.keys())})


EDITED = frozenset(
    {"path", "content", "file_text", "old_str", "new_str", "insert_line", "start", "end"}
)
ASKED = frozenset({"command", "code", "path", "url", "browser_actions", "name", "arguments"})


def _old_status(extras: Json) -> int | None:
    found = object_of(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
    return found if isinstance(found, int) else None


def _old_reply(event: Json) -> str:
    response = object_of(object_of(event.get("tool_call_metadata")).get("model_response"))
    return text_of(response.get("id"))


NEW_CALLS = ("ActionEvent",)
NEW_ANSWERS = ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation")
NEW = (*NEW_CALLS, *NEW_ANSWERS)


def _new_turns(events: Sequence[Json]) -> Iterator[RecordedTurn]:
    answers = {
        event.get("tool_call_id") or event.get("action_id"): event
        for event in events
        if event.get("kind") in NEW_ANSWERS
    }
    replies: dict[str, int] = {}
    for event in events:
        if event.get("kind") not in NEW_CALLS or event.get("tool_name") in SAID:
            continue
        action = object_of(event.get("action"))
        spoken = object_of(object_of(event.get("tool_call")).get("arguments"))
        asked = {key: value for key, value in (action or spoken).items() if key not in UNASKED}
        answer = answers.get(event.get("tool_call_id"), answers.get(event.get("id"), NOTHING))
        seen = object_of(answer.get("observation"))
        status = seen.get("exit_code", object_of(seen.get("metadata")).get("exit_code"))
        yield RecordedTurn(
            command_line(text_of(event.get("tool_name")), asked),
            text_of(seen.get("content") or seen.get("output") or answer.get("error")),
            status=status if isinstance(status, int) else None,
            reply=_number(replies, text_of(event.get("llm_response_id"))),
        )


UNASKED = frozenset({"kind", "security_risk", "summary", "is_input", "timeout", "reset"})


def open_hands_end(recording: object) -> str | None:
    """Return the message with which the work was submitted, or None if it was not."""
    for event in reversed(entries_of(_flat(_listed(recording)), "history")):
        if event.get("action") == "finish":
            args = object_of(event.get("args"))
            return text_of(args.get("final_thought") or args.get("thought"))
        if event.get("kind") in NEW_CALLS and event.get("tool_name") == "finish":
            return text_of(object_of(event.get("action")).get("message"))
    return None


def _number(replies: dict[str, int], name: str) -> int:
    """Return the number of a named reply; a call without a name is its own reply."""
    return replies.setdefault(name, len(replies) + 1) if name else 0
