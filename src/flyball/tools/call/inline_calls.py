"""Recognise calls written as text, packed into one, or meant as the end of a reply.

Servers that do not parse a model's own notation return it as text. At the end of a reply such a
block can only be a call; anywhere else it may be quoted from a file, and is ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from flyball.regex import regex
from flyball.run.thread import SpokenCall
from flyball.terms.shape import FENCED, is_list, is_map, read_loosely
from flyball.terms.tool import plain_name, tool_name

Args = dict[str, object]

_EMIT_PLAN = regex(r"\bEMIT_PLAN\b[^{]{0,40}(?=\{)")
_TAGGED = regex(r"<(tool_call|function_call)>\s*(\{.*?\})\s*</\1>", re.DOTALL)
_FUNCTION = regex(
    r"(?:<tool_call>\s*)?<(?:antml:)?(?:function|invoke)(?:=| name=\"?)([\w.:-]+)\"?>(.*?)"
    r"</(?:antml:)?(?:function|invoke)>(?:\s*</tool_call>)?",
    re.DOTALL,
)
_PARAMETER = regex(
    r"<(?:antml:)?parameter(?:=| name=\"?)([\w-]+)\"?>\n?(.*?)\n?</(?:antml:)?parameter>", re.DOTALL
)
_KEYED = regex(
    r"<tool_call>\s*([\w.:-]+)\s*((?:<arg_key>.*?</arg_key>\s*<arg_value>.*?</arg_value>\s*)*)"
    r"</tool_call>",
    re.DOTALL,
)
_KEY = regex(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_TOKEN = regex(
    r"(?:to=|<\|tool_call_begin\|>|<｜tool▁sep｜>)\s*((?:functions\.)?[\w.-]+?)(?::\d+)?"
    r"(?=[\s<])(?:(?!\{).)*?(\{.*\})[\s`]*(?:<[|｜]\w[^<>{}]*[|｜]>\s*)*\Z",
    re.DOTALL,
)
_MARKED = regex(r"(?:\[TOOL_CALLS\]|<\|python_tag\|>)\s*([\w.-]+)?\s*([\[{].*)\Z", re.DOTALL)
_AROUND = regex(r"</?(?:antml:)?(?:tool_calls|function_calls)>")
SIGNS = ("{", "<", "+++ ", "*** Begin Patch")
"""Every call in text contains one of these; most final messages contain none."""
NAMES = ("name", "tool", "tool_name", "recipient_name")
ARGUMENTS = ("arguments", "args", "parameters", "input")

PARALLEL = frozenset({"parallel", "multi_tool_use.parallel", "multi_tool_use_parallel", "batch"})
ENDS = frozenset(
    {
        "finish",
        "submit",
        "done",
        "complete",
        "attempt_completion",
        "task_complete",
        "complete_task",
        "task_done",
        "final_answer",
        "final",
        "exit",
        "end",
        "respond",
    }
)
"""Tools of other agents that report the end; here a reply without calls does."""


class UnpackedReply(NamedTuple):
    """The text and the calls of a reply."""

    text: str
    calls: tuple[SpokenCall, ...]


def emitted_plan(text: str) -> tuple[SpokenCall, ...]:
    """Return the checkpoint call for a plan that a driver wrote in prose."""
    for found in _EMIT_PLAN.finditer(text):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, found.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return (SpokenCall("", "EMIT_PLAN", cast("Args", value)),)
    return ()


def calls_at_the_end(text: str) -> UnpackedReply:
    """Return the calls in a model's own notation at the end of a text, and the text before them."""
    body = _AROUND.sub("", text).rstrip()
    for find in (_of_tokens, _of_json):
        if (heard := find(body)) is not None:
            return heard
    found = [(match, read) for way, read in NOTATIONS for match in way.finditer(body)]
    end, taken = len(body), list[SpokenCall]()
    for match, read in sorted(found, key=lambda each: each[0].start(), reverse=True):
        if match.start() >= end:
            continue
        call = read(match)
        if call is None or body[match.end() : end].strip():
            break
        taken.insert(0, call)
        end = match.start()
    return UnpackedReply(body[:end].rstrip(), tuple(taken)) if taken else UnpackedReply(text, ())


def _of_tokens(body: str) -> UnpackedReply | None:
    """Parse a call between tokens that a server should have parsed."""
    if (match := _TOKEN.search(body)) and tool_name(match[1]) is not None:
        args = _json(match[2])
        if is_map(args):
            said = re.sub(r"<[|｜][^<>]*[|｜]>.*\Z", "", body[: match.start()], flags=re.DOTALL)
            return UnpackedReply(said.rstrip(), (SpokenCall("", match[1], _plain(args)),))
    if match := _MARKED.search(body):
        value = _json(match[2])
        named = match[1] and tool_name(match[1]) is not None and is_map(value)
        items = [{"name": match[1], "arguments": value}] if named else value
        calls = [_call_of(each) for each in (items if is_list(items) else [items])]
        if calls and None not in calls:
            return UnpackedReply(body[: match.start()].rstrip(), tuple(filter(None, calls)))
    return None


def _of_json(body: str) -> UnpackedReply | None:
    """Parse calls in JSON, in the whole text or a last fence, each with tool and arguments."""
    fences = [*FENCED.finditer(body)]
    last = fences[-1] if fences and fences[-1].end() == len(body) else None
    block = last[2] if last else body if body.startswith(("{", "[")) else ""
    value = _json(block) if block else None
    items = value if is_list(value) else [value]
    calls = [_call_of(each) if _is_whole_call(each) else None for each in items]
    if not calls or None in calls:
        return None
    return UnpackedReply(body[: last.start()].rstrip() if last else "", tuple(filter(None, calls)))


