"""The endpoint for hooks over HTTP: its port and its token, shared by host and governor."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flyball.app.settling import state_dir
from flyball.regex import regex

PORT = 4322
LOOPBACK = "127.0.0.1"
_OURS = regex(r"http://127\.0\.0\.1:(\d+)/flyball-hook/(\w+)(?:/\w+)?")
_BEARER = "Bearer "


class HookDoor(NamedTuple):
    """The address at which the governor answers hooks over HTTP, and the required token."""

    port: int
    token: str

    def handler(self, host: str, seconds: int, level: str = "") -> dict[str, Any]:
        """Return the handler for one event in a host's settings."""
        path = "/".join(filter(None, (host, level)))
        return {
            "type": "http",
            "url": f"http://{LOOPBACK}:{self.port}/flyball-hook/{path}",
            "headers": {"Authorization": f"{_BEARER}{self.token}"},
            "timeout": seconds,
        }


def host_asked(handler: Mapping[str, Any]) -> str:
    """Return the host named by a handler of our endpoint; empty for a foreign handler."""
    url = handler.get("url")
    ours = _OURS.fullmatch(url) if isinstance(url, str) else None
    return ours[2] if ours else ""


def door_of(handler: Mapping[str, Any]) -> HookDoor | None:
    """Return the endpoint that one of our handlers calls."""
    ours = _OURS.fullmatch(str(handler.get("url")))
    shown: Any = handler.get("headers")
    try:
        return (
            HookDoor(int(ours[1]), shown["Authorization"].removeprefix(_BEARER)) if ours else None
        )
    except (AttributeError, LookupError, TypeError):
        return None


def read_door(environ: Mapping[str, str]) -> HookDoor | None:
    """Return this machine's endpoint, if one was created."""
    try:
        return msgspec.json.decode(_place(environ).read_bytes(), type=HookDoor)
    except (OSError, msgspec.MsgspecError):
        return None


def make_door(environ: Mapping[str, str], port: int = PORT) -> HookDoor:
    """Return this machine's endpoint: created once, readable only by its owner."""
    if known := read_door(environ):
        return known
    place = _place(environ)
    place.parent.mkdir(parents=True, exist_ok=True)
    made = HookDoor(port, secrets.token_urlsafe(24))
    spare = place.with_suffix(f".{os.getpid()}")
    handle = os.open(spare, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as out:
        out.write(msgspec.json.encode(made))
    spare.replace(place)
    return made


def _place(environ: Mapping[str, str]) -> Path:
    return state_dir(environ) / "hooks-door.json"
