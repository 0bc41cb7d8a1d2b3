"""The server: its address, its protection, and a token that survives restarts."""

from __future__ import annotations

import ipaddress
import os
import secrets
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import uvicorn

from flyball.app.settling import state_dir
from flyball.errors import UsageError
from flyball.surfaces.http_bounds import HEADERS_WITHIN, TimelyProtocol
from flyball.surfaces.web.application import make_application
from flyball.surfaces.web.board import Board, open_board
from flyball.surfaces.web.protection import Protection

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
        raise UsageError("The token has characters that no cookie can hold.", "Use letters.")
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
        said = f"Nothing can listen on {host}:{port}: {error.strerror}."
        raise UsageError(said, "Choose another --port, or 0 for any.") from None
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
