"""Runs of every kind for the tests of the page's look: long, failed, questioned, and many."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from tests.contract.test_endings import STORIES
from tests.simulation.verdicts import PROMISE, QUESTIONED, REGRESSION, verdict_of
from tests.simulation.world import CONTRADICTION
from tests.unit.run.stories import CARD, Story
from tests.web.served import Served
from tests.web.test_endings_on_page import write_story
from tests.web.test_feed import simulated, write
from tests.web.test_long import write_runs

from flyball.journal.sqlite import SqliteJournal
from flyball.run.event import ConflictStated, RunStarted
from flyball.terms.change_verdict import MutantCount

LONG = "tests/unit/warehouse/test_" + "a_very_long_name_of_a_test_" * 9 + "ends.py::test_it[case-0]"
FORM = "400 Bad Request: " + '{"error":{"field":"quantity","value":"' + "9" * 900 + '"}}\n' * 3
MIRRORED = "إصلاح سلة التسوق عندما تكون فارغة 🛒 والخصم is 10% — שלום עולם " * 3
WORDY = "The totals of a cart are wrong where a discount and a voucher meet: " * 6
TOLD = {tell.__name__: tell() for tell, _ in STORIES}


def long_story() -> Story:
    """A question of which every part is far too long for a line."""
    finding = replace(PROMISE, sentence=f"{LONG}: it checks less.", tests=(LONG,))
    mended = tuple(f"{LONG}{n}" for n in range(12))
    verdict = replace(verdict_of(finding), mended=mended, old_failures=(LONG,))
    verdict = replace(verdict, mutants=MutantCount(24, 21, (f"{LONG}:{17}",)))
    return Story().checkpoints(LONG, "a.py").edits("t1").stops().inspects(verdict)


def conflict_story() -> Story:
    story = Story().checkpoints().asks("conflict")
    call = story.card.in_flight[0].id
    return story.answers(ConflictStated(card=CARD, call=call, report=CONTRADICTION))


def failed_story() -> Story:
    return Story().checkpoints().edits("t1").stops(FORM).inspects(verdict_of(REGRESSION))


async def write_views(journal: SqliteJournal) -> None:
    """Append every ending, the longest words, questions, and ten thousand events."""
    await write_runs(journal, 1)
    for name, story in TOLD.items():
        await write_story(journal, name, story)
    for name, story in (
        ("long", worded(long_story(), WORDY)),
        ("raw-error", worded(failed_story(), FORM)),
        ("mirrored", worded(failed_story(), MIRRORED)),
        ("one-word", worded(Story().checkpoints("x" * 600, "a.py"), "W" * 2_000)),
        ("conflict", conflict_story()),
        ("question", Story().checkpoints().edits("t1").stops().inspects(QUESTIONED)),
    ):
        await write_story(journal, name, story)


def worded(story: Story, request: str) -> Story:
    """The story of a run that was asked for in other words."""
    story.events = [
        replace(event, request=request) if isinstance(event, RunStarted) else event
        for event in story.events
    ]
    story.state = replace(story.state, request=request)
    return story


async def write_many(journal: SqliteJournal, count: int) -> None:
    """Append so many simulated runs that have come to their ends."""
    names: set[str] = set()
    for seed in range(count * 3):
        steps, _ = simulated(seed, least=10)
        name = steps[-1][1].run
        if name in names:
            continue
        names.add(name)
        now = time.time() - 40_000 * len(names)
        await write(journal, [(replace(event, at=now), state) for event, state in steps])
        if len(names) == count:
            return


def drive_demo(served: Served, shop: Path, script: Path) -> dict[str, str]:
    """Real runs of the demo's shop: one repaired, one held to the rules, one that waits."""
    del shop
    scripted: dict[str, Any] = {"intent": "small_fix", "driver": f"scripted:{script}"}
    found: dict[str, str] = {}
    first = {"request": "The tests fail, fix it", "driver": "repair"}
    second = {"request": "A total of three pens is wrong", **scripted}
    third = {"request": "A cart with a discount counts it twice", "approve": True, **scripted}
    for name, asked, end in (
        ("repaired", first, "success"), ("held", second, "success"), ("waiting", third, "paused"),
    ):  # fmt: skip
        found[name] = served.post("/api/runs", asked)["run"]
        served.until(found[name], lambda told, end=end: told["status"] == end)
    return found
