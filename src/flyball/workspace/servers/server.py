"""One run's servers: started once, found again, and ended with whoever started them."""

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
"""A server prints for as long as it lives; its log is bounded, not its output."""


class ServerPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """What serves a directory; `{port}` in its command is where a port can be chosen."""

    name: str
    command: str
    at: str = "."
    port: int = 0
    """Where it usually listens; 0 where nobody knows."""
    origin: str = ""


class WantedServer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A server that the run has started and not stopped, and where it was found."""

    plan: ServerPlan
    port: int = 0


class ServerStart(NamedTuple):
    """All that one start of a server needs; what `rest` holds goes when the server does."""

    command: str
    cwd: Path
    env: Mapping[str, str]
    sandbox: Sandbox
    redactor: Redactor
    memory: int
    rest: ExitStack


class RunServer:
    """A server under way, the tree that it was started from, and what it has printed."""

    def __init__(self, plan: ServerPlan, tree: str, wanted: ServerStart, log: ServerLog) -> None:
        self.plan = plan
        self.tree = tree
        self.log = log
        self.listener: Listener | None = None
        """Where it listens, once that is known."""
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
        """Its address, or nothing while it does not listen."""
        return f"http://{self.listener.host}:{self.listener.port}" if self.listener else ""

    def end(self) -> str:
        """End it and all that it started, and say how it ended; harmless when repeated."""
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
    """The servers of one run: what is wanted, what is under way, and the network between them."""

    def __init__(self, place: Path) -> None:
        self.place = place
        """The run's own directory for logs and for the list of wanted servers."""
        self.lock = asyncio.Lock()
        """Held while servers are started or stopped: two looks at once must not start two."""
        self.network = RunNetwork()
        self.under_way: dict[str, RunServer] = {}

    def wanted(self) -> dict[str, WantedServer]:
        """The servers that this run has started and not stopped, also before a restart."""
        try:
            data = (self.place / "wanted.json").read_bytes()
            return msgspec.json.decode(data, type=dict[str, WantedServer])
        except (FileNotFoundError, msgspec.MsgspecError):
            return {}

    def remember(self, name: str, wanted: WantedServer | None) -> None:
        """Write down that a server is wanted from now on, or no longer."""
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
        """What a server has printed, also one that has ended."""
        return read_log(self.log_of(name))

    def start(self, plan: ServerPlan, tree: str, wanted: ServerStart) -> RunServer:
        """Start a server in the run's network; whether it gets ready is for the caller to see."""
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
        """The ports that servers of this run listen on, each with its server's name."""
        return {
            each.listener.port: name
            for name, each in self.under_way.items()
            if each.listener and name != but and not each.is_over
        }

    def end(self, name: str) -> str:
        """End a server, if it is under way, and say how it ended."""
        found = self.under_way.pop(name, None)
        return found.end() if found else ""

    def close(self) -> None:
        """End them all; what was wanted stays written down, for whoever goes on."""
        for name in [*self.under_way]:
            self.end(name)
        self.network.close()


LARGEST = 4 << 20
"""Bytes of one file. The one before it is kept as well, so that a log never begins empty."""


class ServerLog:
    """Takes text as it comes; of much text the last 4 to 8 MiB are kept."""

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
        """Write text down, and put what is full aside."""
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
        """No more will come."""
        self._file.close()

    def text(self) -> str:
        """All that is kept, the oldest first."""
        return read_log(self.path)


def read_log(path: Path) -> str:
    """What is kept of a log, also of one from an earlier process; nothing where there is none."""
    found = b""
    for each in (path.with_suffix(".older"), path):
        if each.is_file():
            found += each.read_bytes()
    return found.decode(errors="replace")


def _opened(path: Path) -> IO[bytes]:
    return open(path, "wb", buffering=0, opener=_open_private)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
