"""A run to be played again: when each event was, and the change as it stood after each edit."""

from __future__ import annotations

from typing import NamedTuple

from flyball.app.project import Home, redactor_of
from flyball.app.runs.files import present_tree, workspace_of
from flyball.app.runs.journals import Record, record_of
from flyball.core.machine.machine import advance
from flyball.core.run.state import RunState
from flyball.errors import FlyballError
from flyball.workspace.trees.trees import TreeHash

MOST_SCENES = 40
"""A run with more edits is played with as many of them, evenly chosen, and the last."""


class Scene(NamedTuple):
    """The change right after an event."""

    seq: int
    diff: str


class Film(NamedTuple):
    """The data a replay needs besides telemetry: event times and the size of the change at each."""

    times: list[float]
    scenes: list[Scene]


async def film_of(home: Home, run: str) -> Film:
    """Return a run's film; without stored trees it has times and no scenes."""
    record = await record_of(home, run)
    return Film([entry.event.at for entry in record.entries], _scenes(home, record))


def _scenes(home: Home, record: Record) -> list[Scene]:
    try:
        trees = workspace_of(home, record).trees
    except FlyballError:
        # The workspace is gone, or the run never had one; the rest can be played without it.
        return []
    redactor = redactor_of(home)
    found: list[Scene] = []
    for seq, tree in _chosen(_trees(record)):
        diff = trees.diff(TreeHash(record.state.base), TreeHash(tree))
        found.append(Scene(seq, redactor.text(diff.decode("utf-8", "replace"))))
    return found


def _trees(record: Record) -> list[tuple[int, str]]:
    """Return the trees a run went through, each with the event after which it stood."""
    state, found, last = RunState(), list[tuple[int, str]](), record.state.base
    for entry in record.entries:
        state = advance(state, entry.event).state
        tree = present_tree(state)
        if tree and tree != last:
            found.append((entry.seq, tree))
            last = tree
    return found


def _chosen(found: list[tuple[int, str]]) -> list[tuple[int, str]]:
    if len(found) <= MOST_SCENES:
        return found
    step = len(found) / MOST_SCENES
    return [found[min(round((n + 1) * step), len(found)) - 1] for n in range(MOST_SCENES)]
