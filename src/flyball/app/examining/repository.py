"""Examine git and the user's repository: version, identity, and unfinished operations."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from flyball.app.examining.symptom import Symptom, fine, listed, note, trouble
from flyball.app.project import Home
from flyball.core.terms.shape import counted
from flyball.errors import ToolUnavailable
from flyball.regex import regex
from flyball.workspace.process.spawn import run_sync
from flyball.workspace.run.comparing import uncommitted_paths
from flyball.workspace.trees.git import (
    NOBODY,
    OLDEST_GIT,
    Repository,
    find_git,
    find_repository,
    read_user_config,
    user_git,
)

MERGES_TREES = (2, 38)
"""The first git version that merges trees itself; for older ones Flyball does."""

UNDER_WAY = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
}
"""Files in the git directory that indicate an unfinished operation."""

_VERSION = regex(r"(\d+)\.(\d+)")


async def examine_repository(home: Home) -> list[Symptom]:
    """Check git and the repository as a run would find it."""
    repository = find_repository(home.repo)
    program = _git(repository)
    found = [program]
    if repository is None:
        return [*found, _no_repository(home.repo)]
    found += _left_open(repository)
    if not program.blocks:
        found += _asked(home, repository)
    return found


def _git(repository: Repository | None) -> Symptom:
    """Check that git is installed and supports the options in use."""
    try:
        path = find_git()
    except ToolUnavailable:
        missing = "git is not on the PATH"
        if repository is None:
            return note("git", missing, "Install git to have a branch and a commit for each card.")
        hint = "Install git; until then only `flyball run --in-place` works here."
        return trouble("git", missing, hint)
    env = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    said = run_sync((path, "--version"), cwd=Path("/"), env=env, seconds=10)
    text = said.stdout.decode(errors="replace").strip()
    found = _VERSION.search(text)
    oldest = ".".join(map(str, OLDEST_GIT))
    if said.exit_code or not found:
        hint = f"Put a git of {oldest} or later first on the PATH."
        return trouble("git", f"{path} does not say its version", hint)
    version = (int(found[1]), int(found[2]))
    if version < OLDEST_GIT:
        return trouble("git", f"{text} ({path}) is too old", f"Install git {oldest} or later.")
    if version < MERGES_TREES:
        seen = f"{text} ({path}) does not merge trees: Flyball does it, and follows fewer renames"
        return note("git", seen, "Install git 2.38 or later to have git merge.")
    return fine("git", f"{text} ({path})")


def _no_repository(top: Path) -> Symptom:
    if os.path.lexists(top / ".git"):
        seen = f"{top / '.git'} is not a repository that git can use"
        return note("repository", seen, "Restore it, or remove it to work without git.")
    seen = f"{top} is not in a git repository: runs work in place, without branch or commits"
    return note("repository", seen, "Say `git init` there to have each card as a commit.")


def _left_open(repository: Repository) -> Iterator[Symptom]:
    """Yield unfinished git operations, read from git's files without running git."""
    lock = repository.directory / "index.lock"
    if lock.exists():
        seen = f"{lock} is there: git refuses to change its index, and so do merging and reverting"
        hint = f"If no git command is running, a dead one left it behind: rm {lock}"
        yield trouble("index", seen, hint)
    doing = [what for name, what in UNDER_WAY.items() if (repository.directory / name).exists()]
    for what in dict.fromkeys(doing):
        seen = f"{what} is under way: a run begins with its files as they are, conflicts included"
        yield note("unfinished", seen, "Finish or abort it before you merge a run.")


def _asked(home: Home, repository: Repository) -> Iterator[Symptom]:
    """Yield the checks that need git."""
    user = user_git(repository, find_git())
    own = Path(home.environ.get("HOME") or Path.home())
    identity = read_user_config(user, repository, own).identity
    who = f"{identity.name} <{identity.email}>"
    if NOBODY.name == identity.name or NOBODY.email == identity.email:
        seen = f"git does not know you: the commits of runs are signed {who}"
        hint = "Say `git config --global user.name NAME` and the same with user.email."
        yield note("identity", seen, hint)
    else:
        yield fine("identity", who)
    if user.resolve("HEAD^{commit}") is None:
        seen = "there is no commit yet: a run starts with all files that are not ignored"
        yield note(
            "commit",
            seen,
            "Commit once, so that `flyball verify` works and there is a state to return to.",
        )
        return
    if not user.call("symbolic-ref", "-q", "HEAD", ok=(0, 1)).stdout:
        seen = "the checkout is on no branch (detached HEAD): a run cannot be merged"
        yield note("branch", seen, "Check out a branch before you merge a run.")
    paths = sorted(uncommitted_paths(repository, own))
    if not paths:
        yield fine("checkout", "everything is committed")
        return
    seen = f"{counted(len(paths), 'file')} not committed ({listed(paths)})"
    hint = (
        "A run starts with them as they are. A merge does not touch them, and is refused if it "
        "would overwrite one; commit or stash it first."
    )
    yield note("checkout", seen, hint)
