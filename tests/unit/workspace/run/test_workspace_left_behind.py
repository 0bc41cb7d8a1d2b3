"""A step leaves out what programs made; deaths while trees move are made good."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.repos import git, put, repository

from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.run.worktree import CommitKind
from flyball.workspace.trees.trees import binary_line

FILES: dict[str, str | bytes] = {"a.py": "a = 1\nb = 2\nc = 3\n"}


@pytest.fixture(params=["worktree", "no-git"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    root = tmp_path / "proj"
    if request.param == "no-git":
        root.mkdir()
        put(root, FILES)
    else:
        repository(root, FILES)
    with open_workspace(root, "r", tmp_path / "state", in_place=False, home=tmp_path) as opened:
        yield opened


def step(workspace: Workspace, card: str, *left: str) -> str:
    tree = workspace.tree_hash()
    return workspace.commit_step(CommitKind.CARD, card, card, tree, (), left)


def test_what_is_left_stays_out_of_this_step_and_the_next(workspace: Workspace):
    put(workspace.root, {"a.py": "a = 2\n", "built.bin": b"\0\1"})
    step(workspace, "c1", "built.bin")
    put(workspace.root, {"b.py": "b = 1\n"})
    step(workspace, "c2", "built.bin")

    one, two = workspace.cards()
    paths = [[c.path for c in workspace.trees.changes(r.before, r.after)] for r in (one, two)]
    assert paths == [["a.py"], ["b.py"]]
    assert (one.left, two.left) == (("built.bin",), ())
    if workspace.branch:
        named = git(workspace.root, "ls-tree", "-r", "--name-only", "flyball/r").split()
        assert named == ["a.py", "b.py"]
        assert git(workspace.root, "status", "--porcelain") == "?? built.bin\n"
    put(workspace.root, {"built.bin": b"\0\2"})
    step(workspace, "c3")
    (changed,) = workspace.trees.changes(two.after, workspace.cards()[-1].after)
    assert changed.path == "built.bin", "a tool wrote it now"


def test_a_card_that_only_left_files_is_no_step(workspace: Workspace):
    put(workspace.root, {"odd name\n.bin": b"\0"})
    assert step(workspace, "c1", "odd name\n.bin") == ""
    assert workspace.cards() == ()


def test_going_back_to_a_tree_with_what_was_left_takes_no_more_back(workspace: Workspace):
    put(workspace.root, {"a.py": "a = 2\n", "built.bin": b"\0\1"})
    step(workspace, "c1", "built.bin")
    first = workspace.tree_hash()
    put(workspace.root, {"b.py": "b = 1\n"})
    step(workspace, "c2", "built.bin")

    assert workspace.roll_back(first) == first
    assert [record.title for record in workspace.history()] == ["c1", "c2", "Revert: c2"]
    assert workspace.committed_tree() == workspace.cards()[0].after
    assert (workspace.root / "built.bin").exists()


def test_a_card_merged_from_its_side_is_found_again_with_what_was_left(workspace: Workspace):
    put(workspace.root, {"built.bin": b"\0\1"})
    base = workspace.tree_hash()
    side = workspace.open_side("s", base)
    put(side.root, {"b.py": "b = 1\n", "report.bin": b"\0"})
    left = ("built.bin", "report.bin")
    theirs = workspace.leave_out(side.tree_hash(), base, left)

    merged = workspace.merge_card("c1", "One", base, theirs, (), left)
    again = workspace.merge_card("c1", "One", base, theirs, (), left)

    assert merged == again
    assert merged.tree == workspace.tree_hash()
    (record,) = workspace.cards()
    assert [c.path for c in workspace.trees.changes(record.before, record.after)] == ["b.py"]
    assert not (workspace.root / "report.bin").exists()


def test_a_diff_names_binaries_and_never_prints_them(workspace: Workspace):
    put(workspace.root, {"new.bin": b"\0" * 12_345, "text.txt": "Binary files a and b differ\n"})
    one = workspace.tree_hash()
    put(workspace.root, {"new.bin": b"\0\1" * 1_000_000})
    two = workspace.tree_hash()
    (workspace.root / "new.bin").unlink()

    added, grown = workspace.diff(workspace.base, one), workspace.diff(one, two)
    assert b"binary file, added, 12 kB\n" in added
    assert b"+Binary files a and b differ\n" in added
    assert b"binary file, 12 kB -> 2.0 MB\n" in grown
    assert b"binary file, deleted, 2.0 MB\n" in workspace.diff(two)
    assert len(grown) < 400
    assert b"new.bin" not in workspace.diff(workspace.base, one, without=["new.bin"])


def test_a_diff_abbreviates_the_ids_of_git_and_nothing_in_the_text(workspace: Workspace):
    line = f"index {'a' * 40}..{'b' * 40}\n"
    put(workspace.root, {"text.txt": line})
    diff = workspace.diff(workspace.base, workspace.tree_hash()).decode()
    ids = [each for each in diff.splitlines() if each.startswith("index ")]
    assert len(ids) == 1
    assert all(re.fullmatch(r"index 0{12}\.\.[0-9a-f]{12}", each) for each in ids)
    assert f"+{line}" in diff


def test_renamed_file_is_not_new(workspace: Workspace):
    (workspace.root / "a.py").unlink()
    put(workspace.root, {"d/a.py": "a = 1\nb = 2\nc = 4\n", "x.py": "else\n", "empty": ""})
    assert workspace.trees.moved_files(workspace.changed_since(workspace.base)) == {"d/a.py"}


def test_binary_line_formats_sizes():
    assert binary_line(None, 999) == "binary file, added, 999 bytes"
    assert binary_line(1_000, 0) == "binary file, 1 kB -> 0 bytes"


ROOT = Path(__file__).parents[4]

ACTS = ("making", "discarding", "taking-in", "rolling-back")


def deaths(act: str, kind: str, stride: int, place: Path, first: int = 1) -> int:
    """How many deaths it took until the act was through; all that must hold held each time."""
    module = "tests.unit.workspace.run.crashpoints"
    how = [act, kind, str(first), str(stride), str(place)]
    command = [sys.executable, "-W", "error", "-m", module, *how]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("act", ACTS)
def test_without_git_a_death_at_many_points_is_made_good(act: str, tmp_path: Path):
    assert deaths(act, "plain", 2, tmp_path) > 5


EVERY_POINT = [
    (act, kind, 1, 1)
    for act in ACTS
    for kind in ("plain", "git")
    if (act, kind) not in (("taking-in", "git"), ("rolling-back", "git"))
]
# Each of these points is a git process or more: in four parts, which run side by side.
EVERY_POINT += [("taking-in", "git", first, 4) for first in (1, 2, 3, 4)]
# And here there are hundreds of them, which would take a quarter of an hour.
EVERY_POINT += [("rolling-back", "git", 1, 12)]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("act", "kind", "first", "stride"), EVERY_POINT)
def test_a_death_at_every_point_is_made_good(
    act: str, kind: str, first: int, stride: int, tmp_path: Path
):
    assert deaths(act, kind, stride, tmp_path, first) > 5
