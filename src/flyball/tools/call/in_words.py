"""Calls that a driver wrote out in words, packed into one, or meant as the end.

Servers that do not read a model's own notation pass it on as text. At the end of a reply such a
block can only be a call; anywhere else it may be quoted from a file, and is left alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from flyball.core.run.thread import SpokenCall
from flyball.core.terms.shape import is_list, is_map, read_loosely
from flyball.core.terms.tool import plain_name, tool_name

Args = dict[str, object]

_EMIT_PLAN = re.compile(r"\bEMIT_PLAN\b[^{]{0,40}(?=\{)")
_TAGGED = re.compile(r"<(tool_call|function_call)>\s*(\{.*?\})\s*</\1>", re.DOTALL)
_FUNCTION = re.compile(
    r"(?:<tool_call>\s*)?<(?:function|invoke)(?:=| name=\"?)([\w.:-]+)\"?>(.*?)"
    r"</(?:function|invoke)>(?:\s*</tool_call>)?",
    re.DOTALL,
)
_PARAMETER = re.compile(r"<parameter(?:=| name=\"?)([\w-]+)\"?>\n?(.*?)\n?</parameter>", re.DOTALL)
_AROUND = re.compile(r"</?(?:tool_calls|function_calls)>")
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
"""What other agents call to say that they are done; here a reply without calls says it."""


class Heard(NamedTuple):
    """What a reply says once its calls are taken for what they are."""

    text: str
    calls: tuple[SpokenCall, ...]


def emitted_plan(text: str) -> tuple[SpokenCall, ...]:
    """The plan that a driver emitted in prose instead of calling for it, as the call it means."""
    for found in _EMIT_PLAN.finditer(text):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, found.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return (SpokenCall("", "EMIT_PLAN", cast("Args", value)),)
    return ()


def calls_at_the_end(text: str) -> Heard:
    """The calls in a model's own notation with which a text ends, and the text before them."""
    body = _AROUND.sub("", text).rstrip()
    found = sorted(
        [*_TAGGED.finditer(body), *_FUNCTION.finditer(body)], key=lambda match: match.start()
    )
    end, taken = len(body), list[SpokenCall]()
    for match in reversed(found):
        if match.start() >= end:
            continue
        call = _tagged(match[2]) if match.re is _TAGGED else _function(match)
        if call is None or body[match.end() : end].strip():
            break
        taken.insert(0, call)
        end = match.start()
    return Heard(body[:end].rstrip(), tuple(taken)) if taken else Heard(text, ())


def _tagged(text: str) -> SpokenCall | None:
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


def unpacked(calls: Sequence[SpokenCall]) -> tuple[SpokenCall, ...]:
    """The calls one by one, where a driver put several into one."""
    return tuple(each for call in calls for each in _each(call))


def _each(call: SpokenCall) -> Iterator[SpokenCall]:
    packed = call.args.get("tool_uses", call.args.get("calls", call.args.get("tool_calls")))
    inner = [_call_of(each) for each in packed] if is_list(packed) else []
    if plain_name(call.tool) not in PARALLEL or not inner or None in inner:
        yield call
        return
    for n, each in enumerate(filter(None, inner), 1):
        yield SpokenCall(f"{call.id}-{n}" if call.id else "", each.tool, each.args)


def without_ends(text: str, calls: Sequence[SpokenCall]) -> Heard:
    """A call that says "done", behind all others, as what it is: the end, with its words."""
    kept = list(calls)
    words = [text.strip()]
    while kept and plain_name(kept[-1].tool) in ENDS and tool_name(kept[-1].tool) is None:
        said = kept.pop().args.values()
        words += [each.strip() for each in said if isinstance(each, str)]
    # In front of other calls "done" is not meant yet, and their outcome may change the answer.
    if kept:
        return Heard(text, tuple(kept))
    return Heard("\n\n".join(dict.fromkeys(filter(None, words))), ())


_FENCE = re.compile(
    r"^[ \t]*(```+|~~~+)[ \t]*(\w*)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE
)
_DIFF_LANGUAGES = frozenset({"diff", "patch", "udiff", ""})
_DIFF_HEADER = re.compile(r"^--- \S.*\n\+\+\+ \S", re.MULTILINE)


def diffs_in_words(text: str) -> tuple[SpokenCall, ...]:
    """One edit of all fenced diffs that name their files, or nothing where there is none."""
    found = [
        match[3]
        for match in _FENCE.finditer(text)
        if match[2].lower() in _DIFF_LANGUAGES and _DIFF_HEADER.search(match[3])
    ]
    return (SpokenCall("", "edit_diff", {"diff": "".join(found)}),) if found else ()
