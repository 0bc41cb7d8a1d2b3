"""Prove that confinement works: `run_attacks` runs small real attacks and checks their effect."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from flyball.workspace.process import process
from flyball.workspace.process.process import CommandLimits, Finished
from flyball.workspace.sandbox import environment
from flyball.workspace.sandbox.confinement import Mechanism, Sandbox, SandboxLevel

_SECRET = "canary-3f9d2c71b6"
_CONNECT = "import socket; socket.create_connection(('127.0.0.1', {port}), 2).send(b'x')"
_SEND = "import socket; socket.socket(2, 2).sendto(b'x', ('127.0.0.1', {port}))"
_CALL = "import socket; s = socket.socket(1); s.connect({path!r}); s.send(b'x')"
_NAMESPACE = (
    "import ctypes, os, platform; libc = ctypes.CDLL(None); "
    "number = 56 if platform.machine() == 'x86_64' else 220; "
    "flags = (0x10000000, 0x40000000, 0x50000000, 0x20000); "
    "made = [libc.syscall(number, flag | 17, 0, 0, 0, 0) for flag in flags]; "
    "0 in made and os._exit(0); "
    "made += [libc.syscall(435, 0, 0), libc.unshare(0x10000000), libc.setns(0, 0)]; "
    "print(max(made))"
)
_FILL = (
    "f = open('/dev/shm/f', 'wb', 0); b = bytes(1 << 20); [f.write(b) for _ in range(400)]; "
    "print('filled')"
)
_TRACE = (
    "import ctypes, os, signal; print(ctypes.CDLL(None).ptrace(0, 0, 0, 0)); "
    "os.kill(os.getpid(), signal.SIGCHLD)"
)
_KEEP = (
    "import os; fds = [os.memfd_create(str(n)) for n in range(4)]; b = bytes(1 << 20); "
    "[os.write(fd, b) for fd in fds for _ in range(100)]; print('filled')"
)
_LIMITS = CommandLimits(seconds=20)
_SMALL = CommandLimits(seconds=20, memory=200 << 20)
_CONFINED = (SandboxLevel.NAMESPACES, SandboxLevel.KERNEL)
"""Attacks that are skipped without confinement, since they would change the machine itself."""
_PATIENCE = 1_000


class AttackReport(msgspec.Struct, frozen=True):
    """One attack: what was tried, whether it was prevented, and what was observed."""

    name: str
    attack: str
    holds: bool
    seen: str


class Scene:
    """A workspace, a home with a secret, and listening sockets, created for one attack."""

    def __init__(self, top: Path, means: Mechanism) -> None:
        self.means = means
        self.workspace = top / "workspace"
        self.home = top / "home"
        self.target = self.home / "target"
        for folder in (self.workspace, self.home / ".ssh"):
            folder.mkdir(parents=True)
        (self.home / ".ssh" / "id_ed25519").write_text(_SECRET)
        self.target.write_text("before")
        self.target.chmod(0o600)
        (self.workspace / "file").write_text("before")
        (self.workspace / "link").symlink_to(self.target)
        self.stream = socket.create_server(("127.0.0.1", 0))
        self.datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.datagrams.bind(("127.0.0.1", 0))
        self.local = socket.socket(socket.AF_UNIX)
        self.local.bind(str(self.home / "socket"))
        self.inside = socket.socket(socket.AF_UNIX)
        self.inside.bind(str(self.workspace / "socket"))
        for ear in (self.local, self.inside):
            ear.listen()
        self.ears = (self.stream, self.datagrams, self.local, self.inside)
        for ear in self.ears:
            ear.setblocking(False)

    def close(self) -> None:
        """Close the sockets."""
        for ear in self.ears:
            ear.close()

    @contextmanager
    def neighbour(self) -> Generator[None]:
        """Yield a process of the same user, outside the sandbox, that has a secret."""
        ready = self.workspace.parent / "ready"
        running = process.start(
            ["/bin/sh", "-c", ': > "$0"; exec sleep 60', os.fspath(ready)],
            cwd=self.workspace,
            env={"NEIGHBOUR_API_KEY": _SECRET},
            sandbox=Sandbox(level=SandboxLevel.NONE, root=self.workspace),
        )
        try:
            # On a busy machine an attack could check before there is any effect.
            for _ in range(_PATIENCE):
                if ready.exists():
                    break
                time.sleep(0.01)
            yield
        finally:
            running.stop()

    async def run(
        self, command: str, *, read_only: bool = False, limits: CommandLimits = _LIMITS
    ) -> Finished:
        """Run a command as an agent's would be, in an environment that contains a secret."""
        sandbox = Sandbox(
            level=self.means.level,
            root=self.workspace,
            home=self.home,
            read_only=read_only,
            mechanism=self.means,
        )
        source: Mapping[str, str] = {**os.environ, "CANARY_API_KEY": _SECRET}
        env = environment.clean(source, workspace=self.workspace)
        return await process.run(
            command, cwd=self.workspace, env=env, sandbox=sandbox, limits=limits
        )

    def python(self, code: str) -> str:
        """Return a command that runs a line of Python."""
        return f'{sys.executable} -I -S -c "{code}"'

    def is_untouched(self) -> bool:
        """Return whether nothing outside the workspace changed."""
        names = sorted(entry.name for entry in self.home.iterdir())
        if names != [".ssh", "socket", "target"] or _content(self.target) != "before":
            return False
        return self.target.stat().st_mode & 0o777 == 0o600

    def is_quiet(self) -> bool:
        """Return whether no socket received anything."""
        return not any(_has_received(ear) for ear in self.ears)


