"""Every ending on the page and in its JSON: one word of the core, and nothing beside it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect
from tests.contract.test_endings import STORIES
from tests.unit.run.stories import Story
from tests.web.browser import browsing
from tests.web.served import Served, environment, make_shop, serving

from flyball.app.project import open_home
from flyball.app.runs.journals import acquire
from flyball.journal.sqlite import SqliteJournal
from flyball.run.effect import Publish
from flyball.run.ending import ending_of, status_of
from flyball.run.event import Messaged, RunStarted
from flyball.run.machine import advance
from flyball.run.state import Ending, RunState

expect.set_options(timeout=30_000)
TOLD = {tell.__name__: tell() for tell, _ in STORIES}


async def write_story(journal: SqliteJournal, run: str, story: Story) -> None:
    """Append a story's events as a run of this name; what it ends in is the story's own state."""
    lease = await acquire(journal, run)
    state = RunState()
    for n, each in enumerate(story.events):
        event = replace(each, at=time.time() - len(story.events) + n)
        if isinstance(event, RunStarted):
            event = replace(event, run=run)
        if isinstance(event, Messaged):
            # A message names its run; the one that is owed has this run's name.
            owed = {each.n: each.effect for each in state.owed}[event.effect]
            assert isinstance(owed, Publish)
            event = replace(event, message=owed.message)
        state = advance(state, event).state
        if n == len(story.events) - 1:
            state = replace(story.state, run=run, at=event.at)
        await journal.commit(lease, event, state, ())
    await journal.release(lease)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("endings")
    shop, _ = make_shop(place)
    environ = environment(place)
    journal = SqliteJournal(open_home(shop, environ, {}).journal_path)
    for name, story in TOLD.items():
        asyncio.run(write_story(journal, name, story))
    asyncio.run(journal.close())
    with serving(environ, shop) as found:
        yield found


@pytest.mark.parametrize("name", TOLD)
def test_the_json_says_the_one_ending(served: Served, name: str):
    state = TOLD[name].state
    ending, status = ending_of(state), status_of(state)
    assert ending is not None
    rows = {row["run"]: row for row in served.get("/api/runs")}
    for told in (rows[name], served.get(f"/api/runs/{name}")):
        said = (told["status"], told["ending"], told["words"])
        assert said == (status, ending.value, ending.words.capitalize())
    response = served.get(f"/api/runs/{name}")["response"]
    if response is not None:
        is_shown = ending is Ending.SUCCEEDED
        assert (response["status"], response["goal_achieved"]) == (status, is_shown)


@pytest.mark.exhaustive
def test_the_page_says_the_one_ending(served: Served):
    with browsing(served.address, viewport={"width": 1280, "height": 900}) as (page, complaints):
        base = served.address.partition("?")[0]
        for name, story in TOLD.items():
            ending = ending_of(story.state)
            assert ending is not None
            words = ending.words.capitalize()
            page.goto(f"{base}#/run/{name}")
            page.reload()
            expect(page.locator("run-page .pill").first).to_have_text(words)
            expect(page.locator(f'.runrow a[href$="{name}"] .pill')).to_have_text(words)
            if ending is not Ending.SUCCEEDED:
                said = page.locator(".summary").all_inner_texts()
                assert not re.search(r"succe|it is done|red → green", " ".join(said).lower()), name
        assert complaints == []


@pytest.mark.exhaustive
def test_what_is_not_there_is_said_and_nothing_else_is_shown(served: Served):
    with browsing(served.address, viewport={"width": 1280, "height": 900}) as (page, complaints):
        base = served.address.partition("?")[0]
        page.goto(f"{base}#/run/succeeded/no-such-tab")
        expect(page.get_by_role("tab").first).to_have_attribute("aria-selected", "true")
        expect(page.locator(".panel")).not_to_contain_text("Loading")
        assert complaints == []
        page.goto(f"{base}#/run/no-such-run")
        expect(page.locator("run-page")).to_contain_text("no-such-run")
        expect(page.get_by_role("tab")).to_have_count(0)
        expect(page.get_by_label("What to say")).to_have_count(0)
        page.get_by_role("link", name="All runs").click()
        expect(page.get_by_label("What to say")).to_be_visible()
        # The browser notes each request that is refused; no other fault is among them.
        assert [each for each in complaints if "404" not in each] == []
        known = len(complaints)
        page.wait_for_timeout(2_500)
        assert len(complaints) == known, "it goes on asking for a run that is not there"
