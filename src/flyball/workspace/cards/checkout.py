"""A second directory next to a run: the user's own checkout, or a place to replay cards."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from flyball.workspace.errors import IndexLocked, explain_disk_errors
from flyball.workspace.run.lock import WorkspaceLock
from flyball.workspace.run.opening import open_repository
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.run.worktree import CardRecord, RunBranch
from flyball.workspace.trees.git import (
    Git,
    Repository,
    find_git,
    find_repository,
    read_user_config,
    user_git,
)
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.plain_trees import PlainTrees
from flyball.workspace.trees.trees import TreeHash, Trees, mode_of
from flyball.workspace.trees.working_form import WorkingForm
from flyball.workspace.trees.writer import Writer


class Checkout:
    """A directory whose files cards can be moved in, without a run of its own."""

    def __init__(self, root: Path, trees: Trees, note: Path, lock: WorkspaceLock | None) -> None:
        self.root = root
        self.trees = trees
        self.writer = Writer(trees, root, note)
        self._lock = lock

    def tree_hash(self) -> TreeHash:
        """Return the tree of the current files."""
        return self.trees.capture().tree

    def uncommitted(self, paths: Sequence[str]) -> frozenset[str]:
        """Return which of these files are in no commit of the directory's own repository."""
        repository = find_repository(self.root) if paths else None
        if repository is None or repository.top != self.root:
            return frozenset()
        git = user_git(repository, find_git())
        head = git.resolve("HEAD^{commit}")
        # Ask their own git: in a directory of another repository our depot has no such commit.
        listed = git.call("ls-tree", "-r", "-z", "--name-only", head).stdout if head else b""
        return frozenset(paths) - {os.fsdecode(name) for name in listed.split(b"\0")}

    def __enter__(self) -> Checkout:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the directory."""
        if self._lock:
            self._lock.release()


def open_beside(workspace: Workspace, root: Path, state_dir: Path) -> Checkout:
    """Open a directory other than the run's own; its trees are stored with the run's."""
    lock = None
    if not workspace.in_place:
        lock = WorkspaceLock(state_dir / "checkout.lock", os.fspath(root))
    name = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    note = workspace.directory / f"beside-{name}.json"
    if workspace.branch is None:
        known = workspace.directory / f"beside-{name}.known"
        store = workspace.directory / "objects"
        return Checkout(root, PlainTrees(store, root, known=known), note, lock)
    index = workspace.directory / f"beside-{name}.index"
    return Checkout(root, _fresh_trees(workspace.branch.depot, root, index), note, lock)


def open_alone(repository: Repository, run: str, state_dir: Path, home: Path) -> Checkout:
    """Open the user's checkout when a run's own workspace no longer exists."""
    directory = state_dir / "merged" / run
    lock = WorkspaceLock(state_dir / "checkout.lock", os.fspath(repository.top))
    depot = open_repository(repository, directory, home, lock).depot
    trees = _fresh_trees(depot, repository.top, directory / "index")
    return Checkout(repository.top, trees, directory / "pending.json", lock)


def merged_steps(repository: Repository, run: str, home: Path) -> tuple[CardRecord, ...]:
    """Return the steps of a run that the user's current branch contains."""
    user = user_git(repository, find_git())
    head = user.resolve("HEAD^{commit}")
    if head is None:
        return ()
    identity = read_user_config(user, repository, home).identity
    return tuple(RunBranch(run, repository, user, user, identity).history(head))


def as_files(record: CardRecord, place: Checkout, repository: Repository) -> CardRecord:
    """Return a step of a branch with its trees as they are in a checkout."""
    assert isinstance(place.trees, GitTrees)
    form = WorkingForm(place.trees.depot, repository)
    before, after = form.expand(record.before), form.expand(record.after)
    return msgspec.structs.replace(record, before=before, after=after)


def refuse_locked_index(repository: Repository) -> None:
    """Raise if git's index is locked, even by a process that died."""
    lock = repository.directory / "index.lock"
    if lock.exists():
        raise IndexLocked(os.fspath(lock))


def _fresh_trees(depot: Git, root: Path, index: Path) -> GitTrees:
    """Return the trees of a directory as it is now: what its git tracks, and what is not
    ignored.
    """
    index.unlink(missing_ok=True)
    trees = GitTrees(depot, root, index)
    trees.seed(trees.empty_tree(), write=False)
    repository = find_repository(root)
    if repository and repository.top == root and (repository.directory / "index").exists():
        names = _tracked_files(depot, repository, index)
        trees.update((), [name for name in names if _is_file(root / name)])
    trees.leave_nested()
    return trees


def _tracked_files(depot: Git, repository: Repository, index: Path) -> list[str]:
    copy = index.with_suffix(".copy")
    with explain_disk_errors(os.fspath(copy)):
        shutil.copyfile(repository.directory / "index", copy)
        for shared in repository.directory.glob("sharedindex.*"):
            shutil.copyfile(shared, depot.directory / shared.name)
    listed = depot.with_env(GIT_INDEX_FILE=os.fspath(copy)).call("ls-files", "-z").stdout
    copy.unlink()
    return [os.fsdecode(name) for name in dict.fromkeys(listed.split(b"\0")) if name]


def _is_file(path: Path) -> bool:
    try:
        return mode_of(path.lstat()) is not None
    except (FileNotFoundError, NotADirectoryError):
        return False
