"""Whether anything was touched: every way to change a file shows, and nothing else does."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.repos import git, repository

from flyball.workspace.run.opening import open_workspace
from flyball.workspace.trees import git_trees
from flyball.workspace.trees.footprint import (
    DirectoryScanner,
    DirectoryState,
    EntryFacts,
    scan_directory,
    settled_before,
)
from flyball.workspace.trees.git import Git
from flyball.workspace.trees.git_trees import GitTrees


def settle(*files: Path) -> None:
    """Wait until the clock can tell a later change of these files from their last one."""
    newest = max(file.lstat().st_ctime_ns for file in files)
    while newest >= settled_before():
        time.sleep(0.01)


def entries(root: Path) -> object:
    """What a directory looks like, whenever it is looked at."""
    found = scan_directory(root, frozenset())
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
        found = scan_directory(tmp_path, frozenset())
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


def test_change_right_after_another_is_found(trees: GitTrees):
    seen: set[str] = set()
    for n in range(30):
        (trees.root / "a.py").write_text(f"a = {n:02}\n")
        seen.add(trees.capture().tree)
    assert len(seen) == 30


def write(root: Path, rng: random.Random, name: str) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(f"x = {rng.randrange(9)}\n")


OPERATIONS: tuple[Callable[[Path, random.Random], object], ...] = (
    *(partial(write, name=name) for name in ("a.py", "a.py", "sub/b.py", "sub/b.py")),
    *(partial(write, name=name) for name in ("some.log", "build/made.txt", "new.py", "deep/c.py")),
    partial(write, name="inner/file.py"),
    lambda root, rng: (root / "a.py").chmod(rng.choice((0o644, 0o755))),
    lambda root, _: (root / "sub/b.py").touch(),
    lambda root, _: (root / "new.py").unlink(missing_ok=True),
    lambda root, _: shutil.rmtree(root / "deep", ignore_errors=True),
    lambda root, rng: (root / ".gitignore").write_text(
        rng.choice(("build/\n*.log\n", "build/\n", "build/\n*.log\nnew.py\n"))
    ),
    lambda root, _: ((root / "a.py").rename(root / "z.py"), (root / "z.py").rename(root / "a.py")),
    lambda root, rng: (
        (root / "link").unlink(missing_ok=True),
        (root / "link").symlink_to(rng.choice(("a.py", "sub", "nowhere"))),
    ),
    lambda root, _: git(root, "commit", "-qam", "meanwhile", check=False),
)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 3))]
)
def test_what_is_captured_by_a_look_is_what_git_would_have_captured(
    trees: GitTrees, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
):
    """Whatever is done to the files, and however shortly after the last time."""
    rng = random.Random(seed)
    other = open_workspace(trees.root, "r2", tmp_path / "other", in_place=True).trees
    repository(trees.root / "inner", {"file.py": "x = 1\n"})
    assert isinstance(other, GitTrees)
    assert trees.capture().tree == other.capture().tree
    # From now on this one asks git each time.
    monkeypatch.setattr(other, "_scanner", None)
    for n in range(60):
        done = [rng.choice(OPERATIONS) for _ in range(rng.choice((1, 1, 2)))]
        for each in done:
            each(trees.root, rng)
        time.sleep(rng.choice((0, 0, 0, 0.15)))
        assert trees.capture().tree == other.capture().tree, (seed, n)


FILE, FOLDER, LINK = 0o100644, 0o040755, 0o120777


def facts(path: str, changed: int = 1, mode: int = FILE) -> tuple[str, int, int, int, int, int]:
    return path, mode, 4, 7, changed, changed


@pytest.mark.parametrize(
    ("before", "now", "touched"),
    [
        ([facts("a"), facts("b")], [facts("a"), facts("b")], []),
        ([facts("a"), facts("b")], [facts("a"), facts("b", 2)], ["b"]),
        ([facts("a", 11), facts("b")], [facts("a", 11), facts("b")], ["a"]),
        ([facts("a", 1, FOLDER)], [facts("a", 2, FOLDER)], []),
        ([facts("a")], [facts("b")], None),
        ([facts("a")], [facts("a"), facts("b")], None),
        ([facts("a")], [facts("a", 2, LINK)], None),
    ],
    ids=["nothing", "one", "just written", "a folder", "another", "one more", "a link"],
)
def test_a_file_that_was_just_written_may_hold_something_else_by_now(
    before: list[EntryFacts], now: list[EntryFacts], touched: list[str] | None
):
    was = DirectoryState(tuple(before), frozenset(), settled=10)
    assert DirectoryState(tuple(now), frozenset(), settled=20).touched_since(was) == touched


def test_fresh_ignore_rules_disable_the_shortcut():
    rule = facts(".gitignore", 11)
    was = DirectoryState((rule,), frozenset(), 10, (rule,))
    assert DirectoryState((rule,), frozenset(), 20, (rule,)).touched_since(was) is None
    old = facts(".gitignore", 9)
    was = DirectoryState((old,), frozenset(), 10, (old,))
    assert DirectoryState((old,), frozenset(), 20, (old,)).touched_since(was) == []
    assert DirectoryState((rule,), frozenset(), 20, (rule,)).touched_since(was) is None


def test_no_git_is_started_for_files_that_were_written_over(
    trees: GitTrees, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object, **__: object) -> None:
        pytest.fail("git was started")

    (trees.root / "a.py").write_text("a = 2\n")
    trees.capture()
    with monkeypatch.context() as patched:
        patched.setattr(Git, "call", refuse)
        (trees.root / "a.py").write_text("a = 3\n")
        written = trees.capture().tree
        (trees.root / "some.log").write_text("ignored")
        time.sleep(0.15)
    assert trees.capture().tree == written


def test_changes_of_the_users_ignore_file_apply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
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


def test_newly_tracked_file_is_captured(trees: GitTrees):
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
    assert scan_directory(tmp_path, frozenset(), most=3) is None
    assert scan_directory(tmp_path, frozenset(), most=4) is not None


def test_missing_directory_has_no_state(tmp_path: Path):
    assert DirectoryScanner(tmp_path / "gone", frozenset(), list).scan() is None


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
