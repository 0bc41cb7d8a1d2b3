"""Whether anything was touched: every way to change a file shows, and nothing else does."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.repos import git, repository

from flyball.workspace.run.opening import open_workspace
from flyball.workspace.trees import git_trees
from flyball.workspace.trees.footprint import Tread, footprint, settled_before
from flyball.workspace.trees.git_trees import GitTrees


def settle(*files: Path) -> None:
    """Wait until the clock can tell a later change of these files from their last one."""
    newest = max(file.lstat().st_ctime_ns for file in files)
    while newest >= settled_before():
        time.sleep(0.01)


def entries(root: Path) -> object:
    """What a directory looks like, whenever it is looked at."""
    found = footprint(root, frozenset())
    assert found is not None
    return found.entries


@pytest.fixture
def trees(tmp_path: Path) -> GitTrees:
    """A project as a run sees it, which nobody has touched for a while."""
    files: dict[str, str | bytes] = {"a.py": "a = 1\n", "sub/b.py": "b = 1\n"}
    files[".gitignore"] = "build/\n*.log\n"
    repo = repository(tmp_path / "repo", files)
    (repo / "build").mkdir()
    (repo / "build" / "made.txt").write_text("1")
    settle(*repo.rglob("*"))
    found = open_workspace(repo, "r1", tmp_path / "state", in_place=True).trees
    assert isinstance(found, GitTrees)
    found.capture()
    return found


def same_size(root: Path) -> None:
    """Written over with as many bytes, and its time put back."""
    was = (root / "a.py").stat()
    (root / "a.py").write_text("a = 2\n")
    os.utime(root / "a.py", ns=(was.st_atime_ns, was.st_mtime_ns))


CHANGES: dict[str, Callable[[Path], object]] = {
    "same size and time": same_size,
    "a new file": lambda root: (root / "sub" / "c.py").write_text(""),
    "a file gone": lambda root: (root / "sub" / "b.py").unlink(),
    "a mode": lambda root: (root / "a.py").chmod(0o755),
    "a link in its place": lambda root: (
        (root / "a.py").unlink(),
        (root / "a.py").symlink_to("sub/b.py"),
    ),
    "a file in the place of an ignored folder": lambda root: (
        (root / "build" / "made.txt").unlink(),
        (root / "build").rmdir(),
        (root / "build").write_text("counts: the rule is for folders"),
    ),
    "what was ignored is not any more": lambda root: (root / ".gitignore").write_text("*.log\n"),
}


def test_what_was_just_written_may_change_without_a_sign(tmp_path: Path):
    for n in range(100):
        (tmp_path / "a").write_text(f"{n:03}")
        found = footprint(tmp_path, frozenset())
        assert found is not None
        assert not found.is_settled


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_every_change_is_in_the_next_capture(trees: GitTrees, change: Callable[[Path], object]):
    before = trees.capture().tree
    assert trees.is_untouched
    change(trees.root)
    assert not trees.is_untouched
    assert trees.capture().tree != before


def test_what_is_installed_or_built_and_ignored_touches_nothing(trees: GitTrees):
    before = trees.capture()
    (trees.root / "build" / "more.txt").write_text("2")
    assert trees.is_untouched
    assert trees.capture() == before


def test_a_change_is_found_although_it_came_right_after_another(trees: GitTrees):
    seen: set[str] = set()
    for n in range(30):
        (trees.root / "a.py").write_text(f"a = {n:02}\n")
        seen.add(trees.capture().tree)
    assert len(seen) == 30


def test_what_the_user_s_own_ignore_file_says_now_is_heeded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    own = tmp_path / "home" / ".config" / "git" / "ignore"
    own.parent.mkdir(parents=True)
    own.write_text("build/\n*.log\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    repo = repository(tmp_path / "repo", {"a.py": "a = 1\n"})
    for name in ("build/made.txt", "some.log"):
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text("1")
    settle(own, *repo.rglob("*"))
    trees = open_workspace(repo, "r1", tmp_path / "state", in_place=True).trees
    assert isinstance(trees, GitTrees)
    first = trees.capture().tree
    assert trees.is_untouched
    own.write_text("*.log\n")
    assert not trees.is_untouched
    second = trees.capture().tree
    settle(own)
    assert trees.capture().tree == second != first
    # What is not ignored any more counts from then on, and is not left out as clutter.
    (repo / "build" / "made.txt").write_text("2")
    assert trees.capture().tree not in (first, second)
    own.unlink()
    assert not trees.is_untouched


def test_an_untouched_directory_is_not_asked_of_git_again(trees: GitTrees):
    before = trees.capture()
    trees.depot.directory.rename(trees.depot.directory.with_name("away"))
    assert trees.capture() == before


def test_what_git_is_told_to_keep_counts_from_then_on(trees: GitTrees):
    before = trees.capture().tree
    trees.track(["build/made.txt"])
    assert trees.capture().tree != before


def test_git_s_own_directory_counts_only_at_the_top(tmp_path: Path):
    repo = repository(tmp_path / "repo", {"a.py": "a = 1\n"})
    before = entries(repo)
    git(repo, "commit", "--allow-empty", "-qm", "nothing")
    assert entries(repo) == before
    (repo / "sub" / ".git").mkdir(parents=True)
    assert entries(repo) != before


def test_a_directory_that_is_too_large_is_left_to_git(tmp_path: Path):
    for n in range(4):
        (tmp_path / f"{n}.py").write_text("")
    assert footprint(tmp_path, frozenset(), most=3) is None
    assert footprint(tmp_path, frozenset(), most=4) is not None


def test_a_directory_that_is_not_there_looks_like_nothing(tmp_path: Path):
    assert Tread(tmp_path / "gone", frozenset(), list).look() is None


def test_a_pipe_that_comes_between_two_looks_keeps_git_waiting_for_a_moment(
    trees: GitTrees, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(git_trees, "_STALLED", 0.5)
    before = trees.capture().tree
    pipe = trees.root / "sub" / ".gitignore"
    os.mkfifo(pipe)
    (trees.root / "a.py").write_text("a = 2\n")
    now = trees.capture().tree
    assert [each.path for each in trees.changes(before, now)] == ["a.py"]
    assert not pipe.exists()
