"""A run's servers end with Flyball, however it ends, and are there again when they are needed."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests.governed import ARGV, Line, Shell, call, checkpoint, environment, objects
from tests.repos import repository
from tests.tiers import NEEDS_SERVERS
from tests.unit.tools.test_dev_server import FILES, processes_in

pytestmark = [
    pytest.mark.exhaustive,
    NEEDS_SERVERS,
]
PATIENCE = 120.0


def until(what, why: str):
    """Wait for a condition, which is sure to come where all is well."""
    deadline = time.monotonic() + PATIENCE
    while not (found := what()):
        assert time.monotonic() < deadline, why
        time.sleep(0.02)
    return found


def answer(relay: Path, number: int, line: Line) -> None:
    until((relay / f"{number:04}.request.json").exists, f"request {number} never came")
    new = relay / f"{number:04}.new"
    new.write_text(json.dumps({"finish": "tool_calls" if "calls" in line else "stop", **line}))
    new.rename(relay / f"{number:04}.reply.json")


def test_no_server_outlives_a_killed_flyball_and_a_resumed_run_has_it_again(tmp_path: Path):
    repo, home, relay = repository(tmp_path / "shop", FILES), tmp_path / "home", tmp_path / "relay"
    home.mkdir()
    relay.mkdir()
    argv = ["run", "Fix the greeting", "--intent", "small_fix", "--driver", f"relay:{relay}"]
    env = environment(home)
    first = subprocess.Popen([*ARGV, *argv], cwd=repo, env=env, stdout=subprocess.DEVNULL)
    try:
        answer(relay, 1, checkpoint("hello.txt"))
        answer(relay, 2, call("dev_server_start"))
        until((relay / "0003.request.json").exists, "the server never got ready")
        assert processes_in(home), "the server runs"
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    until(lambda: not processes_in(home), "a server outlived Flyball")
    shell = Shell(repo, home)
    run = objects(shell("runs", "list", "--json").stdout)[0]["run"]
    again = subprocess.Popen([*ARGV, "runs", "resume", run], cwd=repo, env=env)
    try:
        answer(relay, 3, call("dev_server_list"))
        answer(relay, 4, call("http_probe", url="/hello.txt"))
        until((relay / "0005.request.json").exists, "the page was never asked")
        said = (relay / "0005.request.json").read_text()
        assert "stopped while the run was paused" in said
        assert "was started from the current tree" in said and "answered 200" in said
        assert processes_in(home), "the server runs again"
        again.send_signal(signal.SIGINT)
        again.wait(PATIENCE)
    finally:
        again.kill()
        again.wait()
    assert not processes_in(home), "a run that rests costs no process"
