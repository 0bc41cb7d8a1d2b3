"""Repositories made to hold Flyball up, fill its memory or break it, through the real command.

Every command must end well within its limit, in less than 500 MB, with a clear sentence.
"""

import json
import os
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from tests.e2e.scenario import FLYBALL, SCENARIOS, Stage

from flyball.workspace.files.plain import remove_tree

SECONDS = 150
MEMORY = 500 << 20
SPARSE = 10 << 30
ODD_NAMES = (b"new\nline", b"es\x1b[31mcape", b"not-utf8-\xff\xfe", b"n" * 255, b"Case", b"case")
READ = (
    *("package.json", "pyproject.toml", "go.mod", "Cargo.toml", "tox.ini", "setup.cfg"),
    *("Makefile", "pytest.ini", "conftest.py", "AGENTS.md", "CLAUDE.md", "pnpm-workspace.yaml"),
    ".flyball/templates/a.toml",
)
"""What Flyball looks for in a project."""


def pipe(place):
    os.mkfifo(place)


def zero(place):
    place.symlink_to("/dev/zero")


def loop(place):
    place.symlink_to(place.name)


def huge(place):
    with place.open("wb") as file:
        file.truncate(SPARSE)


def ear(place):
    with socket.socket(socket.AF_UNIX) as made:
        old = Path.cwd()
        os.chdir(place.parent)
        try:
            made.bind(place.name)
        finally:
            os.chdir(old)


def device(place):
    os.mknod(place, 0o666 | 0o020000, os.makedev(1, 5))


def deep(place):
    old = os.open(".", os.O_RDONLY)
    os.chdir(place.parent)
    try:
        for _ in range(3_000):
            Path("d").mkdir()
            os.chdir("d")
    finally:
        os.fchdir(old)
        os.close(old)


class HostileStage(Stage):
    """A project with traps, worked in by commands that are watched."""

    def tell(self, *words: str) -> subprocess.CompletedProcess[str]:
        """One command: within its time and its memory, without a traceback."""
        began = time.monotonic()
        process = subprocess.Popen(
            [str(FLYBALL), *self.words(*words)],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="surrogateescape",
        )
        highest = 0
        while process.poll() is None:
            with suppress(OSError, IndexError):
                said = Path(f"/proc/{process.pid}/status").read_text()
                highest = max(highest, int(said.partition("VmHWM:")[2].split()[0]) << 10)
            try:
                process.wait(0.2)
            except subprocess.TimeoutExpired:
                assert time.monotonic() - began < SECONDS, words
        out, err = process.communicate()
        assert "Traceback" not in err, err
        assert highest < MEMORY
        return subprocess.CompletedProcess(words, process.returncode, out, err)


TRAPS = {"pipes": pipe, "zeros": zero, "loops": loop, "huge": huge, "ears": ear, "devices": device}


@pytest.fixture
def stage(tmp_path):
    made = HostileStage(tmp_path)
    yield made
    remove_tree(made.repo)


def run_words(*flags):
    script = f"scripted:{SCENARIOS / 'fix'}.jsonl"
    return ("run", "it is wrong", "--driver", script, "--intent", "small_fix", "--json", *flags)


def lay(repo: Path, trap) -> None:
    for name in READ:
        place = repo / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(PermissionError):
            trap(place)


@pytest.mark.exhaustive
@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_traps_where_files_are_looked_for_hold_nothing_up(stage, trap):
    lay(stage.repo, trap)
    done = stage.tell(*run_words("--in-place"))
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    run = next(line["run"] for line in lines if line["type"] == "run")
    assert [line for line in lines if line["type"] == "final"], done.stderr
    for words in (("runs", "show", run), ("runs", "resume", run), ("verify",), ("runs", "list")):
        stage.tell(*words)


