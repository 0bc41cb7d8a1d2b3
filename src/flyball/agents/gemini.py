"""Read Gemini CLI's sessions: one message per line, or one document in older releases."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    items,
    joined,
    mapping,
    seconds,
    words,
)
from flyball.agents.usage import read_bill
from flyball.regex import regex

DIRECTORIES = regex(r"Workspace Directories:\*{0,2}\s*\n\s*- (.+)")
CONTEXT = "<session_context>"
CANCELLED = "Request cancelled"
EXIT_CODE = regex(r"^Exit Code: (-?\d+)$", re.MULTILINE)
GROUP = regex(r"^(?:Process Group PGID|Background PIDs): .*$", re.MULTILINE)
"""What differs between equal outcomes."""


def gemini_entries(lines: Lines) -> Iterator[Entry]:
    """Yield the entries of one session; a repeated message adds only what is new."""
    opened = Opened("")
    told: set[str] = set()
    for line in lines:
        if session := words(line.get("sessionId")):
            opened = opened._replace(session=session, is_agent=line.get("kind") == "subagent")
            yield opened
        for message in (*items(line.get("messages")), *_within(line)):
            for entry in _message(mapping(message), told):
                if isinstance(entry, Opened):
                    opened = opened._replace(cwd=entry.cwd)
                    yield opened
                else:
                    yield entry


def _within(line: Json) -> list[Json]:
    """Return the messages of a line: itself, or those in a correction of the whole session."""
    if "type" in line:
        return [line]
    return items(mapping(line.get("$set")).get("messages"))


def _message(message: Json, told: set[str]) -> Iterator[Entry]:
    at, id = seconds(message.get("timestamp")), words(message.get("id"))
    kind, text = message.get("type"), joined(message.get("content"))
    is_new = id not in told
    told.add(id)
    if kind == "user" and is_new:
        if found := DIRECTORIES.search(text):
            yield Opened("", found[1].strip())
        elif text and not text.startswith(CONTEXT):
            yield Prompted(at, text)
    elif kind == "info" and is_new and text.startswith(CANCELLED):
        yield Interrupted(at)
    elif kind == "gemini":
        if is_new and text:
            yield Spoke(at, text)
        if bill := read_bill("gemini", message):
            yield Billing(at, bill)
        for call in map(mapping, items(message.get("toolCalls"))):
            if (name := words(call.get("id"))) and name not in told:
                told.add(name)
                yield from _call(at, id, call)


def _call(at: float, reply: str, call: Json) -> Iterator[Entry]:
    id, args = words(call.get("id")), mapping(call.get("args"))
    yield Called(at, id, words(call.get("name")), args, reply)
    status = call.get("status")
    if status not in ("success", "error", "cancelled"):
        return
    text = _answer(call)
    found = EXIT_CODE.search(text)
    ended = seconds(call.get("timestamp")) or at
    code = int(found[1]) if found else 0 if status == "success" and "command" in args else None
    ok = status == "success" and not code
    shown = mapping(call.get("resultDisplay"))
    seen = _seen(args, text) if ok else ()
    yield CallResult(ended, id, text, ok, code, _edits(shown) if ok else (), seen)
    if status == "cancelled":
        yield Interrupted(ended)


def _answer(call: Json) -> str:
    for part in map(mapping, items(call.get("result"))):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        return GROUP.sub("", words(response.get("output")) or words(response.get("error")))
    return ""


def _edits(shown: Json) -> tuple[FileEdit, ...]:
    path, after = words(shown.get("filePath")), shown.get("newContent")
    if not path or not isinstance(after, str):
        return ()
    before = words(shown.get("originalContent"))
    is_new = shown.get("isNewFile") is True
    return (FileEdit(path, None if is_new else before, after, is_whole=True),)


def _seen(args: Json, text: str) -> tuple[tuple[str, str], ...]:
    path = words(args.get("file_path", args.get("absolute_path")))
    is_part = {"old_string", "content", "offset", "limit", "start_line", "end_line"} & args.keys()
    return ((path, text),) if path and not is_part else ()
