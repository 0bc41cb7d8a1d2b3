"""The command line in processes of their own that need not load it: most of a command's time.

One Python loads every command once and forks for each that is typed. What comes out is a real
process with its own environment, directory and exit code; only its start is not its own, which the
tests of the demo, the tutorial, the examples and every command that is killed still go through.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, NoReturn

from flyball.cli import main

ROOT = Path(__file__).parents[1]
ROOMS = ("flyball.app", "flyball.cli")
"""Loading these loads everything that a command needs, but for the providers of models."""
LIMIT = 900.0


def run_command(
    words: Sequence[str], cwd: Path, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """What a command printed and how it ended, as `subprocess.run` tells it."""
    if not _can_be_forked(env):
        start = "from flyball.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", start, *words],
            cwd=cwd,
            env=env,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            stdin=subprocess.DEVNULL,
        )
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        order = {"words": list(words), "cwd": str(cwd), "env": dict(env)}
        code = _order(order, out, err)
        return subprocess.CompletedProcess(list(words), code, _text(out), _text(err))


def _can_be_forked(env: Mapping[str, str]) -> bool:
    """Whether nothing in an environment would have made the interpreter start otherwise."""
    if not hasattr(os, "fork"):
        return False
    others = {name for name in env if name.startswith("PYTHON")} - {"PYTHONPATH"}
    return not others and env.get("PYTHONPATH", "") == os.environ.get("PYTHONPATH", "")


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")


def _order(order: dict[str, object], out: IO[bytes], err: IO[bytes]) -> int:
    here, there = socket.socketpair()
    with here:
        with there:
            fds = [there.fileno(), out.fileno(), err.fileno()]
            socket.send_fds(_server(), [b"."], fds)
        here.settimeout(LIMIT)
        here.sendall(json.dumps(order).encode())
        here.shutdown(socket.SHUT_WR)
        with here.makefile("r") as answers:
            answer = answers.readline()
    if not answer:
        raise RuntimeError(f"nobody forks commands any more: {_text(err)}")
    return int(answer)


@cache
def _server() -> socket.socket:
    """The line to the Python that has everything loaded; it ends when this process does."""
    here, there = socket.socketpair()
    env = {name: value for name, value in os.environ.items() if not name.startswith("FLYBALL_")}
    with there:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.warm"], cwd=ROOT, env=env, stdin=there.fileno()
        )
    atexit.register(_stop, server, here)
    return here


def _stop(server: subprocess.Popen[bytes], line: socket.socket) -> None:
    line.close()
    server.wait()


def serve() -> None:
    """Fork for every order, until whoever gives them is gone."""
    for room in ROOMS:
        package = importlib.import_module(room)
        for module in pkgutil.walk_packages(package.__path__, f"{room}."):
            importlib.import_module(module.name)
    # What a script of the environment would have there: nobody's directory, and not the tests.
    sys.path[0] = str(Path(sys.executable).parent)
    gc.freeze()
    orders = socket.socket(fileno=os.dup(0))
    while fds := socket.recv_fds(orders, 1, 3)[1]:
        if os.fork() == 0:
            orders.close()
            _see_through(*fds)
            os._exit(0)
        for fd in fds:
            os.close(fd)
        while _has_ended_child():
            pass


def _has_ended_child() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG) != (0, 0)
    except ChildProcessError:
        return False


def _see_through(line: int, out: int, err: int) -> None:
    """Let a command run in a process of its own, and tell how it ended."""
    with socket.socket(fileno=line) as answer:
        with answer.makefile("rb") as asked:
            order = json.load(asked)
        pid = os.fork()
        if pid == 0:
            _become(order["words"], order["cwd"], order["env"], out, err)
        _, status = os.waitpid(pid, 0)
        answer.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _become(words: list[str], cwd: str, env: dict[str, str], out: int, err: int) -> NoReturn:
    """Be the command; its exit unwinds this whole process, as it would its own."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (out, 1), (err, 2)):
        os.dup2(source, target)
        os.close(source)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", closefd=False, buffering=1)  # noqa: SIM115
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["flyball", *words]
    main()


if __name__ == "__main__":
    serve()