@pytest.mark.exhaustive
def test_odd_names_and_endless_folders_hold_nothing_up(stage):
    for name in ODD_NAMES:
        Path(stage.repo, os.fsdecode(name)).write_bytes(b"x = 1\n")
    deep(stage.repo / "d")
    for flags in ((), ("--in-place",)):
        done = stage.tell(*run_words(*flags))
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        run = next(line["run"] for line in lines if line["type"] == "run")
        assert [line for line in lines if line["type"] == "final"], done.stderr
        for words in (("runs", "show", run), ("runs", "resume", run), ("verify",)):
            stage.tell(*words)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [".gitignore", ".gitattributes"])
def test_a_pipe_that_git_would_wait_for_is_named(stage, name):
    (stage.repo / "sub").mkdir()
    (stage.repo / "sub/code.py").write_text("")
    os.mkfifo(stage.repo / "sub" / name)
    for flags in ((), ("--in-place",)):
        done = stage.tell(*run_words(*flags))
        assert f"sub/{name}" in done.stdout + done.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize("trap", [pipe, zero, huge], ids=["pipe", "zero", "huge"])
def test_settings_that_cannot_be_read_are_named(stage, trap):
    trap(stage.repo / "flyball.toml")
    done = stage.tell("runs", "list")
    assert done.returncode == 2
    assert "flyball.toml is not a plain file" in done.stderr


LAUGHS = '<!DOCTYPE l [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {new} "{f"&{old};" * 10}">'
    for old, new in zip("abcdefghi", "bcdefghij", strict=True)
)
REPORTS = {
    "pipe": "os.mkfifo(place)",
    "zero": "os.symlink('/dev/zero', place)",
    "loop": "os.symlink(place, place)",
    "folder": "os.mkdir(place)",
    "huge": f"open(place, 'wb').truncate({SPARSE})",
    "laughs": f"open(place, 'w').write({LAUGHS!r} + ']><testsuite><testcase name=\"&j;\"/>"
    "</testsuite>')",
    "deep": "open(place, 'w').write('<testsuite>' * 2_000_000)",
    "json": "open(place, 'w').write('[' * 5_000_000)",
    "noise": "open(place, 'wb').write(bytes(range(256)) * 200_000)",
}
"""What a project's tests leave where their report should be."""

LEAVING = """\
import atexit, os, sys
def leave():
    for place in [word.partition("=")[2] for word in sys.argv if word.startswith("--junitxml=")]:
        os.unlink(place)
        {action}
atexit.register(leave)
"""


@pytest.mark.exhaustive
@pytest.mark.parametrize("action", REPORTS.values(), ids=REPORTS)
def test_a_hostile_report_holds_nothing_up_and_what_was_printed_counts(stage, action):
    (stage.repo / "conftest.py").write_text(LEAVING.format(action=action))
    done = stage.tell(*run_words("--in-place"))
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    run = next(line["run"] for line in lines if line["type"] == "run")
    assert [line for line in lines if line["type"] == "final"], done.stderr
    shown = stage.tell("runs", "show", run, "--threads")
    assert "pytest" in shown.stdout


@pytest.mark.exhaustive
@pytest.mark.parametrize("trap", [pipe, zero], ids=["pipe", "zero"])
def test_a_run_killed_in_a_hostile_repository_is_resumed(stage, trap):
    lay(stage.repo, trap)
    waiting = (
        "import time\nfrom pathlib import Path\n"
        "Path('began').touch()\n"
        "for _ in range(100):\n    Path('go').exists() or time.sleep(0.05)\n"
    )
    tests = stage.repo / "test_cart.py"
    tests.write_text(waiting + tests.read_text())
    began = stage.repo / "began"
    process = subprocess.Popen(
        [str(FLYBALL), *stage.words(*run_words("--in-place"))],
        env=stage.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout
        first = next(line for line in process.stdout if '"run"' in line)
        while not began.exists():
            assert process.poll() is None
            time.sleep(0.05)
    finally:
        process.kill()
        process.communicate()
    (stage.repo / "go").touch()
    done = stage.tell("runs", "resume", json.loads(first)["run"])
    # Shown to work, or not shown: a test that waited for a file may not count as proof.
    assert done.returncode in (0, 4), done.stderr
    assert "The total is right now." in done.stdout + done.stderr
    stage.tell("runs", "show", json.loads(first)["run"])
