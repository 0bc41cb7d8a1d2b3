"""Draws the pictures of the README from real runs: `make pictures`.

A small broken shop is made, repaired by the built-in repairer and worked on by a driver that breaks
the rules, all through a real `flyball serve`; then Chromium takes the pictures.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import FloatRect, ViewportSize, sync_playwright

from flyball.cli.demo import REPORT, REQUEST, make_project

PLACE = Path(__file__).parent / "pictures"
TOKEN = "only-for-these-pictures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE: ViewportSize = {"width": 1280, "height": 800}
BOARD: FloatRect = {"x": 0, "y": 0, "width": 1280, "height": 540}
PATIENCE = 120.0


class Server:
    """`flyball serve` on any port, and a client for it."""

    def __init__(self, repo: Path, state: Path) -> None:
        environ = {**os.environ, "FLYBALL_STATE_DIR": str(state), "FLYBALL_CONFIG": os.devnull}
        environ["LOGNAME"] = "ann"
        argv = [sys.executable, "-c", "from flyball.cli import main; main()", "serve"]
        argv += ["--repo", str(repo), "--port", "0", "--token", TOKEN, "--json"]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=environ)
        assert self.process.stdout is not None
        self.address: str = json.loads(self.process.stdout.readline())["address"]
        self.base = self.address.partition("/?")[0]

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"{self.base}/api/{path}", data, headers)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def until(self, run: str, *statuses: str) -> None:
        end = time.monotonic() + PATIENCE
        while self.ask(f"runs/{run}")["status"] not in statuses:
            if time.monotonic() > end:
                raise TimeoutError(f"Run {run} is not {' or '.join(statuses)}.")
            time.sleep(0.2)


def main() -> None:
    """Write `docs/pictures/*.png`."""
    browser = next(found for name in BROWSERS if (found := shutil.which(name)))
    PLACE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        repo, script = make_project(Path(place))
        server = Server(repo, Path(place) / "state")
        try:
            scripted = {"intent": "small_fix", "driver": f"scripted:{script}"}
            first = server.ask("runs", {"request": REQUEST, "driver": "repair"})["run"]
            server.until(first, "success")
            second = server.ask("runs", {"request": REPORT, **scripted})["run"]
            server.until(second, "success")
            words = {"request": "A cart with a discount counts it twice", "approve": True}
            third = server.ask("runs", {**words, **scripted})["run"]
            server.until(third, "paused")
            _draw(browser, server, second)
        finally:
            server.process.terminate()
            server.process.wait()


def _draw(browser: str, server: Server, run: str) -> None:
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            page = opened.new_page(viewport=SIZE, color_scheme=scheme)
            page.goto(server.address)
            page.locator(".card").first.wait_for()
            page.wait_for_timeout(500)
            page.screenshot(path=PLACE / f"board-{scheme}.png", clip=BOARD)
            page.goto(f"{server.base}/#/run/{run}")
            page.locator(".headline").wait_for()
            page.wait_for_timeout(500)
            page.screenshot(path=PLACE / f"run-{scheme}.png")
            page.goto(f"{server.base}/#/run/{run}/replay")
            page.locator("re-play .add").first.wait_for()
            page.set_viewport_size({**SIZE, "height": 860})
            page.get_by_label("Event", exact=True).fill("13")
            page.get_by_label("Event", exact=True).blur()
            page.wait_for_timeout(1500)
            page.screenshot(path=PLACE / f"replay-{scheme}.png")
        opened.close()


if __name__ == "__main__":
    main()
