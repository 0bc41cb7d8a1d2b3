"""The servers of one run: started once, found again, and ended with their starter."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from flyball.errors import ToolError
from flyball.workspace.process.process import CommandLimits, Running, start
from flyball.workspace.redaction import Redactor
from flyball.workspace.sandbox.confinement import Sandbox
from flyball.workspace.servers.network import Listener, RunNetwork

_MONTH = 30 * 24 * 3600.0
_MUCH = 1 << 60
"""A server's output is unlimited; its log is limited."""


class ServerPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command that serves a directory; `{port}` in it is replaced by a chosen port."""

    name: str
    command: str
    at: str = "."
    port: int = 0
    """The usual port; 0 if unknown."""
    origin: str = ""


class WantedServer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A server that the run started and did not stop, with its last address."""

    plan: ServerPlan
    port: int = 0


class ServerStart(NamedTuple):
    """The parameters of one server start; resources in `rest` are released with the server."""

    command: str
    cwd: Path
    env: Mapping[str, str]
    sandbox: Sandbox
    redactor: Redactor
    memory: int
    rest: ExitStack


class RunServer:
    """A running server, the tree that it was started from, and its output."""

    def __init__(self, plan: ServerPlan, tree: str, wanted: ServerStart, log: ServerLog) -> None:
        self.plan = plan
        self.tree = tree
        self.log = log
        self.listener: Listener | None = None
        """The address it listens on, once known."""
        self.answers = False
        """Whether it has answered over HTTP."""
        self._rest = wanted.rest
        self._end = ""
        self._running: Running = start(
            wanted.command,
            cwd=wanted.cwd,
            env=wanted.env,
            sandbox=wanted.sandbox,
            limits=CommandLimits(seconds=_MONTH, kept=1 << 12, output=_MUCH, memory=wanted.memory),
            on_output=log.feed,
            redactor=wanted.redactor,
        )

    @property
    def is_over(self) -> bool:
        return self._running.is_over

    @property
    def url(self) -> str:
        """Return its address; empty while it does not listen."""
        return f"http://{self.listener.host}:{self.listener.port}" if self.listener else ""

    def end(self) -> str:
        """End it and all its processes, and return how it ended; may be called repeatedly."""
        if not self._end:
            was_over = self._running.is_over
            try:
                self._end = _ending(self._running, was_over)
            except ToolError as error:
                self._end = str(error)
            finally:
                self.log.close()
                self._rest.close()
        return self._end


def _ending(running: Running, was_over: bool) -> str:
    finished = running.stop()
    if not was_over:
        return "stopped"
    if finished.cut_off:
        return finished.cut_off
    if finished.signal:
        return f"ended by signal {finished.signal}"
    return f"ended with exit code {finished.exit_code}"


class RunServers:
    """The servers of one run: the wanted ones, the running ones, and their network."""

    def __init__(self, place: Path) -> None:
        self.place = place
        """The run's own directory for logs and for the list of wanted servers."""
        self.lock = asyncio.Lock()
        """Held while servers are started or stopped, so that concurrent calls do not start two."""
        self.network = RunNetwork()
        self.under_way: dict[str, RunServer] = {}

    def wanted(self) -> dict[str, WantedServer]:
        """Return the servers that this run started and did not stop, including before a restart."""
        try:
            data = (self.place / "wanted.json").read_bytes()
            return msgspec.json.decode(data, type=dict[str, WantedServer])
        except (FileNotFoundError, msgspec.MsgspecError):
            return {}

    def remember(self, name: str, wanted: WantedServer | None) -> None:
        """Record that a server is wanted from now on, or no longer."""
        kept = {key: each for key, each in self.wanted().items() if key != name}
        if wanted is not None:
            kept[name] = wanted
        self.place.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = self.place / "wanted.new"
        new.write_bytes(msgspec.json.encode(kept))
        os.replace(new, self.place / "wanted.json")  # noqa: PTH105

    def log_of(self, name: str) -> Path:
        return self.place / f"{name}.log"

    def text_of(self, name: str) -> str:
        """Return a server's output, even after it has ended."""
        return read_log(self.log_of(name))

    def start(self, plan: ServerPlan, tree: str, wanted: ServerStart) -> RunServer:
        """Start a server in the run's network; the caller checks whether it becomes ready."""
        self.end(plan.name)
        try:
            log = ServerLog(self.log_of(plan.name))
            server = RunServer(plan, tree, wanted, log)
        except BaseException:
            wanted.rest.close()
            raise
        self.under_way[plan.name] = server
        return server

    def taken(self, but: str = "") -> dict[int, str]:
        """Return the ports that the run's servers listen on, with their names."""
        return {
            each.listener.port: name
            for name, each in self.under_way.items()
            if each.listener and name != but and not each.is_over
        }

    def end(self, name: str) -> str:
        """End a running server, and return how it ended."""
        found = self.under_way.pop(name, None)
        return found.end() if found else ""

    def close(self) -> None:
        """End them all; the wanted ones stay recorded for the next process."""
        for name in [*self.under_way]:
            self.end(name)
        self.network.close()


LARGEST = 4 << 20
"""Maximum size of one log file; the previous one is kept, so that a log never begins empty."""


class ServerLog:
    """Collects text; the last 4 to 8 MiB are kept."""

    def __init__(self, path: Path, largest: int = LARGEST) -> None:
        self.path = path
        self.bytes = 0
        self._largest = largest
        self._size = 0
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._older.unlink(missing_ok=True)
        self._file: IO[bytes] = _opened(path)

    @property
    def _older(self) -> Path:
        return self.path.with_suffix(".older")

    def feed(self, text: str) -> None:
        """Append text, and rotate a full file."""
        data = text.encode(errors="replace")
        self.bytes += len(data)
        if self._size + len(data) > self._largest:
            self._file.close()
            self.path.replace(self._older)
            self._file = _opened(self.path)
            self._size = 0
            data = data[-self._largest :]
        self._file.write(data)
        self._size += len(data)

    def close(self) -> None:
        """Close the log."""
        self._file.close()

    def text(self) -> str:
        """Return all stored text, oldest first."""
        return read_log(self.path)


def read_log(path: Path) -> str:
    """Return a log's text, even from an earlier process; empty if there is none."""
    found = b""
    for each in (path.with_suffix(".older"), path):
        if each.is_file():
            found += each.read_bytes()
    return found.decode(errors="replace")


def _opened(path: Path) -> IO[bytes]:
    return open(path, "wb", buffering=0, opener=_open_private)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
