"""Files lie in a run's tree as in the user's checkout, and in its commits as git wants them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.repos import contents, git, put, repository

from flyball.workspace.cards.use_cases import ProjectPlaces, merge, move_card
from flyball.workspace.run.clean import clean_checkout, keep_ignored
from flyball.workspace.run.comparing import compare_trees
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.worktree import CommitKind

FILES: dict[str, str | bytes] = {
    ".gitattributes": (
        "* text=auto\n*.bat text eol=crlf\n*.id ident\n*.u16 text working-tree-encoding=UTF-16LE\n"
        "*.bin -text\n*.sh eol=lf\n"
    ),
    "run.bat": "one\r\ntwo\r\n",
    "sub/run.bat": "one\r\n",
    "a.txt": "one\ntwo\n",
    "name.id": "$Id$\nx\n",
    "wide.u16": "wide\n".encode("utf-16-le"),
    "raw.bin": b"\0\r\n\n",
    "run.sh": "#!/bin/sh\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A checkout as git itself writes it."""
    repository(tmp_path / "origin", FILES)
    git(tmp_path, "clone", "-q", "origin", "proj")
    return tmp_path / "proj"


def test_a_clean_checkout_is_clean_and_the_same_in_a_run(project: Path, tmp_path: Path):
    before = contents(project)
    assert b"\r\n" in before["run.bat"][1]
    assert b"$Id: " in before["name.id"][1]
    with open_workspace(project, "r", tmp_path / "state", in_place=False) as workspace:
        assert contents(workspace.root) == before
        assert not workspace.has_carried
        assert git(workspace.root, "status", "--porcelain") == ""
        keep_ignored(workspace)
        with clean_checkout(workspace, workspace.base) as place:
            assert contents(place) == before
            assert git(place, "status", "--porcelain") == ""
    with compare_trees(project, tmp_path / "v", base="HEAD", head="", home=tmp_path) as compared:
        assert compared.present == compared.base


@pytest.mark.parametrize("touched", [False, True], ids=["git-has-looked", "touched"])
def test_merge_and_revert_keep_the_bytes(project: Path, tmp_path: Path, touched: bool):
    if touched:
        for path in FILES:
            (project / path).write_bytes((project / path).read_bytes())
    places = ProjectPlaces(project, tmp_path / "state", tmp_path)
    before = contents(project)
    after: dict[str, str | bytes] = {
        "run.bat": "one\r\n2\r\n",
        "new.bat": "new\r\n",
        "wide.u16": "wider\n".encode("utf-16-le"),
        "raw.bin": b"\0\r\n\r\n",
        "a.txt": "one\n2\n",
    }
    with open_workspace(project, "r", tmp_path / "state", in_place=False, home=tmp_path) as one:
        assert not one.has_carried
        put(one.root, after)
        one.commit_card("r", "c1", "Change")
        assert git(one.root, "status", "--porcelain") == ""
    merge(places, "r")
    changed = contents(project)
    assert {path: changed[path][1] for path in after} == {
        path: text.encode() if isinstance(text, str) else text for path, text in after.items()
    }
    assert git(project, "status", "--porcelain") == ""
    assert git(project, "show", "HEAD:run.bat") == "one\n2\n"
    assert git(project, "show", "HEAD:new.bat") == "new\n"
    assert git(project, "show", "HEAD:wide.u16") == "wider\n"
    move_card(places, "r", "c1", CommitKind.REVERT, (), force=False)
    assert contents(project) == before


def test_a_users_setting_counts_as_an_attribute_does(tmp_path: Path):
    project = repository(tmp_path / "proj", {"a.txt": "one\n"})
    git(project, "config", "core.autocrlf", "true")
    (project / "a.txt").unlink()
    git(project, "checkout", "-q", "a.txt")
    assert (project / "a.txt").read_bytes() == b"one\r\n"
    with open_workspace(project, "r", tmp_path / "state", in_place=False) as workspace:
        assert not workspace.has_carried
        put(workspace.root, {"a.txt": "two\r\n"})
        workspace.commit_card("r", "c1", "Two")
    assert git(project, "show", "flyball/r:a.txt") == "two\n"


def test_a_file_that_a_program_would_convert_is_in_no_commit(tmp_path: Path):
    """Committed as it lies there, a secret would be in the open."""
    project = repository(tmp_path / "proj", {".gitattributes": "*.key filter=crypt\n"})
    git(project, "config", "filter.crypt.clean", "tr a-z b-za")
    git(project, "config", "filter.crypt.smudge", "tr b-za a-z")
    put(project, {"old.key": "secret\n", "a.txt": "one\n"})
    git(project, "add", "-A")
    git(project, "commit", "-qm", "keys")
    assert git(project, "show", "HEAD:old.key") == "tfdsfu\n"
    with open_workspace(project, "r", tmp_path / "state", in_place=False) as workspace:
        assert not workspace.has_carried
        assert (workspace.root / "old.key").read_text() == "secret\n"
        put(workspace.root, {"old.key": "mine\n", "new.key": "mine\n", "a.txt": "two\n"})
        workspace.commit_card("r", "c1", "Two")
        assert workspace.card("c1").left == ("new.key", "old.key")
    assert git(project, "diff", "--name-only", "main", "flyball/r").split() == ["a.txt"]


def test_content_that_lfs_keeps_on_this_machine_is_in_every_checkout(tmp_path: Path):
    name = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{name}\nsize 6\n"
    project = repository(
        tmp_path / "proj", {".gitattributes": "*.dat filter=lfs\n", "x.dat": pointer}
    )
    put(project, {f".git/lfs/objects/58/91/{name}": "hello\n", "x.dat": "hello\n"})
    git(project, "config", "filter.lfs.clean", f"cat >/dev/null; printf '{pointer}'")
    with compare_trees(project, tmp_path / "v", base="HEAD", head="", home=tmp_path) as compared:
        assert compared.present == compared.base
        entry = compared.workspace.trees.entries(compared.workspace.base, ["x.dat"])["x.dat"]
        assert compared.workspace.trees.contents([entry.blob])[entry.blob] == b"hello\n"
