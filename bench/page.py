"""The first paint of a board with five hundred runs and of a run with ten thousand events.

Both stand beside a bare file of the same server. Each round opens both in a browser context that
has nothing cached, so that a busy machine slows both alike. What is waited for is painted one frame
after it is in the document.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, sync_playwright
from tests.web.browser import MISSING, NAMES
from tests.web.served import Started, environment, make_shop, started
from tests.web.test_feed import simulated, write
from tests.web.test_long import EVENTS, write_runs

from bench.figure import Figure, conclude
from flyball.app.project import open_home
from flyball.journal.sqlite import SqliteJournal

RUNS = 500
ROUNDS = 7
LONG_RUN = "run-0000"
MOST_FOR_BOARD, MOST_FOR_LONG_RUN, MOST_FOR_ANSWER = 400.0, 500.0, 150.0
BARE, FIRST, DRAWN, ANSWER = "a bare file", "first paint", "the contents painted", "the answer"
USED = "processor time of it"
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
WATCH = """{
  const paint = () => { window.drawnAt = performance.now(); };
  const look = () => requestAnimationFrame(document.querySelector("DRAWN") ? paint : look);
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


def look(browser: Browser, server: Started, hash: str, drawn: str) -> dict[str, float]:
    """Milliseconds from asking to each paint, for somebody who was never here."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.request.get(server.address)
    page = context.new_page()
    page.add_init_script(WATCH.replace("DRAWN", drawn))
    origin = server.address.partition("?")[0]
    took: dict[str, float] = {}
    # The first page of an origin also starts a process of the browser.
    page.goto(f"{origin}page/mark.svg")
    page.goto(f"{origin}page/export.js")
    took[BARE] = page.evaluate(ONCE.format(PAINTED))
    page.goto(f"{origin}{hash}")
    took[FIRST] = page.evaluate(ONCE.format(PAINTED))
    took[DRAWN] = page.evaluate(ONCE.format("window.drawnAt"))
    context.close()
    return took


def tell(what: str, rounds: Sequence[dict[str, float]], most: float) -> Figure:
    """Print the parts of every round; return the last of them over a bare file, at best."""
    print(f"{what}, {len(rounds)} rounds")
    bare = statistics.median(each[BARE] for each in rounds)
    *_, last = rounds[0]
    for part in rounds[0]:
        took = statistics.median(each[part] for each in rounds)
        worst = max(each[part] for each in rounds)
        print(f"  {part:<24} {took:>6.0f} ms  {took / bare:>5.1f}x  (slowest {worst:.0f} ms)")
    over = min(each[last] for each in rounds) - min(each[BARE] for each in rounds)
    print(f"  over a bare file: {over:.0f} ms at best (within {most:.0f} ms)")
    return Figure(f"{what}, over a bare file", over, "ms", BARE, bare, most=most)


def seconds(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def first_answer(made: Project) -> dict[str, float]:
    """Milliseconds until a server that has just started answers with a file, and with the run."""
    with started(made.environ, made.shop) as server:
        bare = seconds(lambda: server.client.ask("GET", "/page/export.js"))
        before = processor_seconds(server.process.pid)
        run = seconds(lambda: server.client.get(f"/api/runs/{LONG_RUN}"))
        used = processor_seconds(server.process.pid) - before
    return {BARE: bare * 1000, USED: used * 1000, ANSWER: run * 1000}


def processor_seconds(pid: int) -> float:
    """The processor time that a process has used so far, however busy the machine is."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Project(NamedTuple):
    """A project with its journal, and an environment to serve it in."""

    environ: dict[str, str]
    shop: Path
    journal: Path


def make_empty(place: Path) -> Project:
    shop, environ = make_shop(place)[0], environment(place)
    return Project(environ, shop, open_home(shop, environ, {}).journal_path)


def measure_board(browser: Browser, made: Project, count: int) -> Figure:
    """Paint a board of so many runs."""
    with started(made.environ, made.shop) as server:
        rounds = [look(browser, server, "", ".card") for _ in range(ROUNDS)]
    return tell(f"a board of {count} runs painted", rounds, MOST_FOR_BOARD)


def measure_long_run(browser: Browser, made: Project) -> list[Figure]:
    """Answer with a long run and paint it, on servers that have just started."""
    never = first_answer(made)[ANSWER]
    print(f"a run of {EVENTS} events that no server has seen: {never:.0f} ms")
    answers = [first_answer(made) for _ in range(ROUNDS)]
    with started(made.environ, made.shop) as server:
        drawn = ".summary h1"
        rounds = [look(browser, server, f"#/run/{LONG_RUN}", drawn) for _ in range(ROUNDS)]
    return [
        tell(f"a run of {EVENTS} events answered first", answers, MOST_FOR_ANSWER),
        tell(f"a run of {EVENTS} events painted", rounds, MOST_FOR_LONG_RUN),
    ]


async def write_long(path: Path) -> None:
    journal = SqliteJournal(path)
    await write_runs(journal, 1, EVENTS)
    await journal.close()


def main(arguments: Sequence[str] = ()) -> list[Figure]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    count = parser.parse_args(arguments).runs
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None:
        raise SystemExit(MISSING)
    with tempfile.TemporaryDirectory() as name:
        many, long = make_empty(Path(name, "many")), make_empty(Path(name, "long"))
        asyncio.run(make_runs(many.journal, count))
        asyncio.run(write_long(long.journal))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
            found = [measure_board(browser, many, count), *measure_long_run(browser, long)]
            browser.close()
    return found


if __name__ == "__main__":
    sys.exit(conclude(main(sys.argv[1:])))
