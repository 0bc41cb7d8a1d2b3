"""Other ways to write a call that can only mean one thing, brought to the tool's own form.

`GIT {commit: "…"}` names the action by its field, and `BASH {cmd, allow}` says which rule it counts
on. A rule is the user's to give: what a driver says of it is read and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

Args = dict[str, object]

GIT_ACTIONS = ("commit", "revert", "branch")


def in_own_form(tool: str, args: Args) -> Args:
    """The arguments as the tool's form wants them; what is not understood stays as it is."""
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


REWRITES: dict[str, Callable[[Args], Args]] = {"git": _git, "bash": _bash}
