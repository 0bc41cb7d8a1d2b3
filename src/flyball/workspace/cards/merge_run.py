"""Merge a run's cards into the user's branch and checkout, if nothing is lost."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.errors import AlreadyMerged, Conflict, NothingToMerge, UsageError
from flyball.workspace.errors import Diverged, GitFailed, IndexLocked, explain_disk_errors
from flyball.workspace.run.lock import WorkspaceLock
from flyball.workspace.run.opening import open_repository
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.run.worktree import CardRecord, Commit, RunBranch, read_commit
from flyball.workspace.trees.git import (
    Git,
    Repository,
    find_git,
    find_repository,
    read_user_config,
    user_git,
)
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.trees import Changed, Clash, TreeEntry, TreeHash, mode_of
from flyball.workspace.trees.working_form import WorkingForm, copy_index
from flyball.workspace.trees.writer import Writer


class MergeReport(msgspec.Struct, frozen=True):
    """The result of merging a run."""

    run: str
    branch: str
    commits: tuple[str, ...]
    files: tuple[str, ...]
    kept: tuple[str, ...] = ()
    """The user's files that the run removed but that were kept: they are in no commit."""


class _Plan(NamedTuple):
    head: str
    branch: str
    commits: tuple[str, ...]
    files: tuple[Changed, ...]
    staged: tuple[Changed, ...]


Approve = Callable[[str, str], None]
"""Called with the commits before and after, if their tree is not the one that the run produced."""


def merge_run(
    workspace: Workspace,
    checkout: Checkout,
    *,
    remove_untracked: bool = False,
    approve: Approve = lambda _before, _after: None,
) -> MergeReport:
    """Put the run's commits on the user's branch, and their changes into index and files.

    Files in no commit that the run removed are kept, unless their removal is requested. If the
    branch has moved on, `approve` may refuse the merged tree by raising.
    """
    branch, trees = workspace.branch, checkout.trees
    if branch is None:
        raise UsageError(
            "This project has no git repository, so there is no branch to merge into.",
            "The run worked in place: its changes are in the directory already.",
        )
    refuse_locked_index(branch.repository)
    checkout.writer.finish()
    plan = _plan(workspace, branch, checkout, trees)
    if not plan.commits:
        raise _nothing_left(workspace, plan.branch.removeprefix("refs/heads/"))
    # Objects, files, index, and the branch last: after a crash the branch is unchanged and the
    # merge is repeated; `finish` above completes files that were half written.
    branch.publish(plan.commits[-1], plan.head or None)
    merged = read_commit(branch.depot, plan.commits[-1]).tree
    if plan.head and branch.form.expand(merged) != workspace.committed_tree():
        approve(plan.head, plan.commits[-1])
    kept = () if remove_untracked else _removed_untracked(trees, plan)
    writes = [change for change in plan.files if change not in kept]
    checkout.writer.perform(f"Merging run {workspace.run}", writes)
    _write_index(branch, trees, plan.staged)
    old = plan.head or "0" * len(plan.commits[-1])
    branch.user.set_ref("HEAD", plan.commits[-1], old, log=f"flyball: merge run {workspace.run}")
    files = tuple(change.path for change in writes)
    left = tuple(change.path for change in kept)
    return MergeReport(workspace.run, plan.branch, plan.commits, files, left)


def _nothing_left(workspace: Workspace, branch: str) -> Conflict:
    """Explain why there is nothing to merge."""
    see = f"Look at it with `flyball runs show {workspace.run}`."
    if not workspace.history() and workspace.tree_hash() != workspace.base:
        return NothingToMerge(
            f"Run {workspace.run} has committed nothing yet, so nothing can be merged.",
            f"If it was interrupted, finish it with `flyball runs resume {workspace.run}`.",
        )
    if not workspace.history():
        return NothingToMerge(f"Run {workspace.run} changed nothing; nothing can be merged.", see)
    return AlreadyMerged(f"Everything of run {workspace.run} is on {branch} already.", see)


