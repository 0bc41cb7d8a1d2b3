"""Compare two trees of a user's repository without creating anything in it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from flyball.errors import Conflict, NotFound, UsageError
from flyball.workspace.run.opening import OpenRepository, open_repository
from flyball.workspace.run.visible import find_trees_home
from flyball.workspace.run.workspace import Workspace, WorkspaceFacts
from flyball.workspace.run.worktree import (
    NOT_INITIALISED,
    carry,
    head_tree,
    remove_trees_home,
    remove_whole,
)
from flyball.workspace.trees.git import Git, Repository, find_repository
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.trees import LARGE, Skipped, TreeHash


class RevisionTree(NamedTuple):
    """A tree as a commit stores it, and that commit; a working tree has none yet."""

    tree: str
    commit: str = ""


class ComparedTrees(NamedTuple):
    """A workspace that knows both trees and their names."""

    workspace: Workspace
    base: str
    head: str
    base_name: str
    head_name: str
    present: str
    """The current working tree, which may differ from both."""
    old: RevisionTree
    new: RevisionTree
    missing: tuple[str, ...] = ()
    """Submodules whose files are missing in one tree, because the user does not have them."""


@contextmanager
def compare_trees(
    project: Path, directory: Path, *, base: str, head: str, home: Path | None = None
) -> Generator[ComparedTrees]:
    """Yield the tree where a change began and its result; delete all temporary data at the end.

    Without `head` the result is the working tree, with uncommitted work. The change begins at the
    merge base, as it does for a pull request.
    """
    repository = find_repository(project)
    if repository is None:
        raise UsageError(f"{project} is not in a git repository.", "Verify inside a repository.")
    remove_whole(directory)
    directory.mkdir(parents=True)
    own = home or Path.home()
    place = find_trees_home(directory, own)
    try:
        opened = open_repository(repository, directory, own)
        yield _compared(opened, directory, place, base, head)
    finally:
        remove_whole(directory)
        remove_trees_home(place)


def _compared(
    opened: OpenRepository, directory: Path, place: Path, base: str, head: str
) -> ComparedTrees:
    """Return both trees in a workspace that keeps its data below these directories."""
    user, repository = opened.user, opened.repository
    tip = _commit(user, head or "HEAD")
    start = _parting(user, _commit(user, base or _default(user, head)), tip)
    trees = GitTrees(opened.depot, repository.top, directory / "index", large=LARGE)
    (opened.depot.directory / "HEAD").write_text(f"{tip}\n")
    trees.seed(f"{tip}^{{tree}}", write=False)
    trees.exclude_nested()
    opened.form.expand_index(trees.index)
    present = trees.capture().tree
    old, new = RevisionTree(_tree(user, start), start), RevisionTree(_tree(user, tip), tip)
    before = opened.form.expand(TreeHash(old.tree))
    tree = opened.form.expand(TreeHash(new.tree)) if head else present
    top = os.fspath(repository.top)
    missing = tuple(dict.fromkeys((*trees.submodules(before), *trees.submodules(tree))))
    facts = WorkspaceFacts(
        "verify",
        top,
        top,
        True,
        before,
        start,
        start,
        tuple(Skipped(path, NOT_INITIALISED) for path in missing),
        trees_home=os.fspath(place),
        apart=opened.apart,
    )
    workspace = Workspace(facts, directory, trees, None, None)
    if not head:
        new = RevisionTree(_as_committed(opened, trees, TreeHash(new.tree), present))
    names = (start[:12], tip[:12] if head else "working tree")
    return ComparedTrees(workspace, before, tree, *names, present, old, new, missing)


def _as_committed(
    opened: OpenRepository, trees: GitTrees, parent: TreeHash, present: TreeHash
) -> TreeHash:
    """Return the tree that a commit of the working tree on top of this one would have."""
    return opened.form.to_commit(trees, parent, opened.form.expand(parent), present).tree


def uncommitted_paths(repository: Repository, home: Path) -> tuple[str, ...]:
    """Return the files that differ from the last commit, staged or not, excluding ignored ones.

    A temporary depot is used: `git status` in the checkout would run what its configuration names,
    and write its index.
    """
    with tempfile.TemporaryDirectory(prefix="flyball-look-") as name:
        directory = Path(name)
        opened = open_repository(repository, directory, home)
        (opened.depot.directory / "HEAD").write_text(f"{_commit(opened.user, 'HEAD')}\n")
        carried = carry(opened.form, repository, directory / "index", LARGE)
        trees = GitTrees(opened.depot, repository.top, directory / "index", large=LARGE)
        before = TreeHash(head_tree(opened.depot) or trees.empty_tree())
        changed = [each.path for each in trees.changes(before, carried.tree)]
        return (*changed, *(each.path for each in carried.skipped))


def _default(user: Git, head: str) -> str:
    """Return the default base of a change: the commit it was made on."""
    if not head or user.resolve(f"{head}^^{{commit}}"):
        return f"{head}^" if head else "HEAD"
    if _is_shallow(user):
        # Its parent was not fetched; compared with itself it would seem to change nothing.
        raise NotFound("revision", f"{head}^", UNSHALLOW)
    return "HEAD"


UNSHALLOW = (
    "This clone is shallow. Fetch the whole history: `fetch-depth: 0` under `with:` of "
    "actions/checkout, or `git fetch --unshallow`."
)


def _commit(user: Git, name: str) -> str:
    found = user.resolve(f"{name}^{{commit}}")
    if found is None:
        if name == "HEAD":
            raise Conflict("This repository has no commit yet.", "Commit once, then compare.")
        hint = "Name a branch, a tag or a commit of this repository."
        raise NotFound("revision", name, UNSHALLOW if _is_shallow(user) else hint)
    return found


def _is_shallow(user: Git) -> bool:
    answer = user.call("rev-parse", "--is-shallow-repository").stdout
    return answer.strip() == b"true"


def _tree(user: Git, commit: str) -> TreeHash:
    return TreeHash(user.resolve(f"{commit}^{{tree}}") or "")


def _parting(user: Git, base: str, head: str) -> str:
    done = user.call("merge-base", base, head, ok=(0, 1))
    found = done.stdout.decode().strip()
    if not found and _is_shallow(user):
        # Comparing the tips would include changes on the other branch.
        raise Conflict(f"No common ancestor of {base[:12]} and {head[:12]} is here.", UNSHALLOW)
    return found or base
