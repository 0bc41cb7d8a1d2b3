"""Two workers beside one, and a turn in the cluster's journal beside the same turn in DBOS.

The workers are processes as people start them, on one Postgres, with one remote. Their model takes
its time, as models do, so that the machine is not what is full; the turns are counted where they
are kept, in the journal. The turn that is compared is one request and one call: two steps in DBOS,
two effects here, each of which is noted before it is begun and committed when it has ended.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.wire_server import Act, Say, WireServer
from tests.postgres import fresh_database, start_server
from tests.simulation.cluster import Cluster, script

from bench.durable_step import dbos, drive
from bench.figure import Figure, conclude
from flyball.journal.postgres import PostgresJournal
from flyball.run.event import DriverReplied, name_of

STEPS = 50
ROUNDS = 5
TURNS = 60
SECONDS = 20.0
THINKING = 2.0
CONCURRENCY = 4
WORKERS = 2
LEAST_GAIN = 1.7
LARGEST_SHARE = 0.4
PATIENCE = 120.0
STEPS_PER_TURN = 2


class SlowModel(WireServer):
    """Answers every request after a while, with the line of the script that is due."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds
        self._lines = [json.loads(line) for line in script(TURNS).splitlines()]

    def answer(self, request: dict[str, Any]) -> Act:
        time.sleep(self._seconds)
        said = sum(message["role"] == "assistant" for message in request["messages"])
        line = self._lines[min(said, len(self._lines) - 1)]
        calls = tuple((call["tool"], call["args"]) for call in line.get("calls", ()))
        return Say(line.get("text", ""), calls)


def turns_per_second(place: Path, url: str, workers: int, seconds: float) -> float:
    """What so many workers do while each of them has as many runs as it takes."""
    with SlowModel(THINKING) as model:
        cluster = Cluster(place, url, TURNS)
        cluster.env |= {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none"}
        try:
            wanted = workers * CONCURRENCY
            for _ in range(wanted):
                cluster.submit(driver="model:openai-chat:bench", budget=10 * TURNS)
            for _ in range(workers):
                cluster.hire("--concurrency", str(CONCURRENCY))
            _wait_until_all_think(cluster, wanted)
            began, before = time.monotonic(), sum(_turns(cluster).values())
            time.sleep(seconds)
            done, took = sum(_turns(cluster).values()) - before, time.monotonic() - began
            driven = [run for run, held in cluster.held().items() if held.status == "running"]
            if len(driven) < wanted:
                raise SystemExit(f"{wanted - len(driven)} runs ended before they were measured")
            return done / took
        finally:
            cluster.close()


def _wait_until_all_think(cluster: Cluster, runs: int) -> None:
    """Until each run has had two turns: what it costs to begin one is not measured here."""
    end = time.monotonic() + PATIENCE
    while True:
        begun = [run for run, count in _turns(cluster).items() if count >= 2]
        if len(begun) >= runs:
            return
        if time.monotonic() > end:
            log = (cluster.place / "workers.log").read_text()[-2000:]
            raise SystemExit(f"{len(begun)} of {runs} runs had begun after {PATIENCE} s\n{log}")
        time.sleep(0.2)


def _turns(cluster: Cluster) -> dict[str, int]:
    """How often the driver of each run has replied."""
    rows = cluster.ask(
        "SELECT run, count(*) FROM events WHERE position(%s in body) > 0 GROUP BY run",
        name_of(DriverReplied).encode(),
    )
    return {str(run): int(count) for run, count in rows}


def ours(url: str, steps: int) -> float:
    """The seconds of one turn, written to the cluster's journal."""
    took, state = asyncio.run(drive(PostgresJournal(url, "bench"), steps))
    assert state.effects >= steps
    return took / state.effects * STEPS_PER_TURN


@contextmanager
def postgres() -> Iterator[str]:
    """A server of its own, and the address of it."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # As root the server is another user, who must be let in.
        Path(folder).chmod(0o755)
        server = start_server(Path(folder, "postgres"))
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def turn_costs(server: str, steps: int, rounds: int) -> tuple[float, float | None]:
    """A turn in the journal and in DBOS, in turns on the same server; seconds each."""
    mine: list[float] = []
    others: list[float] = []
    with dbos(steps, fresh_database(server, "bench_dbos")) as other:
        for n in range(rounds):
            mine.append(ours(fresh_database(server, f"bench_{n}"), steps))
            if other is not None:
                others.append(other(Path()) * STEPS_PER_TURN)
    return statistics.median(mine), statistics.median(others) if others else None


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long turns are counted")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args(arguments)
    with postgres() as server, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        mine, other = turn_costs(server, options.steps, options.rounds)
        rates: list[float] = []
        for workers in (1, WORKERS):
            place = Path(folder, str(workers))
            place.mkdir()
            url = fresh_database(server, f"bench_workers_{workers}")
            rates.append(turns_per_second(place, url, workers, options.seconds))
            print(f"{workers} workers: {rates[-1]:.2f} turns per second", flush=True)
    one, two = rates
    return [
        Figure(
            "a turn in the journal", mine * 1e3, "ms", "DBOS, Postgres", other and other * 1e3,
            most_ratio=LARGEST_SHARE,
        ),
        Figure("turns of two workers by those of one", two / one, least=LEAST_GAIN),
        Figure("turns per second of one worker", one),
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
