"""The kernel restrictions of one command: its level, its limits, and the resulting orders.

The directories that a command may read are listed in `readable`, nowhere else.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from flyball.errors import OutsideWorkspace, ToolError, ToolUnavailable
from flyball.workspace.sandbox import landlock, places, seccomp, sockets
from flyball.workspace.sandbox.landlock import (
    AROUND_HIDDEN,
    DEVICE,
    IOCTL_DEV,
    READ,
    READ_DIR,
    WRITE,
)

_PACKAGE = Path(__file__).parent
# The supervisor must not run any package's initialiser: flyball and flyball.workspace are created
# as empty modules, so that starting a command costs milliseconds and not the import of msgspec.
_BOOT = """
import sys
for name in ("flyball", "flyball.workspace", "flyball.workspace.sandbox"):
    sys.modules[name] = module = type(sys)(name)
    module.__path__ = []
module.__path__ = [{here!r}]
from flyball.workspace.sandbox import supervisor
supervisor.{entry}(int(sys.argv[1]))
"""


class SandboxLevel(StrEnum):
    """The mechanism that confines a command."""

    NAMESPACES = "kernel+namespaces"
    KERNEL = "kernel"
    NONE = "none"


class Mechanism(StrEnum):
    """The mechanism that provides a level, best first."""

    NAMESPACES = "namespaces"
    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    NONE = "none"

    @property
    def level(self) -> SandboxLevel:
        """Return the level that this mechanism provides."""
        return {
            Mechanism.NAMESPACES: SandboxLevel.NAMESPACES,
            Mechanism.BUBBLEWRAP: SandboxLevel.NAMESPACES,
            Mechanism.LANDLOCK: SandboxLevel.KERNEL,
            Mechanism.NONE: SandboxLevel.NONE,
        }[self]


class Sandbox(msgspec.Struct, frozen=True):
    """The access rights of one command.

    `writable` and `readable` add directories outside `root`; `fixed` are paths inside it that stay
    read-only if the level supports that, and `hidden` are files that then appear empty; `home` is
    the user's, whose toolchains may be read. `private` is kept between commands; without it each
    command gets a temporary one. `mechanism` selects the mechanism; by default it is the best
    available for `level`. `joins` are the open namespaces of a `RunNetwork`: the command then runs
    in that network. What a command writes to a directory in `layered` goes to the directory mapped
    to it and is visible to no other process. Only namespaces can do that.
    """

    level: SandboxLevel
    root: Path
    writable: tuple[Path, ...] = ()
    read_only: bool = False
    network: bool = False
    readable: tuple[Path, ...] = ()
    fixed: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    home: Path | None = None
    private: Path | None = None
    mechanism: Mechanism | None = None
    joins: tuple[int, ...] = ()
    layered: tuple[tuple[Path, Path], ...] = ()


class CommandLimits(msgspec.Struct, frozen=True):
    """Resource limits of one command. Sizes are in bytes; `kept` limits its output text."""

    seconds: float = 120.0
    kept: int = 1 << 16
    output: int = 1 << 26
    memory: int = 1 << 32
    processes: int = 512
    file_size: int = 1 << 32


def supervisor_argv(entry: str) -> list[str]:
    """Return the command that starts the supervisor at an entry, in a bare interpreter."""
    boot = _BOOT.format(here=str(_PACKAGE), entry=entry)
    return [sys.executable, "-I", "-S", "-c", boot]


def orders(
    sandbox: Sandbox, means: Mechanism, env: Mapping[str, str], private: Path
) -> dict[str, Any]:
    """Return what the supervisor does to a child before it becomes the command, as plain values."""
    root = os.path.realpath(sandbox.root)
    ruled: dict[str, Any] = {
        "mechanism": str(means),
        "root": root,
        "read_only": sandbox.read_only,
    }
    if means is Mechanism.NONE:
        return ruled
    # Not `private` itself: a command could then put a link in place of what is mounted next time.
    writable = [str(private / name) for name in ("home", "tmp")]
    writable += map(os.path.realpath, sandbox.writable)
    # A list of readable paths, not of secrets to hide: a list of secrets is never complete.
    shown = [*places.readable_paths(env, sandbox.home)]
    granted = places.granted_paths(sandbox.readable, sandbox.home)
    (granted if sandbox.read_only else writable).append(root)
    shown += granted
    hidden = (*places.owner_only_entries("/etc"), *map(os.path.realpath, sandbox.hidden))
    ruled |= {
        "network": sandbox.network,
        "joins": list(sandbox.joins),
        "filter": _call_filter(sandbox, means),
        "open_ports": sandbox.network or means is not Mechanism.LANDLOCK,
    }
    if means is Mechanism.LANDLOCK:
        # Landlock can only grant. To exclude one entry of a directory, all its other entries have
        # to be granted by name.
        ruled["grants"] = [
            *_grants(shown, hidden, READ, READ_DIR),
            *_grants(writable, hidden, WRITE, AROUND_HIDDEN),
            *((path, DEVICE) for path in places.DEVICES),
        ]
        return ruled
    layers = {os.path.realpath(place): os.fspath(layer) for place, layer in sandbox.layered}
    if layers and means is not Mechanism.NAMESPACES:
        raise ToolUnavailable("Only namespaces can put a layer above a directory.")
    shown += layers
    ruled |= {"shown": shown, "writable": writable, "hidden": list(hidden), "layers": layers}
    ruled["veiled"] = granted
    ruled |= _new_root(sandbox, private, [*writable, *layers])
    if means is Mechanism.BUBBLEWRAP:
        found = sockets.find([root, *granted])
        ruled["hidden"] += sockets.foreign(found, sockets.bound_here(), frozenset())
        ruled["bubblewrap"] = _bubblewrap_argv(ruled)
        ruled["inner"] = supervisor_argv("inner")
    return ruled


def _grants(
    tops: Sequence[str], hidden: Sequence[str], whole: int, around: int
) -> list[tuple[str, int]]:
    parts = [each for top in tops for each in places.parts_around(top, hidden)]
    return [(path, whole if is_whole else around) for path, is_whole in parts]


def _new_root(sandbox: Sandbox, private: Path, writable: Sequence[str]) -> dict[str, Any]:
    """Return the orders for the command's own root, and Landlock's grants inside it."""
    # Programs that ignore HOME and TMPDIR still use the real paths, so the private directories are
    # also mounted over the user's own.
    instead = [(str(private / "tmp"), "/tmp")]
    if sandbox.home and sandbox.home != Path("/"):
        instead.append((str(private / "home"), os.path.realpath(sandbox.home)))
    places = ("/dev/shm", *(path for _, path in instead), *writable)
    return {
        # Landlock again inside the new root, though only granted paths exist there: one mistake in
        # the mounts must not be enough to escape.
        "grants": [("/", READ), ("/dev", DEVICE | IOCTL_DEV), *((path, WRITE) for path in places)],
        "stage": str(private / "stage"),
        "instead": instead,
        "fixed": [os.path.realpath(path) for path in sandbox.fixed],
    }


def rlimits(limits: CommandLimits) -> list[tuple[str, int]]:
    """Return the limits that the kernel enforces, by name, for each process of the command.

    The supervisor monitors the memory and number of all processes together.
    """
    wanted = [
        ("RLIMIT_CORE", 0),
        ("RLIMIT_DATA", limits.memory),
        ("RLIMIT_FSIZE", limits.file_size),
    ]
    with suppress(OSError, ValueError, IndexError):
        # The kernel counts all of a user's tasks, so the existing ones are added.
        others = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
        wanted.append(("RLIMIT_NPROC", others + limits.processes))
    return wanted


def check_log(log: Path | None, sandbox: Sandbox) -> None:
    """Refuse a log inside the workspace whose path contains a planted link."""
    root = Path(os.path.realpath(sandbox.root))
    base = next((top for top in (root, sandbox.root) if log and log.is_relative_to(top)), None)
    if log is None or base is None:
        return
    if Path(os.path.realpath(log)) != root / log.relative_to(base):
        raise OutsideWorkspace(
            str(log),
            f"The log {log} was not written: there is a link in its path.",
            "Remove the link and try again.",
        )


def check_directory(cwd: Path, sandbox: Sandbox) -> None:
    """Refuse to start a command outside its workspace, or in one that contains the whole home."""
    real = Path(os.path.realpath(cwd))
    places = (sandbox.root, *sandbox.writable, *sandbox.readable)
    if not any(real.is_relative_to(os.path.realpath(place)) for place in places):
        raise OutsideWorkspace(
            str(cwd),
            f"A command may not start in {cwd}: that is outside the workspace.",
            "Start it in a directory of the workspace.",
        )
    if not real.is_dir():
        raise ToolError(f"A command cannot start in {cwd}: there is no such directory.")
    home = sandbox.home and Path(os.path.realpath(sandbox.home))
    if (
        home
        and sandbox.level is not SandboxLevel.NONE
        and home.is_relative_to(sandbox.root.resolve())
    ):
        raise ToolUnavailable(
            f"The workspace {sandbox.root} holds the whole home directory, so a command in it"
            " cannot be kept from the user's own files.",
            "Start Flyball in a project's directory.",
        )


def _call_filter(sandbox: Sandbox, means: Mechanism) -> bytes:
    bare = means is Mechanism.LANDLOCK
    local = (seccomp.UNIX, seccomp.INET, seccomp.INET6)
    return seccomp.program(
        # NETLINK stays open: getaddrinfo and getifaddrs use it to ask the kernel for addresses, and
        # it reaches no other machine.
        families=(seccomp.NETLINK, *(() if bare and not sandbox.network else local)),
        # Landlock does not govern chmod, chown and times, so a read-only command without namespaces
        # has those calls refused; with namespaces the mount itself is read-only.
        metadata=not (bare and sandbox.read_only),
        # Before version 3 Landlock let truncate() empty a read-only file.
        truncate=not bare or landlock.abi() >= 3,
        # Shared memory segments outlive their creators; the supervisor can count them only in a
        # namespace that it shares.
        segments=means is Mechanism.NAMESPACES,
    )


def _bubblewrap_argv(ruled: Mapping[str, Any]) -> list[str]:
    argv = [shutil.which("bwrap") or "bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-uts"]
    argv += [] if ruled["network"] else ["--unshare-net"]
    argv += ["--die-with-parent", "--dev", "/dev", "--proc", "/proc"]
    for source, path in ruled["instead"]:
        argv += ["--bind", source, path]
    open_to_change = set(ruled["writable"])
    # Sorted, so that an outer directory is bound before those inside it; the reverse order would
    # cover them. /proc was mounted anew above: the machine's shows all processes.
    for path in sorted({*ruled["shown"], *open_to_change, str(_PACKAGE)} - {"/proc"}):
        if Path(path).is_symlink():
            argv += ["--symlink", str(Path(path).readlink()), path]
        else:
            argv += ["--bind" if path in open_to_change else "--ro-bind", path, path]
    for path in ruled["fixed"]:
        argv += ["--ro-bind-try", path, path]
    for path in ruled["hidden"]:
        argv += ["--tmpfs", path] if Path(path).is_dir() else ["--ro-bind", "/dev/null", path]
    return [*argv, "--chdir", "/", "--"]
