"""Places beside a run: a card's own files, git and snapshots, on the run's own objects."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.repos import contents, git, own_state, put, repository

from flyball.errors import IllegalEvent, UsageError
from flyball.workspace.cards.use_cases import ProjectPlaces, abandon
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.trees import TreeHash

TEXT = "".join(f"line {n}\n" for n in range(20))
FILES: dict[str, str | bytes] = {
    "a.txt": TEXT,
    "d/b.txt": "b\n",
    "odd \udcff 'name\"\n": b"\0\xff\r\n",
    ".gitignore": "*.log\n",
}


@pytest.fixture(params=["worktree", "in-place", "no-git"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path):
    root = tmp_path / "proj"
    if request.param == "no-git":
        root.mkdir()
        put(root, FILES)
    else:
        repository(root, FILES)
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o755)
    (root / "link").symlink_to("a.txt")
    opened = open_workspace(
        root, "r", tmp_path / "state", in_place=request.param == "in-place", home=tmp_path
    )
    yield opened
    opened.close()


def reopen(workspace: Workspace, tmp_path: Path) -> Workspace:
    workspace.close()
    return open_workspace(
        tmp_path / "proj", "r", tmp_path / "state", in_place=workspace.in_place, home=tmp_path
    )


def test_a_place_holds_exactly_the_tree_and_the_run_goes_on_without_it(workspace: Workspace):
    put(workspace.root, {"a.txt": "as the card finds it\n", "noise.log": "ignored\n"})
    tree = workspace.tree_hash()
    put(workspace.root, {"a.txt": "later\n"})
    before = contents(workspace.root)

    side = workspace.open_side("c-1", tree)

    assert side.base == side.tree_hash() == tree
    assert side.root != workspace.root
    assert side.project == workspace.project
    assert (side.root / "a.txt").read_text() == "as the card finds it\n"
    assert os.access(side.root / "tool", os.X_OK)
    assert (side.root / "link").readlink() == Path("a.txt")
    assert not (side.root / "noise.log").exists()
    put(side.root, {"a.txt": "the card's\n", "new/file": "n\n"})
    theirs = side.tree_hash()
    assert contents(workspace.root) == before
    assert [each.path for each in workspace.trees.changes(tree, theirs)] == ["a.txt", "new/file"]
    assert workspace.file_at(theirs, "new/file") == b"n\n"
    assert b"+the card's" in workspace.diff(tree, theirs)
    assert (workspace.checkout_scratch(theirs) / "new/file").exists()


def test_a_place_is_found_again_with_the_work_in_it(workspace: Workspace, tmp_path: Path):
    side = workspace.open_side("c1", workspace.base)
    put(side.root, {"new.txt": "work\n"})
    kept = side.snapshot("k")

    assert workspace.open_side("c1", TreeHash("0" * 40)) is side
    with reopen(workspace, tmp_path) as again:
        found = again.open_side("c1", TreeHash("0" * 40))
        assert (found.root, found.base) == (side.root, workspace.base)
        assert found.has_snapshot("k")
        (found.root / "new.txt").unlink()
        found.restore(kept)
        assert (found.root / "new.txt").read_text() == "work\n"


def test_incomplete_side_workspace_is_recreated(workspace: Workspace, tmp_path: Path):
    side = workspace.open_side("c1", workspace.base)
    (workspace.directory / "beside/c1/side.json").unlink()
    put(side.root, {"half": "made\n"})

    with reopen(workspace, tmp_path) as again:
        found = again.open_side("c1", workspace.base)
        assert found.tree_hash() == workspace.base
        assert not side.root.exists()
        if again.branch:
            assert git(again.project, "worktree", "list").count("/beside/") == 1


def test_discarding_leaves_nothing_and_can_be_repeated(workspace: Workspace, tmp_path: Path):
    before = own_state(workspace.project) if workspace.branch else {}
    side = workspace.open_side("c1", workspace.base)
    put(side.root, {"locked/file": "x\n"})
    (side.root / "locked").chmod(0o500)

    workspace.discard_side("c1")
    workspace.discard_side("c1")
    workspace.discard_side("never")

    assert not (workspace.directory / "beside/c1").exists()
    assert before == (own_state(workspace.project) if workspace.branch else {})
    assert workspace.open_side("c1", workspace.base).tree_hash() == workspace.base


@pytest.mark.parametrize("how", ["remove", "abandon", "forget"])
def test_a_run_that_goes_takes_its_places_along(workspace: Workspace, tmp_path: Path, how: str):
    for name in ("c1", "c2"):
        workspace.open_side(name, workspace.base)
    if how == "remove":
        workspace.remove()
    else:
        workspace.close()
        if how == "forget" and not workspace.in_place:
            workspace.root.rename(tmp_path / "elsewhere")
        abandon(ProjectPlaces(workspace.project, tmp_path / "state", tmp_path), "r")

    assert not workspace.directory.exists()
    if workspace.branch:
        assert len(git(workspace.project, "worktree", "list").splitlines()) == 1
        assert not (workspace.project / ".git/worktrees").exists()


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "é", "a\n", "~", "x" * 101])
def test_a_name_that_cannot_be_a_card_is_refused(tmp_path: Path, name: str):
    put(tmp_path / "proj", FILES)
    with open_workspace(tmp_path / "proj", "r", tmp_path / "state", in_place=True) as workspace:
        with pytest.raises(UsageError, match="cannot name a place"):
            workspace.open_side(name, workspace.base)
        with pytest.raises(UsageError, match="cannot name a place"):
            workspace.discard_side(name)


def test_unusual_names_are_valid_side_workspaces(workspace: Workspace):
    for name in (".x", "-x", "x.lock", "a..b", "_", "p1.s-2_c", "x" * 100):
        assert workspace.open_side(name, workspace.base).tree_hash() == workspace.base
        workspace.discard_side(name)


def test_git_works_in_a_side_workspace(tmp_path: Path):
    repo = repository(tmp_path / "proj", FILES)
    with open_workspace(repo, "r", tmp_path / "state", in_place=False, home=tmp_path) as workspace:
        put(workspace.root, {"a.txt": TEXT.replace("line 3", "three")})
        workspace.commit_card("r", "c1", "Three")
        refs = git(repo, "for-each-ref")

        first = workspace.open_side("at-base", workspace.base)
        second = workspace.open_side("at-card", workspace.committed_tree())
        put(workspace.root, {"a.txt": "not committed\n"})
        third = workspace.open_side("in-between", workspace.tree_hash())
        put(second.root, {"a.txt": "changed\n", "new.txt": "n\n"})

        assert git(first.root, "log", "--format=%s").split() == ["start"]
        assert git(second.root, "log", "--format=%s").split() == ["Three", "start"]
        assert git(first.root, "status", "--porcelain") == ""
        assert git(second.root, "status", "--porcelain").splitlines() == [" M a.txt", "?? new.txt"]
        assert git(third.root, "status", "--porcelain").splitlines() == [" M a.txt"]
        assert "+changed" in git(second.root, "diff")
        assert git(second.root, "branch", "--show-current") == ""
        assert git(repo, "for-each-ref") == refs
        assert first.branch
        assert first.branch.tip() == git(first.root, "rev-parse", "HEAD").strip()
        assert workspace.branch
        assert second.branch
        assert second.branch.tip() == workspace.branch.tip()


def test_the_places_and_the_run_work_at_the_same_time(workspace: Workspace):
    def work(place: Workspace, who: str) -> TreeHash:
        for n in range(3):
            put(place.root, {f"{who}/{n}.txt": f"{who} {n}\n", "a.txt": f"{who} {n}\n"})
            place.snapshot(f"{n}")
            place.changed_since(place.base)
        return place.tree_hash()

    def side(who: str) -> TreeHash:
        return work(workspace.open_side(who, workspace.base), who)

    with ThreadPoolExecutor(3) as pool:
        trees = [
            pool.submit(side, "c1"),
            pool.submit(side, "c2"),
            pool.submit(work, workspace, "r"),
        ]
        found = [each.result() for each in trees]

    for tree, who in zip(found, ("c1", "c2", "r"), strict=True):
        changed = [change.path for change in workspace.trees.changes(workspace.base, tree)]
        assert changed == ["a.txt", *(f"{who}/{n}.txt" for n in range(3))]
    assert workspace.verify() == ()


def test_pruning_the_run_keeps_what_its_places_need(workspace: Workspace, tmp_path: Path):
    side = workspace.open_side("c1", workspace.base)
    put(side.root, {"a.txt": "first\n", "x": "x\n"})
    kept = side.snapshot("k")
    put(side.root, {"a.txt": "second\n"})
    workspace.snapshot("old")

    workspace.prune(max_count=0)

    assert workspace.verify() == ()
    assert side.file_at(kept, "a.txt") == b"first\n"
    put(side.root, {"y": "y\n"})
    changed = side.changed_since(side.base)
    assert [each.path for each in changed] == ["a.txt", "x", "y"]
    with reopen(workspace, tmp_path) as again:
        again.prune(max_count=0)
        found = again.open_side("c1", workspace.base)
        assert [each.path for each in found.changed_since(kept)] == ["a.txt", "y"]
        found.restore(kept)
        assert found.tree_hash() == kept


@pytest.mark.parametrize("with_git", [True, False])
def test_large_file_is_copied_to_a_side_workspace(tmp_path: Path, with_git: bool):
    root = tmp_path / "proj"
    if with_git:
        repository(root, FILES)
    put(root, FILES | {"big.bin": b"x" * 2000})
    with open_workspace(root, "r", tmp_path / "state", in_place=True, large=1000) as workspace:
        tree = workspace.tree_hash()

        side = workspace.open_side("c1", tree)

        assert (side.root / "big.bin").read_bytes() == b"x" * 2000
        assert side.tree_hash() == tree
        put(side.root, {"huge.bin": b"y" * 3000})
        theirs = side.tree_hash()
        assert workspace.file_at(theirs, "huge.bin") is None
        taken = workspace.merge_card("c1", "Huge", tree, theirs)
        assert [clash.path for clash in taken.clashes] == ["huge.bin"]
        assert not (root / "huge.bin").exists()


def test_submodules_are_left_as_they_are(tmp_path: Path):
    other = repository(tmp_path / "other", {"x.txt": "x\n"})
    repo = repository(tmp_path / "proj", FILES)
    git(repo, "submodule", "--quiet", "add", str(other), "sub")
    git(repo, "commit", "-q", "-m", "sub")
    with open_workspace(repo, "r", tmp_path / "state", in_place=False, home=tmp_path) as workspace:
        side = workspace.open_side("c1", workspace.base)
        assert git(side.root, "status", "--porcelain") == ""
        put(side.root, {"a.txt": "changed\n"})

        taken = workspace.merge_card("c1", "Change", workspace.base, side.tree_hash())

        assert git(repo, "diff", "--name-only", "main", taken.commit).split() == ["a.txt"]
        assert git(workspace.root, "status", "--porcelain") == ""


def test_a_place_cannot_do_what_only_the_run_can(workspace: Workspace):
    side = workspace.open_side("c1", workspace.base)
    for attempt in (
        side.remove,
        side.prune,
        lambda: side.open_side("c2", workspace.base),
        lambda: side.merge_card("c2", "x", workspace.base, workspace.base),
        lambda: side.roll_back(workspace.base),
        lambda: side.commit_card("r", "c2", "x"),
    ):
        with pytest.raises(IllegalEvent, match="beside a run"):
            attempt()
    assert side.verify() == ()
    scratch = side.checkout_scratch(workspace.base)
    workspace.close()
    assert not scratch.exists()
    assert side.root.exists()


def test_ignoring_a_file_in_a_side_keeps_it_in_the_run(workspace: Workspace):
    put(workspace.root, {"data.db": "precious\n"})
    workspace.commit_card("r", "c0", "Data")
    tree = workspace.tree_hash()
    side = workspace.open_side("c1", tree)
    put(side.root, {".gitignore": "*.log\n*.db\n"})

    taken = workspace.merge_card("c1", "Ignore", tree, side.tree_hash())

    assert [each.path for each in workspace.trees.changes(tree, taken.tree)] == [".gitignore"]
    assert (workspace.root / "data.db").read_text() == "precious\n"
    next_one = workspace.open_side("c2", taken.tree)
    assert (next_one.root / "data.db").exists()
    assert next_one.tree_hash() == workspace.tree_hash() == taken.tree


def test_an_ignored_file_in_the_way_is_a_clash(workspace: Workspace):
    put(workspace.root, {"own.log": "ignored, and mine\n"})
    side = workspace.open_side("c1", workspace.base)
    put(side.root, {".gitignore": "", "own.log": "the card's\n"})

    taken = workspace.merge_card("c1", "Log", workspace.base, side.tree_hash())

    said = [clash.sentence() for clash in taken.clashes]
    assert said == ["own.log: a file that is ignored is in its place."]
    assert (workspace.root / "own.log").read_text() == "ignored, and mine\n"
    assert workspace.tree_hash() == workspace.base
