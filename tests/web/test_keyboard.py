"""A person without a mouse: everything on the page by keys, and always seen where one is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect
from tests.web.browser import browsing
from tests.web.served import environment, make_shop, started

LONG = 60_000
# By the clock nothing fails: the machine may be busy with something else.
expect.set_options(timeout=30_000)
MOST_STOPS = 150
STANDS = """() => {
  const at = document.activeElement;
  const { outlineStyle: line, outlineWidth: width } = getComputedStyle(at);
  const { top, bottom, left, right } = at.getBoundingClientRect();
  const ringed = at.matches(":focus-visible") && line !== "none" && parseFloat(width);
  const shown = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  const label = at.labels?.[0]?.textContent;
  const name = at.getAttribute("aria-label") || label || at.innerText || at.id || at.className;
  return [at.tagName, name.trim(), Boolean(ringed && shown && at.checkVisibility())];
}"""


class Stop(NamedTuple):
    """Where the keys go now."""

    tag: str
    name: str
    is_seen: bool


class Keys(NamedTuple):
    """The only way in which this person touches a page."""

    page: Page

    def at(self) -> Stop:
        """Where the focus is: it is on something, and a ring shows on what."""
        stop = Stop(*self.page.evaluate(STANDS))
        assert stop.tag != "BODY", "the focus is lost"
        assert stop.is_seen, stop
        return stop

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def reach(self, name: str, key: str = "Tab") -> None:
        """Go from stop to stop until one has this name; each on the way is seen."""
        passed: list[str] = []
        for _ in range(MOST_STOPS):
            self.page.keyboard.press(key)
            # Between the last and the first stop the browser itself has the focus.
            if self.page.evaluate("document.activeElement === document.body"):
                continue
            stop = self.at()
            if stop.name == name:
                return
            passed.append(stop.name)
        raise AssertionError(f"no key leads to {name!r}, only to {passed}")

    def write(self, name: str, text: str, key: str = "Tab") -> None:
        self.reach(name, key)
        self.press("ControlOrMeta+a")
        self.page.keyboard.type(text)

    def tab(self, name: str) -> None:
        """To a tab of the run, by the key that goes to the next one."""
        wanted = self.page.get_by_role("tab", name=name)
        for _ in range(7):
            if wanted.get_attribute("aria-selected") == "true":
                break
            self.press("l")
            assert self.at().tag == "BUTTON"
        expect(wanted).to_be_focused()


def begin_by_keys(keys: Keys) -> None:
    page = keys.page
    expect(page.locator(".empty.big")).to_be_visible()
    keys.write("What to say", "The tests fail, fix it")
    keys.reach("Options")
    keys.press("Enter")
    keys.reach("Intent")
    page.keyboard.type("Small")
    keys.reach("Ask me about each checkpoint")
    keys.press("Space")
    keys.reach("Start", "Shift+Tab")
    keys.press("Enter")
    page.wait_for_url(re.compile("#/run/"))
    expect(page.locator(".ribbon .p-recon").first).to_be_visible()
    keys.at()


def accept_by_keys(keys: Keys) -> None:
    page = keys.page
    page.get_by_role("button", name="Accept the checkpoint").wait_for(timeout=LONG)
    keys.at()
    keys.reach("Accept the checkpoint", "Shift+Tab")
    keys.press("Enter")
    expect(page.locator(".runhead .pill")).to_have_text("Succeeded", timeout=LONG)
    # The button is gone; the box that it was in has the focus.
    assert page.evaluate("document.activeElement.className").startswith("banner")
    keys.at()


def comment_by_keys(keys: Keys) -> None:
    page = keys.page
    keys.reach("Overview")
    expect(page.locator("diff-box .add").first).to_contain_text("price * quantity")
    line = "Comment on new line 17 of cart.py"
    for said in ("Say why here.", "And how."):
        if keys.at().name != line:
            keys.reach(line)
        keys.press("Enter")
        assert keys.at().name == "Comment on line 17"
        page.keyboard.type(said)
        keys.reach("Save comment")
        keys.press("Enter")
        expect(page.locator(".notes")).to_contain_text(f"cart.py:17: {said}")
        assert keys.at().name == line
    keys.reach("Side by side", "Shift+Tab")
    keys.press("Space")
    expect(page.locator("table.diff.split")).to_be_visible()
    assert keys.at().name == "Side by side"
    keys.reach("Viewed")
    keys.press("Space")
    expect(page.locator("diff-box table")).to_be_hidden()
    assert keys.at().tag == "SUMMARY"


def take_back_by_keys(keys: Keys) -> None:
    page = keys.page
    keys.reach("Revert")
    keys.press("Enter")
    expect(page.locator(".cardbox .tag")).to_have_text("reverted")
    assert keys.at().name == "Apply again"
    keys.press("Enter")
    expect(page.locator(".cardbox .tag")).to_have_text("done")
    assert keys.at().name == "Revert"


def look_back_by_keys(keys: Keys) -> None:
    page = keys.page
    keys.reach("Overview", "Shift+Tab")
    keys.tab("Replay")
    expect(page.locator("output")).to_contain_text("Event")
    keys.reach("Event")
    keys.press("Home", "ArrowRight", "ArrowRight", "ArrowRight")
    expect(page.locator("output")).to_contain_text("Event 4 of")
    expect(page.locator(".then")).to_contain_text("Nothing has changed yet.")
    assert keys.at().name == "Event"
    keys.press("End")
    expect(page.locator(".then diff-box .add").first).to_be_visible()
    keys.reach("▶ Play", "Shift+Tab")
    keys.press("Enter")
    assert keys.at().name == "❚❚ Pause"
    keys.press("Enter")
    assert keys.at().name == "▶ Play"


def export_by_keys(keys: Keys, place: Path) -> None:
    keys.reach("Export", "Shift+Tab")
    with keys.page.expect_download() as download:
        keys.press("Enter")
    file = place / "exported.html"
    download.value.save_as(file)
    assert "price * quantity" in file.read_text("utf-8")
    assert keys.at().name == "Export"


def open_and_leave_by_keys(keys: Keys) -> None:
    page = keys.page
    keys.press("Escape")
    page.wait_for_url(re.compile("#/$"))
    page.locator(".card").first.wait_for()
    keys.at()
    keys.press("j")
    assert keys.at().tag == "A"
    keys.press("Enter")
    page.wait_for_url(re.compile("#/run/"))
    expect(page.get_by_role("tab", name="Overview")).to_be_visible()
    address = page.url
    keys.at()
    # Over all that is at the top and in the list, and still at the same run.
    keys.reach("Skip to the content", "Shift+Tab")
    keys.press("Enter")
    assert keys.at().tag == "MAIN"
    assert page.url == address
    keys.press("/")
    page.keyboard.type("fail")
    keys.press("Escape")
    keys.at()
    keys.press("Escape")
    page.wait_for_url(re.compile("#/$"))
    keys.at()


def answer_by_keys(keys: Keys, script: Path) -> None:
    page = keys.page
    keys.write("What to say", "The total is wrong")
    keys.reach("Options")
    keys.press("Enter")
    keys.write("Budget in calls", "6")
    keys.write("Driver", f"scripted:{script}")
    keys.press("Enter")
    page.wait_for_url(re.compile("#/run/"))
    page.get_by_role("button", name="Accept the checkpoint").wait_for(timeout=LONG)
    assert keys.at().name == "What to say"
    keys.write("Calls to add", "5", "Shift+Tab")
    keys.press("Enter")
    expect(page.locator(".stat.wide .num")).to_contain_text("of 11 calls")
    assert keys.at().name == "Calls to add"
    # While the run takes the calls in, words would go to its driver.
    expect(page.get_by_role("button", name="Answer")).to_be_visible()
    keys.write("What to say", "yes")
    keys.press("Enter")
    expect(page.locator(".runhead .pill")).to_have_text("Succeeded", timeout=LONG)
    assert keys.at().name == "What to say"


@pytest.mark.exhaustive
def test_a_person_without_a_mouse(tmp_path: Path):
    """One server and one page for all of it, in this order: each step finds what was before."""
    shop, script = make_shop(tmp_path)
    size = {"width": 1280, "height": 900}
    with (
        started(environment(tmp_path), shop) as server,
        browsing(server.address, viewport=size, color_scheme="light") as (page, complaints),
    ):
        keys = Keys(page)
        begin_by_keys(keys)
        accept_by_keys(keys)
        comment_by_keys(keys)
        take_back_by_keys(keys)
        look_back_by_keys(keys)
        export_by_keys(keys, tmp_path)
        open_and_leave_by_keys(keys)
        answer_by_keys(keys, script)
        assert complaints == []


MOVE_A_CARD = """() => {
  const board = document.querySelector("card-board");
  const rows = (status, asks = []) => [{ run: "r", request: "x", title: "t", status, words: status,
    intent: "", updated_at: 1, asks, cards: [{ id: "a", title: "A", phase: "execute" }] }];
  board.set(rows("running"));
  board.querySelector(".card").focus();
  board.set(rows("success"));
  const column = document.activeElement.closest(".column")?.getAttribute("aria-label");
  board.set(rows("paused", [{ kind: "checkpoint", text: "Go on?", card: "a" }]));
  board.querySelector(".waits").focus();
  board.set(rows("success"));
  return [column, document.activeElement.tagName];
}"""


@pytest.mark.exhaustive
def test_a_card_that_moves_takes_the_focus_along(tmp_path: Path):
    """And a question that was answered elsewhere leaves it to the board."""
    shop, _ = make_shop(tmp_path)
    with (
        started(environment(tmp_path), shop) as server,
        browsing(server.address) as (page, complaints),
    ):
        page.locator(".empty.big").wait_for()
        assert page.evaluate(MOVE_A_CARD) == ["Done", "MAIN"]
        assert complaints == []
