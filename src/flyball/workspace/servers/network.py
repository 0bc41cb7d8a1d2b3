"""A network for the servers of one run: a loopback of its own, with no other processes."""

from __future__ import annotations

import marshal
import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from flyball.errors import ToolUnavailable
from flyball.workspace.process.process import works
from flyball.workspace.process.spawn import NetworkHolder, spawn_holder
from flyball.workspace.sandbox.confinement import Mechanism

NO_NETWORK = "This machine cannot give a run a network of its own."
_LISTENS = "0A"
_SECONDS = 10.0


def can_serve() -> bool:
    """Return whether servers can be started here in a network of their own."""
    return works(Mechanism.NAMESPACES)


class Listener(NamedTuple):
    """A listening port, and the host name to reach it."""

    port: int
    host: str


class RunNetwork:
    """A network that is created on first use, and ends when it is closed or this process dies."""

    def __init__(self) -> None:
        self._holder: NetworkHolder | None = None
        self._spaces: tuple[int, ...] = ()

    def joins(self) -> tuple[int, ...]:
        """Return the open namespaces that a command enters to run in this network."""
        if not self._spaces:
            self._open()
        return self._spaces

    def listeners(self) -> dict[int, Listener]:
        """Return every port that a process listens on now."""
        found: dict[int, Listener] = {}
        if self._holder is None:
            return found
        # IPv4 last, since it wins: a server that has both is reached by the simpler address.
        for name, host in (("tcp6", "localhost"), ("tcp", "127.0.0.1")):
            for line in _lines(self._holder.process.pid, name):
                fields = line.split()
                if fields[3] == _LISTENS:
                    port = int(fields[1].rpartition(":")[2], 16)
                    found[port] = Listener(port, _host(fields[1], host))
        return found

    def close(self) -> None:
        """Close the network; may be called repeatedly."""
        for fd in self._spaces:
            os.close(fd)
        self._spaces = ()
        if self._holder is not None:
            self._holder.control.close()
            self._holder.process.wait()
            self._holder = None

    def _open(self) -> None:
        holder = self._holder = spawn_holder()
        holder.control.settimeout(_SECONDS)
        said = b""
        with suppress(OSError):
            said = holder.control.recv(1 << 12)
        names = marshal.loads(said) if said else "it did not respond"
        if isinstance(names, str):
            self.close()
            raise ToolUnavailable(f"{NO_NETWORK} {names}.", "Run `flyball doctor`.")
        place = f"/proc/{holder.process.pid}/ns"
        flags = os.O_RDONLY | os.O_CLOEXEC
        self._spaces = tuple(os.open(f"{place}/{name}", flags) for name in names)


def _lines(pid: int, name: str) -> list[str]:
    try:
        return Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]
    except OSError:
        return []


def _host(address: str, usual: str) -> str:
    """Return the host of an address: listening on all IPv6 addresses includes IPv4."""
    bare = address.partition(":")[0]
    return "127.0.0.1" if len(bare) == 32 and not bare.strip("0") else usual
