"""Every view at three widths, with every kind of run: nothing overflows, is cut off or overlaps."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.web.browser import chromium
from tests.web.served import Served, environment, make_shop, serving
from tests.web.test_page import AXE
from tests.web.views import drive_demo, write_many, write_views

from flyball.app.project import open_home
from flyball.journal.sqlite import SqliteJournal

pytestmark = pytest.mark.exhaustive
expect.set_options(timeout=30_000)
SIZES = {"wide": (1440, 900), "tablet": (768, 1024), "phone": (360, 740)}
RUNS = 500
MOST_NODES = 2_500
MOST_ROW = 48
WRONG = (Path(__file__).parent / "wrong.js").read_text("utf-8")


class Views(NamedTuple):
    """A board full of runs, and how each kind is called."""

    served: Served
    named: dict[str, str]
    browser: Browser

    def page(self, size: str, scheme: str = "light") -> Page:
        width, height = SIZES[size]
        viewport: Any = {"width": width, "height": height}
        look: Any = {"color_scheme": scheme, "reduced_motion": "reduce"}
        found = self.browser.new_context(viewport=viewport, **look).new_page()
        found.goto(self.served.address)
        found.locator(".card").first.wait_for()
        return found

    def open(self, page: Page, run: str, tab: str = "") -> None:
        page.goto(f"{self.served.address.partition('?')[0]}#/run/{self.named.get(run, run)}/{tab}")
        page.locator(".hero h1").wait_for()


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Views]:
    place = tmp_path_factory.mktemp("views")
    shop, script = make_shop(place)
    environ = environment(place)
    journal = SqliteJournal(open_home(shop, environ, {}).journal_path)
    journal._db.execute("PRAGMA synchronous = OFF")  # pyright: ignore[reportPrivateUsage]
    asyncio.run(write_many(journal, RUNS))
    asyncio.run(write_views(journal))
    asyncio.run(journal.close())
    with serving(environ, shop) as served, sync_playwright() as playwright:
        named = drive_demo(served, shop, script)
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield Views(served, named, browser)
        browser.close()


def violations(page: Page) -> list[str]:
    """All that axe-core has to complain of, however small."""
    page.evaluate(AXE)
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {node['html'][:120]}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


def keep(page: Page, name: str) -> None:
    """Keep a picture where somebody wants to look at it."""
    if folder := os.environ.get("FLYBALL_KEEP_PICTURES"):
        page.screenshot(path=f"{folder}/{name}.png")


SHOWN = [
    ("repaired", ""), ("held", ""), ("held", "timeline"), ("held", "replay"), ("held", "talk"),
    ("waiting", ""), ("long", ""), ("raw-error", ""), ("question", ""), ("failed", ""),
    ("answered", ""), ("small_talk", ""), ("failed_as_a_whole", "replay"), ("long", "timeline"),
]  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_is_cut_off_or_overlaps(views: Views, size: str, scheme: str):
    page = views.page(size, scheme)
    wrong = {"board": page.evaluate(WRONG) + violations(page)}
    keep(page, f"board-{size}-{scheme}")
    for run, tab in SHOWN:
        views.open(page, run, tab)
        page.wait_for_timeout(300)
        wrong[f"{run} {tab}"] = page.evaluate(WRONG) + violations(page)
        keep(page, f"{run}-{tab or 'run'}-{size}-{scheme}")
    assert {name: found for name, found in wrong.items() if found} == {}
    page.context.close()


def test_a_card_and_a_row_are_small_and_tell_runs_apart(views: Views):
    page = views.page("wide")
    rows = page.locator(".runrow").all()
    assert len(rows) > 10
    assert all((row.bounding_box() or {})["height"] <= MOST_ROW for row in rows[:20])
    same = page.locator(".runrow", has_text="do it").all_inner_texts()
    assert len(set(same)) == len(same) > 3
    cards = [card.bounding_box() or {} for card in page.locator(".card").all()[:30]]
    assert max(each["height"] for each in cards) < 200
    empty = [box.bounding_box() or {} for box in page.locator(".column.bare").all()]
    assert empty and all(each["width"] < 100 for each in empty)
    page.context.close()


def test_columns_do_not_lie(views: Views):
    page = views.page("wide")
    page.get_by_label("Search runs").fill("failed_as_a_whole")
    expect(page.locator(".at-stopped")).to_have_count(1)
    expect(page.locator(".at-done")).to_have_count(0)
    page.context.close()


def test_filters_show_some_of_the_runs(views: Views):
    page = views.page("wide")
    page.get_by_role("button", name="Needs you").click()
    expect(page.locator(".at-done, .at-stopped")).to_have_count(0)
    expect(page.locator(".at-review").first).to_be_visible()
    page.context.close()


def test_a_merged_run_offers_no_merge_and_a_phone_keeps_its_page(views: Views):
    page = views.page("phone")
    views.open(page, "held")
    views.served.post(f"/api/runs/{views.named['held']}/merge", {})
    page.reload()
    expect(page.get_by_role("link", name="Export")).to_be_visible()
    expect(page.get_by_role("button", name="Merge")).to_have_count(0)
    # The line to write in stands at the end of the page, and not over it.
    box = page.locator("main.split chat-box").bounding_box() or {}
    assert box["y"] > SIZES["phone"][1]
    page.context.close()


def test_a_call_is_one_line_and_the_ribbon_says_how_each_phase_ended(views: Views):
    page = views.page("wide")
    views.open(page, "held", "timeline")
    expect(page.locator(".entry", has_text="checkpoint").first).to_be_visible()
    assert page.locator(".entry .what", has_text="Allowed").count() == 0
    assert page.locator(".entry .what", has_text="Came back").count() == 0
    expect(page.locator(".ribbon .p-verify.o-bad")).to_have_count(1)
    expect(page.locator(".ribbon .p-verify.o-good")).to_have_count(1)
    assert page.locator(".ribbon .refusal").count() >= 1
    page.context.close()


def test_of_five_hundred_runs_few_are_drawn(views: Views):
    """How soon they are painted is measured by `python -m bench.page`."""
    page = views.page("wide")
    assert len(views.served.get("/api/runs")) > RUNS
    assert page.evaluate("document.querySelectorAll('*').length") < MOST_NODES
    page.context.close()
