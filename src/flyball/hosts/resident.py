"""The resident governor: answers hooks over a socket until the last session has ended."""

from __future__ import annotations

import hmac
import json
import os
import select
import socket
import socketserver
import struct
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from flyball.app.project import Home
from flyball.app.sessions import Sessions
from flyball.hosts.answering import decide
from flyball.hosts.client import MOST, TOO_LARGE, detach, objection_to_folder
from flyball.hosts.install.door import LOOPBACK, HookDoor, read_door
from flyball.hosts.kept import KeptWorkspaces
from flyball.hosts.observer import observed_at
from flyball.hosts.place import governed_at
from flyball.journal.sqlite import SqliteJournal
from flyball.regex import regex

IDLE_SECONDS = 1_800.0
"""Seconds without a request after which a governor exits; the next hook starts another."""
LOOK_SECONDS = 1.0


def stay(place: str, home: Home, patience: float) -> bool:
    """Start a governor in its own process; return whether it is ready."""
    if not hasattr(os, "fork"):
        return False
    hear, speak = os.pipe()
    if not detach():
        os.close(speak)
        ready, _, _ = select.select([hear], [], [], patience)
        return bool(ready and os.read(hear, 1))
    try:
        os.close(hear)
        serve(place, home, tell=lambda: _signal_ready(speak))
    finally:
        os._exit(0)


def _signal_ready(speak: int) -> None:
    """Report that hooks are answered from now on; ignore a reader that was killed meanwhile."""
    with suppress(OSError):
        os.write(speak, b"1")
    os.close(speak)


def serve(
    place: str,
    home: Home,
    idle: float = IDLE_SECONDS,
    tell: Callable[[], None] = lambda: None,
) -> None:
    """Answer hooks at a socket; return when it is no longer needed, or another governor is
    there."""
    directory = Path(place).parent
    if not os.path.lexists(directory):
        directory.mkdir(mode=0o700)
    # Another user's directory of that name would let them listen in our place.
    if objection_to_folder(os.fspath(directory)):
        return
    lock = os.open(f"{place}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.lockf(lock, os.F_TLOCK, 0)
    except OSError:
        return
    with suppress(FileNotFoundError):
        Path(place).unlink()
    with _Server(place, home) as server:
        Path(place).chmod(0o700)
        tell()
        threading.Thread(target=server.watch, args=(idle,), daemon=True).start()
        server.serve_forever(LOOK_SECONDS)
        server.kept.discard(home)
        with suppress(FileNotFoundError):
            Path(place).unlink()


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, place: str, home: Home) -> None:
        self.asked_at = time.monotonic()
        self.busy = 0
        self.home = home
        self.over_http: HttpHooks | None = None
        self.sessions = (Sessions(home.state), Sessions(observed_at(home)))
        self.kept = KeptWorkspaces()
        # While a connection is open, closing another one need not clean up the log; a database has
        # no such log.
        self.kept_open = None if home.database else SqliteJournal(home.journal_path)
        super().__init__(place, _Answering)

    @contextmanager
    def answering(self) -> Generator[None]:
        """Prevent the server from ending while an answer is in progress."""
        self.busy += 1
        try:
            yield
        finally:
            self.busy -= 1
            self.asked_at = time.monotonic()

    def listen(self) -> None:
        """Answer over HTTP as well, if an endpoint was created and its port is free."""
        door = None if self.over_http else read_door(self.home.environ)
        if door is None:
            return
        # Another governor of this user has the port; retry when that one ends.
        with suppress(OSError):
            self.over_http = HttpHooks(door, self.decide_over_http)
            threading.Thread(target=self.over_http.serve_forever, daemon=True).start()

    def decide(self, host: str, data: bytes, process: int) -> tuple[int, bytes, bytes]:
        """Return the answer to a payload."""
        return decide(host, data, process, self.kept)

    def decide_over_http(self, host: str, data: bytes) -> tuple[int, bytes, bytes]:
        """Return the answer to a payload of a session whose process is recorded."""
        with self.answering():
            return self.decide(host, data, 0)

    def prepare(self) -> None:
        """Prepare what the next run will need, with the current settings."""
        self.kept.is_wanted.clear()
        home = governed_at(self.home.repo, os.environ)
        if home is not None:
            self.kept.prepare(home)

    def watch(self, idle: float) -> None:
        """End when the last session has ended, or after a long time without requests."""
        # The process that started this governor is about to ask, and comes first.
        prepared_at = time.monotonic()
        while True:
            self.listen()
            self.kept.is_wanted.wait(LOOK_SECONDS)
            if self.kept.is_wanted.is_set() or self.asked_at > prepared_at:
                prepared_at = time.monotonic()
                self.prepare()
            quiet = time.monotonic() - self.asked_at
            is_anybody = any(each.in_checkout() for each in self.sessions)
            is_over = not is_anybody and quiet > LOOK_SECONDS
            if not self.busy and (is_over or quiet > idle):
                self.shutdown()
                return


