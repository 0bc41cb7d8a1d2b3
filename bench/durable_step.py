"""What one durable step costs: our engine on SQLite, and LangGraph with its SqliteSaver."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict

from tests.simulation.world import call

from flyball.core.memory.guard import GuardLimits
from flyball.core.run.effect import OpenWorkspace, Owed, Perform, Publish, Think
from flyball.core.run.event import (
    AnyEvent,
    CallReturned,
    DriverReplied,
    Finish,
    Messaged,
    RunStarted,
    WorkspaceReady,
)
from flyball.core.run.policy import Policy
from flyball.core.run.state import RunState
from flyball.core.terms.call import Outcome
from flyball.core.terms.intent import Intent
from flyball.engine.loop import LEASE_SECONDS, Engine
from flyball.journal.protocol import Intention
from flyball.journal.sqlite import SqliteJournal

STEPS = 50
ROUNDS = 25
LARGEST_SHARE = 0.1
READER = Policy(
    plan_big_requests=False,
    max_tool_rounds=1_000_000,
    max_turns=1_000_000,
    guards=GuardLimits(reading_on_soft=0, reading_on_hard=0),
)


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


async def drive(path: Path, steps: int) -> tuple[float, RunState]:
    """A run of that many steps, each intended and committed, and how long they took."""
    journal = SqliteJournal(path)
    lease = await journal.acquire("bench", "bench", time.time(), LEASE_SECONDS, lambda _: False)
    hands = IdleHands(steps)
    engine = Engine(journal, lease, hands, clock=time.time, watch=lambda _: None)
    started = RunStarted(
        run="bench", request="read on", intent=Intent.AUTONOMOUS, policy=READER, budget=steps
    )
    began = time.perf_counter()
    state = await engine.drive(await engine.append(RunState(), started))
    took = time.perf_counter() - began
    await journal.release(lease)
    await journal.close()
    return took, state


def ours(place: Path) -> float:
    took, state = asyncio.run(drive(place / "journal.sqlite", STEPS))
    assert state.effects >= STEPS
    return took / state.effects


def langgraph_step() -> Callable[[Path], float]:
    """The same number of steps of a graph with one node, saved after each."""
    from langgraph.checkpoint.sqlite import SqliteSaver
    from langgraph.graph import END, START, StateGraph

    def step(state: Count) -> Count:
        return {"n": state["n"] + 1, "lines": [*state["lines"], "a line\n" * 20]}

    def onward(state: Count) -> str:
        return "step" if state["n"] < STEPS else END

    graph = StateGraph(Count)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", onward)

    def run(place: Path) -> float:
        with SqliteSaver.from_conn_string(str(place / "graph.sqlite")) as saver:
            app = graph.compile(checkpointer=saver)
            config = {"configurable": {"thread_id": "bench"}, "recursion_limit": STEPS + 5}
            began = time.perf_counter()
            last = app.invoke({"n": 0, "lines": []}, config)
            took = time.perf_counter() - began
        assert last["n"] == STEPS
        return took / STEPS

    return run


def measure(*runs: Callable[[Path], float]) -> list[float]:
    """The median of several rounds, taken in turns on fresh files."""
    found: list[list[float]] = [[] for _ in runs]
    for _ in range(ROUNDS):
        for run, seconds in zip(runs, found, strict=True):
            with tempfile.TemporaryDirectory() as name:
                seconds.append(run(Path(name)))
    return [statistics.median(each) for each in found]


def main(arguments: Sequence[str] = ()) -> int:
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    try:
        other = langgraph_step()
    except ImportError:
        print("skipped: LangGraph is not installed here; `make bench` installs it")
        return 0
    mine, theirs = measure(ours, other)
    print(f"flyball, SQLite journal:      {mine * 1e3:7.3f} ms a step")
    print(f"LangGraph 1.2, SqliteSaver:   {theirs * 1e3:7.3f} ms a step")
    share = mine / theirs
    print(f"ours is {share:.3f} of it (at most {LARGEST_SHARE})")
    return 0 if share <= LARGEST_SHARE else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
