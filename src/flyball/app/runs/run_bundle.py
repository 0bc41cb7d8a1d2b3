"""Store a run's files, branch and snapshots as one commit, its bundle, on a remote.

    refs/flyball/RUN/7        the bundle of the seventh holder of the run's lease
    refs/flyball/RUN/branch   the run's branch, for people

A holder writes only to the reference of its own fence, and begins by deleting the previous one: a
process that lost the lease while it was suspended then has no reference to write to.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.app.project import Home, project_name
from flyball.errors import Conflict, LeaseHeld, NotFound, UsageError
from flyball.workspace.errors import GitFailed
from flyball.workspace.run.lock import WorkspaceLock
from flyball.workspace.run.opening import (
    find_workspace,
    forget_run,
    open_repository,
    peek_workspace,
)
from flyball.workspace.run.visible import find_trees_home, visible_name
from flyball.workspace.run.workspace import Workspace, WorkspaceFacts
from flyball.workspace.run.worktree import (
    RunBranch,
    add_worktree,
    alone_with,
    forget_worktrees,
    give_index,
    parse_commit,
    share_index,
)
from flyball.workspace.trees.git import (
    Git,
    Repository,
    check_run_name,
    find_git,
    find_repository,
    user_git,
)
from flyball.workspace.trees.git_objects import (
    DIRECTORY,
    Child,
    replace_whole,
    tree_content,
    write_loose,
)
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.remote import REFS, RefMove, Remote
from flyball.workspace.trees.trees import TreeHash

NOTES = ("snapshots.jsonl", "cards.jsonl")
FACTS = "workspace.json"
HERE = "tree"
FILE = "100644"
BRANCH = "branch"


class UnpackTarget(NamedTuple):
    """The target of an unpack: the clone, the state directory, and the settings that apply."""

    clone: Path
    state: Path
    environ: Mapping[str, str]

    @property
    def home(self) -> Path:
        return Path(self.environ.get("HOME", "/"))


def pack(workspace: Workspace) -> str:
    """Return one commit in the run's own object store with everything another machine needs."""
    assert workspace.branch is not None
    present = workspace.tree_hash()
    store, width = workspace.trees.depot.directory / "objects", len(present)
    steps = [tree for record in workspace.history() for tree in (record.before, record.after)]
    kept = [record.tree for record in workspace.snapshots.records()]
    trees: list[str] = [workspace.base, *steps, *kept]
    listed = {tree: Child(DIRECTORY, tree) for tree in trees}
    listed[HERE] = Child(DIRECTORY, present)
    for name in (FACTS, *NOTES):
        if (file := workspace.directory / name).exists():
            listed[name] = Child(FILE, write_loose(store, "blob", file.read_bytes(), width))
    content = tree_content(listed)
    tree = write_loose(store, "tree", content, width)
    tip = workspace.branch.tip() or workspace.facts.base_commit
    who = "Flyball <flyball@localhost> 0 +0000"
    text = f"tree {tree}\nparent {tip}\nauthor {who}\ncommitter {who}\n\nluggage\n"
    return write_loose(store, "commit", text.encode(), width)


