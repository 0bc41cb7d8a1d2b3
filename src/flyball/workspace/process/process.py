"""Run a third-party command: confined, limited, captured, and ended with all descendants.

`run` waits for the end, `start` returns a running command. Either runs the command below a
supervisor (see `sandbox.supervisor`) that confines it and leaves no orphans.
"""

from __future__ import annotations

import asyncio
import codecs
import marshal
import os
import select
import shlex
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

from flyball.errors import ToolError, ToolUnavailable
from flyball.workspace.files.plain import remove_tree
from flyball.workspace.process.spawn import Finished, spawn_supervisor, start_failure
from flyball.workspace.redaction import Redactor
from flyball.workspace.sandbox import private_home
from flyball.workspace.sandbox.confinement import (
    CommandLimits,
    Mechanism,
    Sandbox,
    check_directory,
    check_log,
    orders,
    rlimits,
)
from flyball.workspace.sandbox.supervisor import ABNORMAL

__all__ = [
    "CommandLimits",
    "Finished",
    "Running",
    "can_layer",
    "means_for",
    "run",
    "start",
    "works",
]

_GRACE = 5.0
_CHUNK = 1 << 16


async def run(
    command: str | Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    sandbox: Sandbox,
    limits: CommandLimits | None = None,
    log: Path | None = None,
    on_output: Callable[[str], None] | None = None,
    stdin: bytes | None = None,
    redactor: Redactor | None = None,
) -> Finished:
    """Run a command to its end, within its sandbox and limits; cancelling ends all of it."""
    running = start(
        command,
        cwd=cwd,
        env=env,
        sandbox=sandbox,
        limits=limits,
        log=log,
        on_output=on_output,
        stdin=stdin,
        redactor=redactor,
    )
    try:
        return await running.wait()
    finally:
        running.close()


def start(
    command: str | Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    sandbox: Sandbox,
    limits: CommandLimits | None = None,
    log: Path | None = None,
    on_output: Callable[[str], None] | None = None,
    stdin: bytes | None = None,
    redactor: Redactor | None = None,
) -> Running:
    """Start a command and return immediately; the caller must stop it."""
    limits = limits or CommandLimits()
    check_directory(cwd, sandbox)
    check_log(log, sandbox)
    means = means_for(sandbox)
    argv = _shell_argv(command) if isinstance(command, str) else list(command)
    if any("\0" in word for word in argv):
        raise ToolError("A command cannot contain a NUL character.", "Leave it out.")
    place = private_home.make(sandbox.private)
    wanted = {
        **orders(sandbox, means, env, place),
        "argv": argv,
        "cwd": str(cwd),
        "env": {**env, **private_home.variables(place)},
        "rlimits": rlimits(limits),
        "memory": limits.memory,
        "processes": limits.processes,
    }
    return Running(
        wanted,
        limits,
        stdin=stdin,
        sink=Output(limits.kept, log, on_output, redactor),
        place=place,
        is_kept=sandbox.private is not None,
    )


