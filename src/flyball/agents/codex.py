"""Read Codex's rollouts: one JSON object per line, each with a kind and a payload."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

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
    joined,
    mapping,
    seconds,
    words,
)
from flyball.agents.tool import COMMAND_FIELDS, text_in
from flyball.agents.usage import Billed, read_bill, read_model
from flyball.regex import regex

NOT_A_PERSON = regex(r"\s*(?:<[a-z]+_[a-z_]+[ >]|<permissions |<skill>|# AGENTS\.md)")
EXIT_CODE = regex(r"(?:Process exited with code|Exit code:) (-?\d+)")
OUTPUT = "Output:\n"
CAT = regex(r"cat ([\w./-]+)")
FAILED = regex(r"\s*(?:apply_patch verification failed|failed to|error: |execution error)", re.I)


def codex_entries(lines: Lines) -> Iterator[Entry]:
    """Yield the entries of one rollout."""
    model, reply = "", 0
    calls: dict[str, Called] = {}
    session, meter = Opened(""), CodexMeter()
    for line in lines:
        at, payload = seconds(line.get("timestamp")), mapping(line.get("payload"))
        model = read_model(line) or model
        match line.get("type"), payload.get("type"):
            # A fork repeats the head of what it came from; the first one names this session.
            case "session_meta", _ if not session.session:
                source = payload.get("source")
                meter.root = words(payload.get("forked_from_id")) or words(payload.get("id"))
                is_agent = "subagent" in (source if isinstance(source, dict | str) else "")
                session = Opened(words(payload.get("id")), words(payload.get("cwd")), is_agent)
                yield session
            case "turn_context", _ if (cwd := words(payload.get("cwd"))) not in ("", session.cwd):
                session = session._replace(cwd=cwd)
                yield session
            case "response_item", "message":
                reply += payload.get("role") == "assistant"
                yield from _message(at, payload)
            case "response_item", "function_call" | "custom_tool_call" | "local_shell_call":
                called = _call(at, payload, str(reply))
                calls[called.id] = called
                yield called
            case "response_item", "function_call_output" | "custom_tool_call_output":
                known = calls.pop(words(payload.get("call_id")), None)
                yield _outcome(at, payload, known)
            case "event_msg", "turn_aborted":
                yield Interrupted(at)
            case _:
                if total := read_bill("codex", line, model):
                    yield from meter.read(at, total)


class CodexMeter:
    """Computes what each reply added to the totals that Codex reports.

    A fork repeats the lines of its parent session, totals included; they are recognised by the
    parent's id.
    """

    def __init__(self) -> None:
        self.root = ""
        self._before = Billed("")

    def read(self, at: float, total: Billed) -> Iterator[Billing]:
        was, self._before = self._before, total
        names = ("fresh", "cached", "written", "output")
        if any(getattr(total, name) < getattr(was, name) for name in names):
            was = Billed("")
        more = {name: getattr(total, name) - getattr(was, name) for name in names}
        if any(more.values()):
            sums = sum(getattr(total, name) for name in names)
            yield Billing(at, Billed(f"{self.root}/{sums}", total.model, **more))


def _message(at: float, payload: Json) -> Iterator[Entry]:
    text = joined(payload.get("content"))
    if payload.get("role") == "assistant":
        yield Spoke(at, text)
    elif payload.get("role") == "user" and text and not NOT_A_PERSON.match(text):
        yield Prompted(at, text)


def _call(at: float, payload: Json, reply: str) -> Called:
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    args = _args(given)
    name = words(payload.get("name")) or "shell"
    return Called(at, words(payload.get("call_id")), name, args, reply)


def _args(given: object) -> Json:
    if known := mapping(given):
        return known
    text = words(given)
    if text.lstrip().startswith("{"):
        try:
            return mapping(msgspec.json.decode(text))
        except (msgspec.DecodeError, RecursionError):
            return {"input": text}
    return {"input": text}


def _outcome(at: float, payload: Json, call: Called | None) -> CallResult:
    output = payload.get("output")
    text, status = joined(output), None
    if text.startswith('{"output"'):
        told = _args(text)
        text, code = words(told.get("output")), mapping(told.get("metadata")).get("exit_code")
        status = code if isinstance(code, int) else None
    elif found := EXIT_CODE.search(text[:400]):
        status = int(found[1])
    ok = not status and not FAILED.match(text)
    # Its own head tells the time and a number of the piece, which differ between equal outcomes.
    printed = text.partition(OUTPUT)[2] if status is not None and OUTPUT in text else text
    edits, seen = (), ()
    if call is not None and ok:
        patch = text_in(call.args, ("input", "patch", "patchText"))
        edits = edits_of_patch(patch) if "*** Begin Patch" in patch else ()
        named = CAT.fullmatch(text_in(call.args, COMMAND_FIELDS).strip())
        seen = ((named[1], printed),) if named else ()
    return CallResult(at, words(payload.get("call_id")), printed, ok, status, edits, seen)


SECTION = regex(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$", re.MULTILINE)


def edits_of_patch(patch: str) -> tuple[FileEdit, ...]:
    """Return the replacements of an `apply_patch` patch, hunk by hunk."""
    made: list[FileEdit] = []
    heads = [*SECTION.finditer(patch)]
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        body = patch[head.end() : following.start() if following else len(patch)]
        made += _section(head[1], head[2], body)
    return tuple(made)


def _section(verb: str, path: str, body: str) -> Iterator[FileEdit]:
    lines = [line for line in body.split("\n")[1:] if not line.startswith("*** ")]
    if verb == "Delete":
        yield FileEdit(path, "", None, is_whole=True)
        return
    if verb == "Add":
        yield FileEdit(path, None, _side(lines, "+"), is_whole=True)
        return
    hunks: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("@@"):
            hunks.append([])
        else:
            hunks[-1].append(line)
    for hunk in hunks:
        if any(line[:1] in ("+", "-") for line in hunk):
            yield FileEdit(path, _side(hunk, " -"), _side(hunk, " +"))


def _side(lines: list[str], signs: str) -> str:
    return "".join(f"{line[1:]}\n" for line in lines if line[:1] in signs and line)
