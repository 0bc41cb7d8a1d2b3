"""Start processes: every program that Flyball starts is started here.

Flyball's own tools (git, rg) run directly, with `run_sync`; a tool that answers repeated requests
is a `Companion`. A third-party command runs below a supervisor, started by `spawn_supervisor`;
`process` runs and ends such commands. The command that notifies a person is the user's own, and
runs independently.
"""

from __future__ import annotations

import marshal
import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import msgspec

from flyball.errors import ToolError, ToolTimeout, ToolUnavailable
from flyball.workspace.sandbox.confinement import supervisor_argv
from flyball.workspace.sandbox.supervisor import ABNORMAL

_QUICK = 0.3
"""Seconds within which most of our own tools end."""


class OwnOutput(msgspec.Struct, frozen=True):
    """The exit code and output of one of Flyball's own tools."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    elapsed: float


def run_sync(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    seconds: float = 120.0,
    stdin: bytes | None = None,
    holds: tuple[int, ...] = (),
) -> OwnOutput:
    """Run one of Flyball's own tools to its end, without shell, terminal or sandbox.

    The files in `holds` stay open for as long as it runs, even if this process is killed meanwhile.
    """
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A group of its own, so that a timeout ends its children with it, and Ctrl-C does not.
            start_new_session=True,
            pass_fds=holds,
        )
    except FileNotFoundError:
        raise missing_program(argv[0], cwd) from None
    except OSError as error:
        raise ToolUnavailable(f"{argv[0]} could not be started: {error.strerror}.") from None
    mourner: subprocess.Popen[bytes] | None = None
    try:
        try:
            out, err = process.communicate(stdin, timeout=min(_QUICK, seconds))
        except subprocess.TimeoutExpired:
            mourner = _mourn(process.pid)
            out, err = process.communicate(timeout=max(seconds - _QUICK, 0))
    except subprocess.TimeoutExpired:
        raise ToolTimeout(
            f"{Path(argv[0]).name} did not finish within {seconds:g} s and was ended.",
            "Try again when the machine is less busy.",
        ) from None
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        if mourner is not None:
            mourner.kill()
            mourner.communicate()
    return OwnOutput(process.wait(), out, err, time.monotonic() - began)


def _mourn(group: int) -> subprocess.Popen[bytes]:
    """End a process group when this process is killed, which closes its end of a pipe.

    The kernel's parent-death signal is not used: requesting it before a program starts would make
    every start several times slower, and a short process needs no guard.
    """
    return subprocess.Popen(
        ["/bin/sh", "-c", f"read -r _; kill -9 -{group}"],
        cwd="/",
        env={},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _start(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, stdout: int
) -> subprocess.Popen[bytes]:
    """Start a program in its own group, with a pipe to its input."""
    try:
        return subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolUnavailable(f"{argv[0]} could not be started: {error.strerror}.") from None


class Companion:
    """A program of Flyball's own that answers requests line by line until it is closed.

    It exits together with this process, since its input ends then.
    """

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self._process = _start(argv, cwd, env, stdout=subprocess.PIPE)

    def ask(self, line: bytes) -> bytes:
        """Return the answer to one line; raise if the companion has ended."""
        asked, answer = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        with suppress(BrokenPipeError):
            asked.write(line + b"\n")
            asked.flush()
        if not (reply := answer.readline()).endswith(b"\n"):
            raise ToolUnavailable("A program that Flyball started has ended.")
        return reply

    def close(self) -> None:
        """End it, and wait until it has ended."""
        self._process.kill()
        self._process.communicate()


def leave(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: bytes) -> None:
    """Start a command of the user's in the background with a small input."""
    process = _start(argv, cwd, env, stdout=subprocess.DEVNULL)
    # Written at once, since this process may be about to end; a command may ignore its input.
    with suppress(BrokenPipeError), cast(IO[bytes], process.stdin) as pipe:
        pipe.write(stdin)
    threading.Thread(target=process.wait, daemon=True).start()