def _is_whole_call(value: object) -> bool:
    """Return whether an object is a complete call: a tool's name, its arguments, and no more."""
    if not is_map(value) or not any(name in value for name in ARGUMENTS):
        return False
    return all(name in (*NAMES, *ARGUMENTS, "id", "type") for name in value)


def _json(text: str) -> object:
    try:
        return read_loosely(text.strip())
    except ValueError:
        return None


def _plain(value: Mapping[object, object]) -> Args:
    return {str(name): each for name, each in value.items()}


def _tagged(match: re.Match[str]) -> SpokenCall | None:
    text = match[2]
    try:
        value = read_loosely(text)
    except ValueError:
        return None
    return _call_of(value)


def _call_of(value: object) -> SpokenCall | None:
    if not is_map(value):
        return None
    name = next((value[each] for each in NAMES if isinstance(value.get(each), str)), "")
    args = next((value[each] for each in ARGUMENTS if each in value), None)
    if not isinstance(name, str) or tool_name(name) is None:
        return None
    if args is None:
        return SpokenCall("", name, {})
    return SpokenCall("", name, {str(k): v for k, v in args.items()}) if is_map(args) else None


def _function(match: re.Match[str]) -> SpokenCall | None:
    if tool_name(match[1]) is None:
        return None
    return SpokenCall("", match[1], {each[1]: each[2] for each in _PARAMETER.finditer(match[2])})


def _keyed(match: re.Match[str]) -> SpokenCall | None:
    if tool_name(match[1]) is None:
        return None
    return SpokenCall("", match[1], {each[1].strip(): each[2] for each in _KEY.finditer(match[2])})


NOTATIONS = ((_TAGGED, _tagged), (_FUNCTION, _function), (_KEYED, _keyed))


def unpacked(calls: Sequence[SpokenCall]) -> tuple[SpokenCall, ...]:
    """Return the calls one by one if a driver packed several into one."""
    return tuple(each for call in calls for each in _each(call))


def _each(call: SpokenCall) -> Iterator[SpokenCall]:
    if patch := _patch_in_shell(call):
        yield SpokenCall(call.id, "apply_patch", {"diff": patch})
        return
    if len(paths := _paths_to_read(call)) > 1:
        for n, path in enumerate(paths, 1):
            yield SpokenCall(f"{call.id}-{n}" if call.id else "", call.tool, {"path": path})
        return
    packed = call.args.get("tool_uses", call.args.get("calls", call.args.get("tool_calls")))
    inner = [_call_of(each) for each in packed] if is_list(packed) else []
    if plain_name(call.tool) not in PARALLEL or not inner or None in inner:
        yield call
        return
    for n, each in enumerate(filter(None, inner), 1):
        yield SpokenCall(f"{call.id}-{n}" if call.id else "", each.tool, each.args)


_PATCH_COMMAND = regex(r"\Aapply_patch\b.*?(\*\*\* Begin Patch\n.*?\*\*\* End Patch)", re.DOTALL)


def _patch_in_shell(call: SpokenCall) -> str:
    """Return the patch that a command line passes to `apply_patch`, which is no program here."""
    if tool_name(call.tool) != "bash":
        return ""
    command = next((call.args[name] for name in ("command", "cmd") if name in call.args), "")
    words = [str(each) for each in command] if is_list(command) else [str(command)]
    line = " ".join(words[-1:] if words[0].rpartition("/")[2] in ("bash", "sh", "zsh") else words)
    found = _PATCH_COMMAND.search(line.strip())
    return found[1] if found else ""


def _paths_to_read(call: SpokenCall) -> list[str]:
    """Return the files that one call asks to read, if it names several."""
    if tool_name(call.tool) != "read":
        return []
    named = [call.args.get(name) for name in ("paths", "files", "path")]
    several = next((each for each in named if is_list(each)), None)
    items = several if is_list(several) else ()
    paths = [each.get("path") if is_map(each) else each for each in items]
    return [each for each in paths if isinstance(each, str)]


def without_ends(text: str, calls: Sequence[SpokenCall]) -> UnpackedReply:
    """Convert a final "done" call to the end of the reply, with its text."""
    kept = list(calls)
    words = [text.strip()]
    while kept and plain_name(kept[-1].tool) in ENDS and tool_name(kept[-1].tool) is None:
        said = kept.pop().args.values()
        words += [each.strip() for each in said if isinstance(each, str)]
    # Before other calls "done" is premature, and their results may change the answer.
    if kept:
        return UnpackedReply(text, tuple(kept))
    return UnpackedReply("\n\n".join(dict.fromkeys(filter(None, words))), ())


_FENCE = regex(
    r"^[ \t]*(```+|~~~+)[ \t]*(\w*)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE
)
_DIFF_LANGUAGES = frozenset({"diff", "patch", "udiff", ""})
_DIFF_HEADER = regex(r"^--- \S.*\n\+\+\+ \S", re.MULTILINE)


def fenced_diffs(text: str) -> tuple[SpokenCall, ...]:
    """Return one edit call for all fenced diffs that name their files; empty if there are none."""
    found = [
        match[3]
        for match in _FENCE.finditer(text)
        if match[2].lower() in _DIFF_LANGUAGES and _DIFF_HEADER.search(match[3])
    ]
    if not found and _OTHER_DIFF.search(text):
        found = [text]
    return (SpokenCall("", "edit_diff", {"diff": "".join(found)}),) if found else ()


_OTHER_DIFF = regex(
    r"^<{5,} SEARCH.*^>{5,} REPLACE|^\*\*\* Begin Patch$.*^\*\*\* End Patch",
    re.DOTALL | re.MULTILINE,
)
