"""`advance` beside XState's `transition()`, on the same story, in the same run."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace
from tests.simulation.node import run

from bench.story import events, opened
from flyball.core.machine.machine import advance, target_taken
from flyball.core.machine.table import MOVES
from flyball.core.record.diagram import as_xstate, guard_name, state_value
from flyball.core.run.event import AnyEvent, name_of
from flyball.core.run.state import RunState


def numbered(state: RunState) -> list[AnyEvent]:
    """The story's events, each answering what is owed when it comes."""
    found: list[AnyEvent] = []
    for event in events():
        ready = replace(event, effect=state.owed[0].n, at=state.at + 1)
        found.append(ready)
        state = advance(state, ready).state
    return found


def ours(state: RunState, story: list[AnyEvent]) -> float:
    """The best time per event, in microseconds."""
    best = float("inf")
    for _ in range(600):
        began = time.perf_counter()
        for _ in range(2):
            now = state
            for event in story:
                now = advance(now, event).state
        best = min(best, (time.perf_counter() - began) / 2 / len(story) * 1e6)
    return best


def theirs(state: RunState, story: list[AnyEvent]) -> float:
    """The same story in XState: it only moves between states, we also judge and account."""
    start, steps = state.cards[0].phase, list[tuple[str, str]]()
    for event in story:
        card = state.cards[0]
        row = MOVES[card.phase, type(event)]
        state = advance(state, event).state
        target = target_taken(row, card.phase, card.was, state.cards[0].phase)
        steps.append((name_of(type(event)), guard_name(row, target or "")))
    lines = [json.dumps(as_xstate()), json.dumps({"start": state_value(start), "steps": steps})]
    told = json.loads(run(Path(__file__).with_name("story.mjs"), "\n".join(lines)))
    assert told["end"] == state_value(state.cards[0].phase)
    return float(told["us"])


def main(arguments: Sequence[str] = ()) -> int:
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    state = opened()
    story = numbered(state)
    mine, other = ours(state, story), theirs(state, story)
    print(
        f"{len(story)} events: advance {mine:.1f} µs, XState transition() {other:.1f} µs per event"
    )
    print(f"ratio {mine / other:.2f} (must be below 1, a quarter is the goal)")
    return 0 if mine < other else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
