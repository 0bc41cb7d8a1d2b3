"""What goes wrong on real machines: each a clear error, and nothing lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.repos import contents, git, own_state, put, repository
from tests.tiers import named

from flyball.workspace.cards.revert import move_record
from flyball.workspace.cards.use_cases import ProjectPlaces, merge
from flyball.workspace.errors import IndexLocked
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.worktree import CommitKind

SOURCE = Path(__file__).parents[2] / "src"


def script(text: str, *args: object, **env: str) -> subprocess.Popen[str]:
    """Another Python process that has our packages."""
    return subprocess.Popen(
        [sys.executable, "-c", text, *map(str, args)],
        env={**os.environ, "PYTHONPATH": str(SOURCE), **env},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


REVERT = """
import os, signal, sys
from pathlib import Path
from flyball.workspace.cards.revert import move_record
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.worktree import CommitKind
repo, state = Path(sys.argv[1]), Path(sys.argv[2])
with open_workspace(repo, "r", state, in_place=True) as workspace:
    moves = []

    def die(event, args):
        if event == "os.rename" and workspace.writer.note.exists():
            moves.append(args)
            if len(moves) == 100:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(die)
    move_record(workspace, workspace.card("c1"), CommitKind.REVERT)
"""


@pytest.mark.slow
@pytest.mark.parametrize("with_git", named({"git": True, "no-git": False}, 2))
def test_a_killed_revert_is_finished_by_the_next_command(tmp_path: Path, with_git: bool):
    repo, state = tmp_path / "repo", tmp_path / "state"
    files: dict[str, str | bytes] = {f"d{n % 9}/f{n}.txt": f"{n}\n" for n in range(300)}
    if with_git:
        repository(repo, files)
    else:
        put(repo, files)
    before = contents(repo)
    with open_workspace(repo, "r", state, in_place=True) as workspace:
        put(repo, {name: f"changed {name}\n" for name in files} | {"added.txt": "a\n"})
        workspace.commit_card("r", "c1", "Change everything")
        note = workspace.writer.note

    victim = script(REVERT, repo, state)
    said = victim.communicate()[0]

    assert victim.returncode == -signal.SIGKILL, said
    assert note.exists()
    assert contents(repo) != before
    with open_workspace(repo, "r", state, in_place=True) as workspace:
        moved = move_record(workspace, workspace.card("c1"), CommitKind.REVERT)
        assert moved.finished == "Reverting card c1 of run r"
        assert contents(repo) == before
        assert workspace.history()[-1].step is CommitKind.REVERT
        assert not note.exists()


HOLD = """
import sys
from pathlib import Path
from flyball.workspace.run.opening import open_workspace
with open_workspace(Path(sys.argv[1]), "r", Path(sys.argv[2]), in_place=True):
    print("held", flush=True)
    sys.stdin.readline()
"""

AS_NOBODY = """
import os, sys
from pathlib import Path
from flyball.errors import FlyballError
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.trees.trees import Changed, ChangeKind, TreeEntry
if sys.argv[4:] == ["nobody"] and os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
"""

OPEN = (
    AS_NOBODY
    + """
try:
    open_workspace(Path(sys.argv[1]), "r2", Path(sys.argv[2]), in_place=sys.argv[3] == "True")
except FlyballError as error:
    print(error.code, str(error))
else:
    print("opened")
