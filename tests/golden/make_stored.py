"""Make what a release stores: exported runs, a journal with all of them, and every kind of event.

Run once per release with `python -m tests.golden.make_stored DIRECTORY`, before the format changes:
`tests/golden/stored/vN` is never made again.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.simulation.simulate import next_event, start_event, world_of
from tests.simulation.world import PATIENCE
from tests.e2e.planning import VERIFIES, Line, issue, plan, report, step, swap, work, write
from tests.e2e.scenario import BROKEN, MENDED, SCENARIOS, Stage
from tests.repos import git

from flyball.app.archive import export_lines
from flyball.run.event import (
    EVENTS,
    AnyEvent,
    EvidenceSubmitted,
    Noted,
    PauseAsked,
    Tightened,
    name_of,
)
from flyball.run.machine import advance
from flyball.run.policy import Policy
from flyball.run.state import RunState
from flyball.run.thread import thread_lines
from flyball.run import codec
from flyball.journal.protocol import JournalEntry
from flyball.journal.sqlite import SqliteJournal

HOME = "/home/ada"


def fix(stage: Stage) -> None:
    stage.start("writes_in_recon")


def weakened(stage: Stage) -> None:
    stage.start("weakens_test")


def appeal(stage: Stage) -> None:
    stage.start("appeals")
    stage.then("approve")


def guard(stage: Stage) -> None:
    stage.start("repeats_itself")
    stage.then("runs", "resume")


def extension(stage: Stage) -> None:
    stage.start("spends_the_budget", "the total is wrong", "--budget", "2")
    stage.then("extend", "5", "--why", "it is nearly there")


def greeting(stage: Stage) -> None:
    stage.start("greeting", "hello there", "--intent", "conversational")


def unverified(stage: Stage) -> None:
    stage.start("done_unverified")


def cancelled(stage: Stage) -> None:
    stage.start("filtered")
    stage.then("runs", "cancel")


CART = swap("cart.py", BROKEN.split("\n")[1], MENDED.split("\n")[1])
RATE = swap("README.md", "A cart.", "A cart that adds up.")


LENIENT = """\
import unittest

from cart import total


class TotalTest(unittest.TestCase):
    def test_total(self):
        self.assertGreater(total([1, 2]), 1)
"""


def planned(stage: Stage) -> None:
    """Two steps side by side, taken back, planned anew, and right."""
    (stage.repo / "test_cart.py").write_text(LENIENT)
    git(stage.repo, "commit", "-qam", "Ask for less")
    script = write(
        stage.place / "script.jsonl",
        plan(step("one"), step("two")),
        work("one", "cart.py", CART),
        work("two", "README.md", RATE),
        VERIFIES,
        report(achieved=False, issues=(issue("two", "The README says too much"),)),
        plan(step("one"), work="rollback"),
        work("one.2", "cart.py", CART),
        VERIFIES,
        report(achieved=True),
    )
    _run(stage, script, "--intent", "feature_build")


def flow(stage: Stage) -> None:
    """Two steps of a flow, the first with a gate."""
    tells: Line = {"card": "tell", "role": "researcher", "text": "It adds up."}
    file = stage.place / "flow.json"
    common = {"objective": "o", "prompt_template": "p"}
    gated = {"gates": [{"type": "tests_pass"}], "on_pass": {"next_step_id": "tell"}}
    mend = {**common, "step_id": "mend", "title": "Mend", **gated}
    tell = {**common, "step_id": "tell", "title": "Tell", **ONLY_LOOKS}
    file.write_text(json.dumps({"name": "mend and tell", "steps": [mend, tell]}))
    script = write(stage.place / "script.jsonl", work("mend", "cart.py", CART), tells)
    _run(stage, script, "--flow", str(file))


ONLY_LOOKS = {"role": "researcher", "phases": ["plan.recon.analyze_code", "final"]}


def _run(stage: Stage, script: Path, *flags: str) -> None:
    words = ("--driver", f"scripted:{script}", "--json", *flags)
    stage.run = stage.flyball("run", "make it right", *words).of("run")[0]["run"]


STORIES: tuple[Callable[[Stage], None], ...] = (
    fix,
    weakened,
    appeal,
    guard,
    extension,
    greeting,
    unverified,
    cancelled,
    planned,
    flow,
)


def told(story: Callable[[Stage], None]) -> list[AnyEvent]:
    """The log of a real run, with its places named as on anybody's machine."""
    with tempfile.TemporaryDirectory() as name:
        stage = Stage(Path(name))
        story(stage)
        lines = [codec.encode(event).decode() for event in stage.events()]
        named = {name: HOME, str(SCENARIOS): f"{HOME}/scripts", stage.run: story.__name__}
    for old, new in named.items():
        lines = [line.replace(old, new) for line in lines]
    return [codec.decode_event(line.encode()) for line in lines]


RARE: tuple[AnyEvent, ...] = (
    EvidenceSubmitted(card="step-1", fields={"notes": "a claim"}),
    Noted(card="step-1", call="c1", text="seen", risk="low", assumptions=("none",)),
    PauseAsked(by="ada"),
    Tightened(by="worker", policy=Policy(web=True), has_sandbox=False),
)


def one_of_each() -> list[AnyEvent]:
    """One event of every kind, from make-believe runs where they have it."""
    found: dict[type, AnyEvent] = {type(event): event for event in RARE}
    for seed in range(10_000):
        rng = Random(seed)
        world, state = world_of(rng), RunState()
        event: AnyEvent = start_event(seed, rng)
        for patience in range(PATIENCE * 20, 0, -1):
            found.setdefault(type(event), event)
            state = advance(state, event).state
            if state.has_ended:
                break
            event = next_event(world, state, patience)
        if len(found) == len(EVENTS):
            break
    return sorted(found.values(), key=lambda event: name_of(type(event)))


async def fill(path: Path, runs: dict[str, list[AnyEvent]]) -> None:
    """A journal that holds these runs."""
    journal = SqliteJournal(path)
    for run, events in runs.items():
        lease = await journal.acquire(run, "", 0.0, 0.0, lambda _: True)
        state = RunState()
        for event in events:
            after = advance(state, event).state
            await journal.commit(lease, event, after, thread_lines(state, event, after))
            state = after
    await journal.close()


def main(place: Path) -> None:
    runs = {story.__name__: told(story) for story in STORIES}
    asyncio.run(fill(place / "journal.sqlite", runs))
    for run, events in runs.items():
        entries = [JournalEntry(n, event) for n, event in enumerate(events, 1)]
        text = b"".join(line + b"\n" for line in export_lines(run, entries))
        (place / f"{run}.jsonl").write_bytes(text)
    (place / "events.jsonl").write_bytes(b"".join(codec.encode(e) + b"\n" for e in one_of_each()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
