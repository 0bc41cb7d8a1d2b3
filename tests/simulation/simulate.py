"""Whole governed runs against a mixed fleet, from a seed. A failing seed reproduces exactly."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from msgspec.structs import replace
from tests.simulation.fleet import FLEET, NAMES
from tests.simulation.promises import broken
from tests.simulation.world import PATIENCE, World, answer, person

from flyball.run.effect import CardEffect, Owed
from flyball.run.event import AnyEvent, RunStarted
from flyball.run.machine import advance, replay
from flyball.run.policy import OnWeakened, Policy
from flyball.run.state import RunState
from flyball.terms.intent import Intent

LONGEST = 3_000
REPLAYED = 50
"""Every so many runs the journal is folded again and compared."""


class Told(NamedTuple):
    """What one simulated run came to."""

    seed: int
    driver: str
    outcome: str
    trips: Counter[str]
    events: int
    broken: tuple[str, ...]


def play(seed: int, *, again: bool = False) -> Told:
    """One run from its seed."""
    rng = Random(seed)
    world = world_of(rng)
    state, events = RunState(), list[AnyEvent]()
    faults: list[str] = []
    trips: Counter[str] = Counter()
    event: AnyEvent = start_event(seed, rng)
    patience = PATIENCE
    while len(events) < LONGEST:
        after, effects = advance(state, event)
        events.append(event)
        faults += broken(state, after, effects)
        for card in after.cards:
            trips.update(f"{t.guard} ({t.level})" for t in card.tripped)
        state = after
        if state.has_ended:
            break
        event = next_event(world, state, patience)
        patience -= not state.due
    if not state.has_ended:
        faults.append(f"promise 4: no end after {LONGEST} events")
    if again and replay(events) != state:
        faults.append("promise 5: the fold of the journal differs from the live state")
    outcome = state.response.status.value if state.response else "no end"
    if state.cards and state.cards[-1].ending:
        outcome = state.cards[-1].ending.value
    return Told(seed, NAMES[world.driver], outcome, trips, len(events), tuple(faults))


def world_of(rng: Random) -> World:
    driver = rng.choice(FLEET)
    return World(rng, driver, has_suite=rng.random() < 0.8, red_chance=rng.random())


def next_event(world: World, state: RunState, patience: int) -> AnyEvent:
    """What happens next: the first owed effect is performed, or the person speaks."""
    if not state.due:
        return person(world, state, patience)
    owed = next_due(world.rng, state)
    later = state.at + world.rng.random()
    return replace(answer(world, state, owed), effect=owed.n, at=later)


def next_due(rng: Random, state: RunState) -> Owed:
    """The first effect, or that of another card which is at work beside it."""
    first = state.due[0]
    if not isinstance(first.effect, CardEffect):
        return first
    lanes: dict[str, Owed] = {}
    for owed in state.due:
        if not isinstance(owed.effect, CardEffect):
            break
        lanes.setdefault(owed.effect.card, owed)
    return rng.choice([*lanes.values()])


def start_event(seed: int, rng: Random) -> RunStarted:
    policy = Policy(
        assume_yes=rng.random() < 0.2,
        approve_checkpoint=rng.random() < 0.1,
        bash=rng.random() < 0.7,
        bash_without_sandbox=True,
        weakened_tests=rng.choice(list(OnWeakened)),
        reserve=rng.choice((0, 1, 2, 3)),
        review=rng.random() < 0.7,
        max_turns=80,
        max_iterations=rng.choice((1, 2, 3)),
    )
    intent = rng.choice((None, *Intent, Intent.SMALL_FIX, Intent.SMALL_FIX))
    return RunStarted(run=f"s{seed}", request="do it", policy=policy, intent=intent, at=1.0)


def play_many(job: tuple[int, int]) -> tuple[Counter[str], Counter[str], int, list[Told]]:
    first, count = job
    outcomes, trips, events = Counter[str](), Counter[str](), 0
    bad: list[Told] = []
    for seed in range(first, first + count):
        told = play(seed, again=seed % REPLAYED == 0)
        outcomes[f"{told.driver:>16} {told.outcome}"] += 1
        trips.update(told.trips)
        events += told.events
        if told.broken:
            bad.append(told)
    return outcomes, trips, events, bad


def main(arguments: Sequence[str] = ()) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    options = parser.parse_args(arguments)
    size = 500
    jobs = [
        (options.seed + first, min(size, options.runs - first))
        for first in range(0, options.runs, size)
    ]
    began = time.perf_counter()
    outcomes, trips, events, bad = Counter[str](), Counter[str](), 0, list[Told]()
    with multiprocessing.Pool() as pool:
        for n, part in enumerate(pool.imap_unordered(play_many, jobs), 1):
            outcomes += part[0]
            trips += part[1]
            events += part[2]
            bad += part[3]
            if sys.stderr.isatty():
                print(f"\r{n * size:>9} runs", end="", file=sys.stderr, flush=True)
    elapsed = time.perf_counter() - began
    _print(options.runs, events, elapsed, outcomes, trips, bad)
    return 1 if bad else 0


def _print(
    runs: int,
    events: int,
    elapsed: float,
    outcomes: Counter[str],
    trips: Counter[str],
    bad: list[Told],
) -> None:
    print(f"{runs} runs, {events} events in {elapsed:.1f} s: {runs / elapsed:.0f} runs per second")
    print("\noutcomes by driver")
    for name, count in sorted(outcomes.items()):
        print(f"  {name:<32} {count:>8}")
    print("\nguard trips")
    for name, count in sorted(trips.items()):
        print(f"  {name:<32} {count:>8}")
    print(f"\nbroken promises: {len(bad)}")
    for told in sorted(bad)[:10]:
        print(f"  seed {told.seed} ({told.driver}): {told.broken[0]}")
        print(f"    reproduce: python -m tests.simulation.simulate --runs 1 --seed {told.seed}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