class _Answering(socketserver.StreamRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]

    def handle(self) -> None:
        """Answer one hook; drop one that was killed halfway."""
        process, user = _peer(self.connection)
        if user != os.getuid():
            return
        with self.server.answering(), suppress(OSError, ValueError):
            host, length = self.rfile.readline().split()
            data = self.rfile.read(int(length))
            code, out, err = self.server.decide(host.decode(), data, process)
            self.wfile.write(b"%d %d %d\n" % (code, len(out), len(err)) + out + err)


def _peer(line: socket.socket) -> tuple[int, int]:
    """Return the process and user at the other end, from the kernel; process 0 if it is unknown.

    Only this user can enter the socket's directory, so the user is certain even if the kernel does
    not report it.
    """
    if sys.platform != "linux":
        return 0, os.getuid()
    found = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    process, user, _ = struct.unpack("3i", found)
    return process, user


REFUSED = 2
_EVENT = regex(rb'(?<!\\)"hook_event_name"\s{0,20}:\s{0,20}"(\w{1,40})"')
_LONGEST_FIELD = 128
Decide = Callable[[str, bytes], tuple[int, bytes, bytes]]
"""Takes host and payload; returns exit code, output and errors like a hook process."""


def response_body(event: str, code: int, out: bytes, err: bytes) -> bytes:
    """Return a hook process's answer as the body of an HTTP response."""
    words = err.decode("utf-8", "replace").strip()
    if code == REFUSED and event == "PreToolUse":
        answer: dict[str, Any] = {
            "hookSpecificOutput": {
                "hookEventName": event,
                "permissionDecision": "deny",
                "permissionDecisionReason": words,
            }
        }
    elif code == REFUSED:
        answer = {"decision": "block", "reason": words}
    elif code:
        answer = {"systemMessage": words}
    else:
        return out
    return json.dumps(answer).encode()


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
            self._say(200, response_body(event, REFUSED, b"", TOO_LARGE))
        else:
            data = self.rfile.read(int(length))
            host = self.path.removeprefix("/flyball-hook/")
            found = self.server.decide(host, data)
            self._say(200, response_body(_event(data), *found))

    def _may_ask(self) -> bool:
        """Return whether the client is a host with the token, and not a page in a browser."""
        shown = self.headers.get("Authorization", "").removeprefix("Bearer ").encode()
        is_known = hmac.compare_digest(shown, self.server.door.token.encode())
        names = {f"{name}:{self.server.server_port}" for name in (LOOPBACK, "localhost")}
        is_ours = self.headers.get("Host", "") in names and self.path.startswith("/flyball-hook/")
        return is_known and is_ours and "Origin" not in self.headers

    def _read_event(self, left: int) -> str:
        """Return the event name in a payload that is too large to keep; hosts send all before they
        read.

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
