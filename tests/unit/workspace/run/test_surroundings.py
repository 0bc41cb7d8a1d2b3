"""What lies in a project and is no part of it stays out of a run's trees."""

from __future__ import annotations

import shutil
from pathlib import Path
from threading import Event, Thread

import pytest
from tests.repos import contents, git, put, repository

from flyball.workspace.cards.use_cases import ProjectPlaces, merge, move_card
from flyball.workspace.run.clean import clean_checkout, keep_ignored
from flyball.workspace.run.comparing import compare_trees
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.worktree import CommitKind

CODE: dict[str, str | bytes] = {"shop.py": "x = 1\n", "tests/test_shop.py": "import shop\n"}
MADE: dict[str, str | bytes] = {
    "__pycache__/shop.cpython-311.pyc": b"\0",
    "tests/__pycache__/test_shop.cpython-311.pyc": b"\0",
    "node_modules/left-pad/index.js": "x\n",
    ".pytest_cache/v/cache/lastfailed": "{}\n",
    ".mypy_cache/3.11/shop.data.json": "{}\n",
    ".hypothesis/examples/1": "x\n",
    ".coverage": b"\0",
    ".DS_Store": b"\0",
    "crate/target/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n",
    "crate/target/debug/app": b"\0",
    "my env/pyvenv.cfg": "home = /usr/bin\n",
    "my env/lib/python3.11/site-packages/x.py": "x = 1\n",
    "coverage/lcov-report/index.html": "<html>\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return repository(tmp_path / "proj", CODE)


@pytest.mark.parametrize("in_place", [False, True], ids=["worktree", "in-place"])
def test_generated_files_are_no_change(project: Path, tmp_path: Path, in_place: bool):
    with open_workspace(project, "r", tmp_path / "state", in_place=in_place) as workspace:
        put(workspace.root, MADE)
        assert workspace.tree_hash() == workspace.base
        put(workspace.root, {"shop.py": "x = 2\n", "coverage/__init__.py": "made = True\n"})
        workspace.commit_card("r", "c1", "Two")
        tree = "flyball/r"
    assert git(project, "diff", "--name-only", "main", tree).split() == ["shop.py"]


def test_what_tools_made_before_does_not_come_along(project: Path, tmp_path: Path):
    put(project, MADE)
    with open_workspace(project, "r", tmp_path / "state", in_place=False) as workspace:
        assert not workspace.has_carried
        assert contents(workspace.root).keys() == CODE.keys()


def test_what_the_project_tracks_counts_whatever_it_is_called(project: Path, tmp_path: Path):
    put(project, {"coverage/lcov.info": "TN:\n", "coverage/report.py": "y = 1\n", ".coverage": "1"})
    git(project, "add", "-f", "-A")
    git(project, "commit", "-qm", "kept")
    with open_workspace(project, "r", tmp_path / "state", in_place=False) as workspace:
        put(workspace.root, {"coverage/report.py": "y = 2\n", ".coverage": "2"})
        put(workspace.root, {"coverage/new.py": "z = 1\n"})
        changed = {change.path for change in workspace.changed_since(workspace.base)}
        assert changed == {"coverage/report.py", "coverage/new.py", ".coverage"}


def test_without_git_generated_files_are_no_change(tmp_path: Path):
    put(tmp_path / "proj", CODE)
    with open_workspace(tmp_path / "proj", "r", tmp_path / "state", in_place=False) as workspace:
        put(workspace.root, MADE)
        assert workspace.tree_hash() == workspace.base


@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_a_checkout_in_the_project_is_no_part_of_it(project: Path, tmp_path: Path, kind: str):
    if kind == "worktree":
        git(project, "worktree", "add", "-q", "-b", "side", "wt")
    else:
        git(project, "clone", "-q", str(project), "wt")
    put(project, {"wt/tests/test_shop.py": "assert False\n"})
    with open_workspace(project, "r", tmp_path / "state", in_place=False) as workspace:
        assert not workspace.has_carried
        assert contents(workspace.root).keys() == CODE.keys()
        keep_ignored(workspace)
        with clean_checkout(workspace, workspace.base) as place:
            assert contents(place).keys() == CODE.keys()
        put(workspace.root, {"shop.py": "x = 2\n"})
        workspace.commit_card("r", "c1", "Two")
    with compare_trees(project, tmp_path / "v", base="HEAD", head="", home=tmp_path) as compared:
        assert compared.present == compared.base
    places = ProjectPlaces(project, tmp_path / "state", tmp_path)
    before = contents(project)
    assert merge(places, "r").files == ("shop.py",)
    move_card(places, "r", "c1", CommitKind.REVERT, (), force=False)
    assert contents(project) == before


@pytest.mark.parametrize("has_git", [True, False], ids=["git", "no-git"])
def test_flyballs_own_state_in_the_project_is_never_carried(tmp_path: Path, has_git: bool):
    home = tmp_path / "home"
    if has_git:
        repository(home, CODE)
    put(home, CODE)
    state = home / "state [of] flyball/projects/home-1234"
    put(state, {"journal.db": "x\n", "runs/other/carry.index": "x\n"})
    put(home, {"flyball-worktrees/home-1234/runs/other/tree/a.py": "x\n"})
    with open_workspace(home, "r", state, in_place=not has_git, home=home) as workspace:
        assert not workspace.has_carried
        assert workspace.skipped == ()
        put(state, {"runs/other/more.index": "y\n"})
        assert workspace.tree_hash() == workspace.base
        assert workspace.file_at(workspace.base, "shop.py") == b"x = 1\n"
        keep_ignored(workspace)
        with clean_checkout(workspace, workspace.base) as place:
            assert contents(place).keys() == CODE.keys()
    with open_workspace(home, "r", state, in_place=not has_git, home=home) as workspace:
        assert workspace.tree_hash() == workspace.base


@pytest.mark.parametrize("has_git", [True, False], ids=["git", "no-git"])
def test_files_may_come_and_go_while_a_tree_is_read(project: Path, tmp_path: Path, has_git: bool):
    if not has_git:
        shutil.rmtree(project / ".git")
    is_done = Event()

    def stir() -> None:
        while not is_done.is_set():
            for n in range(40):
                put(project, {f"stir/{n}/carry.index": "x" * 3000})
            shutil.rmtree(project / "stir")

    another = Thread(target=stir)
    another.start()
    try:
        with open_workspace(project, "r", tmp_path / "state", in_place=True, large=2000) as one:
            for _ in range(10):
                one.tree_hash()
    finally:
        is_done.set()
        another.join()
