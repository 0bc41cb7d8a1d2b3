"""What the coordinator costs per message: a long planned run whose models answer at once."""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.simulation.world import call

from bench.figure import Figure, conclude
from flyball.engine.loop import LEASE_SECONDS, Engine
from flyball.journal.protocol import Intention, Lease
from flyball.journal.sqlite import SqliteJournal
from flyball.run.effect import CloseCard, OpenWorkspace, Owed, Perform, Publish, Think
from flyball.run.event import (
    AnyEvent,
    CallReturned,
    CardClosed,
    DriverReplied,
    Finish,
    Messaged,
    RunStarted,
    WorkspaceReady,
)
from flyball.run.machine import advance
from flyball.run.policy import Policy
from flyball.run.state import RunState
from flyball.run.thread import thread_lines
from flyball.terms.call import Outcome
from flyball.terms.intent import Intent

ITERATIONS = 10
STEPS = 8
ROUNDS = 5
LONGEST_MS = 5.0
PER_ITERATION = 4 + 2 * STEPS
"""Plan request and plan, task and result of each step, verify request and report."""

PLAN = json.dumps(
    {
        "goal": "every part is looked at",
        "steps": [
            {
                "id": f"step-{n}",
                "title": f"Look at part {n} of the project and say what is wrong with it",
                "success_criteria": ["what was seen is told", "nothing is changed"],
                "template": "diagnose",
            }
            for n in range(1, STEPS + 1)
        ],
    }
)
REPORT = json.dumps(
    {
        "goal_achieved": False,
        "issues": [
            {"step_id": f"step-{n}", "issue": "Nobody has fixed it yet", "severity": "high"}
            for n in range(1, STEPS + 1)
        ],
    }
)


class QuickHands:
    """Planner, executors and verifier that answer at once, and a stopwatch on every message.

    A message's time runs from the moment it is said until what follows it is asked for: its event
    judged, written down and told, and the next effect begun.
    """

    def __init__(self) -> None:
        self.took: list[float] = []
        self._said_at = 0.0

    def stop_watch(self) -> None:
        if self._said_at:
            self.took.append(time.perf_counter() - self._said_at)
            self._said_at = 0.0

    async def perform(self, state: RunState, owed: Owed, _intention: Intention) -> AnyEvent:
        self.stop_watch()
        match owed.effect:
            case OpenWorkspace():
                return WorkspaceReady(tree="t0")
            case Publish(message=message):
                self._said_at = time.perf_counter()
                return Messaged(message=message)
            case Think(card=card):
                return reply(state, card, owed.n)
            case Perform(card=card, call=asked):
                outcome = Outcome(ok=True, text="a line\n" * 20, digest=asked.id)
                return CallReturned(card=card, call=asked.id, outcome=outcome, tree="t0")
            case CloseCard(card=card):
                return CardClosed(card=card)
            case _:
                raise AssertionError(f"nobody answers {owed.effect}")


def reply(state: RunState, card: str, number: int) -> DriverReplied:
    """A plan, a report, or one look and a word about it."""
    found = state.card(card)
    assert found is not None
    if found.template.step_id == "plan":
        return DriverReplied(card=card, text=PLAN, finish=Finish.STOP)
    if found.template.step_id == "verify":
        return DriverReplied(card=card, text=REPORT, finish=Finish.STOP)
    if found.calls == 0:
        asked = call(f"c{number}", "read", f"{card}.py")
        return DriverReplied(card=card, calls=(asked,), finish=Finish.TOOL_CALLS)
    return DriverReplied(card=card, text=f"{card}: seen. " * 20, finish=Finish.STOP)


async def acquire(journal: SqliteJournal) -> Lease:
    return await journal.acquire("bench", "bench", time.time(), LEASE_SECONDS, lambda _: False)


async def drive(path: Path) -> tuple[list[float], list[AnyEvent]]:
    """A whole run: how long each message took, and all that happened."""
    journal = SqliteJournal(path)
    hands = QuickHands()
    lease = await acquire(journal)
    engine = Engine(journal, lease, hands, clock=time.time, watch=lambda _: None)
    started = RunStarted(
        run="bench",
        request="look at everything",
        intent=Intent.AUTONOMOUS,
        policy=Policy(max_iterations=ITERATIONS),
    )
    state = await engine.run(await engine.append(RunState(), started))
    hands.stop_watch()
    assert state.response is not None and state.response.iterations == ITERATIONS
    events = [entry.event for entry in await journal.events("bench")]
    await journal.close()
    return hands.took, events


async def append(path: Path, events: Sequence[AnyEvent]) -> list[float]:
    """How long judging and writing down took for each message of a run that is told again."""
    journal = SqliteJournal(path)
    lease = await acquire(journal)
    state, took = RunState(), list[float]()
    for event in events:
        began = time.perf_counter()
        after = advance(state, event).state
        await journal.commit(lease, event, after, thread_lines(state, event, after))
        if isinstance(event, Messaged):
            took.append(time.perf_counter() - began)
        state = after
    await journal.close()
    return took


def tell(what: str, rounds: Sequence[Sequence[float]]) -> float:
    """Print median, 95th percentile and worst in ms; return the 95th percentile.

    All rounds are the same run, and each message counts with the best of them: what differs is
    only what else the machine had to do. The worst ones carry a checkpoint of SQLite's log, which
    waits for the disk.
    """
    ranked = sorted(min(each) * 1e3 for each in zip(*rounds, strict=True))
    median, late = statistics.median(ranked), ranked[int(len(ranked) * 0.95)]
    print(f"{what:36} {median:6.3f} median {late:7.3f} p95 {ranked[-1]:7.3f} worst, in ms")
    return late


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    followed: list[list[float]] = []
    appended: list[list[float]] = []
    events: list[AnyEvent] = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as name:
            took, events = asyncio.run(drive(Path(name) / "journal.sqlite"))
            followed.append(took)
            appended.append(asyncio.run(append(Path(name) / "again.sqlite", events)))
    messages = sum(isinstance(event, Messaged) for event in events)
    assert messages == ITERATIONS * PER_ITERATION + 1
    print(f"{messages} messages among {len(events)} events, {ROUNDS} times, SQLite journal")
    late = [
        tell("judged and written down", appended),
        tell("from a message to what follows it", followed),
    ]
    print(f"at most {LONGEST_MS} ms per message")
    return [
        Figure("a message judged and written, p95", late[0], "ms", most=LONGEST_MS),
        Figure("a message to what follows it, p95", late[1], "ms", most=LONGEST_MS),
    ]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
