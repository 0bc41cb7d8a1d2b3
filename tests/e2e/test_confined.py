"""`flyball confined`: a command that can do no harm, and that otherwise nobody can tell apart."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

import pytest

FLYBALL = str(Path(sys.executable).with_name("flyball"))
NOT_KEPT = "not kept: state a checkpoint first"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a secret, a file in a folder, and a rule for what git ignores."""
    repo = tmp_path / "project"
    (repo / "src").mkdir(parents=True)
    (repo / "src" / "x.py").write_text("print('x')\n")
    (repo / ".gitignore").write_text(".env\nbuild/\n")
    (repo / ".env").write_text("TOKEN=canary-7d\n")
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "start")):
        subprocess.run(["git", *words], cwd=repo, check=True)
    return repo


def confined(place, *argv, way="--read-only", **options):
    words = [FLYBALL, "confined", way, "--", *argv]
    options = {"capture_output": True, "text": True, "timeout": 600, **options}
    return subprocess.run(words, cwd=place, **options)


def bash(place, script, **options):
    return confined(place, "bash", "-c", script, **options)


def state_of(repo):
    return {
        str(path.relative_to(repo)): path.read_bytes()
        for path in sorted(repo.rglob("*"))
        if path.is_file()
    }


def test_program_from_input_runs(project):
    end = confined(project, sys.executable, "-", input="print(6 * 7)\n")
    assert (end.stdout, end.stderr, end.returncode) == ("42\n", "", 0)


def test_project_beside_it_is_read_where_it_is_named_but_its_secrets_are_not(project, tmp_path):
    home = tmp_path / "home"
    for name in ("a.txt", "sub/b.txt", ".env", ".aws/credentials"):
        (home / "other" / name).parent.mkdir(parents=True, exist_ok=True)
        (home / "other" / name).write_text(f"canary of {name}\n")
    (home / ".aws").mkdir()
    (home / ".aws/credentials").write_text("canary at home\n")
    (home / "loose.txt").write_text("loose\n")
    (home / "link.txt").symlink_to(home / ".aws/credentials")
    subprocess.run(["git", "init", "-q"], cwd=home / "other", check=True)
    mine = shutil.copytree(project, home / "mine")
    env = {**os.environ, "HOME": str(home)}
    script = (
        "grep -r canary ../other | sort; cat ~/loose.txt $HOME/link.txt ~/.aws/credentials; "
        "cat ../other/.env ../other/.aws/credentials; echo x > ../other/a.txt; ls .."
    )
    end = bash(mine, script, env=env)
    assert end.stdout.splitlines() == [
        "../other/a.txt:canary of a.txt",
        "../other/sub/b.txt:canary of sub/b.txt",
        *("loose", "loose.txt", "mine", "other"),
    ]
    assert (home / "other/a.txt").read_text() == "canary of a.txt\n"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_node_runs(project):
    assert confined(project, "node", "-e", "console.log(6 * 7)").stdout == "42\n"


def test_words_reach_the_command_as_they_are(project):
    words = ["a b", "$HOME", "`id`", "'\"", "", "*", "--", "--verbose", "\n"]
    end = confined(project, sys.executable, "-c", "import sys; print(sys.argv[1:])", *words)
    assert end.stdout == f"{words!r}\n"


def test_tests_run_and_their_caches_are_not_kept(project):
    (project / "test_it.py").write_text(
        "from pathlib import Path\n"
        "def test_it(tmp_path):\n"
        "    (tmp_path / 'a').touch()\n"
        "    (Path.home() / 'a').touch()\n"
        "    Path('build').mkdir()\n"
        "    Path('build/made').touch()\n"
    )
    before = state_of(project)
    end = confined(project, sys.executable, "-m", "pytest", "-q")
    assert "1 passed" in end.stdout
    assert end.stderr == "", "caches and what git ignores are not worth a word"
    assert state_of(project) == before


def test_git_shows_what_it_shows(project):
    (project / "src" / "x.py").write_text("changed\n")
    for words in (("status", "--short"), ("log", "--oneline"), ("diff",)):
        plain = subprocess.run(["git", *words], cwd=project, capture_output=True, text=True)
        assert confined(project, "git", *words).stdout == plain.stdout


def test_linked_worktree_has_its_history(project, tmp_path):
    subprocess.run(["git", "worktree", "add", "-q", str(tmp_path / "w")], cwd=project, check=True)
    assert "start" in confined(tmp_path / "w", "git", "log").stdout


def test_write_is_seen_by_the_command_alone_and_told(project):
    before = state_of(project)
    script = "echo y > src/x.py; rm .gitignore; mkdir d; echo z > 'd/new'; cat src/x.py; exit 4"
    end = bash(project, script)
    assert (end.stdout, end.returncode) == ("y\n", 4)
    assert end.stderr.startswith("flyball: wrote to ")
    assert end.stderr.endswith(f"{NOT_KEPT}\n")
    for name in ("src/x.py", ".gitignore", "d/new"):
        assert name in end.stderr
    assert state_of(project) == before