class Attack(msgspec.Struct, frozen=True):
    """A command to try and what must be true afterwards."""

    name: str
    words: str
    command: Callable[[Scene], str]
    held: Callable[[Scene, Finished], bool]
    read_only: bool = False
    levels: tuple[SandboxLevel, ...] = tuple(SandboxLevel)
    limits: CommandLimits = _LIMITS


ATTACKS: tuple[Attack, ...] = (
    Attack(
        "work inside",
        "writing a file in the workspace works",
        lambda _: "echo after > new && cat new",
        lambda scene, end: end.ok and _content(scene.workspace / "new") == "after\n",
    ),
    Attack(
        "write outside",
        "a file is written in the home directory",
        lambda scene: f"echo x > {scene.home}/new; echo x >> {scene.target}",
        lambda scene, _: scene.is_untouched(),
    ),
    Attack(
        "write through a link",
        "a link in the workspace leads out of it",
        lambda _: "echo x > link",
        lambda scene, _: scene.is_untouched(),
    ),
    Attack(
        "remove outside",
        "files outside are moved and removed",
        lambda scene: f"rm -rf {scene.home}/target; mv {scene.home}/.ssh here",
        lambda scene, _: scene.is_untouched(),
    ),
    Attack(
        "modes outside",
        "the mode of a file outside is changed",
        lambda scene: f"chmod 777 {scene.target}",
        lambda scene, _: scene.is_untouched(),
        levels=(SandboxLevel.NAMESPACES, SandboxLevel.NONE),
    ),
    Attack(
        "read a secret file",
        "a private key in the home directory is read",
        lambda scene: f"cat {scene.home}/.ssh/id_ed25519",
        lambda _, end: _SECRET not in end.output,
    ),
    Attack(
        "read the environment",
        "keys in the environment, and in other processes' environments, are looked for",
        lambda _: f"env; cat /proc/*/environ | tr '\\0' '\\n' | grep -a {_SECRET[:9]}",
        lambda _, end: _SECRET not in end.output and "PATH=" in end.output,
    ),
    Attack(
        "TCP",
        "a connection is opened",
        lambda scene: scene.python(_CONNECT.format(port=scene.stream.getsockname()[1])),
        lambda scene, end: not end.ok and scene.is_quiet(),
    ),
    Attack(
        "UDP",
        "a datagram is sent",
        lambda scene: scene.python(_SEND.format(port=scene.datagrams.getsockname()[1])),
        lambda scene, _: scene.is_quiet(),
    ),
    Attack(
        "local daemons",
        "a socket in the home directory is called",
        lambda scene: scene.python(_CALL.format(path=f"{scene.home}/socket")),
        lambda scene, end: not end.ok and scene.is_quiet(),
    ),
    Attack(
        "a socket in the project",
        "a program of the user's is called at its socket in the workspace",
        lambda scene: scene.python(_CALL.format(path="socket")),
        lambda scene, end: not end.ok and scene.is_quiet(),
    ),
    Attack(
        "read-only",
        "the workspace is changed in a read-only phase",
        lambda _: "echo x > other; echo x > file; rm -f file; chmod +x file; mkdir dir; ls",
        lambda scene, end: (
            "file" in end.output
            and _content(scene.workspace / "file") == "before"
            and not os.access(scene.workspace / "file", os.X_OK)
            and not {"other", "dir"} & {entry.name for entry in scene.workspace.iterdir()}
        ),
        read_only=True,
    ),
    Attack(
        "orphans",
        "a process leaves its group and session to live on",
        lambda _: (
            "setsid sh -c 'exec 9>alive; flock 9; : > ready; sleep 60' &"
            " until [ -e ready ]; do sleep 0.01; done"
        ),
        lambda scene, end: end.ok and _is_free(scene.workspace / "alive"),
    ),
    Attack(
        "new namespaces",
        "users, networks and mounts of its own are asked for",
        lambda scene: scene.python(_NAMESPACE),
        lambda _, end: end.ok and end.output.strip() == "-1",
        levels=_CONFINED,
    ),
    Attack(
        "ptrace",
        "a program makes what started it its tracer",
        lambda scene: f"exec {scene.python(_TRACE)}",
        lambda _, end: end.ok and end.output.strip() == "-1",
        levels=_CONFINED,
    ),
    Attack(
        "rights that are lent",
        "a setuid file is left behind",
        lambda _: "touch lent && chmod 6755 lent",
        lambda scene, end: end.ok and (scene.workspace / "lent").stat().st_mode & 0o6000 == 0,
        levels=_CONFINED,
    ),
    Attack(
        "files in memory",
        "more is put into /dev/shm than the limit on memory",
        lambda scene: scene.python(_FILL),
        lambda _, end: "filled" not in end.output,
        levels=_CONFINED,
        limits=_SMALL,
    ),
    Attack(
        "memory without a name",
        "more is put into memory behind descriptors than the limit",
        lambda scene: scene.python(_KEEP),
        lambda _, end: "filled" not in end.output,
        levels=_CONFINED,
        limits=_SMALL,
    ),
)


