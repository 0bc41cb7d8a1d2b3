"""Questions answered on the board, by keys alone; and everything by a few letters."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from tests.unit.run.stories import Story
from tests.web.browser import Opened, browsing
from tests.web.served import Served, environment, make_shop, serving
from tests.web.test_endings_on_page import write_story

from flyball.app.project import open_home
from flyball.journal.sqlite import SqliteJournal
from flyball.run.event import PauseAsked

pytestmark = pytest.mark.exhaustive
expect.set_options(timeout=30_000)
SIZE = {"width": 1280, "height": 900}
GRACE_OVER = 6_500


def approval() -> Story:
    return Story(policy=None).happens(PauseAsked(by="ann"))


@pytest.fixture
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    place = tmp_path_factory.mktemp("inbox")
    shop, script = make_shop(place)
    environ = environment(place)
    journal = SqliteJournal(open_home(shop, environ, {}).journal_path)
    asyncio.run(write_story(journal, "rests", approval()))
    asyncio.run(journal.close())
    with serving(environ, shop) as found:
        asked = {"request": "Total", "approve": True, "intent": "small_fix"}
        run = found.post("/api/runs", {**asked, "driver": f"scripted:{script}"})["run"]
        found.until(run, lambda told: told["status"] == "paused")
        yield found


@pytest.fixture
def opened(served: Served) -> Iterator[Opened]:
    with browsing(served.address, viewport=SIZE) as found:
        yield found


def enter(page: Page, request: str) -> None:
    """By keys to the question of a run."""
    expect(page.locator(".waits")).to_have_count(2)
    for _ in range(2):
        page.keyboard.press("i")
        if request in page.evaluate("document.activeElement.innerText"):
            return
    raise AssertionError("no key leads to the question")


def status_of(served: Served, request: str) -> str:
    return next(row["status"] for row in served.get("/api/runs") if row["request"] == request)


def test_a_yes_is_sent_after_six_seconds_and_can_be_taken_back(opened: Opened, served: Served):
    page, complaints = opened
    enter(page, "Total")
    page.keyboard.press("a")
    expect(page.locator(".waits")).to_have_count(1)
    page.keyboard.press("u")
    expect(page.locator(".waits")).to_have_count(2)
    page.wait_for_timeout(GRACE_OVER)
    assert status_of(served, "Total") == "paused"
    enter(page, "Total")
    page.keyboard.press("a")
    page.get_by_role("button", name="Undo").wait_for()
    assert status_of(served, "Total") == "paused"
    expect(page.locator(".at-done", has_text="Total")).to_be_visible()
    assert complaints == []


def test_a_no_and_an_answer_are_given_in_place(opened: Opened, served: Served):
    page, complaints = opened
    enter(page, "Total")
    page.keyboard.press("Enter")
    page.keyboard.type("Look at the discount first.")
    page.keyboard.press("Escape")
    expect(page.locator(".inplace")).to_have_count(0)
    page.keyboard.press("d")
    expect(page.locator(".waits")).to_have_count(1)
    # Whoever leaves the page has decided.
    page.goto("about:blank")
    run = next(row["run"] for row in served.get("/api/runs") if row["request"] == "Total")
    told = served.until(run, lambda told: told["decided"][-1]["what"] != "started it")
    assert len(told["decided"]) > 1
    assert complaints == []


def test_a_few_letters_lead_to_a_run_and_to_what_it_can_do(opened: Opened):
    page, complaints = opened
    expect(page.locator(".runrow")).to_have_count(2)
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("total")
    expect(page.locator(".palette [role=option]").first).to_contain_text("Total")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Total")
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("timel")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tab", name="Timeline")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ControlOrMeta+k")
    page.keyboard.type("qqzzqq")
    expect(page.locator(".palette .empty")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert complaints == []
