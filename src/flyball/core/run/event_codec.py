"""Events as bytes. What every release wrote, every later one reads.

A stored event carries the version of the format that wrote it; `UPGRADES[n]` turns the plain data
of version n + 1 into that of the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from flyball.core.run.event import AnyEvent
from flyball.errors import Corrupt, SchemaTooNew

Upgrade = Callable[[dict[str, Any]], dict[str, Any]]


def _without_plans(data: dict[str, Any]) -> dict[str, Any]:
    """Before version 2 nothing was planned, whatever the size of a request."""
    policy = data.get("policy", {})
    if data.get("type") != "run-started" or not isinstance(policy, dict):
        return data
    return {**data, "policy": {**policy, "plan_big_requests": False}}


UPGRADES: tuple[Upgrade, ...] = (_without_plans,)
VERSION = len(UPGRADES) + 1

_event = msgspec.json.Decoder(AnyEvent)


def decode_event(body: bytes, version: int = VERSION) -> AnyEvent:
    """Read an event that any release has written."""
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
