"""Encode events, states and lines as bytes. Every release reads what earlier ones wrote.

A stored event carries the format version that wrote it; `UPGRADES[n]` turns the plain data of
version n + 1 into that of the next. A stored state is only a cache of the fold: one from another
version is recomputed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec

from flyball.errors import Corrupt, SchemaTooNew
from flyball.run.event import AnyEvent, Event
from flyball.run.state import RunState
from flyball.run.thread import ThreadLine

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]


def _without_plans(data: dict[str, Any]) -> dict[str, Any]:
    """Upgrade version 1, in which no run had a plan, whatever the size of its request."""
    policy = data.get("policy", {})
    if data.get("type") != "run-started" or not isinstance(policy, dict):
        return data
    return {**data, "policy": {**policy, "plan_big_requests": False}}


def _under_its_rules(data: dict[str, Any]) -> dict[str, Any]:
    """Upgrade an event of version 2; its run is folded by the rules under which it started."""
    policy = data.get("policy", {})
    if data.get("type") != "run-started" or not isinstance(policy, dict):
        return data
    return {**data, "policy": {**policy, "edition": 2}}


UPGRADES: tuple[Upgrade, ...] = (_without_plans, _under_its_rules)
VERSION = len(UPGRADES) + 1

_event = msgspec.json.Decoder(AnyEvent)
_state = msgspec.json.Decoder(RunState)
_line = msgspec.json.Decoder(ThreadLine)

encode: Callable[[Event | RunState | ThreadLine], bytes] = msgspec.json.Encoder().encode
"""The value as JSON, which every later release still reads."""


def decode_event(body: bytes, version: int = VERSION) -> AnyEvent:
    """Read an event written by any release."""
    try:
        if version == VERSION:
            return _event.decode(body)
        if version > VERSION:
            raise SchemaTooNew(
                f"An event was written by a later release (format {version}, ours is {VERSION}).",
                "Upgrade flyball.",
            )
        data = msgspec.json.decode(body, type=dict[str, Any])
        for upgrade in UPGRADES[version - 1 :]:
            data = upgrade(data)
        return msgspec.convert(data, AnyEvent)
    except msgspec.MsgspecError as error:
        raise Corrupt(f"A stored event cannot be read: {error}.") from error


def storable(event: AnyEvent) -> AnyEvent:
    """Return the same event with every character that UTF-8 cannot encode made visible."""
    return msgspec.convert(_plain(msgspec.to_builtins(event)), type(event))


def _plain(value: Any) -> Any:
    match value:
        case str():
            try:
                return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
            except UnicodeEncodeError:
                return value.encode("utf-8", "backslashreplace").decode()
        case list() | tuple():
            return [_plain(each) for each in cast(list[Any], value)]
        case dict():
            return {_plain(k): _plain(v) for k, v in cast(dict[Any, Any], value).items()}
        case _:
            return value


def decode_state(body: bytes, version: int) -> RunState | None:
    """Return the cached state, or None if it must be recomputed."""
    if version != VERSION:
        return None
    try:
        return _state.decode(body)
    except msgspec.MsgspecError:
        return None


def decode_lines(bodies: Iterable[bytes]) -> list[ThreadLine]:
    """Return the lines of a thread, in the given order; an unreadable one raises `Corrupt`."""
    try:
        return [_line.decode(body) for body in bodies]
    except msgspec.MsgspecError as error:
        raise Corrupt(f"A stored line of a thread cannot be read: {error}.") from error
