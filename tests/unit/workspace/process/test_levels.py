import asyncio
import os
import socket
import sys
import time
from contextlib import chdir
from pathlib import Path

import pytest

from flyball.workspace.process import levels, process, self_test
from flyball.workspace.process.levels import Mechanism, Sandbox, SandboxLevel
from flyball.workspace.process.spawn import Finished
from flyball.workspace.sandbox import environment, landlock, places, seccomp

CONFINING = [m for m in Mechanism if m is not Mechanism.NONE and process.works(m)]


def run(command, root, means, **reach):
    env = environment.clean(os.environ, workspace=root)
    box = Sandbox(level=means.level, root=root, mechanism=means, **reach)
    return asyncio.run(process.run(command, cwd=root, env=env, sandbox=box))


@pytest.fixture
def root(tmp_path):
    place = tmp_path / "workspace"
    place.mkdir()
    return place


def test_the_level_is_that_of_the_best_means_that_work():
    assert levels.detect_level() is levels.best_mechanism().level
    assert process.works(levels.best_mechanism())
    assert CONFINING, "these tests need a kernel with Landlock"


@pytest.mark.slow
@pytest.mark.parametrize("means", CONFINING)
def test_every_proof_holds(means):
    broken = [proof for proof in asyncio.run(self_test.run_attacks(means)) if not proof.holds]
    assert not broken


@pytest.mark.slow
def test_proofs_can_fail():
    """Without a sandbox the attacks succeed, so a proof that holds means something."""
    proofs = {p.name: p.holds for p in asyncio.run(self_test.run_attacks(Mechanism.NONE))}
    assert proofs.pop("work inside")
    assert proofs.pop("orphans")
    assert not any(proofs.values())


CALL = """
import os, socket, sys
for path in sys.argv[1:]:
    try:
        line = socket.socket(socket.AF_UNIX)
        line.connect(path)
        print("reached", path)
    except OSError:
        print("refused")
"""
OWN = """
import socket
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    for place in ("own.sock", "/tmp/own.sock"):
        ear = socket.socket(socket.AF_UNIX, kind)
        ear.bind(place + str(kind))
        if kind == socket.SOCK_STREAM:
            ear.listen()
        socket.socket(socket.AF_UNIX, kind).connect(place + str(kind))
a, b = socket.socketpair()
a.send(b"x")
print(b.recv(1))
"""


def listening(place: Path) -> socket.socket:
    """Somebody who listens at a path, as an editor or a database of the user's does."""
    place.parent.mkdir(parents=True, exist_ok=True)
    ear = socket.socket(socket.AF_UNIX)
    # The kernel takes only a hundred characters, so it is named from its own directory.
    with chdir(place.parent):
        ear.bind(place.name)
    ear.listen()
    return ear


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("means", CONFINING)
def test_sockets_of_the_user_are_not_reached(root, tmp_path, means, read_only):
    (root / "call.py").write_text(CALL)
    other = tmp_path / "project"
    with listening(root / "deep" / "a.sock"), listening(other / "b.sock"):
        places = ("deep/a.sock", root / "deep" / "a.sock", other / "b.sock")
        words = " ".join(map(os.fspath, places))
        command = f"{sys.executable} -I call.py {words}"
        end = run(command, root, means, readable=(other,), read_only=read_only)
        assert end.output == "refused\n" * 3
        unconfined = run(command, root, Mechanism.NONE)
        assert unconfined.output.count("reached") == 3


