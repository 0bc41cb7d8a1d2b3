"""A board on a port of its own, in this process, and a client that knows its token."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from flyball.cli.demo import make_project
from flyball.web.board import Board, open_board
from flyball.web.server import listen, make_server

TOKEN = "a-token-for-tests-only"
PATIENCE = 60.0


class Answer(NamedTuple):
    """What the server said."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client(NamedTuple):
    """Somebody who knows the token of a server on this machine, or has one of their own."""

    port: int
    token: str = TOKEN

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
        token: str | None = None,
    ) -> Answer:
        """One request; with a token, a fitting host and JSON unless said otherwise."""
        token = self.token if token is None else token
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        sent = {"Authorization": f"Bearer {token}"} if token else {}
        data = raw if raw is not None else (json.dumps(body).encode() if body is not None else None)
        if data is not None:
            sent["Content-Type"] = "application/json"
        try:
            connection.request(method, path, data, {**sent, **(headers or {})})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        answer = self.ask("GET", path)
        assert answer.status == 200, answer.body
        return answer.json

    def post(self, path: str, body: object) -> Any:
        answer = self.ask("POST", path, body)
        assert answer.status in (200, 201), answer.body
        return answer.json

    def until(self, run: str, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The account of a run, once something holds of it."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            told = self.get(f"/api/runs/{run}")
            if is_so(told):
                return told
            time.sleep(0.1)
        raise AssertionError(f"run {run} is {told['status']}: {told['stopped']}")

    @contextmanager
    def stream(self, path: str, last: str = "") -> Generator[Iterator[tuple[str, dict[str, Any]]]]:
        """The events of a stream as they come: id and data."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Authorization": f"Bearer {self.token}"}
        if last:
            headers["Last-Event-ID"] = last
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        try:
            yield events(iter(answer.readline, b""))
        finally:
            connection.close()


class Served(NamedTuple):
    """A server in this process."""

    board: Board
    client: Client
    address: str

    @property
    def port(self) -> int:
        return self.client.port

    @property
    def ask(self) -> Callable[..., Answer]:
        return self.client.ask

    @property
    def get(self) -> Callable[[str], Any]:
        return self.client.get

    @property
    def post(self) -> Callable[[str, object], Any]:
        return self.client.post

    @property
    def until(self) -> Callable[[str, Callable[[dict[str, Any]], bool]], dict[str, Any]]:
        return self.client.until

    @property
    def stream(self) -> Callable[..., Any]:
        return self.client.stream


class Started(NamedTuple):
    """`flyball serve` as a person starts it, in a process of its own."""

    process: subprocess.Popen[str]
    client: Client
    address: str


@contextmanager
def started(environ: dict[str, str], here: Path, port: int = 0) -> Generator[Started]:
    """A real server; it is killed when the block ends."""
    argv = [sys.executable, "-c", "from flyball.cli import main; main()", "serve"]
    argv += ["--repo", str(here), "--port", str(port), "--token", TOKEN, "--json"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=environ)
    try:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        port = int(told["address"].partition("/?")[0].rpartition(":")[2])
        yield Started(process, Client(port), told["address"])
    finally:
        process.kill()
        process.communicate()


def events(lines: Iterator[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Server-sent events from their lines; comments are heartbeats."""
    id = ""
    for line in lines:
        text = line.decode().rstrip("\n")
        if text.startswith("id: "):
            id = text[4:]
        elif text.startswith("data: "):
            yield id, json.loads(text[6:])


def environment(place: Path) -> dict[str, str]:
    """An environment with a state directory of its own and nobody's settings."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {
        **kept,
        "FLYBALL_STATE_DIR": str(place / "state"),
        "FLYBALL_CONFIG": os.devnull,
        # More than so small a shop needs on a busy machine; what it finds, it finds in two.
        "FLYBALL_REPAIR_SECONDS": "60",
        "FLYBALL_VERDICT_MUTANT_SECONDS": "0",
    }


@contextmanager
def serving(
    environ: dict[str, str], here: Path, beat: float = 15.0, headers_within: float = 10.0
) -> Generator[Served]:
    """A server for a project, until the block ends."""
    board = open_board(environ, here, beat)
    listening = listen("127.0.0.1", 0, TOKEN)
    ready = threading.Event()
    server = make_server(board, listening, ready.set, headers_within)
    thread = threading.Thread(target=server.run, args=([listening.socket],), daemon=True)
    thread.start()
    assert ready.wait(PATIENCE)
    try:
        yield Served(board, Client(listening.protection.port), listening.address)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.socket.close()
        assert not thread.is_alive()


def make_shop(place: Path) -> tuple[Path, Path]:
    """The shop of the demo, and the script of a driver that breaks the rules."""
    place.mkdir(parents=True, exist_ok=True)
    return make_project(place)