def _removed_untracked(trees: GitTrees, plan: _Plan) -> tuple[Changed, ...]:
    """Return the files that the merge would delete and that no commit could restore."""
    gone = {change.path: change for change in plan.files if change.after is None}
    if not plan.head:
        return tuple(gone.values())
    committed = trees.entries(TreeHash(plan.head), list(gone))
    return tuple(change for path, change in gone.items() if path not in committed)


def _plan(workspace: Workspace, branch: RunBranch, checkout: Checkout, trees: GitTrees) -> _Plan:
    """Compute everything the merge will write, before anything is written."""
    name = branch.user.call("symbolic-ref", "-q", "HEAD", ok=(0, 1)).stdout.decode().strip()
    if not name:
        raise Conflict(
            "Your checkout is on no branch (detached HEAD), so there is nothing to merge into.",
            "Make one here with `git switch -c NAME`, or check one out, then merge again.",
        )
    head = branch.user.resolve("HEAD^{commit}") or ""
    commits = _replay_commits(workspace, branch, trees, head)
    if not commits:
        return _Plan(head, name, (), (), ())
    goal = read_commit(branch.depot, commits[-1]).tree
    present = checkout.tree_hash()
    files = trees.merge(workspace.base, present, workspace.committed_tree())
    _refuse(files.clashes, "changes in your checkout that are not committed")
    staged = _index_tree(branch, trees)
    old = read_commit(branch.depot, head).tree if head else trees.empty_tree()
    index = trees.merge(old, staged, goal)
    _refuse(index.clashes, "what you have staged")
    return _Plan(
        head, name, commits, trees.changes(present, files.tree), trees.changes(staged, index.tree)
    )


def _replay_commits(
    workspace: Workspace, branch: RunBranch, trees: GitTrees, head: str
) -> tuple[str, ...]:
    """Return the run's commits that the user's branch lacks, rebased onto it, oldest first."""
    steps = _run_commits(branch, workspace.facts.base_commit)
    if head == workspace.facts.base_commit:
        return tuple(step.id for step in steps)
    there = Counter(_merged_messages(branch, head))
    at, tree = head, read_commit(branch.depot, head).tree if head else trees.empty_tree()
    placed: list[str] = []
    for step in steps:
        if there[step.message.strip()]:
            there[step.message.strip()] -= 1
            continue
        merged = trees.merge(read_commit(branch.depot, step.parents[0]).tree, tree, step.tree)
        _refuse_step(merged.clashes, step, moved_on=head != workspace.facts.start)
        tree = merged.tree
        at = branch.rewrite(step, tree, at or None)
        placed.append(at)
    return tuple(placed)


def _run_commits(branch: RunBranch, base: str) -> list[Commit]:
    """Return the run's own commits, oldest first."""
    steps: list[Commit] = []
    at = branch.tip() or base
    while at != base:
        commit = read_commit(branch.depot, at)
        steps.append(commit)
        at = commit.parents[0]
    return steps[::-1]


def _merged_messages(branch: RunBranch, head: str) -> list[str]:
    """Return the messages of the run's steps already merged: the same step has the same message."""
    there = branch.history(head) if head else []
    return [read_commit(branch.user, record.commit).message.strip() for record in there]


def _refuse(clashes: Sequence[Clash], what: str) -> None:
    if clashes:
        paths = [clash.path for clash in clashes]
        raise Diverged(
            f"Merging would overwrite {what}: {', '.join(paths)}.",
            "Nothing was changed. Commit, stash or undo your changes there, then merge again.",
            paths,
        )


def _refuse_step(clashes: Sequence[Clash], step: Commit, *, moved_on: bool) -> None:
    paths = [clash.path for clash in clashes]
    if not paths:
        return
    title = step.message.partition("\n")[0]
    if moved_on:
        raise Diverged(
            f"“{title}” does not fit what your branch has gained since: {', '.join(paths)}.",
            "Nothing was changed. Start a new run from the present branch, or merge by hand.",
            paths,
        )
    raise Diverged(
        f"“{title}” builds on changes of yours that are not committed: {', '.join(paths)}.",
        "Nothing was changed. Commit them first, then merge again.",
        paths,
    )


