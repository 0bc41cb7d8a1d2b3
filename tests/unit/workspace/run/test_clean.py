"""A clean checkout holds the tree and what was ignored at the beginning, and nothing else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from tests.repos import git, put, repository

from flyball.workspace.run.clean import changed_installation, clean_checkout, keep_ignored
from flyball.workspace.run.opening import open_workspace

FILES = {".gitignore": "*.gen\n.env\ncache/\n*.log\n", "a.py": "x = 1\n"}
IGNORED = {
    "version.gen": "7",
    "deep/er/table.gen": "t",
    ".env": "KEY=secret",
    "run.log": "noise",
    "node_modules/p/index.js": "1",
    "cache/data": "kept, since only git's word makes it a cache",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = repository(tmp_path / "shop", FILES)
    put(place, IGNORED)
    return place


def names(place: Path) -> set[str]:
    return {
        os.path.relpath(os.path.join(folder, name), place)  # noqa: PTH118
        for folder, _, files in os.walk(place)
        for name in files
        if ".git" not in Path(folder).relative_to(place).parts
    }


def test_what_was_ignored_at_the_beginning_is_there_and_what_came_later_is_not(project, tmp_path):
    with open_workspace(
        project, "r1", tmp_path / "state", home=tmp_path, in_place=False
    ) as workspace:
        keep_ignored(workspace)
        put(project, {"later.gen": "late", "version.gen": "8"})
        put(workspace.root, {"conftest.gen": "a liar's"})
        keep_ignored(workspace)
        with clean_checkout(workspace, workspace.base) as place:
            wanted = {".gitignore", "a.py", "version.gen", "deep/er/table.gen", "cache/data"}
            assert names(place) == wanted
            assert (place / "version.gen").read_text() == "7"
        assert not place.exists()


def test_a_file_of_the_tree_is_never_replaced_by_an_ignored_one(project, tmp_path):
    with open_workspace(
        project, "r1", tmp_path / "state", home=tmp_path, in_place=False
    ) as workspace:
        keep_ignored(workspace)
        put(workspace.root, {".gitignore": "nothing\n", "version.gen": "mine"})
        with clean_checkout(workspace, workspace.tree_hash()) as place:
            assert (place / "version.gen").read_text() == "mine"


def test_in_place_a_changed_installation_is_noticed(project, tmp_path):
    file = project / "node_modules" / "p" / "index.js"
    with open_workspace(project, "r1", tmp_path / "s", home=tmp_path, in_place=True) as workspace:
        began = file.stat().st_ctime
        assert changed_installation(workspace, began) == ""
        os.utime(file, (1, 1))
        assert changed_installation(workspace, began) == "node_modules/p/index.js"
    with open_workspace(project, "r2", tmp_path / "s", home=tmp_path, in_place=False) as workspace:
        assert changed_installation(workspace, 0.0) == ""


def test_a_clean_checkout_is_a_repository_where_the_project_is_one(project, tmp_path):
    git(project, "tag", "v1")
    git(project, "pack-refs", "--all")
    head = git(project, "rev-parse", "HEAD")
    with open_workspace(
        project, "r1", tmp_path / "state", home=tmp_path, in_place=False
    ) as workspace:
        put(workspace.root, {"a.py": "x = 2\n", "new.py": "y = 1\n"})
        with clean_checkout(workspace, workspace.tree_hash()) as place:
            assert (place / ".git").is_dir()
            assert git(place, "rev-parse", "HEAD") == head
            assert git(place, "branch", "--show-current") == "main\n"
            assert git(place, "describe", "--tags") == "v1\n"
            assert git(place, "status", "--porcelain") == "M  a.py\nA  new.py\n"
            # What is done to it is its own.
            git(place, "commit", "-q", "-m", "theirs")
            git(place, "tag", "theirs")
        assert git(project, "rev-parse", "HEAD") == head
        assert "theirs" not in git(project, "tag")


def test_it_is_one_too_at_no_branch_at_all(project, tmp_path):
    git(project, "checkout", "-q", "--detach")
    with (
        open_workspace(
            project, "r1", tmp_path / "state", home=tmp_path, in_place=True
        ) as workspace,
        clean_checkout(workspace, workspace.base) as place,
    ):
        assert git(place, "rev-parse", "HEAD") == git(project, "rev-parse", "HEAD")
        assert git(place, "status", "--porcelain") == ""


def test_without_git_there_are_no_records(tmp_path):
    put(tmp_path / "shop", {"a.py": "x = 1\n"})
    with (
        open_workspace(
            tmp_path / "shop", "r1", tmp_path / "state", home=tmp_path, in_place=True
        ) as workspace,
        clean_checkout(workspace, workspace.base) as place,
    ):
        assert [each.name for each in place.iterdir()] == ["a.py"]


def test_the_number_of_git_calls_does_not_grow_with_the_files(tmp_path, monkeypatch):
    """In a repository that converts nothing, the index is listed once and files are not asked of.

    A listing, a status or a call for every 500 files takes seconds where there are 50,000.
    """
    place = repository(tmp_path / "big", {f"d{n // 100}/f{n}.txt": str(n) for n in range(1_200)})
    put(place, {".git/info/exclude": "*.gen\n", "version.gen": "7"})
    real, log = shutil.which("git"), tmp_path / "calls"
    counting = tmp_path / "bin/git"
    put(tmp_path / "bin", {"git": f'#!/bin/sh\necho "$@" >> {log}\nexec {real} "$@"\n'})
    counting.chmod(0o755)
    monkeypatch.setenv("PATH", f"{counting.parent}:{os.environ['PATH']}")
    with open_workspace(place, "r1", tmp_path / "state", home=tmp_path, in_place=False) as opened:
        keep_ignored(opened)
        assert names(opened.directory / "ignored") == {"version.gen"}
    calls = log.read_text().splitlines()
    assert sum(" ls-files -s" in call for call in calls) == 1
    assert sum(" status " in call for call in calls) == 2
    assert sum(" ls-tree " in call for call in calls) == 1
    assert not any(" check-attr " in call for call in calls)
