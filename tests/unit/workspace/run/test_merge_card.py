"""Work done beside a run is taken in once and whole, or not at all; and a run goes back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.repos import contents, git, put, repository

from flyball.errors import Conflict
from flyball.workspace.cards.revert import move_record
from flyball.workspace.cards.use_cases import ProjectPlaces, show_card
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.run.worktree import CommitKind
from flyball.workspace.trees.trees import Clash, ClashKind, TreeHash

TEXT = "".join(f"line {n}\n" for n in range(20))
FILES: dict[str, str | bytes] = {
    "a.txt": TEXT,
    "d/b.txt": "b\n",
    "gone.txt": "soon gone\n",
    "move.txt": TEXT.upper(),
    "pic.bin": b"\0\1\2",
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
    opened = open_workspace(
        root, "r", tmp_path / "state", in_place=request.param == "in-place", home=tmp_path
    )
    yield opened
    opened.close()


def changed(workspace: Workspace, base: TreeHash, files: dict[str, str | bytes | None]) -> TreeHash:
    """A tree in which these files were written, or deleted where there is nothing."""
    entries = {
        path: None
        if content is None
        else workspace.trees.entries(base, ["d/b.txt"])["d/b.txt"]._replace(
            blob=workspace.trees.keep(content if isinstance(content, bytes) else content.encode())
        )
        for path, content in files.items()
    }
    return workspace.trees.overlay(base, entries)


def with_line(number: int, word: str, text: str = TEXT) -> str:
    return text.replace(f"line {number}\n", f"{word}\n")


def test_parallel_cards_are_merged_one_by_one(workspace: Workspace):
    base = workspace.base
    put(workspace.root, {"noise.log": "ignored\n"})
    first, second = (workspace.open_side(name, base) for name in ("c1", "c2"))
    put(first.root, {"a.txt": with_line(2, "two"), "new/tool": "#!/bin/sh\n", "pic.bin": b"\0\7"})
    (first.root / "new/tool").chmod(0o755)
    (first.root / "gone.txt").unlink()
    put(second.root, {"a.txt": with_line(18, "eighteen"), "d/b.txt": "B\n"})
    (second.root / "link").symlink_to("a.txt")
    (second.root / "move.txt").rename(second.root / "moved.txt")

    one = workspace.merge_card("c1", "One", base, first.tree_hash(), ["e1"])
    two = workspace.merge_card("c2", "Two", base, second.tree_hash())

    root = workspace.root
    assert (one.clashes, two.clashes) == ((), ())
    assert (root / "a.txt").read_text() == with_line(18, "eighteen", with_line(2, "two"))
    assert os.access(root / "new/tool", os.X_OK)
    assert (root / "link").readlink() == Path("a.txt")
    assert (root / "pic.bin").read_bytes() == b"\0\7"
    assert (root / "moved.txt").read_text() == TEXT.upper()
    assert not (root / "move.txt").exists()
    assert not (root / "gone.txt").exists()
    assert (root / "noise.log").exists()
    assert two.tree == workspace.tree_hash() == workspace.committed_tree()
    assert [(record.card, record.commit) for record in workspace.cards()] == [
        ("c1", one.commit),
        ("c2", two.commit),
    ]
    assert workspace.card("c1").evidence == ("e1",)
    if workspace.branch:
        message = git(workspace.project, "log", "-1", "--format=%B", one.commit)
        assert "Flyball-Card: c1" in message
        assert "Flyball-Evidence: e1" in message
        assert git(workspace.project, "rev-parse", "flyball/r").strip() == two.commit
    if not workspace.in_place:
        assert git(root, "status", "--porcelain") == ""


def test_taking_in_again_finds_what_was_taken_in(workspace: Workspace):
    theirs = changed(workspace, workspace.base, {"a.txt": with_line(2, "two")})
    taken = workspace.merge_card("c1", "One", workspace.base, theirs)

    assert workspace.merge_card("c1", "One", workspace.base, theirs) == taken
    assert len(workspace.history()) == 1


def test_a_card_that_did_nothing_is_no_commit(workspace: Workspace):
    put(workspace.root, {"a.txt": "by hand\n"})

    taken = workspace.merge_card("c1", "One", workspace.base, workspace.base)

    assert taken == ("", workspace.tree_hash(), ())
    assert workspace.history() == ()


def test_the_same_work_twice_is_there_once(workspace: Workspace):
    theirs = changed(workspace, workspace.base, {"a.txt": f"top\n{TEXT}", "new": "n\n"})
    first = workspace.merge_card("c1", "One", workspace.base, theirs)
    second = workspace.merge_card("c2", "Two", workspace.base, theirs)

    assert second.tree == first.tree
    assert second.commit not in ("", first.commit)
    assert (workspace.root / "a.txt").read_text() == f"top\n{TEXT}"


CLASHES: dict[str, tuple[dict[str, str | bytes | None], dict[str, str | bytes | None]]] = {
    "both changed the same lines": (
        {"a.txt": with_line(2, "mine")},
        {"a.txt": with_line(2, "yours"), "other": "x\n"},
    ),
    "one deleted what the other changed": ({"a.txt": None}, {"a.txt": with_line(2, "two")}),
    "both added it, with different content": ({"n": "mine\n"}, {"n": "yours\n"}),
    "both changed it, and it is binary": ({"pic.bin": b"\0\5"}, {"pic.bin": b"\0\6"}),
    "one has a file where the other has a directory": ({"n": "file\n"}, {"n/deep": "y\n"}),
}


@pytest.mark.parametrize("why", CLASHES)
def test_conflicts_are_described_and_nothing_changes(workspace: Workspace, why: str):
    mine, yours = CLASHES[why]
    base = workspace.base
    workspace.merge_card("c1", "Mine", base, changed(workspace, base, mine))
    files, history = contents(workspace.root), workspace.history()

    taken = workspace.merge_card("c2", "Yours", base, changed(workspace, base, yours))

    assert taken.commit == ""
    assert taken.tree == workspace.committed_tree()
    said = [clash.sentence() for clash in taken.clashes]
    assert f"{next(iter(mine))}: {why}." in said
    assert (contents(workspace.root), workspace.history()) == (files, history)


def test_concurrent_changes_are_kept(workspace: Workspace):
    base = workspace.base
    put(workspace.root, {"a.txt": with_line(18, "by hand"), "own.txt": "own\n"})
    theirs = changed(workspace, base, {"a.txt": with_line(2, "two")})

    taken = workspace.merge_card("c1", "One", base, theirs)

    both = with_line(2, "two", with_line(18, "by hand"))
    assert (workspace.root / "a.txt").read_text() == both
    assert taken.tree == workspace.tree_hash() == workspace.committed_tree()
    clash = workspace.merge_card("c2", "Two", base, changed(workspace, base, {"own.txt": "x\n"}))
    assert clash.clashes == (Clash("own.txt", ClashKind.ADDED, ClashKind.ADDED),)


@pytest.mark.slow
def test_a_run_goes_back_card_by_card(workspace: Workspace, tmp_path: Path):
    base = workspace.base
    one = workspace.merge_card("c1", "One", base, changed(workspace, base, {"x": "1\n"}))
    for n in (2, 3):
        tree = workspace.tree_hash()
        files: dict[str, str | bytes | None] = {f"f{n}": "f\n", "a.txt": with_line(n, f"by {n}")}
        workspace.merge_card(f"c{n}", f"Card {n}", tree, changed(workspace, tree, files))
    put(workspace.root, {"a.txt": "not committed\n", "noise.log": "ignored\n"})
    dropped = workspace.tree_hash()

    assert workspace.roll_back(one.tree) == one.tree

    assert workspace.tree_hash() == workspace.committed_tree() == one.tree
    assert [(step.step, step.card, step.title) for step in workspace.history()] == [
        (CommitKind.CARD, "c1", "One"),
        (CommitKind.CARD, "c2", "Card 2"),
        (CommitKind.CARD, "c3", "Card 3"),
        (CommitKind.REVERT, "c3", "Revert: Card 3"),
        (CommitKind.REVERT, "c2", "Revert: Card 2"),
    ]
    assert workspace.history()[3].after == workspace.card("c2").after
    assert (workspace.root / "noise.log").exists()
    assert workspace.file_at(dropped, "a.txt") == b"not committed\n"
    assert dropped in [record.tree for record in workspace.snapshots.records()]
    desk = ProjectPlaces(workspace.project, tmp_path / "state", tmp_path)
    assert [show_card(desk, "r", card).is_reverted for card in ("c1", "c2", "c3")] == [
        False,
        True,
        True,
    ]
    if not workspace.in_place:
        assert git(workspace.root, "status", "--porcelain") == ""
        assert git(workspace.project, "diff", "--name-only", "main", "flyball/r").split() == ["x"]
    assert workspace.roll_back(one.tree) == one.tree
    assert len(workspace.history()) == 5
    workspace.roll_back(base)
    assert workspace.tree_hash() == base
    assert [step.card for step in workspace.history()[5:]] == ["c1"]


@pytest.mark.slow
def test_roll_back_respects_manual_reverts(workspace: Workspace):
    base = workspace.base
    one = workspace.merge_card("c1", "One", base, changed(workspace, base, {"x": "1\n"}))
    two = workspace.merge_card("c2", "Two", one.tree, changed(workspace, one.tree, {"y": "2\n"}))
    move_record(workspace, workspace.card("c1"), CommitKind.REVERT)
    move_record(workspace, workspace.card("c2"), CommitKind.REVERT)
    move_record(workspace, workspace.card("c2"), CommitKind.APPLY)

    workspace.roll_back(two.tree)
    assert workspace.committed_tree() == workspace.tree_hash() == two.tree
    last = workspace.history()[-1]
    assert (last.step, last.card, last.title) == (CommitKind.APPLY, "c1", "Apply again: One")

    workspace.roll_back(one.tree)
    assert workspace.committed_tree() == workspace.tree_hash() == one.tree
    assert [step.card for step in workspace.history()[6:]] == ["c2"]


def test_rolling_back_to_a_tree_that_was_never_committed(workspace: Workspace):
    put(workspace.root, {"own.txt": "own\n"})
    start = workspace.tree_hash()
    theirs = changed(workspace, start, {"x": "1\n", "y": "2\n"})
    workspace.merge_card("c1", "One", start, theirs)

    assert workspace.roll_back(start) == start

    assert workspace.committed_tree() == start
    assert [step.step for step in workspace.history()] == [CommitKind.CARD, CommitKind.REVERT]


@pytest.mark.parametrize("then", ["the same", "another", "back"])
def test_what_was_written_but_never_committed_is_not_mixed_in(tmp_path: Path, then: str):
    repo = repository(tmp_path / "proj", FILES)
    with open_workspace(repo, "r", tmp_path / "state", in_place=False, home=tmp_path) as workspace:
        base = workspace.base
        mine = changed(workspace, base, {"a.txt": with_line(2, "two"), "gone.txt": None})
        yours = changed(workspace, base, {"d/b.txt": "B\n", "a.txt": with_line(2, "zwei")})
        lock = repo / ".git/refs/heads/flyball/r.lock"
        lock.touch()
        with pytest.raises(Conflict):
            workspace.merge_card("c1", "One", base, mine)
        assert "two" in (workspace.root / "a.txt").read_text()
        lock.unlink()

        if then == "the same":
            assert workspace.merge_card("c1", "One", base, mine).tree == mine
        elif then == "another":
            assert workspace.merge_card("c2", "Two", base, yours).tree == yours
        else:
            assert workspace.roll_back(base) == base

        assert workspace.tree_hash() == workspace.committed_tree()
        assert len(workspace.history()) == (then != "back")
        assert git(workspace.root, "status", "--porcelain") == ""
