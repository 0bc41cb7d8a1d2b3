"""A hook that finds nobody: one of several starts a governor, and the others wait for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from flyball.surfaces.hooks import client

STARTER = """
import os, socket, sys
place, answers = sys.argv[1], sys.argv[2] == "answers"
lock = os.open(f"{place}.start", os.O_RDWR | os.O_CREAT, 0o600)
os.lockf(lock, os.F_LOCK, 0)
print("starting", flush=True)
sys.stdin.read(1)
if answers:
    line = socket.socket(socket.AF_UNIX)
    line.bind(place)
    line.listen()
    hook, _ = line.accept()
    while hook.recv(1 << 16):
        pass
    hook.sendall(b"2 0 5\\nhello")
else:
    os.pwrite(lock, b"none", 0)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where a governor would listen, for a directory in which nothing is governed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flyball").mkdir(0o700)
    return str(tmp_path / "flyball" / "socket")


def asked_beside(place: str, ends: str) -> tuple[int, bytes, bytes]:
    """What a hook is told that finds somebody else at starting a governor."""
    data = json.dumps({"hook_event_name": "Stop", "cwd": str(Path(place).parent)}).encode()
    argv = [sys.executable, "-c", STARTER, place, ends]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(argv, **pipes) as starter:
        assert starter.stdin
        assert starter.stdout
        assert starter.stdout.readline() == b"starting\n"
        starter.stdin.write(b"x")
        starter.stdin.flush()
        return client.ask_anew(place, "claude", data)


def test_who_finds_another_at_it_waits_for_its_governor(place: str):
    assert asked_beside(place, "answers") == (2, b"", b"hello")


def test_where_none_comes_of_it_every_hook_decides_by_itself(place: str):
    assert asked_beside(place, "fails") == (0, b"", b"")
    assert Path(f"{place}.start").read_bytes() == client.NONE_CAME


def test_the_next_one_waits_for_nobody_then(place: str):
    asked_beside(place, "fails")
    held = [sys.executable, "-c", STARTER, place, "fails"]
    with subprocess.Popen(held, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as starter:
        assert starter.stdout
        assert starter.stdout.readline() == b"starting\n"
        data = json.dumps({"hook_event_name": "Stop", "cwd": str(Path(place).parent)}).encode()
        assert client.ask_anew(place, "claude", data) == (0, b"", b"")
        assert starter.poll() is None, "it is still at it"


def test_where_no_file_can_be_made_nobody_is_waited_for(tmp_path: Path, place: str):
    data = json.dumps({"hook_event_name": "Stop", "cwd": str(tmp_path)}).encode()
    nowhere = str(Path(place) / "not" / "there")
    assert client.ask_anew(nowhere, "claude", data) == (0, b"", b"")
