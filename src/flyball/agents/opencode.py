"""Read opencode's sessions: the rows of its database, or the files of older releases.

Each row comes as `{"table": "session" | "message" | "part", "id", "message", "data"}`, a session
first, then each message followed by its parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from flyball.agents.codex import edits_of_patch
from flyball.agents.entry import (
    Billing,
    Called,
    CallResult,
    Entry,
    FileEdit,
    Interrupted,
    Json,
    Lines,
    Opened,
    Prompted,
    Spoke,
    mapping,
    seconds,
    words,
)
from flyball.agents.usage import Billed


def opencode_entries(lines: Lines) -> Iterator[Entry]:
    """Yield the entries of one session's rows."""
    role = ""
    at = 0.0
    for line in lines:
        data = mapping(line.get("data"))
        match line.get("table"):
            case "session":
                parent = words(data.get("parent_id", data.get("parentID")))
                id = words(data.get("id")) or words(line.get("id"))
                yield Opened(parent or id, words(data.get("directory")), bool(parent))
            case "message":
                role = words(data.get("role"))
                at = seconds(mapping(data.get("time")).get("created"))
                yield from _message(at, words(line.get("id")), data)
            case "part":
                yield from _part(at, role, words(line.get("message")), data)
            case _:
                continue


def _message(at: float, id: str, data: Json) -> Iterator[Entry]:
    tokens = mapping(data.get("tokens"))
    if tokens:
        cache = mapping(tokens.get("cache"))
        model = words(data.get("modelID"))
        yield Billing(
            at,
            Billed(
                id,
                model,
                fresh=_count(tokens.get("input")),
                cached=_count(cache.get("read")),
                written=_count(cache.get("write")),
                output=_count(tokens.get("output")) + _count(tokens.get("reasoning")),
            ),
        )
    if mapping(data.get("error")).get("name") == "MessageAbortedError":
        yield Interrupted(at)


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _part(at: float, role: str, message: str, data: Json) -> Iterator[Entry]:
    text = words(data.get("text"))
    match data.get("type"), role:
        case "text", "user" if text and not data.get("synthetic"):
            yield Prompted(at, text.strip('"'))
        case "text", "assistant" if text:
            yield Spoke(at, text)
        case "tool", _:
            yield from _call(at, message, data)
        case _:
            return


def _call(at: float, reply: str, data: Json) -> Iterator[Entry]:
    state = mapping(data.get("state"))
    id, args, name = words(data.get("callID")), mapping(state.get("input")), words(data.get("tool"))
    yield Called(at, f"{reply}/{id}", name, args, reply)
    status = state.get("status")
    if status not in ("completed", "error"):
        return
    ended = seconds(mapping(state.get("time")).get("end")) or at
    told = mapping(state.get("metadata"))
    code = told.get("exit")
    code = code if isinstance(code, int) else None
    ok = status == "completed" and not code
    text = words(state.get("output")) or words(state.get("error"))
    edits = _edits(args, told) if ok else ()
    yield CallResult(ended, f"{reply}/{id}", text, ok, code, edits, _seen(args, told))


def _edits(args: Json, told: Json) -> tuple[FileEdit, ...]:
    path = words(args.get("filePath"))
    if patch := words(args.get("patchText")):
        return edits_of_patch(patch)
    if path and isinstance(after := args.get("content"), str):
        return (FileEdit(path, "" if told.get("exists") else None, after, is_whole=True),)
    if path and isinstance(old := args.get("oldString"), str):
        return (FileEdit(path, old, words(args.get("newString"))),)
    return ()


def _seen(args: Json, told: Json) -> tuple[tuple[str, str], ...]:
    shown, path = mapping(told.get("display")), words(args.get("filePath"))
    text = shown.get("text")
    is_whole = shown.get("lineStart") == 1 and shown.get("lineEnd") == shown.get("totalLines")
    return ((path, text),) if path and isinstance(text, str) and is_whole else ()
