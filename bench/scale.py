"""How a team's runs would fare on many machines: a model of queues, fed with what was measured.

The number and length of runs come from the pure core (`tests.simulation`), the times from the
benches named beside each. A run's turn passes the database, then a core of a worker, then the
model, and begins anew; a run that ends is followed by another, so that their number stays.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from heapq import heapify, heappop, heappush, heapreplace
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.simulation.simulate import next_event, start_event, world_of

from bench.figure import Figure, conclude
from flyball.run.event import DriverReplied
from flyball.run.machine import advance
from flyball.run.state import RunState

LOADS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
FLEETS = (4, 32, 256)


class Assumed(NamedTuple):
    """What the model takes for granted; each with where it comes from."""

    own: float = 0.030
    """Flyball's own time per turn, s, on one core: about 30 ms for a turn with one call."""
    scheduled: float = 0.012
    """One step of DBOS on Postgres, s: 8 to 16 ms measured on two cores (decision 0005)."""
    journaled: float = 0.004
    """The journal's part of a turn, s: at most 40 % of the scheduler's, as its test demands."""
    lanes: int = 32
    """Commits that the database has under way at once: assumed, 16 cores with fast disks."""
    model: float = 6.0
    """A model's answer, s, in the middle; assumed, a tail as below."""
    tail: float = 0.6
    """The spread of that, of the logarithm: assumed."""
    cores: int = 2
    """Cores of a worker: as the machine on which the times were measured."""
    deaths: float = 1 / 86_400
    """Deaths of a worker per second: assumed, once a day."""
    takeover: float = 15.0
    """Until another goes on, s: the longest that is promised."""
    worker_hour: float = 0.10
    """The price of a worker's hour: assumed."""
    database_hour: float = 1.50
    """The price of the database's hour: assumed."""


class Measured(NamedTuple):
    """What came of one load on one fleet."""

    runs: int
    workers: int
    per_second: float
    """Turns."""
    wait: float
    """Seconds per turn in which neither the model nor Flyball worked on it."""
    cycle: float
    """Seconds from a turn's begin to the next, all in all."""
    cost: float
    """Price of machines for a thousand turns."""
    begun: int
    ended: int
    inside: int


@cache
def lengths(count: int, seed: int) -> tuple[int, ...]:
    """How many turns each of so many simulated runs takes, by the pure core."""
    found: list[int] = []
    for each in range(seed, seed + count):
        rng = Random(each)
        world, state, turns = world_of(rng), RunState(), 0
        event = start_event(each, rng)
        for patience in range(400, 0, -1):
            turns += isinstance(event, DriverReplied)
            state = advance(state, event).state
            if state.has_ended:
                break
            event = next_event(world, state, patience)
        found.append(max(turns, 1))
    return tuple(found)


class Station:
    """So many servers of one kind, who serve in the order of arrival."""

    def __init__(self, servers: int) -> None:
        self._free = [0.0] * servers

    def serve(self, at: float, length: float) -> float:
        """When who arrives now is done; arrivals come in the order of time."""
        done = max(at, self._free[0]) + length
        heapreplace(self._free, done)
        return done


def measure(
    runs: int, workers: int, seed: int = 0, given: Assumed | None = None, sample: int = 60
) -> Measured:
    """One load on one fleet, once it has settled."""
    with_ = given or Assumed()
    rng, long = Random(f"{seed} {runs} {workers}"), lengths(sample, seed)
    database, cores = Station(with_.lanes), Station(workers * with_.cores)
    middle = math.log(with_.model)
    work = with_.scheduled + with_.journaled
    capacity = min(with_.lanes / work, workers * with_.cores / with_.own)
    round_ = max(runs / capacity, with_.model * 2)
    opens, closes = round_ * 2, round_ * 4
    left = [rng.choice(long) for _ in range(runs)]
    begun, ended, turns, waited, cycles = runs, 0, 0, 0.0, 0.0
    # Begun at any moment of a round: all at once would be a crowd that no team is.
    due = [(rng.random() * round_, n) for n in range(runs)]
    heapify(due)
    chance = (with_.own + with_.model) * with_.deaths
    arrived: dict[int, float] = {}
    while due[0][0] < closes:
        at, key = heappop(due)
        if key < runs:
            arrived[key] = at
            heappush(due, (database.serve(at, work), key + runs))
            continue
        n = key - runs
        thought = rng.lognormvariate(middle, with_.tail)
        lost = with_.takeover if rng.random() < chance else 0.0
        done = cores.serve(at, with_.own) + thought + lost
        if opens <= done < closes:
            turns += 1
            cycles += done - arrived[n]
            waited += done - arrived[n] - thought - work - with_.own
        left[n] -= 1
        if not left[n]:
            ended, begun = ended + 1, begun + 1
            left[n] = rng.choice(long)
        heappush(due, (done, n))
    rate = turns / (closes - opens)
    hourly = workers * with_.worker_hour + with_.database_hour
    return Measured(
        runs, workers, rate, max(waited / turns, 0.0), cycles / turns, hourly / (rate * 3.6),
        begun, ended, len(due),
    )  # fmt: skip


