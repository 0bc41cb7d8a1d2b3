"""A person is called when a run waits for them: by their command, and at their address."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

from tests.governed import Shell, call, script, shop

QUESTION = [
    call("read", path="cart.py"),
    call(
        "checkpoint",
        goal="The total counts every piece.",
        findings="It does not.",
        proposed_action="Multiply.",
        files=["cart.py"],
        verify_with=["unittest"],
    ),
]


class Post(BaseHTTPRequestHandler):
    heard: list[dict[str, Any]]

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self.heard.append(json.loads(self.rfile.read(size)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


def asking(tmp_path: Path, **settled: str) -> Shell:
    """A shell in a shop in which every checkpoint is a question."""
    (tmp_path / "home").mkdir()
    place = shop(tmp_path / "shop")
    return Shell(place, tmp_path / "home", FLYBALL_POLICY_APPROVE_CHECKPOINT="true", **settled)


def ask(shell: Shell, tmp_path: Path) -> str:
    driver = script(tmp_path / "driver.jsonl", *QUESTION)
    done = shell("run", "the total is wrong, fix it", "--driver", driver)
    assert done.returncode == 3, done.stderr
    return done.stdout


def test_a_command_gets_the_question(tmp_path: Path):
    left = tmp_path / "notice.json"
    shell = asking(
        tmp_path, FLYBALL_NOTIFY_COMMAND=f"sh -c 'cat > {left}.new; mv {left}.new {left}'"
    )
    ask(shell, tmp_path)
    while not left.exists():
        time.sleep(0.05)
    notice = json.loads(left.read_text())
    assert notice["project"] == "shop"
    assert "The total counts every piece." in notice["text"]
    assert notice["answer"] == f"flyball approve {notice['run']}"


def test_an_address_gets_the_question(tmp_path: Path):
    heard: list[dict[str, Any]] = []
    kind = type("Server", (Post,), {"heard": heard})
    with HTTPServer(("127.0.0.1", 0), kind) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        shell = asking(tmp_path, FLYBALL_NOTIFY_URL=f"http://127.0.0.1:{server.server_port}/x")
        ask(shell, tmp_path)
        while not heard:
            time.sleep(0.05)
        server.shutdown()
    assert heard[0]["kind"] == "checkpoint"


def test_a_command_that_is_not_there_is_said_and_the_run_goes_on(tmp_path: Path):
    assert "no-such-program could not be started" in ask(
        asking(tmp_path, FLYBALL_NOTIFY_COMMAND="no-such-program"), tmp_path
    )


def test_a_command_with_an_open_quote_is_refused_before_the_run(tmp_path: Path):
    shell = asking(tmp_path, FLYBALL_NOTIFY_COMMAND="echo 'x")
    done = shell("run", "fix it", "--driver", script(tmp_path / "driver.jsonl", *QUESTION))
    assert done.returncode == 2
    assert "`notify.command`: No closing quotation." in done.stderr
