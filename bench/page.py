"""The first paint of a board with five hundred runs, beside a bare file of the same server.

Each round opens both in a browser context that has nothing cached, so that a busy machine slows
both alike; the median counts. The cards are painted one frame after the first is in the document.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright
from tests.web.browser import MISSING, NAMES
from tests.web.served import Started, environment, make_shop, started
from tests.web.test_feed import simulated, write

from bench.figure import Figure, conclude
from flyball.app.project import open_home
from flyball.journal.sqlite import SqliteJournal

RUNS = 500
ROUNDS = 7
MOST_OVER_BARE = 400
BARE, FIRST, CARDS = "a bare file", "the board, first paint", "the board, cards"
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
WATCH = """{
  const paint = () => { window.cardsAt = performance.now(); };
  const look = () => requestAnimationFrame(document.querySelector(".card") ? paint : look);
  look();
}"""
# Not `wait_for_function`: the page's own policy forbids what that does to ask again.
ONCE = """new Promise((done) => {{
  const ask = () => {{ const at = {0}; if (at) done(at); else requestAnimationFrame(ask); }};
  ask();
}})"""


async def make_runs(path: Path, count: int) -> None:
    """So many runs that have come to their ends, good and bad ones, as the simulation has them."""
    journal = SqliteJournal(path)
    names: set[str] = set()
    seed = 0
    while len(names) < count:
        steps, _ = simulated(seed, least=10)
        seed += 1
        if (name := steps[-1][1].run) not in names:
            names.add(name)
            await write(journal, steps)
    await journal.close()


def look(browser: Browser, server: Started) -> dict[str, float]:
    """Milliseconds from asking to each paint, for somebody who was never here."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.request.get(server.address)
    page = context.new_page()
    page.add_init_script(WATCH)
    origin = server.address.partition("?")[0]
    took: dict[str, float] = {}
    page.goto(f"{origin}page/export.js")
    took[BARE] = page.evaluate(ONCE.format(PAINTED))
    page.goto(origin)
    took[FIRST] = page.evaluate(ONCE.format(PAINTED))
    took[CARDS] = page.evaluate(ONCE.format("window.cardsAt"))
    context.close()
    return took


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    count = parser.parse_args(arguments).runs
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        raise SystemExit(MISSING)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        shop, _ = make_shop(place)
        environ = environment(place)
        asyncio.run(make_runs(open_home(shop, environ, {}).journal_path, count))
        with started(environ, shop) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            rounds = [look(browser, server) for _ in range(ROUNDS)]
            browser.close()
    usual = {part: statistics.median(each[part] for each in rounds) for part in rounds[0]}
    print(f"{count} runs, {ROUNDS} rounds")
    for part, took in usual.items():
        worst = max(each[part] for each in rounds)
        print(f"{part:<24} {took:>6.0f} ms  {took / usual[BARE]:>5.1f}x  (slowest {worst:.0f} ms)")
    over = min(each[CARDS] - each[BARE] for each in rounds)
    print(f"the cards over a bare file: {over:.0f} ms at best (within {MOST_OVER_BARE} ms)")
    name = f"a board of {count} runs painted, over a bare file"
    return [Figure(name, over, "ms", BARE, usual[BARE], most=MOST_OVER_BARE)]


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
