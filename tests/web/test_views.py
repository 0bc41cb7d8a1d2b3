"""Every view at three widths, with every kind of run: nothing overflows, is cut off or overlaps."""

from __future__ import annotations

import asyncio
import os
import re
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
MOST_ROW = 40
WRONG = (Path(__file__).parent / "wrong.js").read_text("utf-8")


class Views(NamedTuple):
    """A board full of runs, one without any, and how each kind is called."""

    served: Served
    bare: Served
    named: dict[str, str]
    browser: Browser

    def new_page(self, size: str, scheme: str = "light") -> Page:
        width, height = SIZES[size]
        viewport: Any = {"width": width, "height": height}
        look: Any = {"color_scheme": scheme, "reduced_motion": "reduce"}
        return self.browser.new_context(viewport=viewport, **look).new_page()

    def page(self, size: str, scheme: str = "light") -> Page:
        found = self.new_page(size, scheme)
        found.goto(self.served.address)
        found.locator(".card").first.wait_for()
        return found

    def go(self, page: Page, place: str) -> None:
        page.goto(f"{self.served.address.partition('?')[0]}#/{place}")

    def open(self, page: Page, run: str, tab: str = "") -> None:
        self.go(page, f"run/{self.named.get(run, run)}/{tab}")
        page.locator(".summary .pill").wait_for()


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
    other = tmp_path_factory.mktemp("bare")
    with (
        serving(environ, shop) as served,
        serving(environment(other), make_shop(other)[0]) as bare,
        sync_playwright() as playwright,
    ):
        named = drive_demo(served, shop, script)
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield Views(served, bare, named, browser)
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
    ("unverified", ""), ("conflict", ""), ("mirrored", ""), ("one-word", ""), ("one-word", "talk"),
    ("run-0000", ""), ("run-0000", "timeline"),
]  # fmt: skip


def look(page: Page, name: str) -> list[str]:
    """What is wrong with a page as it is now; its picture is kept."""
    page.wait_for_timeout(300)
    keep(page, name)
    return page.evaluate(WRONG) + violations(page)


def look_elsewhere(views: Views, page: Page, kind: str, file: Path) -> dict[str, list[str]]:
    """What is wrong with everything that is not a run on the board."""
    wrong: dict[str, list[str]] = {}
    for name, key in (("commands", "Control+k"), ("keys", "?")):
        page.keyboard.press(key)
        page.get_by_role("dialog").wait_for()
        wrong[name] = look(page, f"{name}-{kind}")
        page.keyboard.press("Escape")
    page.get_by_label("Search runs").fill("nothing is called that")
    page.get_by_text("No matching runs.").wait_for()
    wrong["nothing found"] = look(page, f"nothing-found-{kind}")
    page.get_by_label("Search runs").fill("")
    for place, name in (("dev", "Developer"), ("run/no-such-run", "no-such-run")):
        views.go(page, place)
        page.get_by_role("heading", name=name).wait_for()
        wrong[name] = look(page, f"{name.lower()}-{kind}")
    views.open(page, "held")
    page.get_by_role("button", name="Side by side").click()
    wrong["side by side"] = look(page, f"side-by-side-{kind}")
    exported = views.served.ask("GET", f"/api/runs/{views.named['held']}/export.html")
    file.write_bytes(exported.body)
    page.goto(file.as_uri())
    for tab in ("Overview", "Replay"):
        page.get_by_role("tab", name=tab).click()
        wrong[f"exported {tab}"] = look(page, f"exported-{tab.lower()}-{kind}")
    base = views.bare.address.partition("?")[0]
    for address, name in ((views.bare.address, "empty"), (base, "stranger")):
        page.context.clear_cookies()
        page.goto(address)
        page.locator(".empty.big, form.enter").first.wait_for()
        wrong[name] = look(page, f"{name}-{kind}")
    return wrong


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_overflows_is_cut_off_or_overlaps(
    views: Views, size: str, scheme: str, tmp_path: Path
):
    page = views.page(size, scheme)
    kind = f"{size}-{scheme}"
    wrong = {"board": look(page, f"board-{kind}")}
    for run, tab in SHOWN:
        views.open(page, run, tab)
        wrong[f"{run} {tab}"] = look(page, f"{run}-{tab or 'run'}-{kind}")
    views.go(page, "")
    page.locator(".card").first.wait_for()
    wrong |= look_elsewhere(views, page, kind, tmp_path / "run.html")
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


def test_as_many_runs_need_a_person_as_the_inbox_asks_about(views: Views):
    """A run that nobody drives asks nothing: it is not done, and can be resumed."""
    page = views.page("wide")
    expect(page.locator(".inbox h2")).to_have_text(re.compile(r"^\d+ runs wait for you$"))
    count = page.locator(".inbox h2").inner_text().split()[0]
    expect(page.locator(".column[aria-label='Needs you'] h2 .num")).to_have_text(count)
    expect(page.get_by_role("button", name=f"Needs you, {count}")).to_be_visible()
    assert page.title().startswith(f"({count})")
    page.get_by_label("Search runs").fill("run-0000")
    expect(page.locator(".at-stopped .state")).to_have_text("Interrupted")
    page.context.close()


def test_what_is_written_from_right_to_left_begins_there(views: Views):
    """And is cut off at its end, where it does not fit."""
    page = views.page("wide")
    views.open(page, "mirrored")
    for place in (".summary h1", ".runrow a.at .ask"):
        found = page.locator(place)
        assert found.evaluate("(node) => getComputedStyle(node).direction") == "rtl"
    page.context.close()


def test_a_tab_chosen_before_the_run_has_come_is_shown_when_it_comes(views: Views):
    page = views.page("wide")
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    run = views.named["held"]
    page.evaluate(f"""location.hash = '#/run/{run}';
        addEventListener('hashchange', () => {{ location.hash = '#/run/{run}/timeline'; }},
            {{ once: true }});""")
    expect(page.get_by_role("tab", name="Timeline")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".entry").first).to_be_visible()
    assert faults == []
    page.context.close()


def test_what_was_not_shown_is_nowhere_green(views: Views):
    """Neither in the ribbon nor among the evidence."""
    page = views.page("wide")
    for run in ("unverified", "question", "raw-error"):
        views.open(page, run)
        expect(page.locator(".evidence .badge").first).to_be_visible()
        expect(page.locator(".ribbon .o-good")).to_have_count(0)
        verdict = page.locator(".evidence li", has_text="verdict")
        expect(verdict).to_have_class(re.compile("bad|fair"))
    page.context.close()


def test_a_card_opened_as_a_page_has_its_colours(views: Views):
    """The policy of the server lets its style sheet in, and the theme is followed."""
    page = views.page("wide", "dark")
    page.goto(f"{views.served.address.partition('?')[0]}run/{views.named['held']}/card.svg")
    colours = page.evaluate("""['.g', 'text.r', 'circle.green'].map(
        (each) => getComputedStyle(document.querySelector(each)).fill)""")
    assert colours == ["rgb(25, 29, 35)", "rgb(228, 232, 237)", "rgb(127, 212, 155)"]
    page.context.close()


def test_the_driver_is_quoted_with_its_own_words(views: Views):
    """What Flyball says of an end is not laid into its mouth."""
    page = views.page("wide")
    views.open(page, "stopped_by_no")
    expect(page.locator(".part-answer blockquote")).to_have_text("I stop.")
    page.context.close()


def test_a_call_says_what_it_was_about(views: Views):
    page = views.page("wide")
    views.open(page, "held")
    expect(page.locator(".judged", has_text="edit_diff cart.py").first).to_be_visible()
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
