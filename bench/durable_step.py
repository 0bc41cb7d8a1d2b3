"""What one durable step costs: our engine on SQLite, LangGraph with its SqliteSaver, and DBOS."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypedDict

from tests.simulation.world import call

from bench.figure import Figure, conclude
from flyball.engine.loop import LEASE_SECONDS, Engine
from flyball.guards.guard import GuardLimits
from flyball.journal.protocol import Intention, Journal
from flyball.journal.sqlite import SqliteJournal
from flyball.run.effect import OpenWorkspace, Owed, Perform, Publish, Think
from flyball.run.event import (
    AnyEvent,
    CallReturned,
    DriverReplied,
    Finish,
    Messaged,
    RunStarted,
    WorkspaceReady,
)
from flyball.run.policy import Policy
from flyball.run.state import RunState
from flyball.terms.call import Outcome
from flyball.terms.intent import Intent

STEPS = 50
ROUNDS = 25
SLOWER = 8
LARGEST_SHARE = 0.1
WHY = (
    "the share depends on the disk. Where writing down costs (a shared machine, its disk busy) it "
    "was 0.097; where it costs nothing, what is left is computing: a third of our step is "
    "SQLite's, a sixth `advance`, which judges the call, and LangGraph's step judges nothing."
)
READER = Policy(
    plan_big_requests=False,
    max_tool_rounds=1_000_000,
    max_turns=1_000_000,
    guards=GuardLimits(reading_on_soft=0, reading_on_hard=0),
)


Measured = Callable[[Path], float]
"""The seconds of one step in a fresh folder."""


class Count(TypedDict):
    """What the graph carries from step to step."""

    n: int
    lines: list[str]


class IdleHands:
    """Answers every effect at once: a driver that reads on and on, and files that differ."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    async def perform(self, state: RunState, owed: Owed, _intention: Intention) -> AnyEvent:
        self.left -= 1
        match owed.effect:
            case OpenWorkspace():
                return WorkspaceReady(tree="t0")
            case Publish(message=message):
                return Messaged(message=message)
            case Think(card=card):
                if self.left < 1:
                    return DriverReplied(card=card, finish=Finish.CONTENT_FILTER)
                asked = call(f"c{state.seq}", "read", f"file{state.seq}.py")
                return DriverReplied(card=card, calls=(asked,), finish=Finish.TOOL_CALLS)
            case Perform(card=card, call=asked):
                outcome = Outcome(ok=True, text="a line\n" * 20, digest=asked.id)
                return CallReturned(card=card, call=asked.id, outcome=outcome, tree="t0")
            case _:
                raise AssertionError(f"nobody answers {owed.effect}")


async def drive(journal: Journal, steps: int) -> tuple[float, RunState]:
    """A run of that many steps, each intended and committed, and how long they took."""
    lease = await journal.acquire("bench", "bench", time.time(), LEASE_SECONDS, lambda _: False)
    hands = IdleHands(steps)
    engine = Engine(journal, lease, hands, clock=time.time, watch=lambda _: None)
    started = RunStarted(
        run="bench", request="read on", intent=Intent.AUTONOMOUS, policy=READER, budget=steps
    )
    began = time.perf_counter()
    state = await engine.run(await engine.append(RunState(), started))
    took = time.perf_counter() - began
    await journal.release(lease)
    await journal.close()
    return took, state


def ours(steps: int) -> Measured:
    def run(place: Path) -> float:
        took, state = asyncio.run(drive(SqliteJournal(place / "journal.sqlite"), steps))
        assert state.effects >= steps
        return took / state.effects

    return run


def langgraph(steps: int) -> Measured | None:
    """The same number of steps of a graph with one node, saved after each."""
    try:
        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.graph import END, START, StateGraph
    except ImportError:
        return None

    def step(state: Count) -> Count:
        return {"n": state["n"] + 1, "lines": [*state["lines"], "a line\n" * 20]}

    def onward(state: Count) -> str:
        return "step" if state["n"] < steps else END

    graph = StateGraph(Count)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", onward)

    def run(place: Path) -> float:
        with SqliteSaver.from_conn_string(str(place / "graph.sqlite")) as saver:
            app = graph.compile(checkpointer=saver)
            config = {"configurable": {"thread_id": "bench"}, "recursion_limit": steps + 5}
            began = time.perf_counter()
            last = app.invoke({"n": 0, "lines": []}, config)
            took = time.perf_counter() - began
        assert last["n"] == steps
        return took / steps

    return run


@contextmanager
def dbos(steps: int, database: str = "") -> Iterator[Measured | None]:
    """A workflow of so many steps on DBOS, with SQLite unless a database is named.

    It is launched once, for all rounds.
    """
    try:
        from dbos import DBOS
    except ImportError:
        yield None
        return
    with tempfile.TemporaryDirectory() as place:
        url = database or f"sqlite:///{place}/dbos.sqlite"
        levels = {"log_level": "ERROR", "console_log_level": "ERROR"}
        DBOS(config={"name": "bench", "system_database_url": url, **levels})  # type: ignore[arg-type]

        @DBOS.step()
        def step(n: int) -> str:
            return "a line\n" * 20 if n >= 0 else ""

        @DBOS.workflow()
        def workflow() -> int:
            return sum(bool(step(n)) for n in range(steps))

        DBOS.launch()

        def run(_place: Path) -> float:
            began = time.perf_counter()
            assert workflow() == steps
            return (time.perf_counter() - began) / steps

        try:
            yield run
        finally:
            DBOS.destroy(destroy_registry=True)


def measure(rounds: int, *runs: Measured | None) -> list[float | None]:
    """The median of several rounds, taken in turns on fresh files; none for who is not there."""
    found: list[list[float]] = [[] for _ in runs]
    for _ in range(rounds):
        for run, seconds in zip(runs, found, strict=True):
            if run is None:
                continue
            with tempfile.TemporaryDirectory() as name:
                seconds.append(run(Path(name)))
    return [statistics.median(each) if each else None for each in found]


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    with dbos(options.steps) as third:
        found = measure(options.rounds, ours(options.steps), langgraph(options.steps))
        # Its steps take so much longer that fewer rounds say as much.
        found += measure(max(options.rounds // SLOWER, 1), third)
    mine, graph, workflow = (seconds and seconds * 1e3 for seconds in found)
    assert mine is not None
    return [
        Figure("a durable step", mine, "ms", "LangGraph", graph, most_ratio=LARGEST_SHARE, why=WHY),
        Figure("a durable step", mine, "ms", "DBOS, SQLite", workflow, most_ratio=1.0),
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
