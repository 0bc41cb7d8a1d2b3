"""Limit the size, depth and duration of HTTP requests, for all our servers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from flyball.bounds import DEEPEST, is_nested_too_deeply

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BYTES = 4_000_000
MOST_DRAINED = 4 * MOST_BYTES
HEADERS_WITHIN = 30.0
"""Seconds for the head of a request, after which an incomplete one is dropped."""
BODY_WITHIN = 30.0
READING = frozenset({"GET", "HEAD", "OPTIONS"})


class BoundedBodies:
    """Passes on a request once its body is complete, unless it is too large or too deep."""

    def __init__(self, inner: Application, within: float = BODY_WITHIN) -> None:
        self._inner = inner
        self._within = within

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in READING:
            await self._inner(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._within):
                body = await _read(receive)
        except TimeoutError:
            await _refuse(send, 408, "too-slow", "The body did not arrive in time.")
            return
        if body is None:
            return
        if len(body) > MOST_BYTES:
            most = f"{MOST_BYTES // 1_000_000} MB"
            await _refuse(send, 413, "too-large", f"The body is larger than {most}.")
        elif is_nested_too_deeply(body):
            await _refuse(send, 400, "too-deep", f"The body has more than {DEEPEST} levels.")
        else:
            await self._inner(scope, _replay(body, receive), send)


async def _read(receive: Receive) -> bytes | None:
    """Return a body, or its beginning if it is too large; None if the client disconnected.

    A client that is cut off while sending never sees the answer, so a little more is read and
    discarded.
    """
    body = bytearray()
    taken = 0
    while taken <= MOST_DRAINED:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        part = message.get("body", b"")
        taken += len(part)
        body += part if len(body) <= MOST_BYTES else b""
        if not message.get("more_body", False):
            break
    return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a receive function that replays a body, and then continues with the connection."""
    left = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Any:
        return left.pop() if left else await receive()

    return again


async def _refuse(send: Send, status: int, code: str, message: str) -> None:
    body = json.dumps({"code": code, "message": message, "hint": "Send less."}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        # The unread rest of a body would be parsed as the next request.
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class TimelyProtocol(H11Protocol):
    """Closes a connection whose request is not complete in time."""

    def __init__(self, headers_within: float, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._headers_within = headers_within
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout for the first request."""
        super().connection_made(transport)
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Process data; the timeout runs until a request's head is complete."""
        super().data_received(data)
        self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeout with the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait_for_headers(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._late is None:
            self._late = self.loop.call_later(self._headers_within, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None
