"""A clean checkout holds the tree and what was ignored at the beginning, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.repos import put, repository

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