def unpack(place: UnpackTarget, run: str, luggage: str) -> None:
    """Unpack a run as it was packed, replacing any earlier files of it."""
    repository = find_repository(place.clone)
    if repository is None:
        raise NotFound("repository", os.fspath(place.clone), "The worker makes it by itself.")
    directory = place.state / "runs" / check_run_name(run)
    user = user_git(repository, find_git())
    if find_workspace(run, place.state) or directory.exists():
        forget_run(run, place.state)
    directory.mkdir(parents=True)
    trees_home = find_trees_home(directory, place.home)
    # Git may have stale data from a worker that was killed during the same operation.
    for folder in (directory, trees_home):
        forget_worktrees(repository, folder)
    opened = open_repository(repository, directory, place.home)
    commit = parse_commit(luggage, user.call("cat-file", "commit", luggage).stdout)
    facts = msgspec.json.decode(_file(user, luggage, FACTS), type=WorkspaceFacts)
    branch = RunBranch(run, repository, user, opened.depot, opened.config.identity)
    branch.delete()
    user.set_ref(branch.ref, commit.parents[0], "0" * len(luggage))
    root = trees_home / "tree" / visible_name(repository.top.name)
    add_worktree(user, repository, root, branch.ref)
    trees = GitTrees(opened.depot, root, directory / "index")
    present = TreeHash(user.text("rev-parse", f"{luggage}:{HERE}"))
    trees.seed(present, write=True)
    give_index(repository, root, directory / "index")
    above = f"{commit.parents[0]}^{{tree}}"
    share_index(opened.depot, repository, root, above, opened.form.outside)
    if trees.capture().tree != present:
        raise GitFailed(
            f"The files of run {run} could not be written exactly below {root}.",
            "Check that this disk keeps modes, links and the case of names.",
        )
    (opened.depot.directory / "HEAD").write_text(trees.commit_object(facts.base) + "\n")
    for name in NOTES:
        if content := _file(user, luggage, name):
            (directory / name).write_bytes(content)
    moved = msgspec.structs.replace(
        facts,
        project=os.fspath(repository.top),
        root=os.fspath(root),
        trees_home=os.fspath(trees_home),
    )
    # Last, so that a reader that finds it finds everything.
    replace_whole(directory / FACTS, msgspec.json.encode(moved))


def _file(git: Git, luggage: str, name: str) -> bytes:
    """Return a text file from the bundle; empty if it is missing."""
    return git.call("cat-file", "blob", f"{luggage}:{name}", ok=(0, 128)).stdout


class RunBundle(NamedTuple):
    """The bundle that a run's last holder pushed to its remote."""

    remote: Remote
    ref: str
    found: Mapping[str, str]
    """This reference and earlier ones, with their commits."""

    @property
    def commit(self) -> str:
        return self.found[self.ref]

    def fetch(self, repository: Repository, git: Git, run: str) -> None:
        """Fetch the bundle unless it is already available."""
        own = local_ref(run)
        if git.resolve(own) == self.commit and git.resolve(f"{self.commit}^{{tree}}"):
            return
        try:
            self.remote.fetch(self.ref, own)
        except GitFailed as error:
            # Git fails on the head of a worktree that is just being added.
            if "worktrees/" not in error.message:
                raise
            with alone_with(repository):
                self.remote.fetch(self.ref, own)


def find_luggage(remote: Remote, run: str, before: int = 0) -> RunBundle:
    """Return the latest bundle, or the latest one older than this fence."""
    listed = remote.refs(f"{REFS}{check_run_name(run)}/")
    found = {ref: at for ref in listed if (at := fence_of(ref)) and (not before or at < before)}
    if not found:
        raise NotFound(
            "luggage of run",
            run,
            f"Its files are not at {remote.address}: no cluster drove it, or they were pruned.",
        )
    last = max(found, key=lambda ref: found[ref])
    return RunBundle(remote, last, {ref: listed[ref] for ref in found})


def local_ref(run: str) -> str:
    """Return the reference that keeps a fetched bundle."""
    return f"{REFS}{run}/luggage"


class Carrier:
    """Fetches a run's bundle for a new holder of its lease, and keeps it up to date."""

    def __init__(self, place: UnpackTarget, address: str, run: str, fence: int) -> None:
        self._place = place
        self._address = address
        self._run = run
        self._ref = f"{REFS}{run}/{fence}"
        self._fence = fence
        self._pushed = ""

    def arrive(self) -> None:
        """Fetch the last holder's bundle and unpack it."""
        repository = find_repository(self._place.clone)
        assert repository is not None
        git = user_git(repository, find_git())
        remote = Remote(git, self._address, self._place.environ)
        luggage = find_luggage(remote, self._run, before=self._fence)
        self._pushed = luggage.commit
        luggage.fetch(repository, git, self._run)
        moves = [RefMove(self._ref, "", self._pushed)]
        moves += [RefMove(ref, value, "") for ref, value in luggage.found.items()]
        if not remote.push(moves):
            raise LeaseHeld(self._run, "a later holder")
        # Even if our files seem up to date: another run of this worker may have crashed in them.
        unpack(self._place, self._run, self._pushed)

    def send(self, workspace: Workspace) -> None:
        """Update the remote; raise `LeaseHeld` if another process has taken the run."""
        luggage = pack(workspace)
        if luggage == self._pushed:
            return
        assert workspace.branch is not None
        remote = Remote(workspace.branch.depot, self._address, self._place.environ)
        tip = workspace.branch.tip() or workspace.facts.base_commit
        moves = [RefMove(self._ref, self._pushed, luggage)]
        if not remote.push(moves, {f"{REFS}{self._run}/{BRANCH}": tip}):
            raise LeaseHeld(self._run, "a later holder")
        self._pushed = luggage


