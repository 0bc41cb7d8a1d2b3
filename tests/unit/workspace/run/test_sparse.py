"""A run and a verdict see a sparse checkout as its user has it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.repos import contents, git, put, repository

from flyball.workspace.cards.use_cases import ProjectPlaces, merge, move_card
from flyball.workspace.run.clean import clean_checkout, keep_ignored
from flyball.workspace.run.comparing import ComparedTrees, compare_trees
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.worktree import CommitKind
from flyball.workspace.trees.trees import TreeHash

FILES: dict[str, str | bytes] = {
    "README.md": "# Shops\n",
    "app/shop.py": "x = 1\n",
    "app/täx & co.py": "y = 1\n",
    "big/data/blob.bin": b"\0" * 4096,
    "big/test_big.py": "def test_big():\n    assert False\n",
}
HERE = {"README.md", "app/shop.py", "app/täx & co.py"}


@pytest.fixture(params=["cone", "patterns", "sparse-index"])
def project(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    repo = repository(tmp_path / "proj", FILES)
    kind = {"patterns": ["--no-cone", "/README.md", "/app/"], "sparse-index": ["--sparse-index"]}
    args = kind.get(request.param, ["--cone"])
    git(repo, "sparse-checkout", "set", *args, *([] if "--no-cone" in args else ["app"]))
    assert contents(repo).keys() == HERE
    return repo


@pytest.mark.parametrize("in_place", [False, True], ids=["worktree", "in-place"])
def test_a_run_has_the_files_that_the_user_has(project: Path, tmp_path: Path, in_place: bool):
    with open_workspace(project, "r", tmp_path / "state", in_place=in_place) as workspace:
        assert contents(workspace.root).keys() == HERE
        assert not workspace.has_carried
        assert git(workspace.root, "status", "--porcelain") == ""
        keep_ignored(workspace)
        with clean_checkout(workspace, workspace.base) as place:
            assert contents(place).keys() == HERE
        put(workspace.root, {"app/shop.py": "x = 2\n", "big/new.py": "z = 1\n"})
        workspace.commit_card("r", "c1", "Two")
    changed = git(project, "diff", "--name-only", "main", "flyball/r").split()
    assert changed == ["app/shop.py", "big/new.py"]


def test_merge_and_revert_leave_what_is_not_there_alone(project: Path, tmp_path: Path):
    (tmp_path / "home").mkdir()
    desk = ProjectPlaces(project, tmp_path / "state", tmp_path / "home")
    before = contents(project)
    with open_workspace(project, "r", tmp_path / "state", in_place=False) as workspace:
        put(workspace.root, {"app/shop.py": "x = 2\n"})
        workspace.commit_card("r", "c1", "Two")
        assert git(workspace.root, "status", "--porcelain") == ""
    merge(desk, "r")
    assert git(project, "status", "--porcelain") == ""
    assert contents(project) == {**before, "app/shop.py": ("-", b"x = 2\n")}
    move_card(desk, "r", "c1", CommitKind.REVERT, (), force=False)
    assert contents(project) == before


def test_a_comparison_takes_nothing_for_deleted(project: Path, tmp_path: Path):
    put(project, {"app/shop.py": "x = 2\n"})
    with compare_trees(project, tmp_path / "v", base="HEAD", head="", home=tmp_path) as compared:
        assert paths(compared) == ["app/shop.py"]
        new = compared.new.tree
    git(project, "commit", "-qam", "Two")
    assert new == git(project, "rev-parse", "HEAD^{tree}").strip()
    with compare_trees(project, tmp_path / "v", base="", head="HEAD", home=tmp_path) as compared:
        assert paths(compared) == ["app/shop.py"]
        assert compared.present == compared.head


def paths(compared: ComparedTrees) -> list[str]:
    workspace, head = compared.workspace, TreeHash(compared.head)
    changes = workspace.trees.changes(TreeHash(workspace.base), head)
    return [change.path for change in changes]