def _index_tree(branch: RunBranch, trees: GitTrees) -> TreeHash:
    """Return the tree of the user's staged files."""
    own = branch.repository.directory / "index"
    if not own.exists():
        return trees.empty_tree()
    copy = branch.depot.directory / "staged.index"
    shutil.copyfile(own, copy)
    git = branch.depot.with_env(GIT_INDEX_FILE=os.fspath(copy))
    try:
        return TreeHash(git.text("write-tree"))
    except GitFailed as error:
        raise Conflict(
            "Your checkout is in the middle of a merge with conflicts.",
            "Finish or abort that first, then merge the run.",
        ) from error
    finally:
        copy.unlink()


def _write_index(branch: RunBranch, trees: GitTrees, changes: Sequence[Changed]) -> None:
    """Update the user's index, changing only the entries that the run changed."""
    if not changes:
        return
    nothing = TreeEntry("0", "0" * len(trees.empty_tree()))
    rows = sorted(changes, key=lambda change: change.after is not None)
    lines = b"".join(
        b"%s %s\t%s\0" % (*(p.encode() for p in change.after or nothing), os.fsencode(change.path))
        for change in rows
    )
    git = branch.depot.with_env(
        GIT_INDEX_FILE=os.fspath(branch.repository.directory / "index"),
        GIT_WORK_TREE=os.fspath(branch.repository.top),
    )
    git.call("update-index", "-z", "--index-info", stdin=lines)
    git.call("update-index", "-q", "--refresh", ok=(0, 1))


class Checkout:
    """A directory whose files cards can be moved in, without a run of its own."""

    def __init__(self, root: Path, trees: GitTrees, note: Path, lock: WorkspaceLock | None) -> None:
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the directory."""
        if self._lock:
            self._lock.release()


def open_checkout(workspace: Workspace, root: Path, state_dir: Path) -> Checkout:
    """Open a directory other than the run's own; its trees are stored with the run's."""
    lock = None
    if not workspace.in_place:
        lock = WorkspaceLock(state_dir / "checkout.lock", os.fspath(root))
    name = hashlib.sha256(os.fsencode(root)).hexdigest()[:12]
    note = workspace.directory / f"beside-{name}.json"
    index = workspace.directory / f"beside-{name}.index"
    return Checkout(root, _fresh_trees(workspace.trees.depot, root, index), note, lock)


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
    form = WorkingForm(place.trees.depot, repository)
    before, after = form.expand(record.before), form.expand(record.after)
    return msgspec.structs.replace(record, before=before, after=after)


def refuse_locked_index(repository: Repository) -> None:
    """Raise if git's index is locked, even by a process that died."""
    lock = repository.directory / "index.lock"
    if lock.exists():
        raise IndexLocked(os.fspath(lock))


def _fresh_trees(depot: Git, root: Path, index: Path) -> GitTrees:
    """Return the trees of a directory as it is now, without ignored files."""
    index.unlink(missing_ok=True)
    trees = GitTrees(depot, root, index)
    trees.seed(trees.empty_tree(), write=False)
    repository = find_repository(root)
    if repository and repository.top == root and (repository.directory / "index").exists():
        names = _tracked_files(depot, repository, index)
        trees.update((), [name for name in names if _is_file(root / name)])
    trees.exclude_nested()
    return trees


def _tracked_files(depot: Git, repository: Repository, index: Path) -> list[str]:
    copy = index.with_suffix(".copy")
    with explain_disk_errors(os.fspath(copy)):
        copy_index(repository, depot, copy)
    listed = depot.with_env(GIT_INDEX_FILE=os.fspath(copy)).call("ls-files", "-z").stdout
    copy.unlink()
    return [os.fsdecode(name) for name in dict.fromkeys(listed.split(b"\0")) if name]


def _is_file(path: Path) -> bool:
    try:
        return mode_of(path.lstat()) is not None
    except (FileNotFoundError, NotADirectoryError):
        return False