def send_first(workspace: Workspace, address: str, environ: Mapping[str, str]) -> None:
    """Push a run that has not started to where the first worker will find it."""
    assert workspace.branch is not None
    remote = Remote(workspace.branch.depot, address, environ)
    if not remote.push([RefMove(f"{REFS}{workspace.run}/1", "", pack(workspace))]):
        raise Conflict(f"Run {workspace.run} is at {address} already.", "Submit it again.")


def fence_of(ref: str) -> int:
    """Return the fence in a reference's name; 0 if it does not belong to a holder."""
    number = ref.rpartition("/")[2]
    return int(number) if number.isdigit() else 0


class FetchedRun(NamedTuple):
    """A run that is available locally, and whether anything new was fetched."""

    run: str
    branch: str
    is_new: bool


def fetch_run(home: Home, run: str) -> FetchedRun:
    """Unpack a run as its last worker packed it; raise `NotFound` if the remote does not have
    it."""
    branch = f"flyball/{run}"
    repository = repository_of(home)
    git = user_git(repository, find_git())
    luggage = find_luggage(Remote(git, project_name(home), home.environ), run)
    known = git.resolve(local_ref(run))
    if find_workspace(run, home.state) is not None:
        if known is None:
            raise Conflict(f"Run {run} was driven on this machine.", "It is here already.")
        if known == luggage.commit:
            return FetchedRun(run, branch, is_new=False)
        _refuse_own_work(git, run, known)
    lock = WorkspaceLock(home.state / f"locks/{run}", f"The workspace of run {run}")
    try:
        luggage.fetch(repository, git, run)
        unpack(UnpackTarget(home.repo, home.state, home.environ), run, luggage.commit)
    finally:
        lock.release()
    return FetchedRun(run, branch, is_new=True)


def bring_run(home: Home, run: str, tree: str) -> None:
    """Make sure a submitted run is available up to a tree; ask the remote only if it is not."""
    if find_workspace(run, home.state) is not None:
        trees = peek_workspace(run, home.state).trees
        if not tree or trees.depot.resolve(f"{tree}^{{tree}}"):
            return
    fetch_run(home, run)


def git_of(home: Home) -> Git:
    """Return the git of a project's own repository."""
    return user_git(repository_of(home), find_git())


def repository_of(home: Home) -> Repository:
    """Return a project's own repository; raise `UsageError` if it has none."""
    repository = find_repository(home.repo)
    if repository is None:
        raise UsageError(
            f"{home.repo} is not a git repository, so no run can be fetched into it.",
            "Go to a clone of the project.",
        )
    return repository


def _refuse_own_work(git: Git, run: str, known: str) -> None:
    """Refuse to overwrite local changes to a fetched run, such as a reverted card."""
    fetched = parse_commit(known, git.call("cat-file", "commit", known).stdout).parents[0]
    head = git.call("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)).stdout.decode().strip()
    if git.resolve(f"refs/heads/flyball/{run}") != fetched:
        raise Conflict(
            f"Run {run} was fetched before, and its cards were reverted or reapplied here since.",
            f"Merge it, or delete this copy with `flyball runs prune {run} --abandon`.",
        )
    if head == f"refs/heads/flyball/{run}":
        raise Conflict(
            f"You have flyball/{run} checked out, which would move under your files.",
            "Switch to another branch first.",
        )
