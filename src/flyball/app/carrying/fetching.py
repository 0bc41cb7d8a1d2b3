"""Fetch runs driven by workers into a local checkout.

A fetched run behaves like a local one: its cards can be shown, reverted and merged.
"""

from __future__ import annotations

from typing import NamedTuple

from flyball.app.carrying.run_bundle import UnpackTarget, find_luggage, local_ref, unpack
from flyball.app.project import Home, project_name
from flyball.errors import Conflict, UsageError
from flyball.workspace.run.lock import WorkspaceLock
from flyball.workspace.run.opening import find_workspace, peek_workspace
from flyball.workspace.run.worktree import parse_commit
from flyball.workspace.trees.git import Git, Repository, find_git, find_repository, user_git
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.remote import Remote


class FetchedRun(NamedTuple):
    """A run that is available locally, and whether anything new was fetched."""

    run: str
    branch: str
    is_new: bool


def fetch_run(home: Home, run: str) -> FetchedRun:
    """Unpack a run as its last worker packed it; raise `NotFound` if the remote has none of it."""
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
        if not tree or (isinstance(trees, GitTrees) and trees.depot.resolve(f"{tree}^{{tree}}")):
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
            f"Run {run} was fetched before, and its cards were moved here since.",
            f"Merge it, or delete this copy with `flyball runs prune {run} --abandon`.",
        )
    if head == f"refs/heads/flyball/{run}":
        raise Conflict(
            f"You have flyball/{run} checked out, which would move under your files.",
            "Switch to another branch first.",
        )
