"""Hooks over HTTP, for hosts that call a URL: faster than a process, but they fail open.

One governor on the machine has the port; it answers for every project, as the payload names its
directory. If there is no answer, the host goes on with its call, so this is never the default.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from flyball.app.installing.door import LOOPBACK, HookDoor
from flyball.regex import regex
from flyball.surfaces.hooks.client import MOST, TOO_LARGE

REFUSED = 2
_EVENT = regex(rb'(?<!\\)"hook_event_name"\s{0,20}:\s{0,20}"(\w{1,40})"')
_LONGEST_FIELD = 128
Decide = Callable[[str, bytes], tuple[int, bytes, bytes]]
"""Takes host and payload; returns exit code, output and errors like a hook process."""


def told_over_http(event: str, code: int, out: bytes, err: bytes) -> bytes:
    """Return a hook process's answer as the body of an HTTP response."""
    words = err.decode("utf-8", "replace").strip()
    if code == REFUSED and event == "PreToolUse":
        told: dict[str, Any] = {
            "hookSpecificOutput": {
                "hookEventName": event,
                "permissionDecision": "deny",
                "permissionDecisionReason": words,
            }
        }
    elif code == REFUSED:
        told = {"decision": "block", "reason": words}
    elif code:
        told = {"systemMessage": words}
    else:
        return out
    return json.dumps(told).encode()


class HttpHooks(ThreadingHTTPServer):
    """Answers hooks at an address; raises `OSError` if the port is taken."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, door: HookDoor, decide: Decide) -> None:
        self.door = door
        self.decide = decide
        super().__init__((LOOPBACK, door.port), _Exchange)


class _Exchange(BaseHTTPRequestHandler):
    server: HttpHooks  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"
    timeout = 30
    """Seconds without data until a connection is closed."""

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""

    def do_POST(self) -> None:
        """Read a payload and send the answer."""
        length = self.headers.get("Content-Length", "")
        if not self._may_ask():
            self._say(401)
        elif not length.isdigit():
            self._say(411)
        elif int(length) > MOST:
            # Any other status would let the call pass.
            event = self._read_event(int(length))
            self._say(200, told_over_http(event, REFUSED, b"", TOO_LARGE))
        else:
            data = self.rfile.read(int(length))
            host = self.path.removeprefix("/flyball-hook/")
            found = self.server.decide(host, data)
            self._say(200, told_over_http(_event(data), *found))

    def _may_ask(self) -> bool:
        """Return whether the client is a host with the token, and no page in a browser."""
        shown = self.headers.get("Authorization", "").removeprefix("Bearer ").encode()
        is_known = hmac.compare_digest(shown, self.server.door.token.encode())
        names = {f"{name}:{self.server.server_port}" for name in (LOOPBACK, "localhost")}
        is_ours = self.headers.get("Host", "") in names and self.path.startswith("/flyball-hook/")
        return is_known and is_ours and "Origin" not in self.headers

    def _read_event(self, left: int) -> str:
        """Return the event name in a payload that is too large to keep; hosts send all, then read.

        A payload without a name counts as a call, which is refused.
        """
        event, kept = "", b""
        while left > 0 and (part := self.rfile.read(min(left, 1 << 16))):
            left -= len(part)
            if not event and (found := _EVENT.search(kept + part)):
                event = found[1].decode()
            kept = part[-_LONGEST_FIELD:]
        return event or "PreToolUse"

    def _say(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if body:
            self.send_header("Content-Type", "application/json")
        if status != 200:
            # The rest of the request is not read.
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)


def _event(data: bytes) -> str:
    try:
        return str(json.loads(data)["hook_event_name"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""
