"""A conflict on the board: both quotes side by side, and a button for each answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from tests.simulation.world import CONTRADICTION
from tests.unit.run.stories import CARD, Story
from tests.web.browser import Opened, browsing
from tests.web.served import Served, environment, make_shop, serving
from tests.web.test_endings_on_page import write_story

from flyball.app.project import open_home
from flyball.journal.sqlite import SqliteJournal
from flyball.run.event import ConflictStated

pytestmark = pytest.mark.exhaustive
expect.set_options(timeout=30_000)


@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("conflict")
    shop, _ = make_shop(place)
    environ = environment(place)
    story = Story().checkpoints().asks("conflict")
    call = story.card.in_flight[0].id
    story.answers(ConflictStated(card=CARD, call=call, report=CONTRADICTION))
    journal = SqliteJournal(open_home(shop, environ, {}).journal_path)
    asyncio.run(write_story(journal, "rests", story))
    asyncio.run(journal.close())
    with serving(environ, shop) as found:
        yield found


@pytest.fixture
def opened(served: Served) -> Iterator[Opened]:
    with browsing(served.address, viewport={"width": 1280, "height": 900}) as found:
        yield found


def test_both_quotes_stand_side_by_side_with_their_answers(opened: Opened, served: Served):
    page, complaints = opened
    for label in ("follow the test", "follow the request"):
        expect(page.locator(".waits").get_by_role("button", name=label)).to_be_visible()
    page.goto(f"{page.url.partition('#')[0]}#/run/rests")
    expect(page.locator(".sides .quote")).to_have_count(2)
    left, right = page.locator(".sides .quote").all()
    expect(left).to_contain_text(CONTRADICTION.says.text)
    expect(right).to_contain_text(CONTRADICTION.but.text)
    one, other = left.bounding_box(), right.bounding_box()
    assert one is not None
    assert other is not None
    assert one["y"] == other["y"]
    assert one["x"] < other["x"]
    asked = page.get_by_role("group", name="Flyball asks")
    expect(asked.get_by_role("button", name="Change the task")).to_be_visible()
    (question,) = served.get("/api/runs/rests")["questions"]
    assert question["sides"] == ["follow the test", "follow the request"]
    assert not complaints