def spawn_supervisor(
    wanted: Mapping[str, Any], stdin: bytes | None
) -> tuple[subprocess.Popen[bytes], socket.socket, int]:
    """Start a supervisor with its orders; return it, its control socket, and the output pipe."""
    ours, theirs = socket.socketpair()
    hear, speak = os.pipe()
    try:
        with _input_file(stdin) as source:
            process = subprocess.Popen(
                # The environment stays empty and the directory is /: what the command gets is in
                # its orders, and the supervisor must not be affected by a PYTHONPATH or a module in
                # the workspace.
                [*supervisor_argv("main"), str(theirs.fileno())],
                cwd="/",
                env={},
                stdin=source,
                stdout=speak,
                stderr=speak,
                pass_fds=(theirs.fileno(), *wanted.get("joins", ())),
                start_new_session=True,
            )
    except OSError as error:
        ours.close()
        os.close(hear)
        raise ToolUnavailable(f"A command could not be started: {error.strerror}.") from None
    finally:
        theirs.close()
        os.close(speak)
    packed = marshal.dumps(dict(wanted))
    # A program that dies at once is detected when its answer is read; a broken pipe adds nothing.
    with suppress(BrokenPipeError):
        ours.sendall(len(packed).to_bytes(8, "big") + packed)
    return process, ours, hear


class NetworkHolder(NamedTuple):
    """A process that keeps a network namespace, and the socket whose closing ends it."""

    process: subprocess.Popen[bytes]
    control: socket.socket


def spawn_holder() -> NetworkHolder:
    """Start a process that keeps a run's network until this one closes the socket or dies."""
    ours, theirs = socket.socketpair()
    try:
        process = subprocess.Popen(
            [*supervisor_argv("hold"), str(theirs.fileno())],
            cwd="/",
            env={},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise ToolUnavailable(f"A network could not be made: {error.strerror}.") from None
    finally:
        theirs.close()
    return NetworkHolder(process, ours)


def _input_file(stdin: bytes | None) -> IO[bytes]:
    """Return a file with the given input, or the null device."""
    if stdin is None:
        return Path(os.devnull).open("rb")
    # A file and not a pipe: a command that never reads its input would block the writer of a pipe.
    file = tempfile.TemporaryFile()  # noqa: SIM115
    file.write(stdin)
    file.seek(0)
    return file


class Finished(msgspec.Struct, frozen=True):
    """The result of a finished command.

    `over_limit` names the limit that ended it, if one did, or is `ABNORMAL`. `strays` are files it
    wrote to its substitute for the user's home, and `unreachable` counts packets without a route.
    """

    exit_code: int | None
    signal: int | None
    timed_out: bool
    output: str
    cut_bytes: int
    bytes: int
    elapsed: float
    log: Path | None
    over_limit: str
    strays: tuple[str, ...] = ()
    unreachable: int = 0

    @property
    def cut_off(self) -> str:
        """Describe what ended it early; empty if it ended by itself."""
        if self.over_limit == ABNORMAL:
            return "it ended abnormally"
        return f"it ran past its limit ({self.over_limit})" if self.over_limit else ""

    @property
    def ok(self) -> bool:
        """Return whether it ended by itself, with exit code 0."""
        return self.exit_code == 0 and not self.over_limit


def start_failure(report: bytes, argv: Sequence[str], cwd: str, output: str) -> ToolError:
    """Return the error for a command that did not start, from its supervisor's report."""
    step, _, rest = report.removeprefix(b"+").decode(errors="replace").partition(":")
    number, _, reason = rest.partition(":")
    if step == "start" and number == "2":
        return missing_program(argv[0], Path(cwd))
    if step in ("start", "directory"):
        return ToolUnavailable(f"{argv[0]} could not be started in {cwd}: {reason}.")
    return ToolUnavailable(
        f"The command was not run, because it could not be confined: {reason or output.strip()}.",
        "Run `flyball doctor` to see what this machine can do.",
    )


def missing_program(program: str, cwd: Path) -> ToolUnavailable:
    """Return the error for a missing program, or for a missing start directory."""
    if not cwd.is_dir():
        return ToolUnavailable(f"{program} was not started: there is no directory {cwd}.")
    return ToolUnavailable(
        f"There is no program {program!r} on this machine.", "Install it, or use another."
    )
