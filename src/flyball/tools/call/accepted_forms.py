"""Other ways to write a call that can only mean one thing, brought to the tool's own form.

`GIT {commit: "…"}` names the action by its field, and `BASH {cmd, allow}` says which rule it counts
on. A rule is the user's to give: what a driver says of it is read and changes nothing.
`EMIT_PLAN {goal, findings, tasks, …}` is a checkpoint whose action is a list, and `PROCEED` the
word to go ahead with it: no deed, so it is noted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import cast

from flyball.core.run.thread import SpokenCall

Args = dict[str, object]

PROCEED = "PROCEED"
GIT_ACTIONS = ("commit", "revert", "branch")


def in_own_form(tool: str, args: Args, spoken: str = "") -> Args:
    """The arguments as the tool's form wants them; what is not understood stays as it is.

    `spoken` is the name that the driver used for the tool.
    """
    if spoken == PROCEED and not args:
        return {"text": "Go ahead."}
    return REWRITES[tool](args) if tool in REWRITES else args


def _git(args: Args) -> Args:
    """An action that is named by its own field; two at once are left to be refused."""
    named = [action for action in GIT_ACTIONS if action in args]
    if len(named) != 1 or "action" in args:
        return args
    (action,) = named
    rest = {name: value for name, value in args.items() if name != action}
    more = _details(action, args[action])
    if more is None or not rest.keys().isdisjoint(more):
        return args
    return {"action": action, **more, **rest}


def _details(action: str, value: object) -> Args | None:
    """What the value of such a field says: a message, paths, or nothing beyond the action."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    if value is True or value is None or value == "" or action == "branch":
        return {} if isinstance(value, str | bool | None) and value is not False else None
    if action == "commit":
        return {"message": value} if isinstance(value, str) else None
    if isinstance(value, str):
        return {"paths": [value]}
    return {"paths": value} if isinstance(value, list | tuple) else None


def _bash(args: Args) -> Args:
    allow = args.get("allow")
    is_text = isinstance(allow, str) or (
        isinstance(allow, list | tuple)
        and all(isinstance(each, str) for each in cast("list[object]", allow))
    )
    return {name: value for name, value in args.items() if name != "allow"} if is_text else args


def _checkpoint(args: Args) -> Args:
    """A plan's tasks, line by line, as the proposed action; the files that they name."""
    key = next((name for name in ("tasks", "steps") if name in args), "")
    tasks = args.get(key)
    if not isinstance(tasks, list | tuple) or "proposed_action" in args:
        return args
    listed = cast("list[object]", tasks)
    words = [_task_words(task) for task in listed]
    if not words or not all(words):
        return args
    rest = {name: value for name, value in args.items() if name != key}
    files = [file for task in listed for file in _task_files(task)]
    named = {"files": list(dict.fromkeys(files))} if files and "files" not in rest else {}
    return {**rest, "proposed_action": "\n".join(words), **named}


def _task_words(task: object) -> str:
    if isinstance(task, Mapping):
        fields = cast("Mapping[str, object]", task)
        task = fields.get("title") or fields.get("task") or fields.get("description")
    return task.strip() if isinstance(task, str) else ""


def _task_files(task: object) -> list[str]:
    if not isinstance(task, Mapping):
        return []
    fields = cast("Mapping[str, object]", task)
    named = fields.get("files") or fields.get("file") or fields.get("path") or ()
    each = [named] if isinstance(named, str) else cast("list[object]", named)
    return [file for file in each if isinstance(file, str)]


_EMIT_PLAN = re.compile(r"\bEMIT_PLAN\b[^{]{0,40}(?=\{)")


def calls_in_words(text: str) -> tuple[SpokenCall, ...]:
    """The plan that a driver emitted in prose instead of calling for it, as the call it means."""
    for found in _EMIT_PLAN.finditer(text):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, found.end())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return (SpokenCall("", "EMIT_PLAN", cast("Args", value)),)
    return ()


REWRITES: dict[str, Callable[[Args], Args]] = {
    "git": _git,
    "bash": _bash,
    "checkpoint": _checkpoint,
}