class Running:
    """A running command: its output so far, whether it has ended, and ways to end it."""

    def __init__(
        self,
        wanted: Mapping[str, Any],
        limits: CommandLimits,
        *,
        stdin: bytes | None,
        sink: Output,
        place: Path,
        is_kept: bool,
    ) -> None:
        self._limits = limits
        self._sink = sink
        self._place = place
        self._is_kept = is_kept
        self._before = private_home.files(place)
        self._strays: tuple[str, ...] = ()
        self._argv: Sequence[str] = wanted["argv"]
        self._cwd: str = wanted["cwd"]
        self._over = ""
        self._answer = b""
        self._began = time.monotonic()
        self._finished: Finished | None = None
        self._is_closed = False
        self._process, self._control, self._output = spawn_supervisor(wanted, stdin)
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._loop.add_reader(self._output, self._read_output)
        self._loop.add_reader(self._control, self._read_supervisor)
        self._alarm = self._loop.call_later(limits.seconds, self._expire)

    @property
    def text(self) -> str:
        """Return the output so far, limited in size."""
        return self._sink.text()

    @property
    def is_over(self) -> bool:
        """Return whether the command and all its descendants have ended."""
        return self._is_closed or self._ended.done()

    async def wait(self) -> Finished:
        """Wait for the end, and return the result."""
        # Shielded: cancelling one waiter must not cancel the future that others wait for.
        await asyncio.shield(self._ended)
        return self.stop()

    def stop(self) -> Finished:
        """End the command and every descendant if still running; may be called repeatedly."""
        self.close()
        if self._finished is None:
            self._finished = self._conclude()
        return self._finished

    def close(self) -> None:
        """End it like `stop`, without a result; raise no error."""
        if not self._is_closed:
            self._is_closed = True
            self._close()

    def _read_output(self) -> None:
        piece = os.read(self._output, _CHUNK)
        if not piece:
            self._loop.remove_reader(self._output)
            return
        self._sink.feed(piece)
        if self._sink.bytes > self._limits.output and not self._over:
            self._over = "output"
            self._request_end()

    def _read_supervisor(self) -> None:
        piece = self._control.recv(_CHUNK)
        self._answer += piece
        if not piece:
            self._loop.remove_reader(self._control)
            if not self._ended.done():
                self._ended.set_result(None)

    def _expire(self) -> None:
        self._over = self._over or "seconds"
        self._request_end()

    def _request_end(self) -> None:
        """Request the supervisor to end everything and exit."""
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)

    def _close(self) -> None:
        # The order matters: no callback may fire once this begins, the supervisor gets time to end
        # every descendant, and only after it has exited is the pipe drained and closed.
        self._alarm.cancel()
        self._loop.remove_reader(self._output)
        self._loop.remove_reader(self._control)
        self._request_end()
        # Blocks for at most that time, and usually not at all: the supervisor answers within a kill
        # and a wait. Without an answer it is killed, and its children die with it.
        self._answer += _read_answer(self._control)
        self._control.close()
        if not self._answer:
            self._process.kill()
        self._process.wait()
        self._drain()
        self._sink.close()
        os.close(self._output)
        if not self._ended.done():
            self._ended.set_result(None)
        self._strays = tuple(sorted(private_home.files(self._place) - self._before))
        if not self._is_kept:
            remove_tree(self._place)

    def _drain(self) -> None:
        """Read the rest of the pipe, up to the limit."""
        # Non-blocking: a process that could not be ended may keep the other end open.
        os.set_blocking(self._output, False)
        with suppress(BlockingIOError):
            while self._sink.bytes <= self._limits.output:
                piece = os.read(self._output, _CHUNK)
                if not piece:
                    return
                self._sink.feed(piece)

    def _conclude(self) -> Finished:
        answer: dict[str, Any] = (
            marshal.loads(self._answer)
            if self._answer
            else {"status": None, "over": ABNORMAL, "report": b"+"}
        )
        report: bytes = answer["report"]
        over: str = self._over or answer["over"]
        status: int | None = answer["status"]
        # An empty report without a status means that it was ended before it began, which is no
        # failure to start.
        if report != b"+" and not (status is None and not report):
            raise start_failure(report, self._argv, self._cwd, self._sink.text())
        code = None if status is None else os.waitstatus_to_exitcode(status)
        return Finished(
            exit_code=code if code is not None and code >= 0 else None,
            signal=-code if code is not None and code < 0 else None,
            timed_out=over == "seconds",
            output=self._sink.text(),
            cut_bytes=self._sink.cut,
            bytes=self._sink.bytes,
            elapsed=time.monotonic() - self._began,
            log=self._sink.log,
            over_limit=over,
            strays=self._strays,
            unreachable=answer.get("unreachable", 0),
        )


def means_for(sandbox: Sandbox) -> Mechanism:
    """Return the mechanism for exactly the requested level; raise if it is unavailable."""
    choices = [m for m in Mechanism if m.level is sandbox.level]
    if sandbox.mechanism is not None:
        choices = [m for m in choices if m is sandbox.mechanism]
    if sandbox.joins:
        choices = [m for m in choices if m is Mechanism.NAMESPACES]
    for means in choices:
        if works(means):
            return means
    raise ToolUnavailable(
        f"This machine cannot confine a command at level {sandbox.level}.",
        "Run `flyball doctor` to see what it can do.",
    )


@cache
def works(means: Mechanism) -> bool:
    """Return whether a trivial command ran successfully with this mechanism."""
    if means is Mechanism.NONE:
        return True
    place = private_home.make(None)
    try:
        return _is_run(Sandbox(level=means.level, root=place), means, place, "exit 7")
    finally:
        shutil.rmtree(place, ignore_errors=True)


@cache
def can_layer(folder: Path) -> bool:
    """Return whether commands can get an overlay in that directory over another one."""
    if not works(Mechanism.NAMESPACES):
        return False
    place = private_home.make(None)
    tried = Path(tempfile.mkdtemp(dir=folder, prefix="layered-"))
    below, layer = tried / "below", tried / "layer"
    below.mkdir()
    try:
        level = Mechanism.NAMESPACES.level
        sandbox = Sandbox(level=level, root=place, layered=((below, layer),))
        script = f"echo > {shlex.quote(os.fspath(below / 'file'))} && exit 7"
        written = _is_run(sandbox, Mechanism.NAMESPACES, place, script)
        return written and not any(below.iterdir())
    finally:
        remove_tree(tried)
        shutil.rmtree(place, ignore_errors=True)


