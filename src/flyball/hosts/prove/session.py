"""One session of a real host against the scripted model, on loopback only where possible.

Run as `python -m flyball.hosts.prove.session CASE.json`, in its own network namespace if one is
available. The requests to the model and the host's output are written next to the case.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import struct
import sys
from pathlib import Path
from typing import Any

import msgspec

from flyball.errors import ToolError
from flyball.hosts.prove.model.server import LoopbackModel
from flyball.workspace.process.spawn import run_sync

URL = "@URL@"
"""Placeholder for the model's address, which is unknown until it listens."""
REQUESTS, REPORT = "requests.jsonl", "report.json"
_SET_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41


class SessionCase(msgspec.Struct, frozen=True):
    """A session to start: command, directory, files to write first, and the model's script."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    files: dict[str, str]
    script: dict[str, Any]
    seconds: float
    is_alone: bool


class SessionReport(msgspec.Struct, frozen=True):
    """How a host ended: its exit code, or why it did not exit by itself."""

    exit_code: int | None
    said: str


def raise_loopback() -> None:
    """Bring up loopback, and verify that there is no other interface."""
    with socket.socket() as line:
        fcntl.ioctl(line, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP_AND_RUNNING))
    with socket.socket() as line:
        line.settimeout(1)
        if line.connect_ex(("192.0.2.1", 80)) in (0, errno.EAGAIN):
            raise SystemExit("this network reaches outside")


def play(place: Path) -> None:
    """Run the session of a case."""
    case = msgspec.json.decode(place.read_bytes(), type=SessionCase)
    if case.is_alone:
        raise_loopback()
    with LoopbackModel(case.script, place.with_name(REQUESTS)) as model:
        for name, text in case.files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(text.replace(URL, model.url))
        env = {key: value.replace(URL, model.url) for key, value in case.env.items()}
        try:
            done = run_sync(case.argv, cwd=Path(case.cwd), env=env, seconds=case.seconds)
        except ToolError as error:
            report = SessionReport(None, error.message)
        else:
            said = (done.stderr or done.stdout).decode(errors="replace")
            report = SessionReport(done.exit_code, said)
    place.with_name(REPORT).write_bytes(msgspec.json.encode(report))
    # Leftover processes of the host must not keep this process alive.
    os._exit(0)


if __name__ == "__main__":
    play(Path(sys.argv[1]))
