"""The trees of a run are where no program overlooks them for a dot in their path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.repos import git, put, repository

from flyball.workspace.cards.use_cases import ProjectPlaces, abandon, merge
from flyball.workspace.run.opening import forget_run, open_workspace
from flyball.workspace.run.visible import FOLDER, find_trees_home, is_hidden, visible_name
from flyball.workspace.run.workspace import Workspace

FILES: dict[str, str | bytes] = {"a.txt": "one\n"}


@pytest.fixture
def places(tmp_path: Path) -> ProjectPlaces:
    repo = repository(tmp_path / ".dotted", FILES)
    return ProjectPlaces(repo, tmp_path / ".local/state/projects/.dotted-1", tmp_path)


def opened(places: ProjectPlaces, *, in_place: bool = False) -> Workspace:
    return open_workspace(places.repo, "r", places.state_dir, in_place=in_place, home=places.home)


def test_neither_worktree_nor_scratch_nor_side_has_a_dot(places: ProjectPlaces):
    with opened(places) as workspace:
        scratch = workspace.checkout_scratch(workspace.base)
        side = workspace.open_side("s", workspace.base)

        for place in (workspace.root, scratch, side.root, side.checkout_scratch(side.base)):
            assert not is_hidden(place.relative_to(places.home)), place
            assert (place / "a.txt").read_text() == "one\n"
            assert place.parts[-2:] == ("tree", "dotted")
        assert workspace.root == places.home / FOLDER / "dotted-1/runs/r/tree/dotted"
    with opened(places) as again:
        assert again.root == workspace.root
        assert again.open_side("s", again.base).root == side.root
        assert not scratch.exists()


@pytest.mark.parametrize("in_place", [False, True])
def test_a_run_that_is_abandoned_leaves_no_folder(places: ProjectPlaces, in_place: bool):
    with opened(places, in_place=in_place) as workspace:
        workspace.checkout_scratch(workspace.base)
    abandon(places, "r")

    assert not (places.home / FOLDER).exists()
    assert git(places.repo, "worktree", "list").count("\n") == 1


def test_a_run_whose_worktree_was_deleted_is_forgotten_whole(places: ProjectPlaces):
    with opened(places) as workspace:
        workspace.open_side("s", workspace.base)
    forget_run("r", places.state_dir)

    assert not (places.home / FOLDER).exists()
    assert git(places.repo, "worktree", "list").count("\n") == 1


def test_other_runs_keep_their_trees(places: ProjectPlaces):
    opened(places).close()
    other = open_workspace(places.repo, "q", places.state_dir, in_place=False, home=places.home)
    other.close()
    abandon(places, "r")
    assert (other.root / "a.txt").exists()


def test_a_run_of_old_is_found_where_it_was(tmp_path: Path):
    repo = repository(tmp_path / "proj", FILES)
    places = ProjectPlaces(repo, tmp_path / "state", tmp_path)
    with opened(places) as workspace:
        workspace.open_side("s", workspace.base)
    file = workspace.directory / "workspace.json"
    facts = json.loads(file.read_text())
    for name in ("trees_home", "run_base"):
        del facts[name]
    file.write_text(json.dumps(facts))

    with opened(places) as again:
        assert again.root == workspace.directory / "tree/proj"
        assert again.open_side("s", again.base).root.is_relative_to(workspace.directory)
        put(again.root, {"a.txt": "two\n"})
        again.commit_card("r", "c1", "Two")
    assert merge(places, "r").files == ("a.txt",)
    assert (repo / "a.txt").read_text() == "two\n"


def test_a_state_directory_without_a_dot_keeps_the_trees(tmp_path: Path):
    directory = tmp_path / "state/projects/p/runs/r"
    assert find_trees_home(directory, tmp_path) == directory


def test_a_home_that_cannot_be_used_is_passed_over(tmp_path: Path):
    directory = tmp_path / ".state/p/runs/r"
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / ".home", Path("/proc")):
        place = find_trees_home(directory, home)
        assert place == directory or not is_hidden(place)
        assert not place.is_relative_to(home)


def test_a_link_to_a_dotted_place_is_no_way_around(tmp_path: Path):
    (tmp_path / ".real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / ".real")
    assert is_hidden(tmp_path / "link/runs")


@pytest.mark.parametrize(("name", "seen"), [(".x", "x"), ("a.b", "a.b"), ("...", "project")])
def test_a_project_keeps_its_name_without_the_dot(name: str, seen: str):
    assert visible_name(name) == seen