def _is_run(sandbox: Sandbox, means: Mechanism, place: Path, script: str) -> bool:
    """Return whether a script ran in that sandbox; it exits with code 7."""
    ruled = orders(sandbox, means, {}, place)
    if means is Mechanism.LANDLOCK and not ruled.get("filter"):
        return False  # without the filter, datagrams and local sockets would stay open
    wanted: dict[str, Any] = {
        **ruled,
        # An exit code that no other failure produces: 7 means that the command itself ran.
        "argv": ["/bin/sh", "-c", script],
        "cwd": "/",
        "env": {},
        "rlimits": [],
        "memory": 1 << 32,
        "processes": 8,
    }
    process, control, output = spawn_supervisor(wanted, None)
    answer = _read_answer(control)
    control.close()
    os.close(output)
    process.wait()
    # No answer: it crashed. No status: the command was never started.
    status: int | None = marshal.loads(answer)["status"] if answer else None
    return status is not None and os.waitstatus_to_exitcode(status) == 7


def _read_answer(control: socket.socket) -> bytes:
    """Return the supervisor's remaining replies, within the time it gets to end all descendants."""
    words = b""
    deadline = time.monotonic() + _GRACE
    while (left := deadline - time.monotonic()) > 0:
        ready, _, _ = select.select([control], [], [], left)
        if not ready:
            break
        try:
            piece = control.recv(_CHUNK)
        except ConnectionResetError:
            break
        if not piece:
            break
        words += piece
    return words


def _shell_argv(command: str) -> list[str]:
    # Never by the user's PATH: a planted bash would read every command.
    bash = shutil.which("bash", path="/usr/bin:/bin:/usr/local/bin")
    return [bash, "--noprofile", "--norc", "-c", command] if bash else ["/bin/sh", "-c", command]


class Output:
    """Collects output and keeps its beginning and end."""

    def __init__(
        self,
        kept: int,
        log: Path | None = None,
        on_output: Callable[[str], None] | None = None,
        redactor: Redactor | None = None,
    ) -> None:
        self.bytes = 0
        self.cut = 0
        self.log = log
        self._room = max(kept // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._redacted = redactor.stream() if redactor else None
        self._on_output = on_output
        self._trouble = ""
        self._file = self._open(log)

    def feed(self, piece: bytes) -> None:
        """Add bytes: redact them, keep both ends, log them, and pass them on."""
        self.bytes += len(piece)
        # Decoded before it is redacted: a piece may end inside a character, and inside a secret.
        text = self._decoder.decode(piece)
        self._keep(self._redacted.feed(text) if self._redacted else text)

    def close(self) -> None:
        """Process text that was held back, since no more will come, and close the log."""
        text = self._decoder.decode(b"", final=True)
        self._keep(self._redacted.feed(text) + self._redacted.close() if self._redacted else text)
        if self._file:
            self._file.close()
            self._file = None

    def text(self) -> str:
        """Return the output, with a note where some of it was omitted."""
        head = bytes(self._head).decode(errors="ignore")
        tail = bytes(self._tail).decode(errors="ignore")
        if self.cut:
            where = f"; the whole is in {self.log}" if self.log else ""
            head = f"{head}\n[… {self.cut} bytes left out{where} …]\n"
        return head + tail + self._trouble

    def _keep(self, text: str) -> None:
        if not text:
            return
        data = text.encode(errors="replace")
        self._write(data)
        space = self._room - len(self._head)
        if space > 0:
            self._head += data[:space]
            data = data[space:]
        self._tail += data
        excess = len(self._tail) - self._room
        if excess > 0:
            del self._tail[:excess]
            self.cut += excess
        if self._on_output:
            self._on_output(text)

    def _open(self, log: Path | None) -> IO[bytes] | None:
        if log is None:
            return None
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            return open(log, "wb", buffering=0, opener=_open_no_link)
        except OSError as error:
            self._lose_log(error)
            return None

    def _write(self, data: bytes) -> None:
        if self._file:
            try:
                self._file.write(data)
            except OSError as error:
                self._file.close()
                self._file = None
                self._lose_log(error)

    def _lose_log(self, error: OSError) -> None:
        """Continue without the log: its failure must not lose the command's result."""
        self._trouble = f"\n[the log {self.log} could not be kept: {error.strerror}]\n"
        self.log = None


def _open_no_link(path: str, flags: int) -> int:
    """Open a log, unless it was replaced by a link since `check_log` checked it."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
