"""A run and a verdict see a project's submodules as its user has them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.repos import contents, git, own_state, put, repository

from flyball.workspace.cards.use_cases import ProjectPlaces, merge, move_card
from flyball.workspace.run.clean import clean_checkout, keep_ignored
from flyball.workspace.run.comparing import compare_trees
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.worktree import NOT_INITIALISED, CommitKind


def add(repo: Path, other: Path, path: str) -> None:
    git(repo, "submodule", "--quiet", "add", str(other), path)
    git(repo, "commit", "-q", "-m", f"Add {path}")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a submodule in a submodule, both initialised, their origins gone."""
    deep = repository(tmp_path / "deep", {"deep.txt": "deep\n"})
    lib = repository(
        tmp_path / "lib", {"lib.txt": "one\n", "tests/data.log": "kept\n", "run.sh": "#!/bin/sh\n"}
    )
    put(lib, {".gitignore": "*.log\n"})
    git(lib, "add", "-f", ".gitignore", "tests/data.log")
    add(lib, deep, "inner/deep")
    git(lib, "commit", "-q", "--allow-empty", "-m", "more")
    repo = repository(tmp_path / "proj", {"a.txt": "one\n"})
    add(repo, lib, "vendor/lib")
    git(repo, "submodule", "--quiet", "update", "--init", "--recursive")
    shutil.rmtree(lib)
    shutil.rmtree(deep)
    return repo


@pytest.fixture
def desk(tmp_path: Path) -> ProjectPlaces:
    (tmp_path / "home").mkdir()
    return ProjectPlaces(tmp_path / "proj", tmp_path / "state", tmp_path / "home")


def test_a_runs_worktree_and_clean_checkouts_have_the_submodules(project: Path, tmp_path: Path):
    before = contents(project)
    with open_workspace(project, "r", tmp_path / "state", in_place=False) as workspace:
        assert contents(workspace.root) == before
        assert not workspace.has_carried
        assert workspace.skipped == ()
        assert git(workspace.root, "status", "--porcelain") == ""
        keep_ignored(workspace)
        with clean_checkout(workspace, workspace.base) as place:
            assert contents(place) == before
            assert git(place, "status", "--porcelain") == ""


def test_uncommitted_work_in_a_submodule_comes_along(project: Path, tmp_path: Path):
    put(project, {"vendor/lib/lib.txt": "two\n", "vendor/lib/inner/deep/new.txt": "new\n"})
    (project / "vendor/lib/run.sh").unlink()
    before = contents(project)
    with open_workspace(project, "r", tmp_path / "state", in_place=False) as workspace:
        assert contents(workspace.root) == before


def test_a_submodule_that_is_not_initialised_is_named_once(project: Path, tmp_path: Path):
    git(project, "submodule", "--quiet", "deinit", "-f", "vendor/lib")
    with open_workspace(project, "r", tmp_path / "state", in_place=False) as workspace:
        assert [(s.path, s.reason) for s in workspace.skipped] == [("vendor/lib", NOT_INITIALISED)]
        assert git(workspace.root, "status", "--porcelain") == ""
    with compare_trees(project, tmp_path / "v", base="HEAD", head="", home=tmp_path) as compared:
        assert compared.missing == ("vendor/lib",)


@pytest.mark.parametrize("is_merged", [False, True], ids=["before merging", "merged"])
def test_merge_and_revert_leave_the_submodules_alone(
    project: Path, tmp_path: Path, desk: ProjectPlaces, is_merged: bool
):
    put(project, {"vendor/lib/lib.txt": "mine\n"})
    before, modules = own_state(project), git(project, "submodule", "status", "--recursive")
    with open_workspace(project, "r", desk.state_dir, in_place=False, home=desk.home) as workspace:
        put(workspace.root, {"a.txt": "two\n", "vendor/lib/lib.txt": "theirs\n"})
        workspace.commit_card("r", "c1", "Two")
        (record,) = workspace.cards()
        assert record.left == ("vendor/lib/lib.txt",)
        put(workspace.root, {"vendor/lib/lib.txt": "mine\n"})
    if is_merged:
        assert merge(desk, "r").files == ("a.txt",)
        assert (project / "a.txt").read_text() == "two\n"
        assert git(project, "diff", "--name-only", "HEAD~1", "HEAD").split() == ["a.txt"]
    assert git(project, "submodule", "status", "--recursive") == modules
    move_card(desk, "r", "c1", CommitKind.REVERT, (), force=False)
    assert contents(project) == before["files"]
    assert git(project, "submodule", "status", "--recursive") == modules


def test_both_commits_of_a_moved_submodule_are_compared(project: Path, tmp_path: Path):
    lib = project / "vendor/lib"
    put(lib, {"lib.txt": "two\n"})
    git(lib, "commit", "-qam", "Two")
    git(project, "commit", "-qam", "Bump lib")
    with compare_trees(project, tmp_path / "v", base="", head="HEAD", home=tmp_path) as compared:
        trees, workspace = compared.workspace.trees, compared.workspace
        changes = trees.changes(workspace.base, compared.head)
        assert [change.path for change in changes] == ["vendor/lib/lib.txt"]
        assert compared.present == compared.head
        assert compared.missing == ()


def test_missing_commit_is_named(project: Path, tmp_path: Path):
    git(project, "update-index", "--cacheinfo", f"160000,{'1' * 40},vendor/lib")
    git(project, "commit", "-q", "-m", "Bump lib")
    with compare_trees(project, tmp_path / "v", base="", head="HEAD", home=tmp_path) as compared:
        assert compared.missing == ("vendor/lib",)


def test_a_submodule_may_keep_its_records_in_its_own_directory(tmp_path: Path):
    repo = repository(tmp_path / "proj", {"a.txt": "one\n"})
    old = repository(repo / "old style", {"x.txt": "x\n"})
    git(repo, "-c", "advice.addEmbeddedRepo=false", "add", "old style")
    git(repo, "commit", "-q", "-m", "old")
    put(old, {"y.txt": "not committed\n"})
    before = contents(repo)
    with open_workspace(repo, "r", tmp_path / "state", in_place=False) as workspace:
        assert contents(workspace.root) == before
