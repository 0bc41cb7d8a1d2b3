"""Boards of a thousand cards and logs of ten thousand events: all reachable, little of it drawn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
import pytest
from tests.simulation.simulate import next_event
from tests.simulation.world import World, call
from tests.web.browser import browsing
from tests.web.served import Served, environment, make_shop, serving

from flyball.app.project import open_home
from flyball.app.runs.journals import acquire
from flyball.guards.guard import GuardLimits
from flyball.journal.sqlite import SqliteJournal
from flyball.run.effect import Think
from flyball.run.event import AnyEvent, DriverReplied, Finish, RunStarted
from flyball.run.machine import advance
from flyball.run.policy import Policy
from flyball.run.state import CardState, RunState
from flyball.terms.intent import Intent

EVENTS = 10_000
CARDS = 1_000
MOST_NODES = 2_500
NO_LIMIT = 1_000_000


def reads_on(_run: RunState, card: CardState, _think: Think, _rng: Random) -> AnyEvent:
    """A driver that reads a new file with each of six calls, and never comes to an end."""
    calls = (call(f"{card.turns}.{n}", "read", f"part{card.turns}/{n}.py") for n in range(6))
    text = f"Part {card.turns} is next."
    return DriverReplied(card=card.id, text=text, calls=tuple(calls), finish=Finish.TOOL_CALLS)


def begun(run: str, n: int) -> RunStarted:
    guards = GuardLimits(reading_on_soft=0, reading_on_hard=0)
    policy = Policy(max_turns=NO_LIMIT, max_tool_rounds=NO_LIMIT, reserve=0, guards=guards)
    request = f"Read number {n}" + " of a great many, and say what is in it" * (n % 3)
    return RunStarted(
        run=run, request=request, intent=Intent.DIAGNOSE, budget=NO_LIMIT, policy=policy, at=n + 1.0
    )


async def write_runs(
    journal: SqliteJournal, count: int = CARDS, events: int = EVENTS, seed: int = 1
) -> None:
    """A long run first, and then many that have only begun, with one card each."""
    world = World(Random(seed), reads_on, crash_chance=0.0)
    for n in range(count):
        run = f"run-{n:04}"
        lease = await acquire(journal, run)
        state, event = RunState(), begun(run, n)
        while True:
            state = advance(state, event).state
            await journal.commit(lease, event, state, ())
            if state.seq >= events or (n and state.cards):
                break
            event = msgspec.structs.replace(next_event(world, state, 10), at=n + 1.5)
        await journal.release(lease)


class Long(NamedTuple):
    served: Served
    run: str


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Long]:
    place = tmp_path_factory.mktemp("long")
    shop, _ = make_shop(place)
    environ = environment(place)
    journal = SqliteJournal(open_home(shop, environ, {}).journal_path)
    journal._db.execute("PRAGMA synchronous = OFF")  # pyright: ignore[reportPrivateUsage]
    asyncio.run(write_runs(journal))
    asyncio.run(journal.close())
    with serving(environ, shop) as served:
        yield Long(served, "run-0000")


FRAME = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
GO_THROUGH = f"""async ([box, item, what]) => {{
  const seen = new Set();
  const frame = {FRAME};
  const scroller = document.querySelector(box);
  let most = 0;
  scroller.scrollTop = 0;
  for (let last = -1; last !== scroller.scrollTop; ) {{
    await frame();
    const shown = document.querySelectorAll(item);
    for (const each of shown) seen.add(each.querySelector(what).textContent);
    most = Math.max(most, document.querySelectorAll("*").length);
    last = scroller.scrollTop;
    scroller.scrollTop += scroller.clientHeight;
  }}
  return [seen.size, most];
}}"""
JUMP_ABOUT = f"""async (box) => {{
  const frame = {FRAME};
  const scroller = document.querySelector(box);
  const bare = [];
  let most = 0;
  for (let n = 1; n <= 40; n += 1) {{
    scroller.scrollTop = (scroller.scrollHeight - scroller.clientHeight) * n / 40;
    await frame();
    const {{ top, bottom }} = scroller.getBoundingClientRect();
    const rows = [...scroller.querySelectorAll(".entry")].map((row) => row.getBoundingClientRect());
    const above = rows.some((row) => row.top <= top + 2 && row.bottom >= top);
    const below = rows.some((row) => row.bottom >= bottom - 2 && row.top <= bottom);
    if (!above || !below) bare.push(n);
    most = Math.max(most, document.querySelectorAll("*").length);
  }}
  return [bare, most];
}}"""


@pytest.mark.exhaustive
def test_a_thousand_cards_are_reached_with_few_of_them_drawn(long: Long):
    with browsing(long.served.address, viewport={"width": 1440, "height": 900}) as (page, faults):
        page.locator(".card").first.wait_for()
        size, most = page.evaluate(GO_THROUGH, ["main", ".slot", ".title"])
        assert size == CARDS
        assert most < MOST_NODES
        size, most = page.evaluate(GO_THROUGH, ["run-list .scroller", ".runrow", ".ask"])
        assert size == CARDS
        assert most < MOST_NODES
        # By keys alone to the last card, which says where in how many it is.
        page.evaluate("document.querySelector('main').scrollTop = 0")
        page.locator(".card").first.focus()
        for _ in range(60):
            page.keyboard.press("j")
        focused = "document.activeElement.parentElement"
        assert page.evaluate(f"{focused}.getAttribute('aria-posinset')") == "61"
        assert page.evaluate(f"{focused}.getAttribute('aria-setsize')") == str(CARDS)
        # What has the focus stays, however far away it is scrolled.
        page.evaluate("document.querySelector('main').scrollTop = 1e9")
        page.locator(".card").last.wait_for()
        assert page.evaluate(f"{focused}.getAttribute('aria-posinset')") == "61"
        page.get_by_label("Search runs").fill("run-0077")
        page.wait_for_function("() => document.querySelectorAll('.title').length === 1")
        assert faults == []


@pytest.mark.exhaustive
def test_ten_thousand_events_are_reached_with_few_of_them_drawn(long: Long):
    with browsing(long.served.address, viewport={"width": 1440, "height": 900}) as (page, faults):
        page.goto(f"{long.served.address.partition('?')[0]}#/run/{long.run}/timeline")
        last = long.served.get(f"/api/runs/{long.run}")["events"]
        assert last == EVENTS
        page.wait_for_function(
            "last => document.querySelector('run-page')?.lines?.at(-1)?.seq === last", arg=last
        )
        page.locator(".entry").first.wait_for()
        lines = page.evaluate("document.querySelector('time-line').list.rows.length")
        assert lines > EVENTS / 2
        bare, most = page.evaluate(JUMP_ABOUT, ".timeline")
        assert bare == []
        assert most < MOST_NODES
        assert page.locator(".entry").last.get_attribute("aria-posinset") == str(lines)
        page.locator("time-line [role=listbox]").focus()
        page.keyboard.press("Home")
        assert page.locator(".entry.at").get_attribute("aria-posinset") == "1"
        page.keyboard.press("End")
        assert page.locator(".entry.at").get_attribute("aria-posinset") == str(lines)
        page.get_by_label("Find in the timeline").fill("part900/3.py")
        page.locator(".entry", has_text="part900/3.py").first.wait_for()
        page.get_by_role("tab", name="Overview").click()
        page.locator(".judged[role=listitem]").first.wait_for()
        page.get_by_role("tab", name="Talk").click()
        page.locator(".saying.driver").first.wait_for()
        assert page.evaluate("document.querySelectorAll('*').length") < MOST_NODES
        page.get_by_role("tab", name="Replay").click()
        page.get_by_label("Event", exact=True).fill("5000")
        page.locator("output", has_text="Event 5000 of 10000").wait_for()
        assert faults == []


SUMMARY_AT = """() => new Promise((done) => { const look = () => requestAnimationFrame(
  document.querySelector(".summary h1") && document.querySelector(".judged[role=listitem]")
  ? () => done(document.querySelector("run-page").lines.length) : look); look(); })"""


@pytest.mark.exhaustive
def test_a_long_run_is_drawn_before_its_history(tmp_path: Path):
    shop, _ = make_shop(tmp_path)
    environ = environment(tmp_path)
    journal = SqliteJournal(open_home(shop, environ, {}).journal_path)
    journal._db.execute("PRAGMA synchronous = OFF")  # pyright: ignore[reportPrivateUsage]
    asyncio.run(write_runs(journal, 1))
    asyncio.run(journal.close())
    with (
        serving(environ, shop) as served,
        browsing(served.address, viewport={"width": 1440, "height": 900}) as (page, faults),
    ):
        page.goto(f"{served.address.partition('?')[0]}#/run/run-0000")
        assert page.evaluate(SUMMARY_AT) < EVENTS
        assert faults == []
