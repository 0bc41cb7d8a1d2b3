"""Read Claude Code's transcripts: one JSON object per line, in chronological order.

Parent references are not followed, so a cycle of them is harmless. What the host sent to its model
is repeated in separate lines, which are skipped.
"""

from __future__ import annotations

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

INTERRUPTED = "[Request interrupted by user"
NOT_A_PERSON = regex(r"\s*<(?:command-|local-command|system-reminder|bash-|task-notification)")
"""How the host itself writes in the person's name."""
EXIT_CODE = regex(r"(?:Error: )?Exit code (-?\d+)")


def claude_entries(lines: Lines) -> Iterator[Entry]:
    """Yield the entries of one transcript; unknown kinds of lines are skipped."""
    opened = Opened("")
    for line in lines:
        kind = line.get("type")
        if kind not in ("user", "assistant"):
            continue
        now = Opened(
            words(line.get("sessionId")),
            words(line.get("cwd")) or opened.cwd,
            bool(line.get("isSidechain")),
        )
        if now != opened:
            opened = now
            yield now
        yield from (_of_user if kind == "user" else _of_model)(line)


def _of_user(line: Json) -> Iterator[Entry]:
    if line.get("isMeta") or line.get("isCompactSummary"):
        return
    at = seconds(line.get("timestamp"))
    content = mapping(line.get("message")).get("content")
    blocks = [mapping(block) for block in items(content)]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    for block in results:
        # What a host tells besides is about its one result, and so is nothing where there are more.
        told = line.get("toolUseResult") if len(results) == 1 else None
        yield _result(at, block, told)
    text = joined(content) if not results else ""
    if INTERRUPTED in text or any(INTERRUPTED in joined(each.get("content")) for each in results):
        yield Interrupted(at)
    elif text and not NOT_A_PERSON.match(text):
        yield Prompted(at, text)


def _result(at: float, block: Json, told: object) -> CallResult:
    text, more = joined(block.get("content")), mapping(told)
    failed = bool(block.get("is_error"))
    found = EXIT_CODE.match(text)
    status = int(found[1]) if found else None
    if status is None and not failed and "stdout" in more:
        status = 0
    return CallResult(
        at,
        words(block.get("tool_use_id")),
        text,
        ok=not failed,
        status=status,
        edits=() if failed else _edits(more),
        seen=_seen(mapping(more.get("file"))),
    )


def _edits(told: Json) -> tuple[FileEdit, ...]:
    path, before = words(told.get("filePath")), told.get("originalFile")
    if not path:
        return ()
    if isinstance(after := told.get("content"), str):
        return (FileEdit(path, before if isinstance(before, str) else None, after, is_whole=True),)
    pairs = items(told.get("edits")) or [told]
    made: list[FileEdit] = []
    for pair in map(mapping, pairs):
        old = words(pair.get("oldString", pair.get("old_string")))
        new = words(pair.get("newString", pair.get("new_string")))
        made.append(FileEdit(path, old, new))
    if isinstance(before, str):
        after = before
        for edit in made:
            after = after.replace(edit.old or "", edit.new or "", 1)
        return (FileEdit(path, before, after, is_whole=True),)
    return tuple(made)


def _seen(file: Json) -> tuple[tuple[str, str], ...]:
    path, text = words(file.get("filePath")), file.get("content")
    is_whole = file.get("startLine") == 1 and file.get("numLines") == file.get("totalLines")
    return ((path, text),) if path and isinstance(text, str) and is_whole else ()


def _of_model(line: Json) -> Iterator[Entry]:
    at, message = seconds(line.get("timestamp")), mapping(line.get("message"))
    if bill := read_bill("claude", line):
        yield Billing(at, bill)
    if line.get("isApiErrorMessage"):
        return
    for block in map(mapping, items(message.get("content"))):
        match block.get("type"):
            case "text":
                yield Spoke(at, words(block.get("text")))
            case "tool_use":
                name, args = words(block.get("name")), mapping(block.get("input"))
                yield Called(at, words(block.get("id")), name, args, words(message.get("id")))
            case _:
                continue