def test_late_socket_outside_the_workspace_is_unreachable(root, tmp_path):
    """A run's own tree is no place of the user's; their project, which it may read, is."""
    other = tmp_path / "project"
    other.mkdir()
    (root / "call.py").write_text(CALL)
    means = levels.best_mechanism()
    box = Sandbox(level=means.level, root=root, mechanism=means, readable=(other,))
    wait = "until [ -e go ]; do sleep 0.01; done"

    async def race():
        began = asyncio.Event()
        running = process.start(
            f"echo began; {wait}; {sys.executable} -I call.py {other}/b.sock",
            cwd=root,
            env=environment.clean(os.environ, workspace=root),
            sandbox=box,
            on_output=lambda _: began.set(),
        )
        await began.wait()
        with listening(other / "b.sock"):
            (root / "go").touch()
            return await running.wait()

    assert asyncio.run(race()).output == "began\nrefused\n"


@pytest.mark.parametrize("means", [m for m in CONFINING if m.level is SandboxLevel.NAMESPACES])
def test_sockets_of_the_run_itself_keep_working(root, means):
    (root / "own.py").write_text(OWN)
    # Nobody listens there any more, so a test may take the name for itself.
    listening(root / "own.sock1").close()
    end = run(f"rm own.sock1 && {sys.executable} -I own.py", root, means)
    assert end.output == "b'x'\n", end.output


TRACED = """
import ctypes, os, signal
print(ctypes.CDLL(None).ptrace(0, 0, 0, 0), flush=True)
os.kill(os.getpid(), signal.SIGSTOP) if {stops} else os.kill(os.getpid(), signal.SIGCHLD)
"""


@pytest.mark.parametrize("means", CONFINING)
def test_a_program_cannot_be_traced_by_what_started_it(root, means):
    (root / "traced.py").write_text(TRACED.format(stops=False))
    end = run([sys.executable, "-I", "traced.py"], root, means)
    assert (end.output, end.exit_code) == ("-1\n", 0)


@pytest.mark.parametrize("stops", [False, True])
def test_an_end_without_a_name_is_abnormal(root, stops):
    """Where nothing confines, the supervisor can be made a tracer and hears of every signal."""
    (root / "traced.py").write_text(TRACED.format(stops=stops))
    end = run([sys.executable, "-I", "traced.py"], root, Mechanism.NONE)
    assert (end.exit_code, end.signal, end.cut_off) == (None, None, "it ended abnormally")


@pytest.mark.parametrize("means", [*CONFINING, Mechanism.NONE])
def test_setid_bits_are_cleared(root, means):
    mine = root / "mine"
    mine.touch()
    mine.chmod(0o4755)
    command = "mkdir d; touch a d/b; chmod 4755 a; chmod 2755 d/b; chmod g+s d"
    # The user's file is older than that by more than the clock of files is coarse.
    time.sleep(0.1)
    assert run(command, root, means).ok
    modes = {name: (root / name).stat().st_mode & 0o7777 for name in ("a", "d/b", "mine")}
    assert modes == {"a": 0o755, "d/b": 0o755, "mine": 0o4755}
    assert (root / "d").stat().st_mode & 0o2000, "a folder only hands its group on"


@pytest.mark.parametrize("means", CONFINING)
def test_more_places_can_be_granted(root, tmp_path, means):
    shared, cache = tmp_path / "shared", tmp_path / "cache"
    for place in (shared, cache):
        place.mkdir()
        (place / "file").write_text("content")
    end = run(
        f"cat {shared}/file; echo more > {cache}/new; echo x > {shared}/new",
        root,
        means,
        readable=(shared,),
        writable=(cache,),
    )
    assert end.output.startswith("content")
    assert (cache / "new").read_text() == "more\n"
    assert not (shared / "new").exists()


@pytest.mark.parametrize("means", [m for m in CONFINING if m.level is SandboxLevel.NAMESPACES])
def test_a_fixed_place_in_the_workspace_stays_as_it_is(root, means):
    hooks = root / ".git" / "hooks"
    hooks.mkdir(parents=True)
    end = run(
        "echo evil > .git/hooks/pre-commit; mv .git aside; rm -rf .git; echo ok > file",
        root,
        means,
        fixed=(root / ".git", root / "absent"),
    )
    assert end.ok
    assert list(hooks.iterdir()) == []
    assert (root / "file").read_text() == "ok\n"


