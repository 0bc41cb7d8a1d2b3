"""Delete what a cluster's runs store at a project's remote."""

from __future__ import annotations

import time
from collections.abc import Collection

from flyball.app.project import Home, project_name
from flyball.app.runs.journals import list_runs, submitted
from flyball.app.runs.run_bundle import BRANCH, fence_of, git_of, local_ref
from flyball.errors import Conflict
from flyball.workspace.cards import use_cases
from flyball.workspace.cards.use_cases import ProjectPlaces
from flyball.workspace.run.opening import find_workspace
from flyball.workspace.trees.remote import REFS, RefMove, Remote

OPEN = frozenset({"running", "paused"})


async def forget_old(home: Home, seconds: float, *, only: str = "") -> int:
    """Delete remote snapshots of runs that ended at least this long ago; return how many runs."""
    before = time.time() - seconds
    ended = [
        each.run
        for each in await list_runs(home)
        # A run without a worker has nothing there, and there may be no remote at all.
        if each.queue and each.status not in OPEN and each.updated_at < before
        if only in ("", each.run)
    ]
    return _forget(home, ended) if ended else 0


async def abandon_run(home: Home, places: ProjectPlaces, run: str, *, is_sure: bool) -> None:
    """Delete all data of a run here and, for a cluster's run, at the remote too."""
    record = await submitted(home, run)
    if record is not None and not record.state.has_ended:
        raise Conflict(f"Run {run} has not ended.", f"End it: flyball runs cancel {run}")
    is_here = find_workspace(run, home.state) is not None
    if record is not None and not is_here and not is_sure:
        raise Conflict(
            f"Run {run} is not in this clone, so what would be lost has not been reviewed.",
            f"Review it with `flyball runs fetch {run}`, or repeat with --yes.",
        )
    if is_here or record is None:
        use_cases.abandon(places, run)
    if record is not None:
        git_of(home).delete_ref(local_ref(run))
        _forget(home, [run], with_branch=True)


def _forget(home: Home, runs: Collection[str], *, with_branch: bool = False) -> int:
    """Delete the references of runs at the remote; return how many of the runs had any."""
    remote = Remote(git_of(home), project_name(home), home.environ)
    gone = [
        RefMove(ref, value, "")
        for ref, value in remote.refs(REFS).items()
        if _run_of(ref) in runs and (fence_of(ref) or (with_branch and ref.endswith(f"/{BRANCH}")))
    ]
    if gone and not remote.push(gone):
        raise Conflict("A worker has just taken up one of these runs.", "Try it again.")
    return len({_run_of(each.ref) for each in gone})


def _run_of(ref: str) -> str:
    return ref.removeprefix(REFS).partition("/")[0]
