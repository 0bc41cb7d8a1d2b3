"""Serve MCP over HTTP: on loopback by default, and only for clients with the token."""

from __future__ import annotations

import hmac
import json
import socket
from collections.abc import Callable
from functools import partial

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from flyball.errors import UsageError
from flyball.surfaces.http_bounds import HEADERS_WITHIN, BoundedBodies, TimelyProtocol
from flyball.surfaces.mcp.server import StepServer

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
NO_TOKEN = {
    "code": "bad-token",
    "message": "The token is missing or wrong.",
    "hint": "Send it as `Authorization: Bearer TOKEN`; `flyball mcp --http` printed it at start.",
}


class TokenGate:
    """Rejects requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 unless the token is correct; other scopes pass."""
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._wanted):
                headers = {"WWW-Authenticate": "Bearer"}
                body = json.dumps(NO_TOKEN)
                answer = Response(body, 401, headers, media_type="application/json")
                await answer(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def serve(
    server: StepServer, host: str, port: int, token: str, tell: Callable[[str], None]
) -> None:
    """Serve until stopped; `tell` receives the address once the server listens."""
    names = [*LOOPBACK, *([] if host in LOOPBACK else [f"[{host}]" if ":" in host else host])]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:*" for name in names],
        allowed_origins=[f"{scheme}://{name}:*" for name in names for scheme in ("http", "https")],
    )
    app = server.streamable_http_app(
        streamable_http_path=PATH, transport_security=security, host=host
    )
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET
        )
    except OSError as error:
        raise UsageError(
            f"{host}:{port} cannot be listened at: {error.strerror or error}.",
            "Name another --host or --port; port 0 takes any that is free.",
        ) from None
    with listening:
        shown = f"[{host}]" if ":" in host else host
        tell(f"http://{shown}:{listening.getsockname()[1]}{PATH}")
        config = uvicorn.Config(
            TokenGate(BoundedBodies(app), token),
            http=partial(TimelyProtocol, HEADERS_WITHIN),  # pyright: ignore[reportArgumentType]
            log_level="error",
            access_log=False,
            # The connection says who asks; a header of a client must not.
            proxy_headers=False,
            ws="none",
        )
        await uvicorn.Server(config).serve(sockets=[listening])
