"""Snapshots: what they keep, what they cost in keeping, and how they go."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.repos import contents, git, put, repository

from flyball.errors import Conflict, NotFound
from flyball.workspace.errors import (
    DiskFull,
    Diverged,
    NotWritable,
    WorkspaceHeld,
    explain_disk_errors,
)
from flyball.workspace.run.opening import find_workspace, open_workspace, peek_workspace
from flyball.workspace.run.snapshot import Snapshots
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.git import find_git
from flyball.workspace.trees.git_trees import open_private
from flyball.workspace.trees.trees import ChangeKind

FILES: dict[str, str | bytes] = {
    "a.txt": "one\ntwo\n",
    "d/b.txt": "b\n",
    ".gitignore": "*.log\n/build/\n",
}


@pytest.fixture(params=["worktree", "in-place", "no-git"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path):
    root = tmp_path / "proj"
    if request.param == "no-git":
        root.mkdir()
        put(root, FILES)
    else:
        repository(root, FILES)
    opened = open_workspace(root, "r", tmp_path / "state", in_place=request.param == "in-place")
    yield opened
    opened.close()


def test_everything_comes_back_to_the_byte(workspace: Workspace):
    root = workspace.root
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o755)
    (root / "link").symlink_to("a.txt")
    put(root, {"odd \udcff name": b"\0\xff\r\n", "x/y/z": "deep"})
    before = contents(root)
    kept = workspace.snapshot("k")

    (root / "tool").chmod(0o644)
    (root / "link").unlink()
    put(root, {"a.txt": "changed", "link": "now a file", "new/file": "n"})
    (root / "x/y/z").unlink()
    (root / "x/y").rmdir()
    put(root, {"x/y": "a file where a directory was"})
    changed = {change.path: change.kind for change in workspace.changed_since(kept)}
    workspace.restore(kept)

    assert contents(root) == before
    assert not (root / "new").exists()
    assert changed["tool"] is ChangeKind.MODIFIED
    assert changed["link"] is ChangeKind.RETYPED
    assert changed["x/y"] is ChangeKind.ADDED
    assert changed["x/y/z"] is ChangeKind.DELETED
    assert workspace.tree_hash() == kept


def test_a_key_names_one_snapshot_for_ever(workspace: Workspace, tmp_path):
    first = workspace.snapshot("k")
    put(workspace.root, {"a.txt": "later\n"})

    assert workspace.has_snapshot("k")
    assert not workspace.has_snapshot("other")
    assert workspace.snapshot("k") == first
    in_place = workspace.in_place
    workspace.close()
    with open_workspace(tmp_path / "proj", "r", tmp_path / "state", in_place=in_place) as again:
        assert again.has_snapshot("k")
        assert again.base == workspace.base
        assert again.tree_hash() != first


def test_ignored_files_do_not_count_and_are_left_alone(workspace: Workspace):
    before = workspace.tree_hash()
    put(workspace.root, {"noise.log": "x", "build/out": "x", "d/more.log": "x"})

    assert workspace.tree_hash() == before
    workspace.restore(before)
    assert (workspace.root / "build/out").exists()


def test_a_large_file_is_skipped_with_a_warning_but_its_change_is_seen(tmp_path):
    repo = repository(tmp_path / "repo", FILES)
    with open_workspace(repo, "r", tmp_path / "state", in_place=True, large=1000) as workspace:
        put(repo, {"big.bin": b"x" * 2000})
        kept = workspace.snapshot("k")
        assert [skipped.path for skipped in workspace.skipped] == ["big.bin"]
        assert workspace.file_at(kept, "big.bin") is None

        put(repo, {"big.bin": b"y" * 2000, "a.txt": "changed\n"})
        assert workspace.tree_hash() != kept
        workspace.restore(kept)

        assert (repo / "a.txt").read_text() == "one\ntwo\n"
        assert (repo / "big.bin").read_bytes() == b"y" * 2000
        workspace.commit_card("r", "c", "Card")
        assert "big.bin" not in git(repo, "ls-tree", "-r", "--name-only", "flyball/r")


def test_disk_grows_with_the_change_only(tmp_path):
    files: dict[str, str | bytes] = {f"d{n % 20}/f{n}.txt": f"file {n}\n" * 200 for n in range(400)}
    repo = repository(tmp_path / "repo", files)
    with open_workspace(repo, "r", tmp_path / "state", in_place=False) as workspace:
        store = workspace.directory / "git/objects"
        workspace.snapshot("first")
        start = disk(store)
        for n in range(10):
            put(workspace.root, {"d3/f3.txt": f"line {n}\n"})
            workspace.snapshot(f"k{n}")

        assert start < 60_000
        assert disk(store) - start < 10 * 4_000


def disk(place: Path) -> int:
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def test_prune_deletes_snapshots_and_keeps_cards(workspace: Workspace):
    put(workspace.root, {"a.txt": "card\n"})
    workspace.commit_card("r", "c1", "Card")
    for n in range(5):
        put(workspace.root, {"a.txt": f"state {n} {'x' * 500}\n"})
        workspace.snapshot(f"k{n}")

    pruned = workspace.prune(max_count=2)

    assert pruned.snapshots == 3
    assert pruned.freed > 0
    assert workspace.has_snapshot("k4")
    assert not workspace.has_snapshot("k0")
    assert workspace.verify() == ()
    record = workspace.card("c1")
    assert workspace.file_at(record.after, "a.txt") == b"card\n"


def test_prune_considers_age(tmp_path):
    now = [1000.0]
    trees = open_private(tmp_path / "store", tmp_path, program=find_git())
    snapshots = Snapshots(trees, tmp_path / "records", clock=lambda: now[0])
    snapshots.take("old")
    now[0] = 5000.0
    snapshots.take("new")

    assert snapshots.prune(max_age=3000.0).snapshots == 1
    assert [record.key for record in snapshots.records()] == ["new"]


def test_damage_is_noticed(workspace: Workspace):
    put(workspace.root, {"a.txt": "something to lose\n"})
    workspace.snapshot("k")
    objects = [
        path
        for path in workspace.directory.rglob("*")
        if path.is_file() and path.parent.parent.name == "objects" and len(path.parent.name) == 2
    ]
    objects[0].chmod(0o644)
    objects[0].write_bytes(b"rubbish")

    assert workspace.verify() != ()


def test_a_torn_record_is_as_if_it_was_never_written(workspace: Workspace, tmp_path):
    workspace.snapshot("whole")
    file = workspace.directory / "snapshots.jsonl"
    file.write_bytes(file.read_bytes() + b'{"key": "torn", "tr')
    in_place = workspace.in_place
    workspace.close()

    with open_workspace(tmp_path / "proj", "r", tmp_path / "state", in_place=in_place) as again:
        assert again.has_snapshot("whole")
        assert not again.has_snapshot("torn")
        again.snapshot("next")
        assert Snapshots(again.trees, file).find("next") is not None


def test_link_in_the_path_is_not_followed(workspace: Workspace, tmp_path):
    kept = workspace.snapshot("k")
    outside = tmp_path / "outside"
    outside.mkdir()
    (workspace.root / "d/b.txt").unlink()
    (workspace.root / "d").rmdir()
    (workspace.root / "d").symlink_to(outside)

    workspace.restore(kept)

    assert list(outside.iterdir()) == []
    assert (workspace.root / "d/b.txt").read_text() == "b\n"


def test_second_process_learns_who_holds_the_workspace(workspace: Workspace, tmp_path):
    with pytest.raises(WorkspaceHeld, match=f"process {os.getpid()}"):
        open_workspace(tmp_path / "proj", "r", tmp_path / "state", in_place=workspace.in_place)
    assert peek_workspace("r", tmp_path / "state").base == workspace.base


def test_two_runs_in_place_exclude_each_other_and_two_worktrees_do_not(tmp_path):
    repo, state = repository(tmp_path / "repo", FILES), tmp_path / "state"
    with (
        open_workspace(repo, "r1", state, in_place=False),
        open_workspace(repo, "r2", state, in_place=False),
        open_workspace(repo, "r3", state, in_place=True),
        pytest.raises(WorkspaceHeld),
    ):
        open_workspace(repo, "r4", state, in_place=True)


def test_an_opening_that_died_half_way_is_done_again(tmp_path):
    repo, state = repository(tmp_path / "repo", FILES), tmp_path / "state"
    workspace = open_workspace(repo, "r", state, in_place=False)
    workspace.close()
    (workspace.directory / "workspace.json").unlink()

    with open_workspace(repo, "r", state, in_place=False) as again:
        assert (again.root / "a.txt").read_text() == "one\ntwo\n"


def test_branch_with_other_work_is_refused(tmp_path):
    repo = repository(tmp_path / "repo", FILES)
    git(repo, "branch", "flyball/r")

    with pytest.raises(Conflict, match="flyball/r exists already"):
        open_workspace(repo, "r", tmp_path / "state", in_place=False)

    assert "flyball/r" in git(repo, "branch")
    assert find_workspace("r", tmp_path / "state") is None


def test_a_directory_that_is_not_there_is_named(tmp_path):
    with pytest.raises(NotFound, match="nowhere"):
        open_workspace(tmp_path / "nowhere", "r", tmp_path / "state", in_place=True)
    with pytest.raises(NotFound, match="Runs kept for this project: none"):
        peek_workspace("r", tmp_path / "state")


def test_concurrently_changed_file_is_not_overwritten(workspace: Workspace):
    put(workspace.root, {"a.txt": "changed\n"})
    changes = [change.inverse() for change in workspace.changed_since(workspace.base)]
    put(workspace.root, {"a.txt": "changed again by somebody else\n"})

    with pytest.raises(Diverged, match=r"a\.txt"):
        workspace.writer.perform("x", changes)

    assert (workspace.root / "a.txt").read_text() == "changed again by somebody else\n"


@pytest.mark.parametrize(
    ("number", "error"), [(28, DiskFull), (122, DiskFull), (13, NotWritable), (30, NotWritable)]
)
def test_system_errors_become_sentences(number: int, error: type[Exception]):
    with pytest.raises(error, match="nothing was lost"), explain_disk_errors("/some/place"):
        raise OSError(number, os.strerror(number))