def curves(loads: Sequence[int], fleets: Sequence[int], seed: int) -> list[Measured]:
    """Every load on every fleet."""
    return [measure(runs, workers, seed) for workers in fleets for runs in loads]


WIDTH, HEIGHT, EDGE = 300, 220, 46
TONES = ("#2563eb", "#c2410c", "#15803d", "#7c3aed")
PANELS = (("turns per second", 2), ("wait per turn, s", 3), ("cost of 1,000 turns", 5))


def draw(found: Sequence[Measured]) -> str:
    """The curves as an SVG that needs nothing: three panels, both axes by tens."""
    size = f'viewBox="0 0 {WIDTH * 3 + 20} {HEIGHT + 40}" font-size="11" role="img"'
    label = 'aria-label="Throughput, wait and cost by the number of concurrent runs"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" {size} {label}>',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for n, (title, field) in enumerate(PANELS):
        parts += _panel(found, n * WIDTH, title, field)
    fleets = sorted({each.workers for each in found})
    for n, fleet in enumerate(fleets):
        x = EDGE + n * 110
        parts.append(f'<rect x="{x}" y="{HEIGHT + 18}" width="12" height="4" fill="{TONES[n]}"/>')
        parts.append(f'<text x="{x + 18}" y="{HEIGHT + 24}" fill="#333">{fleet} workers</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _label(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#555">{text}</text>'


def _panel(found: Sequence[Measured], left: int, title: str, field: int) -> Iterator[str]:
    values = [max(each[field], 1e-3) for each in found]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    first, last = math.log10(found[0].runs), math.log10(max(each.runs for each in found))

    def x(runs: float) -> float:
        return left + EDGE + (math.log10(runs) - first) / (last - first) * (WIDTH - EDGE - 10)

    def y(value: float) -> float:
        part = (math.log10(max(value, 10**low)) - low) / max(high - low, 1)
        return HEIGHT - 20 - part * (HEIGHT - 50)

    yield f'<text x="{left + EDGE}" y="18" fill="#111" font-weight="600">{title}</text>'
    for power in range(low, high + 1):
        at = y(10**power)
        yield f'<path d="M{left + EDGE} {at:.1f}H{left + WIDTH - 10}" stroke="#ddd"/>'
        yield _label(left + EDGE - 4, at + 4, "end", f"{10**power:g}")
    for power in range(math.ceil(first), math.floor(last) + 1):
        yield _label(x(10**power), HEIGHT - 4, "middle", f"{10**power:,}")
    for n, fleet in enumerate(sorted({each.workers for each in found})):
        line = [f"{x(e.runs):.1f} {y(e[field]):.1f}" for e in found if e.workers == fleet]
        yield f'<path d="M{"L".join(line)}" fill="none" stroke="{TONES[n]}" stroke-width="2"/>'


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser("bench.scale", description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=int, default=LOADS[-1], help="the highest load")
    parser.add_argument("--svg", type=Path, help="where to draw the curves")
    asked = parser.parse_args(arguments)
    given = Assumed()
    print("assumed:", ", ".join(f"{name} {value:.4g}" for name, value in given._asdict().items()))
    found = curves([load for load in LOADS if load <= asked.most], FLEETS, asked.seed)
    print(
        f"{'workers':>8} {'runs':>8} {'turns/s':>9} {'wait s':>8} {'cycle s':>8} {'cost/1000':>10}"
    )
    for each in found:
        print(
            f"{each.workers:>8} {each.runs:>8,} {each.per_second:>9.1f} {each.wait:>8.2f}"
            f" {each.cycle:>8.2f} {each.cost:>10.4f}"
        )
    if asked.svg:
        asked.svg.write_text(draw(found))
    last = max(found, key=lambda each: (each.runs, each.workers))
    return [
        Figure(f"modelled turns per second, {last.workers} workers", last.per_second),
        Figure("modelled wait per turn", last.wait, "s"),
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
