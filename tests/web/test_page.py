"""The page in a real browser against a real server: what a person does there, and sees."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.web.browser import Opened, browsing
from tests.web.served import Served, environment, make_shop, serving, started

EVIL = '<img src=x onerror="document.title=1"><script>document.title=2</script>'
KEPT = "# VIBE-KEEP START rates\nRATE = 2\n# VIBE-KEEP END rates\n"
TOUCHING = (
    "--- a/rates.py\n+++ b/rates.py\n@@ -1,3 +1,3 @@\n # VIBE-KEEP START rates\n"
    "-RATE = 2\n+RATE = 3\n # VIBE-KEEP END rates\n"
)
SERIOUS = {"serious", "critical"}
# By the clock nothing fails: the machine may be busy with something else.
expect.set_options(timeout=30_000)
AXE = (files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("page")


@pytest.fixture(scope="module")
def served(place: Path) -> Iterator[Served]:
    shop, _ = make_shop(place)
    with serving(environment(place), shop) as found:
        yield found


@pytest.fixture(scope="module")
def opened(served: Served) -> Iterator[Opened]:
    size = {"width": 1280, "height": 900}
    with browsing(served.address, viewport=size, color_scheme="light") as found:
        yield found


def serious(page: Page) -> list[str]:
    """What axe-core calls serious or worse on the page as it is now."""
    page.evaluate(AXE)
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{each['id']}: {node['html'][:120]}"
        for each in found["violations"]
        if each["impact"] in SERIOUS
        for node in each["nodes"]
    ]


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def begin(page: Page, text: str, **options: str) -> str:
    """Begin a run from the page; its name."""
    page.goto(page.url.partition("#")[0] + "#/")
    page.get_by_label("What to say").fill(text)
    page.locator("summary", has_text="Options").click()
    page.get_by_label("Intent", exact=True).select_option("small_fix")
    for label, value in options.items():
        page.get_by_label(label).fill(value)
    page.get_by_label("Ask me about each checkpoint").check()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile("#/run/"))
    return page.url.rpartition("/")[2]


def follow_a_run_from_the_request_to_taking_it_back(opened: Opened):
    page, complaints = opened
    expect(page.locator(".empty.big")).to_contain_text("No runs yet")
    assert serious(page) == []
    # A run of the embedded driver: no key, no model.
    begin(page, f"The tests fail, fix it {EVIL}")
    expect(page.locator("h1")).to_contain_text(EVIL)
    expect(page.locator(".ribbon .p-recon").first).to_be_visible()
    accept = page.get_by_role("button", name="Accept the checkpoint")
    accept.wait_for(timeout=60_000)
    expect(page).to_have_title(re.compile(r"^\(1\)"))
    expect(page.locator(".question .facts")).to_contain_text("cart.py")
    assert serious(page) == []
    used = page.locator(".stat.wide .num").text_content()
    accept.click()
    expect(page.locator(".runhead .pill")).to_have_text("Succeeded", timeout=60_000)
    assert page.locator(".stat.wide .num").text_content() != used
    expect(page.locator(".headline")).to_contain_text("red → green")
    expect(page.locator(".turned")).to_contain_text("test_three_pens")
    expect(page.locator(".quote blockquote")).to_contain_text("plausible")
    assert serious(page) == []
    # The change: side by side or not, viewed, commented.
    expect(page.locator("diff-box .besides")).to_contain_text("test_three_pens")
    expect(page.locator("diff-box .add").first).to_contain_text("price * quantity")
    page.get_by_role("button", name="Side by side").click()
    expect(page.locator("table.diff.split")).to_be_visible()
    page.get_by_role("button", name="Side by side").click()
    page.get_by_role("button", name="Comment on new line 17 of cart.py").click()
    page.get_by_label("Comment on line 17").fill("Say why here.")
    page.get_by_role("button", name="Save comment").click()
    expect(page.locator(".notes")).to_contain_text("cart.py:17: Say why here.")
    assert serious(page) == []
    page.get_by_label("Viewed").check()
    expect(page.locator("diff-box table")).to_be_hidden()
    # Back and forth again.
    expect(page.locator(".evidence .good").first).to_be_visible()
    page.get_by_role("button", name="Revert").click()
    expect(page.locator(".cardbox .tag")).to_have_text("reverted")
    page.get_by_role("button", name="Apply again").click()
    expect(page.locator(".cardbox .tag")).to_have_text("done")
    # How it came about.
    tab(page, "Timeline")
    expect(page.locator(".entry.p-verify").first).to_be_attached()
    tab(page, "Replay")
    expect(page.locator("output")).to_contain_text("Event")
    page.get_by_label("Event", exact=True).fill("4")
    expect(page.locator(".then")).to_contain_text("Nothing has changed yet.")
    expect(page.locator(".then .tag")).to_have_text("doing")
    assert complaints == []


def see_a_rule_breaking_driver_held(opened: Opened, place: Path):
    """A denied write, a rejected "done", a spent budget that a person extends, an export."""
    page, complaints = opened
    run = begin(page, "The total is wrong", Driver=f"scripted:{place / 'script.jsonl'}", Budget="6")
    page.get_by_role("button", name="Accept the checkpoint").wait_for(timeout=60_000)
    page.get_by_label("Calls to add").fill("5")
    page.get_by_role("button", name="Add calls").click()
    expect(page.locator(".stat.wide .num")).to_contain_text("of 11 calls")
    page.get_by_label("What to say").fill("yes")
    page.get_by_role("button", name="Answer").click()
    expect(page.locator(".runhead .pill")).to_have_text("Succeeded", timeout=60_000)
    expect(page.locator(".light.l-deny").first).to_be_visible()
    tab(page, "Talk")
    expect(page.locator(".talk")).to_contain_text("This is not done yet")
    tab(page, "Timeline")
    page.get_by_label("Find in the timeline").fill("Rejected")
    expect(page.locator(".entry.loud", has_text="Rejected").first).to_be_visible()
    assert serious(page) == []
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    file = place / f"{run}.html"
    download.value.save_as(file)
    alone = page.context.browser.new_context(offline=True).new_page()
    faults: list[str] = []
    alone.on("pageerror", lambda error: faults.append(str(error)))
    alone.on("console", lambda told: faults.append(told.text) if told.type == "error" else None)
    alone.goto(file.as_uri())
    expect(alone.locator(".headline")).to_contain_text("red → green")
    expect(alone.locator(".diff .add").first).to_contain_text("price * quantity")
    play_alone(alone)
    assert faults == []
    alone.context.close()
    assert complaints == []


def play_alone(page: Page):
    """An exported run is played again: before the edit nothing is changed, at its end it is."""
    page.get_by_role("tab", name="Replay").click()
    page.get_by_label("Speed").select_option("8")
    page.get_by_label("Event", exact=True).fill("1")
    expect(page.locator(".then")).to_contain_text("Nothing has changed yet.")
    expect(page.locator(".then .l-red").first).to_be_visible()
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".then .add").first).to_contain_text("price * quantity")
    expect(page.locator(".then .l-green").first).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def let_go_of_a_keep_region(opened: Opened, served: Served):
    page, complaints = opened
    rates = served.board.projects.find("").repo / "rates.py"
    rates.write_text(KEPT)
    page.get_by_role("link", name="Developer").click()
    page.get_by_label("Unified diff").fill(TOUCHING)
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("dev-panel .bad").first).to_contain_text("Refused")
    assert rates.read_text() == KEPT
    page.get_by_label("Keep regions strict").uncheck()
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("dev-panel .good")).to_contain_text("nothing was written")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator("dev-panel .good")).to_contain_text("Applied")
    assert "RATE = 3" in rates.read_text()
    assert serious(page) == []
    # The browser itself notes a refused request; ours was meant to be one.
    assert [each for each in complaints if "422" not in each] == []
    complaints.clear()


def go_everywhere_by_keys_in_the_dark(opened: Opened):
    page, complaints = opened
    page.goto(page.url.partition("#")[0] + "#/")
    page.locator(".card").first.wait_for()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.className").startswith("card")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("#/run/"))
    expect(page.get_by_role("tab", name="Overview")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("l")
    expect(page.get_by_role("tab", name="Timeline")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("h")
    expect(page.get_by_role("tab", name="Overview")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("/")
    page.keyboard.type("total is")
    expect(page.locator(".runrow")).to_have_count(1)
    page.keyboard.press("Escape")
    page.get_by_label("Light or dark").click()
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.wait_for_url(re.compile("#/$"))
    assert serious(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.set_viewport_size({"width": 2560, "height": 1300})
    assert page.evaluate("document.documentElement.scrollWidth") <= 2560
    assert complaints == []


HOSTILE = {
    "verdict": {
        "strength": 0,
        "findings": [
            {
                "kind": "promise-changed",
                "weight": "asks",
                "sentence": EVIL,
                "tests": [EVIL],
                "before": f"assert total == 6 {EVIL}",
                "after": f"assert True {EVIL}",
            }
        ],
        "old_failures": [EVIL],
        "changed": [EVIL],
        "ran": [{"run": "after", "part": ".", "command": EVIL, "passed": 1}],
    },
    "verdict_words": [EVIL],
    "answer": EVIL,
    "risk": EVIL,
    "evidence": [],
}
ROW = ["+", 0, 1, [["k", EVIL]]]
HOSTILE_FILES = [
    {"path": f"a{EVIL}", "was": EVIL, "kind": "renamed", "added": 1, "removed": 0,
     "hunks": [{"head": EVIL, "rows": [ROW]}]},
    {"path": "long.py", "was": "long.py", "kind": "modified", "added": 900, "removed": 9,
     "hunks": [], "omitted": True},
]  # fmt: skip
SHOW = """async ([card, files, evil]) => {
  const { verdictPanel } = await import("/page/verdict.js");
  const diff = document.createElement("diff-box");
  Object.assign(diff, { route: "x", view: { files, added: 1, removed: 0 }, open: new Map() });
  const time = document.createElement("time-line");
  const box = document.createElement("section");
  box.id = "hostile";
  document.body.append(box);
  box.append(verdictPanel(card), diff, time);
  diff.render();
  const lines = Array.from({ length: 30000 }, (_, n) => ({
    type: n % 3 ? "call" : "text", text: evil, tool: evil, about: evil, card: "a", seq: n }));
  const begun = performance.now();
  time.set(lines);
  return [performance.now() - begun, document.querySelectorAll(".entry").length];
}"""


def see_hostile_text_as_text(opened: Opened):
    page, complaints = opened
    took, shown = page.evaluate(SHOW, [HOSTILE, HOSTILE_FILES, EVIL])
    assert shown < 100
    assert took < 3_000
    expect(page.locator("#hostile .pair pre").first).to_have_text(f"assert total == 6 {EVIL}")
    expect(page.locator("#hostile .pair pre").last).to_have_text(f"assert True {EVIL}")
    expect(page.locator("#hostile .code .t-k")).to_have_text(EVIL)
    expect(page.get_by_role("button", name="Load anyway")).to_be_visible()
    assert page.locator("#hostile img, #hostile script").count() == 0
    assert page.title().endswith("Flyball")
    page.evaluate("document.getElementById('hostile').remove()")
    assert complaints == []


@pytest.mark.exhaustive
def test_a_person_at_the_page(opened: Opened, served: Served, place: Path):
    """One browser and one server for all of it, in this order: each step finds what was before."""
    follow_a_run_from_the_request_to_taking_it_back(opened)
    see_a_rule_breaking_driver_held(opened, place)
    let_go_of_a_keep_region(opened, served)
    go_everywhere_by_keys_in_the_dark(opened)
    see_hostile_text_as_text(opened)


def test_the_page_is_small():
    place = Path(str(files("flyball.web") / "page"))
    assert sum(file.stat().st_size for file in place.glob("*.js")) <= 110_000
    assert sum(file.stat().st_size for file in place.iterdir()) < 150_000


def test_nothing_of_the_page_makes_markup_from_text():
    place = Path(str(files("flyball.web") / "page"))
    code = "".join(file.read_text() for file in place.glob("*.js"))
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", code)


def make_patient(script: Path) -> None:
    """Let a script edit, test and end once more: a call that was cut off is not made again."""
    lines = script.read_text().splitlines()
    own = [line for line in lines if "role" not in json.loads(line)]
    script.write_text("\n".join([*lines, own[3], *own[-2:]]) + "\n")


@pytest.mark.exhaustive
def test_a_page_finds_its_way_back_when_a_killed_server_comes_back(opened: Opened, place: Path):
    """And the run that the killed one drove goes on in the next."""
    shop, script = make_shop(place / "again")
    make_patient(script)
    environ = environment(place / "again")
    asked = {"request": "Total", "intent": "small_fix", "driver": f"scripted:{script}"}
    with ExitStack() as stack:
        page = opened.page.context.browser.new_page()
        stack.callback(page.close)
        first = stack.enter_context(started(environ, shop))
        page.goto(first.address)
        run = first.client.post("/api/runs", asked)["run"]
        page.goto(f"{first.address.partition('?')[0]}#/run/{run}")
        expect(page.locator(".ribbon .p-recon").first).to_be_visible()
        first.process.kill()
        first.process.wait()
        expect(page.locator(".link.off")).to_be_visible()
        second = stack.enter_context(started(environ, shop, first.client.port))
        expect(page.locator(".runhead .pill")).to_have_text("Succeeded", timeout=60_000)
        expect(page.locator(".link.off")).to_have_count(0)
        told = second.client.get(f"/api/runs/{run}")
        assert told["cards"][0]["verdict"]["mended"]
        assert len(second.client.get(f"/api/runs/{run}/log")["events"]) == told["events"]