async def run_attacks(means: Mechanism) -> tuple[AttackReport, ...]:
    """Return the result of every attack that this mechanism should prevent."""
    reports: list[AttackReport] = []
    for attack in ATTACKS:
        if means.level in attack.levels:
            reports.append(await _run_attack(attack, means))
    return tuple(reports)


async def _run_attack(attack: Attack, means: Mechanism) -> AttackReport:
    # A scene for each attack: leftovers of one must not affect the next.
    top = Path(os.path.realpath(tempfile.mkdtemp(prefix="flyball-canary-", dir=_scratch_parent())))
    try:
        with closing(Scene(top, means)) as scene, scene.neighbour():
            command = attack.command(scene)
            end = await scene.run(command, read_only=attack.read_only, limits=attack.limits)
            holds = attack.held(scene, end)
    finally:
        shutil.rmtree(top, ignore_errors=True)
    last = end.output.strip().rpartition("\n")[2]
    return AttackReport(
        attack.name, attack.words, holds, last[:160].replace(_SECRET, "(the secret)")
    )


def _content(path: Path) -> str:
    return path.read_text() if path.is_file() else ""


def _is_free(path: Path) -> bool:
    """Return whether no process holds a lock on a file any more."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _scratch_parent() -> str | None:
    """Return a directory other than /tmp if possible: a command may have its own /tmp."""
    return "/var/tmp" if os.access("/var/tmp", os.W_OK) else None


def _has_received(ear: socket.socket) -> bool:
    try:
        if ear.type == socket.SOCK_DGRAM:
            return bool(ear.recv(16))
        ear.accept()[0].close()
    except BlockingIOError:
        return False
    return True
