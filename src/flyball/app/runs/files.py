"""Read the files of a run and their changes."""

from __future__ import annotations

from flyball.app.project import Home, redactor_of
from flyball.app.runs.journals import Record, record_of, submitted
from flyball.app.runs.run_bundle import bring_run
from flyball.errors import NotFound
from flyball.run.state import RunState
from flyball.workspace.run.opening import find_workspace, peek_workspace
from flyball.workspace.run.workspace import Workspace


def workspace_of(home: Home, record: Record) -> Workspace:
    """Return a run's workspace for reading; fetch it if a cluster drives the run."""
    run = record.state.run
    if record.is_submitted:
        bring_run(home, run, present_tree(record.state))
    if find_workspace(run, home.state) is None:
        raise NotFound("workspace of run", run, "The run never started, or it was pruned.")
    return peek_workspace(run, home.state)


async def bring_submitted(home: Home, run: str) -> None:
    """Fetch a run's files if cluster workers drove it."""
    if record := await submitted(home, run):
        workspace_of(home, record)


async def diff_of(home: Home, run: str) -> str:
    """Return what a run has changed so far, with known secrets redacted."""
    record = await record_of(home, run)
    state, _ = record
    workspace = workspace_of(home, record)
    diff = workspace.diff(state.base, present_tree(state), without=state.left_behind())
    return redactor_of(home).text(diff.decode("utf-8", "replace"))


def present_tree(state: RunState) -> str:
    """Return a run's current tree: its live card's, or the one after its last card."""
    live = [card.tree for card in state.cards if card.is_live and not card.place]
    return live[-1] if live else state.tree
