"""Workspaces between two moments of a host."""

from __future__ import annotations

from pathlib import Path

from tests.repos import repository

from flyball.app.hosts.opening import MOST_OPEN, KeptWorkspaces
from flyball.workspace.run.opening import open_workspace, peek_workspace


def opened(place: Path, *runs: str) -> Path:
    """A project in which these runs have worked; their state directory comes back."""
    repo = repository(place / "repo", {"a.py": "a = 1\n"})
    for run in runs:
        open_workspace(repo, run, place / "state", in_place=True).close()
    return place / "state"


def test_one_that_nobody_else_worked_in_is_taken_as_it_is(tmp_path: Path):
    state, kept = opened(tmp_path, "r1"), KeptWorkspaces()
    first = kept.open("r1", state)
    first.snapshot("one")
    kept.keep("r1", first)
    assert kept.open("r1", state) is first


def test_one_that_another_process_worked_in_is_opened_anew(tmp_path: Path):
    state, kept = opened(tmp_path, "r1"), KeptWorkspaces()
    first = kept.open("r1", state)
    kept.keep("r1", first)
    peek_workspace("r1", state).snapshot("elsewhere")
    again = kept.open("r1", state)
    assert again is not first
    assert again.has_snapshot("elsewhere")


def test_only_the_last_few_stay_open(tmp_path: Path):
    runs = [f"r{n}" for n in range(MOST_OPEN + 1)]
    state, kept = opened(tmp_path, *runs), KeptWorkspaces()
    spaces = {run: kept.open(run, state) for run in runs}
    for run, workspace in spaces.items():
        kept.keep(run, workspace)
    assert kept.open(runs[0], state) is not spaces[runs[0]]
    assert kept.open(runs[-1], state) is spaces[runs[-1]]
