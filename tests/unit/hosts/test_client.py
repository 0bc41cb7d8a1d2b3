"""A hook that finds nobody: one of several starts a governor, and the others wait for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from flyball.app.project import open_home
from flyball.hosts import client, resident

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
        return client.start_governor_and_ask(place, "claude", data)


def test_who_finds_another_at_it_waits_for_its_governor(place: str):
    assert asked_beside(place, "answers") == (2, b"", b"hello")


def test_where_none_comes_of_it_every_hook_decides_by_itself(place: str):
    assert asked_beside(place, "fails") == (0, b"", b"")
    assert Path(f"{place}.start").read_bytes() == client.NONE_CAME


def test_next_start_does_not_wait(place: str):
    asked_beside(place, "fails")
    held = [sys.executable, "-c", STARTER, place, "fails"]
    with subprocess.Popen(held, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as starter:
        assert starter.stdout
        assert starter.stdout.readline() == b"starting\n"
        data = json.dumps({"hook_event_name": "Stop", "cwd": str(Path(place).parent)}).encode()
        assert client.start_governor_and_ask(place, "claude", data) == (0, b"", b"")
        assert starter.poll() is None, "it is still at it"


def test_unwritable_state_is_not_waited_for(tmp_path: Path, place: str):
    data = json.dumps({"hook_event_name": "Stop", "cwd": str(tmp_path)}).encode()
    nowhere = str(Path(place) / "not" / "there")
    assert client.start_governor_and_ask(nowhere, "claude", data) == (0, b"", b"")


FORGER = """
import os, socket, sys
place, user = sys.argv[1], int(sys.argv[2])
if user != os.getuid():
    os.setuid(user)
line = socket.socket(socket.AF_UNIX)
line.bind(place)
line.listen()
print("listening", flush=True)
hook, _ = line.accept()
data = hook.recv(1 << 16)
hook.sendall(b"0 0 0\\n")
print("read" if data else "nothing", flush=True)
"""
NOBODY = 65534


@contextmanager
def forged(place: str, user: int) -> Iterator[subprocess.Popen[bytes]]:
    """Somebody who listens at a governor's place and allows whatever they are asked."""
    argv = [sys.executable, "-I", "-c", FORGER, place, str(user)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as forger:
        assert forger.stdout
        assert forger.stdout.readline() == b"listening\n"
        yield forger
        forger.kill()


def open_to_others(folder: Path) -> None:
    folder.chmod(0o755)


def make_a_link(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))


def open_socket(folder: Path) -> None:
    (folder / "socket").chmod(0o777)


def test_own_governor_is_believed(place: str):
    with forged(place, os.getuid()):
        assert client.ask(place, "claude", b"{}") == (0, b"", b"")


@pytest.mark.parametrize("spoil", [open_to_others, make_a_link, open_socket])
def test_governor_in_a_doubtful_place_is_not_asked(place: str, spoil: Callable[[Path], None]):
    with forged(place, os.getuid()) as forger:
        spoil(Path(place).parent)
        assert client.ask(place, "claude", b"{}") is None
        assert forger.stdout
        os.set_blocking(forger.stdout.fileno(), False)
        assert not forger.stdout.read()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("is_whole_folder", [True, False])
def test_governor_of_another_user_is_not_asked(is_whole_folder: bool):
    with tempfile.TemporaryDirectory() as top:
        folder = Path(top) / "flyball"
        Path(top).chmod(0o755)
        folder.mkdir(0o700)
        folder.chmod(0o700 if is_whole_folder else 0o777)
        if is_whole_folder:
            os.chown(folder, NOBODY, NOBODY)
        place = str(folder / "socket")
        with forged(place, NOBODY) as forger:
            folder.chmod(0o700)
            assert client.ask(place, "claude", b"{}") is None
            # Nor is a lock file made in there, by which others could be kept waiting.
            if is_whole_folder:
                assert client.start_governor_and_ask(place, "claude", b"{}")[0] == 0
                assert [each.name for each in folder.iterdir()] == ["socket"]
            assert forger.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_peer_decides_where_the_socket_was_handed_over(place: str):
    with tempfile.TemporaryDirectory() as top:
        Path(top).chmod(0o777)
        theirs = f"{top}/socket"
        with forged(theirs, NOBODY):
            os.chown(theirs, 0, 0)
            Path(theirs).rename(place)
            assert client.objection_to_socket(place) == ""
            assert client.ask(place, "claude", b"{}") is None


def test_governor_does_not_serve_in_a_doubtful_place(place: str, tmp_path: Path):
    Path(place).parent.chmod(0o755)
    resident.serve(place, open_home(tmp_path, {"HOME": str(tmp_path)}, {}))
    assert not Path(place).exists()
    assert not Path(f"{place}.lock").exists()