@pytest.mark.parametrize("means", CONFINING)
def test_the_temporary_directory_is_writable_in_read_only_mode(root, means):
    end = run("echo x > $TMPDIR/f && cat $TMPDIR/f; echo y > here", root, means, read_only=True)
    assert end.output.startswith("x\n")
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("means", CONFINING)
def test_a_command_cannot_signal_its_governor(root, means):
    end = run(f"kill -0 {os.getpid()}; kill -0 {os.getppid()}", root, means)
    assert end.exit_code != 0


@pytest.mark.parametrize("means", CONFINING)
def test_privileges_are_gone(root, means):
    end = run("grep -E 'NoNewPrivs|Seccomp:|CapEff' /proc/self/status", root, means)
    status = dict(line.split(":\t") for line in end.output.splitlines())
    assert status["NoNewPrivs"] == "1"
    assert status["Seccomp"].strip() == "2"
    assert int(status["CapEff"], 16) & ~0b11011 == 0


@pytest.mark.parametrize("means", [Mechanism.NAMESPACES])
def test_devices_can_be_used_but_not_changed(root, means):
    before = Path("/dev/null").stat().st_mode
    end = run("echo x > /dev/null && head -c 3 /dev/zero | wc -c; chmod 600 /dev/null", root, means)
    assert end.output.startswith("3\n")
    assert "Read-only file system" in end.output or "not permitted" in end.output
    assert Path("/dev/null").stat().st_mode == before


@pytest.mark.parametrize("means", [m for m in CONFINING if m.level is SandboxLevel.NAMESPACES])
def test_other_processes_are_not_seen(root, means):
    end = run("ls -d /proc/[0-9]* | wc -l", root, means)
    assert int(end.output) < 10


@pytest.mark.parametrize("means", [m for m in CONFINING if m.level is SandboxLevel.NAMESPACES])
def test_its_own_loopback_works_without_a_network(root, means):
    code = (
        "import socket; s = socket.create_server(('127.0.0.1', 0));"
        "c = socket.create_connection(s.getsockname()); s.accept()[0].send(b'hello');"
        "print(c.recv(9))"
    )
    assert run(["python3", "-I", "-c", code], root, means).output == "b'hello'\n"


def test_packets_without_a_way_out_are_counted(root):
    code = (
        "import socket\ntry: socket.create_connection(('192.0.2.1', 80), 1)\nexcept OSError: pass"
    )
    end = run(["python3", "-I", "-c", code], root, Mechanism.NAMESPACES)
    assert (end.exit_code, end.output) == (0, "")
    assert end.unreachable >= 1
    assert "no way out" in levels.explain(end)[0]


@pytest.mark.parametrize("means", CONFINING)
def test_the_network_can_be_allowed(root, means):
    serve = "import socket; socket.create_server(('127.0.0.1', 0)); print(1)"
    # Not whichever Python comes first on the path: that may belong to an environment elsewhere.
    end = run([sys.executable, "-I", "-c", serve], root, means, network=True)
    assert end.output == "1\n"


def test_an_abi_that_is_older_handles_fewer_kinds():
    assert landlock.handled_files(1) == (1 << 13) - 1
    assert landlock.handled_files(2) == (1 << 14) - 1
    assert landlock.handled_files(3) == landlock.handled_files(4) == (1 << 15) - 1
    assert landlock.handled_files(5) == landlock.handled_files(9) == (1 << 16) - 1
    assert not landlock.WRITE & (landlock.MAKE_BLOCK | landlock.MAKE_CHAR)


def test_a_filter_has_whole_instructions_and_grows_with_what_it_refuses():
    loose = seccomp.program(families=(1, 2), metadata=True, truncate=True)
    tight = seccomp.program(families=(), metadata=False, truncate=False)
    assert len(loose) % 8 == len(tight) % 8 == 0
    assert len(tight) > len(loose) > 0