@pytest.fixture
def scratch():
    """A directory that is named in `/tmp`, as agents do."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="named-") as place:
        yield Path(place)


def test_temporary_files_that_are_named_are_there_and_kept(project, scratch):
    (scratch / "probe.py").write_text("print(open(__file__.replace('probe', 'old')).read())")
    (scratch / "old.py").write_text("before")
    (scratch / ".env").write_text("TOKEN=canary-7d\n")
    (scratch / "out").symlink_to(project)
    script = (
        f"python3 {scratch}/probe.py; echo after > {scratch}/new; rm {scratch}/old.py; "
        f"mkdir -p {scratch}/a/b; echo deep > {scratch}/a/b/c; ln -s / {scratch}/link; "
        f"cat {scratch}/.env; echo x > {scratch}/out/evil; echo lost > $(printf /)tmp/unnamed-7d"
    )
    end = bash(project, script)
    assert end.stdout == "before\n"
    assert (scratch / "new").read_text() == "after\n"
    assert (scratch / "a" / "b" / "c").read_text() == "deep\n"
    assert (scratch / "old.py").read_text() == "before", "nothing there is deleted"
    assert not (scratch / "link").is_symlink()
    assert not (project / "evil").exists()
    assert not Path("/tmp/unnamed-7d").exists()


@pytest.mark.parametrize("way", ["--read-only", "--project"])
def test_a_temporary_file_goes_from_one_command_to_the_next(project, scratch, way):
    name = f"{scratch}.log"
    try:
        for word in ("one", "two"):
            confined(project, "bash", "-c", f"echo {word} >> {name}; chmod 700 {name}", way=way)
        assert Path(name).read_text() == "one\ntwo\n"
        assert Path(name).stat().st_mode & 0o777 == 0o700
        assert bash(project, f"cat {scratch}*.log").stdout == "one\ntwo\n"
    finally:
        Path(name).unlink(missing_ok=True)


def test_too_many_temporary_files_are_not_kept_and_that_is_said(project, scratch):
    end = bash(project, f"cd {scratch} && touch " + " ".join(map(str, range(2_001))))
    assert "it is too much" in end.stderr
    assert not any(scratch.iterdir())


def test_a_file_written_as_it_was_is_not_told(project):
    assert bash(project, "cp src/x.py y && rm src/x.py && mv y src/x.py").stderr == ""


def test_many_writes_are_told_in_one_line(project):
    end = bash(project, "for n in $(seq 30); do echo > made-$n; done")
    assert end.stderr.count("\n") == 1
    assert " and 25 more" in end.stderr


def test_project_is_written_but_for_protected_places(project):
    end = bash(project, "echo y > made; echo z > .git/hooks/pre-commit", way="--project")
    assert (project / "made").read_text() == "y\n"
    assert not (project / ".git" / "hooks" / "pre-commit").exists()
    assert end.returncode != 0


@pytest.mark.parametrize("way", ["--read-only", "--project"])
def test_secrets_are_invisible(project, tmp_path, way):
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id_ed25519").write_text("canary-7d")
    env = {**os.environ, "HOME": str(home), "MY_API_KEY": "canary-7d"}
    env["DATABASE_URL"] = "postgres://me:canary-7d@localhost/db"
    script = f"cat .env $(echo .e)nv {home}/.ssh/* ~/.ssh/*; env; cat /proc/*/environ"
    assert "canary" not in bash(project, script, way=way, env=env).stdout
    assert bash(project, "echo $PATH", way=way).stdout.strip() == os.environ["PATH"]


def test_what_the_table_and_the_users_patterns_name_is_hidden_where_a_link_leads_too(project):
    hidden = [".aws/credentials", "certs/server.key", "notes/mine.txt", "settings/production"]
    for name in hidden:
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text("canary-7d")
    (project / "prod.env").symlink_to("settings/production")
    (project / "certs" / "server.pub").write_text("open-7d")
    # What only lies in the index is in no commit.
    subprocess.run(["git", "add", "-f", ".env", "certs"], cwd=project, check=True)
    words = (
        FLYBALL,
        "confined",
        "--read-only",
        "--hide=notes/*.txt",
        "--",
        "grep",
        "-rhe",
        "-7d",
        ".",
    )
    end = subprocess.run(words, cwd=project, capture_output=True, text=True, timeout=600)
    assert end.stdout == "open-7d\n"


@pytest.mark.parametrize("way", ["--read-only", "--project"])
def test_neither_network_nor_sockets_are_reached(project, way):
    reach = (
        "import socket\n"
        "for kind, to in ((2, ('127.0.0.1', {port})), (1, 'a.sock'), (1, {there!r})):\n"
        "    try:\n"
        "        socket.socket(kind).connect(to)\n"
        "        print('reached', to)\n"
        "    except OSError:\n"
        "        print('refused')\n"
        "own = socket.socket(1)\n"
        "own.bind('own.sock')\n"
        "own.listen()\n"
        "socket.socket(1).connect('own.sock')\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as ear, socket.socket(socket.AF_UNIX) as local:
        with chdir(project):
            local.bind("a.sock")
        local.listen()
        code = reach.format(port=ear.getsockname()[1], there=str(project / "a.sock"))
        end = confined(project, sys.executable, "-c", code, way=way)
        assert end.stdout == "refused\n" * 3
        assert end.returncode == 0, end.stderr
        plain = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True)
        assert plain.stdout.count(b"reached") == 3


def test_exit_codes_and_signals_are_those_of_the_command(project):
    assert bash(project, "exit 37").returncode == 37
    assert bash(project, "kill -TERM $$").returncode == -signal.SIGTERM
    assert bash(project, "kill -KILL $$").returncode == -signal.SIGKILL
    assert confined(project, "no-such-program").returncode == 127
    assert confined(project, "./src/x.py").returncode == 126


def test_signal_is_passed_on(project):
    script = "trap 'echo heard; exit 5' TERM; echo ready; sleep 60 & wait"
    words = [FLYBALL, "confined", "--read-only", "--", "bash", "-c", script]
    with subprocess.Popen(words, cwd=project, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        assert running.stdout.readline() == "ready\n"
        running.send_signal(signal.SIGTERM)
        assert running.stdout.read() == "heard\n"
        assert running.wait() == 5


def test_a_killed_one_leaves_nothing_behind(project):
    words = [FLYBALL, "confined", "--read-only", "--", "bash", "-c", "echo ready; sleep 60"]
    with subprocess.Popen(words, cwd=project, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        assert running.stdout.readline() == "ready\n"
        running.kill()
        # The pipe ends when the last process that has it does.
        assert running.stdout.read() == ""


def test_closed_pipe_ends_it(project):
    words = f"{FLYBALL} confined --read-only -- yes | head -1"
    end = subprocess.run(words, shell=True, cwd=project, capture_output=True, timeout=600)
    assert end.stdout == b"y\n"


def test_terminal_stays_one_and_takes_no_typing(project):
    script = (
        "import fcntl, os\n"
        "print([os.isatty(n) for n in (0, 1, 2)], open('/dev/tty').isatty())\n"
        "try:\n"
        "    fcntl.ioctl(0, 0x5412, b'x')\n"
        "except OSError as error:\n"
        "    print(error.errno)\n"
    )
    (project / "look.py").write_text(script)
    shown: list[bytes] = []

    def read(fd: int) -> bytes:
        shown.append(os.read(fd, 1024))
        return shown[-1]

    with chdir(project):
        words = [FLYBALL, "confined", "--read-only", "--", sys.executable, "look.py"]
        assert pty.spawn(words, read, lambda _: b"") == 0
    assert b"".join(shown).split(b"\r\n")[:2] == [b"[True, True, True] True", b"1"]


def test_directory_is_kept_also_below_and_through_links(project, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(project)
    place = link / "src"
    end = bash(place, "pwd; pwd -P; ls", env={**os.environ, "PWD": str(place)})
    assert end.stdout.split() == [str(place), str(project / "src"), "x.py"]


def test_environments_outside_the_project_can_be_used(project, tmp_path):
    venv = tmp_path / "elsewhere"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    assert confined(project, f"{venv}/bin/python", "-c", "print(1)").stdout == "1\n"
    assert bash(project, f"true; {venv}/bin/python -c 'print(1)'").stdout == "1\n"


def test_wrong_words_are_told(project):
    for words in (("--", "true"), ("--read-only", "--"), ("--read-only", "--project", "--", "x")):
        end = subprocess.run([FLYBALL, "confined", *words], cwd=project, capture_output=True)
        assert (end.returncode, end.stdout) == (2, b"")


def test_whole_home_is_no_project(tmp_path):
    end = bash(tmp_path, "echo ran", env={**os.environ, "HOME": str(tmp_path / "below")})
    assert (end.stdout, end.returncode) == ("", 126)


WITHOUT_NAMESPACES = (
    "import os, sys; from flyball.workspace.sandbox import kernel, seccomp; "
    "kernel.forgo_privileges(); "
    "kernel.filter_calls(seccomp.program(families=(), metadata=False, truncate=False)); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)


def without_namespaces(place, *argv):
    words = [sys.executable, "-c", WITHOUT_NAMESPACES, *argv]
    return subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=600)


def test_where_no_namespaces_can_be_made_it_runs_plain_and_says_so_when_asked(project):
    words = (FLYBALL, "confined", "--read-only")
    end = without_namespaces(project, *words, "--verbose", "--", "echo", "plain")
    assert (end.stdout, end.returncode) == ("plain\n", 0)
    assert "nothing confines this command here" in end.stderr
    assert without_namespaces(project, *words, "--", "echo", "plain").stderr == ""


def test_hooks_ask_what_confined_itself_would_find(project):
    asks = (
        "from pathlib import Path; from flyball.hosts.confining import why_unconfined; "
        "print(bool(why_unconfined(Path.cwd())))"
    )
    words = (sys.executable, "-c", asks)
    plain = subprocess.run(words, cwd=project, capture_output=True, text=True, timeout=600)
    assert plain.stdout == "False\n"
    assert without_namespaces(project, *words).stdout == "True\n"
