"""The server: its address, its protection, and a token that survives restarts."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import secrets
import socket
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn
from litestar import Litestar, Request, get
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.handlers import BaseRouteHandler
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, OpenAPI, SecurityScheme
from litestar.response import Stream

from flyball.app.people.person import Right
from flyball.app.settling import state_dir
from flyball.errors import FlyballError, NotAllowed, UsageError
from flyball.regex import regex
from flyball.web.assets import ASSET_ROUTES, Tagged
from flyball.web.board import Board, OurBoard, PersonalBoard, open_board
from flyball.web.export import export_html
from flyball.web.http_bounds import HEADERS_WITHIN, Application, TimelyProtocol
from flyball.web.project_routes import PROJECT_ROUTES
from flyball.web.protection import (
    PERSON,
    Protected,
    Protection,
    document_errors,
    http_error,
    internal_error,
    own_error,
)
from flyball.web.run_routes import STREAM, CardRoutes, RunRoutes, card_svg

SHORTEST = 16
BACKLOG = 1024
GRACE = 3


class Listening(NamedTuple):
    """An open socket with its protection."""

    socket: socket.socket
    protection: Protection
    host: str
    has_people: bool = False

    @property
    def address(self) -> str:
        """Return the URL for a browser; the token in it is then moved to a cookie.

        If there are people, each uses their own token.
        """
        name = f"[{self.host}]" if ":" in self.host else self.host
        name = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(name, name)
        token = "" if self.has_people else f"?token={self.protection.token}"
        return f"http://{name}:{self.protection.port}/{token}"


def listen(host: str, port: int, token: str, *, has_people: bool = False) -> Listening:
    """Open a socket; an address that others can reach requires people, or a chosen token."""
    is_local = _is_loopback(host)
    if not is_local and not token and not has_people:
        raise UsageError(
            f"Others can reach {host}, so a token is needed.",
            "Give one with --token, or `flyball people add`.",
        )
    if token and len(token) < SHORTEST:
        raise UsageError(
            f"The token is shorter than {SHORTEST} characters.", "Choose a longer one."
        )
    if not token.isascii() or any(each in token for each in ' ";,\\\t\r\n'):
        raise UsageError(
            "The token has characters that are not allowed in a cookie.", "Use letters."
        )
    place = _open(host, port)
    names = {"localhost"} if is_local else {"localhost", host.lower(), socket.gethostname().lower()}
    protection = Protection(
        token or kept_token(state_dir(os.environ)),
        place.getsockname()[1],
        frozenset(names),
        is_local,
    )
    return Listening(place, protection, host, has_people)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _open(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    place = socket.socket(family, socket.SOCK_STREAM)
    place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        place.bind((host, port))
    except OSError as error:
        place.close()
        problem = f"Cannot listen on {host}:{port}: {error.strerror}."
        raise UsageError(problem, "Choose another --port, or 0 for any.") from None
    place.listen(BACKLOG)
    return place


def kept_token(base: Path) -> str:
    """Return the token of this user's boards: created once, readable only by its owner.

    It is kept between servers, so that an open page can reconnect after a restart.
    """
    file = base / "board.token"
    base.mkdir(parents=True, exist_ok=True)
    try:
        fd = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        kept = file.read_text("utf-8").strip()
        if len(kept) >= SHORTEST and not file.stat().st_mode & 0o077:
            return kept
        file.unlink()
        return kept_token(base)
    with os.fdopen(fd, "w") as out:
        token = secrets.token_urlsafe(24)
        out.write(token)
    return token


def make_server(
    board: Board,
    listening: Listening,
    ready: Callable[[], None],
    headers_within: float = HEADERS_WITHIN,
) -> uvicorn.Server:
    """Return a server for a board, not yet started."""
    config = uvicorn.Config(
        make_application(board, listening.protection),  # pyright: ignore[reportArgumentType]
        http=partial(TimelyProtocol, headers_within),  # pyright: ignore[reportArgumentType]
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=GRACE,
        h11_max_incomplete_event_size=64_000,
    )
    return _Server(config, ready, board.watch.end_streams)


def serve(listening: Listening, here: Path, ready: Callable[[], None]) -> None:
    """Serve until a signal; the next server resumes the runs that were driven here."""
    make_server(open_board(os.environ, here), listening, ready).run([listening.socket])


class _Server(uvicorn.Server):
    """Reports when it is ready, and ends its streams before it waits for them."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], end: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._end = end

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._end()
        await super().shutdown(sockets)


@get("/api/events", tags=["runs"], summary="Every run that changes, as server-sent events.")
async def board_events(board: OurBoard) -> Stream:
    """Stream the list of runs, then each run that changes."""
    return Stream(board.follow_all(), media_type="text/event-stream", headers=STREAM)


def make_application(board: Board, protection: Protection) -> Application:
    """Return the whole application with its protection."""

    @asynccontextmanager
    async def alive(_app: Litestar) -> AsyncGenerator[None]:
        board.watch.start()
        await asyncio.to_thread(board.runs.go_on)
        try:
            yield
        finally:
            await asyncio.to_thread(board.runs.stop)
            board.watch.stop()
            board.people.close()

    def provide(request: Request[Any, Any, Any]) -> PersonalBoard:
        return personal_board(request.scope)

    handlers: dict[Any, Any] = {
        FlyballError: own_error,
        HTTPException: http_error,
        Exception: internal_error,
    }
    inner = Litestar(
        [
            RunRoutes,
            CardRoutes,
            *PROJECT_ROUTES,
            *ASSET_ROUTES,
            export_html,
            card_svg,
            board_events,
        ],
        dependencies={"board": Provide(provide, sync_to_thread=False)},
        exception_handlers=handlers,
        guards=[authorise],
        state=State({"board": board}, deep_copy=False),
        lifespan=[alive],
        logging_config=None,
        openapi_config=OpenAPIConfig(
            title="Flyball",
            version=version("flyball"),
            path="/api/schema",
            render_plugins=[JsonRenderPlugin()],
        ),
    )
    require_rows(inner)
    document_errors(inner.openapi_schema)
    document_roles(inner.openapi_schema)
    protection = protection._replace(owner=board.runs.by, people=board.people.all)
    return Protected(Tagged(inner), protection)  # pyright: ignore[reportArgumentType]