"""
)


def test_two_processes_on_one_checkout(tmp_path: Path):
    repo, state = repository(tmp_path / "repo", {"a.txt": "a\n"}), tmp_path / "state"
    first = script(HOLD, repo, state)
    assert first.stdout is not None
    assert first.stdout.readline() == "held\n"

    second = script(OPEN, repo, state, True).communicate()[0]
    first.kill()
    first.communicate()
    third = script(OPEN, repo, state, True).communicate()[0]

    assert second.startswith("workspace-held ")
    assert f"process {first.pid}" in second
    assert third == "opened\n"


def test_a_stale_index_lock_stops_merging_but_not_running(tmp_path: Path):
    repo, state = repository(tmp_path / "repo", {"a.txt": "a\n"}), tmp_path / "state"
    put(repo, {".git/index.lock": "", "a.txt": "dirty\n"})
    with open_workspace(repo, "r", state, in_place=False) as workspace:
        put(workspace.root, {"b.txt": "b\n"})
        workspace.commit_card("r", "c1", "Add")
    before = own_state(repo)

    with pytest.raises(IndexLocked, match=r"index\.lock") as refusal:
        merge(ProjectPlaces(repo, state, tmp_path), "r")

    assert refusal.value.code == "index-locked"
    assert "delete that file" in refusal.value.hint
    assert own_state(repo) == before
    (repo / ".git/index.lock").unlink()
    assert merge(ProjectPlaces(repo, state, tmp_path), "r").files == ("b.txt",)
    assert (repo / "a.txt").read_text() == "dirty\n"


LIMITED = """
import json, os, resource, sys
from pathlib import Path
from flyball.errors import FlyballError
from flyball.workspace.run.opening import open_workspace
repo, state = Path(sys.argv[1]), Path(sys.argv[2])
with open_workspace(repo, "r", state, in_place=True) as workspace:
    kept = workspace.snapshot("before")
    (repo / "a.txt").write_bytes(os.urandom(300_000))
    (repo / "b.txt").write_text("changed")
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    try:
        workspace.snapshot("full")
    except FlyballError as error:
        print(json.dumps([error.code, str(error)]))
    print(workspace.has_snapshot("full"), workspace.has_snapshot("before"))
"""


@pytest.mark.parametrize("with_git", [True, False], ids=["git", "no-git"])
def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path: Path, with_git: bool):
    repo, state = tmp_path / "repo", tmp_path / "state"
    if with_git:
        repository(repo, {"a.txt": "a\n", "b.txt": "b\n"})
    else:
        put(repo, {"a.txt": "a\n", "b.txt": "b\n"})
    before = contents(repo)

    said, has = script(LIMITED, repo, state).communicate()[0].splitlines()

    code, sentence = json.loads(said)
    assert code == "disk-full"
    assert "Free some space" in sentence
    assert has == "False True"
    with open_workspace(repo, "r", state, in_place=True) as workspace:
        assert (repo / "b.txt").read_text() == "changed"
        assert workspace.verify() == ()
        workspace.restore(workspace.snapshot("before"))
    assert contents(repo) == before


@pytest.fixture
def open_to_all() -> Iterator[Path]:
    """Not below `tmp_path`, whose parents any pytest of this user closes to others as it starts."""
    with tempfile.TemporaryDirectory() as place:
        yield Path(place)


@pytest.mark.parametrize("what", ["state", "objects", "tree"])
def test_a_read_only_directory_is_named(open_to_all: Path, what: str):
    repo = repository(open_to_all / "repo", {"d/a.txt": "a\n"})
    state = open_to_all / "state"
    state.mkdir()
    for place in (open_to_all, *open_to_all.rglob("*")):
        if not place.is_symlink():
            place.chmod(0o777 if place.is_dir() else 0o666)
    locked = {"state": state, "objects": repo / ".git/objects", "tree": repo / "d"}[what]
    locked.chmod(0o555)
    put(repo, {"b.txt": "untracked\n"})
    (repo / "b.txt").chmod(0o666)
    before = contents(repo)

    said = script(EDIT if what == "tree" else OPEN, repo, state, False, "nobody").communicate()[0]

    locked.chmod(0o777)
    assert said.startswith("not-writable "), said
    assert str(locked) in said
    assert contents(repo) == before


EDIT = (
    AS_NOBODY
    + """
repo = Path(sys.argv[1])
with open_workspace(repo, "r", Path(sys.argv[2]), in_place=True) as workspace:
    there = workspace.trees.entries(workspace.base, ["d/a.txt"])["d/a.txt"]
    other = TreeEntry(there.mode, workspace.trees.keep(b"other"))
    try:
        workspace.writer.perform("x", [Changed("d/a.txt", ChangeKind.MODIFIED, there, other)])
    except FlyballError as error:
        print(error.code, str(error))
"""
)


def test_git_that_is_missing_is_said(tmp_path: Path):
    repo = repository(tmp_path / "repo", {"a.txt": "a\n"})

    said = script(OPEN, repo, tmp_path / "state", False, PATH=str(tmp_path)).communicate()[0]

    assert said.startswith("tool-unavailable Git was not found on PATH")
    assert git(repo, "status", "--porcelain") == ""
