"""`advance` beside XState's `transition()` and python-statemachine, on the same story.

The others only move between states; ours also judges, accounts and owes.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace
from tests.simulation.node import run

from bench.figure import Figure, conclude
from bench.story import events, opened
from flyball.record.diagram import as_xstate, guard_name, state_value
from flyball.run.event import AnyEvent, name_of
from flyball.run.machine import advance, target_taken
from flyball.run.state import RunState
from flyball.run.table import MOVES

ROUNDS = 600


class Step(NamedTuple):
    """One move of the story's card, in the words of the others."""

    event: str
    guard: str
    before: str
    after: str


def numbered(state: RunState) -> list[AnyEvent]:
    """The story's events, each answering what is owed when it comes."""
    found: list[AnyEvent] = []
    for event in events():
        ready = replace(event, effect=state.owed[0].n, at=state.at + 1)
        found.append(ready)
        state = advance(state, ready).state
    return found


def steps_of(state: RunState, story: list[AnyEvent]) -> list[Step]:
    """The moves of the story, and which branch each took."""
    found: list[Step] = []
    for event in story:
        card = state.cards[0]
        row = MOVES[card.phase, type(event)]
        state = advance(state, event).state
        after = state.cards[0].phase
        target = target_taken(row, card.phase, card.was, after)
        guard = guard_name(row, target or "")
        found.append(Step(name_of(type(event)), guard, card.phase.value, after.value))
    return found


def best_of(rounds: int, count: int, play: Callable[[], object]) -> float:
    """The best time per event, in microseconds, of a story with so many."""
    best = float("inf")
    for _ in range(rounds):
        began = time.perf_counter()
        for _ in range(2):
            play()
        best = min(best, (time.perf_counter() - began) / 2 / count * 1e6)
    return best


def ours(state: RunState, story: list[AnyEvent], rounds: int) -> float:
    def play() -> None:
        now = state
        for event in story:
            now = advance(now, event).state

    return best_of(rounds, len(story), play)


def xstate(start: RunState, steps: Sequence[Step], rounds: int) -> float:
    """The time of XState's pure `transition()` on the configuration drawn from our table."""
    told = {
        "start": state_value(start.cards[0].phase),
        "steps": [step[:2] for step in steps],
        "rounds": rounds,
    }
    lines = [json.dumps(as_xstate()), json.dumps(told)]
    answer = json.loads(run(Path(__file__).with_name("story.mjs"), "\n".join(lines)))
    assert steps[-1].after.endswith(_leaf(answer["end"]))
    return float(answer["us"])


def _leaf(value: object) -> str:
    while isinstance(value, dict):
        (value,) = value.values()
    return str(value)


def statemachine(steps: Sequence[Step], rounds: int) -> float | None:
    """The time of python-statemachine on a flat machine of this story's moves alone."""
    try:
        from statemachine.io import create_machine_class_from_definition
    except ImportError:
        return None

    def is_chosen(guard: str) -> Callable[[str], bool]:
        return lambda chosen: chosen == guard

    names = {
        phase: phase.replace(".", "_") for step in steps for phase in (step.before, step.after)
    }
    states: dict[str, dict] = {name: {"on": {}} for name in names.values()}
    states[names[steps[0].before]]["initial"] = True
    for step in dict.fromkeys(steps):
        branch = {"target": names[step.after], "cond": is_chosen(step.guard)}
        on = states[names[step.before]]["on"]
        on.setdefault(step.event.replace("-", "_"), []).append(branch)
    states[names[steps[-1].after]] = {"final": True}
    kind = create_machine_class_from_definition("Card", states)
    sent = [(step.event.replace("-", "_"), step.guard) for step in steps]
    best = float("inf")
    for _ in range(max(rounds // 10, 1)):
        # A machine of its own for each time: this one cannot be set back.
        machine = kind()
        began = time.perf_counter()
        for event, guard in sent:
            machine.send(event, chosen=guard)
        best = min(best, (time.perf_counter() - began) / len(sent) * 1e6)
    return best


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds = parser.parse_args(arguments).rounds
    state = opened()
    story = numbered(state)
    steps = steps_of(state, story)
    mine, other = ours(state, story, rounds), xstate(state, steps, rounds)
    third = statemachine(steps, rounds)
    print(f"{len(story)} events: advance {mine:.1f} µs, XState {other:.1f} µs per event")
    return [
        # To know where we stand: nobody's run waits for a move.
        Figure("advance, an event", mine, "µs", "XState transition()", other),
        Figure("advance, an event", mine, "µs", "python-statemachine", third, most_ratio=0.5),
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