TYPED = regex(r":[a-z]+}")

NEEDS: Mapping[str, Right] = {
    # The page itself contains no private data; it still requires a token for requests.
    "GET /": Right.NOTHING,
    "GET /page/{name}": Right.NOTHING,
    "GET /api/health": Right.LOOK,
    "GET /api/machine": Right.LOOK,
    "GET /api/schema": Right.LOOK,
    "GET /api/schema/openapi.json": Right.LOOK,
    "GET /api/schema/{path}": Right.LOOK,
    "GET /api/workers": Right.LOOK,
    "GET /api/projects": Right.LOOK,
    "GET /api/events": Right.LOOK,
    "GET /api/file": Right.LOOK,
    "GET /api/tree": Right.LOOK,
    "GET /api/search": Right.LOOK,
    "GET /api/templates": Right.LOOK,
    "GET /api/ledger": Right.LOOK,
    "GET /api/runs": Right.LOOK,
    "GET /api/runs/{run}": Right.LOOK,
    "GET /api/runs/{run}/events": Right.LOOK,
    "GET /api/runs/{run}/log": Right.LOOK,
    "GET /api/runs/{run}/diff": Right.LOOK,
    "GET /api/runs/{run}/at/{seq}": Right.LOOK,
    "GET /api/runs/{run}/replay": Right.LOOK,
    "GET /api/runs/{run}/at/{seq}/diff": Right.LOOK,
    "GET /api/runs/{run}/export.html": Right.LOOK,
    "GET /api/runs/{run}/export.jsonl": Right.LOOK,
    "GET /run/{run}/card.svg": Right.LOOK,
    "GET /api/runs/{run}/cards/{card}": Right.LOOK,
    "GET /api/runs/{run}/cards/{card}/diff": Right.LOOK,
    "GET /api/runs/{run}/cards/{card}/pictures/{name}": Right.LOOK,
    "POST /api/runs": Right.DRIVE,
    "POST /api/runs/{run}/instruct": Right.DRIVE,
    "POST /api/runs/{run}/pause": Right.DRIVE,
    "POST /api/runs/{run}/resume": Right.DRIVE,
    "POST /api/runs/{run}/cancel": Right.DRIVE,
    "POST /api/runs/{run}/approve": Right.APPROVE,
    "POST /api/runs/{run}/deny": Right.APPROVE,
    "POST /api/runs/{run}/answer": Right.APPROVE,
    "POST /api/runs/{run}/extend": Right.APPROVE,
    "POST /api/runs/{run}/merge": Right.APPROVE,
    "POST /api/runs/{run}/cards/{card}/revert": Right.APPROVE,
    "POST /api/runs/{run}/cards/{card}/apply": Right.APPROVE,
    "POST /api/patch/diff": Right.APPROVE,
    "GET /api/people": Right.ADMINISTER,
}
"""Method and path → the right needed in the project concerned.

Some values in a body need more than their route: see `run_routes`.
"""


def route_names(app: Litestar) -> Iterator[str]:
    """Yield every route of an application in the table's form; `OPTIONS` is only about methods."""
    for route in app.routes:
        # Mounted applications have no methods, and so no row.
        for method in sorted(map(str, getattr(route, "methods", ("ANY",)))):
            if method != "OPTIONS":
                yield f"{method} {TYPED.sub('}', route.path)}"


def require_rows(app: Litestar) -> None:
    """Raise if a route has no row in the table."""
    if missing := sorted(set(route_names(app)) - NEEDS.keys()):
        raise LookupError(f"Routes that nobody may use by {__name__}.NEEDS: {', '.join(missing)}")


def document_roles(document: OpenAPI) -> None:
    """Document the role that each route needs in the OpenAPI document, as its `security`."""
    document.components = document.components or Components()
    document.components.security_schemes = {"token": SecurityScheme("http", scheme="bearer")}
    for path, item in (document.paths or {}).items():
        for method, operation in (("GET", item.get), ("POST", item.post)):
            if operation is not None:
                operation.security = [{"token": [NEEDS[f"{method} {path}"].word]}]


def need_of(scope: Mapping[str, Any]) -> Right:
    """Return the right that a request's route needs."""
    return NEEDS[f"{scope['method']} {TYPED.sub('}', scope['path_template'])}"]


async def authorise(
    connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler
) -> None:
    """Refuse a request before its body is read: 404 for other people's projects, 403 otherwise."""
    scope: Any = connection.scope
    if scope["method"] == "OPTIONS" or (need := need_of(scope)) is Right.NOTHING:
        return
    board = personal_board(scope)
    run = connection.path_params.get("run") or connection.query_params.get("run", "")
    project = connection.query_params.get("project", "")
    if run:
        await asyncio.to_thread(board.home_of, run)
    elif project:
        await asyncio.to_thread(board.project, project)
    elif board.person.highest < need:
        raise NotAllowed(
            f"{board.by} may not do this in any project.", f"It needs the role `{need.word}`."
        )


def personal_board(scope: Any) -> PersonalBoard:
    """Return the board restricted to the rights of the person for this request."""
    whole = scope["litestar_app"].state.board
    return PersonalBoard(whole, scope[PERSON], need_of(scope))
