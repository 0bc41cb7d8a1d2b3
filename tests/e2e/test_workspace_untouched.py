"""A full run that is then abandoned leaves the user's repository as it was, whatever its shape."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.repos import contents, git, own_state, put, repository
from tests.tiers import sampled

from flyball.workspace.cards.revert import move_record
from flyball.workspace.run.opening import open_workspace
from flyball.workspace.run.worktree import CommitKind

FILES: dict[str, str | bytes] = {
    "a.txt": "one\ntwo\nthree\n",
    "b.txt": "b\n",
    "d/c.txt": "c\n",
    "gone.txt": "soon\n",
    ".gitignore": "*.log\n",
}


def clean(repo: Path) -> None:
    repository(repo, FILES)


def dirty(repo: Path) -> None:
    repository(repo, FILES)
    put(repo, {"a.txt": "stashed\n"})
    git(repo, "stash")
    put(repo, {"a.txt": "staged\n", "new staged.txt": "s\n"})
    git(repo, "add", "-A")
    put(repo, {"a.txt": "staged\nand more\n", "b.txt": "unstaged\n", "un/tracked.txt": "u\n"})
    put(repo, {"noise.log": "ignored\n"})
    (repo / "gone.txt").unlink()
    (repo / "d/c.txt").chmod(0o755)
    (repo / "link").symlink_to("a.txt")


def unborn(repo: Path) -> None:
    repository(repo)
    put(repo, {"a.txt": "one\ntwo\nthree\n", "staged.txt": "s\n"})
    git(repo, "add", "staged.txt")


def unborn_and_empty(repo: Path) -> None:
    repository(repo)


def detached(repo: Path) -> None:
    repository(repo, FILES)
    git(repo, "checkout", "-q", "--detach")
    put(repo, {"b.txt": "more\n"})


def with_submodule(repo: Path) -> None:
    other = repository(repo.parent / "other", {"x.txt": "x\n"})
    repository(repo, FILES)
    git(repo, "submodule", "--quiet", "add", str(other), "sub")
    git(repo, "commit", "-q", "-m", "sub")
    put(repo, {"sub/x.txt": "edited in the submodule\n"})


def with_large_file_attributes(repo: Path) -> None:
    repository(repo, FILES)
    put(repo, {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    put(repo, {"p.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"})
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-m", "lfs")
    git(repo, "config", "filter.lfs.clean", "cat")
    git(repo, "config", "filter.lfs.required", "true")


def in_a_merge(repo: Path) -> None:
    repository(repo, FILES)
    git(repo, "checkout", "-q", "-b", "side")
    put(repo, {"a.txt": "side\n"})
    git(repo, "commit", "-q", "-a", "-m", "side")
    git(repo, "checkout", "-q", "main")
    put(repo, {"a.txt": "main\n"})
    git(repo, "commit", "-q", "-a", "-m", "main")
    git(repo, "merge", "side", check=False)


def with_odd_index(repo: Path) -> None:
    repository(repo, FILES)
    git(repo, "update-index", "--split-index")
    git(repo, "update-index", "--assume-unchanged", "b.txt")
    put(repo, {"b.txt": "changed though git was told not to look\n"})


def sparse(repo: Path) -> None:
    repository(repo, FILES)
    git(repo, "sparse-checkout", "set", "--no-cone", "/*", "!/d/")


def a_linked_worktree(repo: Path) -> None:
    main = repository(repo.parent / "main", FILES)
    git(main, "worktree", "add", "-q", "-b", "side", str(repo))
    put(repo, {"b.txt": "in the linked worktree\n"})


SHAPES: tuple[Callable[[Path], None], ...] = (
    clean,
    dirty,
    unborn,
    unborn_and_empty,
    detached,
    with_submodule,
    with_large_file_attributes,
    in_a_merge,
    with_odd_index,
    sparse,
)


def work(root: Path) -> None:
    put(root, {"a.txt": "one\ntwo!\nthree\n", "made/by.py": "x = 1\n", "sub/y.txt": "y\n"})
    (root / "d/c.txt").unlink(missing_ok=True)


@pytest.mark.parametrize("shape", sampled(SHAPES, 3, lambda shape: shape.__name__))
def test_a_run_that_is_abandoned_leaves_no_trace(shape: Callable[[Path], None], tmp_path: Path):
    repo = tmp_path / "repo"
    shape(repo)
    for name in ("pre-commit", "post-checkout", "reference-transaction"):
        (repo / ".git/hooks" / name).write_text("#!/bin/sh\nexit 1\n")
        (repo / ".git/hooks" / name).chmod(0o755)
    before = own_state(repo)

    workspace = open_workspace(repo, "r", tmp_path / "state", in_place=False)
    carried = {name: kept for name, kept in contents(repo).items() if not name.endswith(".log")}
    assert carried.items() <= (contents(workspace.root).items())
    workspace.snapshot("k")
    assert git(workspace.root, "status", "--porcelain", "--ignore-submodules=all") == ""
    work(workspace.root)
    workspace.commit_card("r", "c1", "Work")
    assert git(workspace.root, "log", "-1", "--format=%s").strip() == "Work"
    assert git(workspace.root, "status", "--porcelain", "--ignore-submodules=all") == ""
    move_record(workspace, workspace.card("c1"), CommitKind.REVERT)
    # What an agent edits inside a submodule is in no commit, so no revert of one reaches it.
    left = [each.path for each in workspace.changed_since(workspace.base)]
    assert [path for path in left if not path.startswith("sub/")] == []
    workspace.remove()

    after = own_state(repo)
    assert after.keys() == before.keys()
    for part in before:
        assert after[part] == before[part], part
    assert not (tmp_path / "state/runs/r").exists()


@pytest.mark.parametrize(
    "shape", sampled([a_linked_worktree, *SHAPES], 3, lambda shape: shape.__name__)
)
def test_a_run_in_place_can_be_taken_back_to_the_byte(
    shape: Callable[[Path], None], tmp_path: Path
):
    repo = tmp_path / "repo"
    shape(repo)
    files = contents(repo)
    index = git(repo, "ls-files", "-s", "-v")
    head = git(repo, "rev-parse", "HEAD", check=False)

    with open_workspace(repo, "r", tmp_path / "state", in_place=True) as workspace:
        work(repo)
        workspace.commit_card("r", "c1", "Work")
        move_record(workspace, workspace.card("c1"), CommitKind.REVERT)
        assert contents(repo) == files
        work(repo)
        workspace.restore(workspace.base)
        assert contents(repo) == files
        workspace.remove()

    assert git(repo, "ls-files", "-s", "-v") == index
    assert git(repo, "rev-parse", "HEAD", check=False) == head
    assert "flyball" not in git(repo, "for-each-ref")


def test_commits_carry_the_users_name_and_our_trailers(tmp_path: Path):
    repo = repository(tmp_path / "repo", FILES)
    git(repo, "config", "user.name", "Grace <x>\n")
    git(repo, "config", "user.email", "grace@example.org")
    put(repo, {"b.txt": "dirty\n"})
    with open_workspace(repo, "r-1", tmp_path / "state", in_place=False) as workspace:
        work(workspace.root)
        commit = workspace.commit_card("r-1", "c1", "Fix\nthe total", ["e1", "e2"])

        assert workspace.commit_card("r-1", "c1", "Fix\nthe total", ["e1", "e2"]) == commit
    shown = git(repo, "log", "-1", "--format=%an <%ae>%n%B", "flyball/r-1").strip().splitlines()
    assert shown == [
        "Grace x <grace@example.org>",
        "Fix",
        "",
        "the total",
        "",
        "Flyball-Run: r-1",
        "Flyball-Card: c1",
        "Flyball-Evidence: e1",
        "Flyball-Evidence: e2",
    ]
    assert git(repo, "log", "--format=%s", "flyball/r-1").splitlines() == [
        "Fix",
        "Carry in uncommitted work",
        "start",
    ]


@pytest.mark.exhaustive
def test_files_in_a_submodule_are_within_recall(tmp_path: Path):
    repo = tmp_path / "repo"
    with_submodule(repo)
    with open_workspace(repo, "r", tmp_path / "state", in_place=True) as workspace:
        put(repo, {"sub/x.txt": "ruined\n", "sub/new.txt": "n\n"})
        assert {change.path for change in workspace.changed_since(workspace.base)} == {
            "sub/x.txt",
            "sub/new.txt",
        }

        workspace.restore(workspace.base)

    assert (repo / "sub/x.txt").read_text() == "edited in the submodule\n"
    assert not (repo / "sub/new.txt").exists()


@pytest.mark.exhaustive
def test_files_of_a_submodule_are_not_taken_for_untracked_work(tmp_path: Path):
    repo = tmp_path / "repo"
    with_submodule(repo)
    put(repo, {"subtle.txt": "mine\n"})
    with open_workspace(repo, "r", tmp_path / "state", in_place=True) as workspace:
        assert workspace.untracked.paths == {"subtle.txt"}