def test_a_home_is_never_granted_whole(tmp_path):
    home = tmp_path / "home"
    (home / ".cargo" / "bin").mkdir(parents=True)
    (home / ".cargo" / "credentials.toml").write_text("token")
    paths = places.readable_paths({"PATH": f"{home}:{tmp_path}:/usr/bin", "GOMODCACHE": "/"}, home)
    assert str(home / ".cargo" / "bin") in paths
    assert not {str(home), str(tmp_path), "/", str(home / ".cargo")} & set(paths)


@pytest.mark.parametrize(
    "place",
    [
        "sdk/go1.22/bin",
        ".goenv/shims",
        ".local/share/fnm",
        ".nodenv/shims",
        ".volta/bin",
        ".sdkman",
        ".rustup/toolchains",
        ".cargo/bin",
        "miniforge3/bin",
        ".pyenv/shims",
        ".local/share/uv",
        ".asdf/shims",
        ".local/share/mise",
        ".nvm/versions",
    ],
)
def test_known_homes_of_toolchains_are_granted(tmp_path, place):
    (tmp_path / place).mkdir(parents=True)
    paths = places.readable_paths({"PATH": "/usr/bin"}, tmp_path)
    assert any((tmp_path / place).is_relative_to(path) for path in paths)


def test_configured_path_is_granted_unless_it_contains_home(tmp_path):
    home = tmp_path / "people" / "me"
    tools = home / "tools"
    tools.mkdir(parents=True)
    (home / "link").symlink_to(home)
    named = [tools, home, home.parent, Path("/"), home / "link", home / "missing"]
    assert places.granted_paths(named, home) == [str(tools)]


def test_hidden_entries_are_outside_a_directorys_cover(tmp_path):
    for name in ("a/one", "a/two", "b/three"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    hidden = (str(tmp_path / "a" / "two"),)
    (tmp_path / "c").symlink_to("a/two")
    (tmp_path / "d").symlink_to("/etc")
    assert places.parts_around(str(tmp_path), hidden) == [
        (str(tmp_path), False),
        (str(tmp_path / "a"), False),
        (str(tmp_path / "a" / "one"), True),
        (str(tmp_path / "b"), True),
    ]


def finished(output="", **fields):
    whole = {"exit_code": 1, "signal": None, "timed_out": False, "cut_bytes": 0, "bytes": 0}
    whole |= {"elapsed": 0.1, "log": None, "over_limit": "", "output": output}
    return Finished(**(whole | fields))


@pytest.mark.parametrize(
    ("line", "meaning"),
    [
        ("PermissionError: [Errno 13] Permission denied: '/root/x'", "permission"),
        ("touch: cannot touch '/x': Read-only file system", "write outside"),
        ("OSError: [Errno 101] Network is unreachable", "network"),
        ("curl: (6) Could not resolve host: example.com", "network"),
        ("Error: EACCES: permission denied, open '/x'", "permission"),
    ],
)
def test_a_denial_in_the_output_is_explained(line, meaning):
    notes = levels.explain(finished(f"start\n{line}\nend\n"))
    assert len(notes) == 1
    assert meaning in notes[0]
    assert line in notes[0]


def test_strays_and_limits_are_explained_and_quiet_ends_are_not():
    assert levels.explain(finished("all is well\n")) == ()
    notes = levels.explain(finished(strays=(".bashrc",), over_limit="memory"))
    assert notes == (
        "it wrote .bashrc to a private home, not the user's",
        "it ran past its limit (memory)",
    )


def test_explanations_are_few():
    noisy = "\n".join(f"{n}: Permission denied" for n in range(100))
    assert len(levels.explain(finished(noisy))) == 20


def test_the_state_of_etc_as_root_hides_what_others_may_not_read():
    hidden = places.owner_only_entries("/etc")
    assert all(Path(path).lstat().st_mode & 0o004 == 0 for path in hidden)
