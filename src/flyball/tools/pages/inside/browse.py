"""Open one page in Chromium and print what it did, as JSON; run in the sandbox of the browser.

The input is JSON: url, browser, ports, seconds, width, height, whether a picture is wanted, and an
earlier picture to hold it against, in base64, or nothing.
"""

from __future__ import annotations

import base64
import json
import sys
import time
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    CDPSession,
    ConsoleMessage,
    Error,
    Page,
    Request,
    Response,
    Route,
    TimeoutError,
    sync_playwright,
)

FLAGS = (
    # The whole browser is confined from outside; its own sandbox needs calls that are refused here.
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1, EXCLUDE ::1",
)
LOCAL = ("127.0.0.1", "localhost", "::1")
QUIET = 0.5
"""Seconds without a request or a word after which a page is taken to have come to rest."""
MOST = 200
TEXT = 4_000
FACTS = Path(__file__).with_name("facts.js").read_text()
DIFFERENCE = Path(__file__).with_name("difference.js").read_text()


class PageWatcher:
    """Everything that a page did so far, and when it did something last."""

    def __init__(self, page: Page, ports: list[int]) -> None:
        self.ports = ports
        self.messages: list[dict[str, str]] = []
        self.errors: list[str] = []
        self.failed: list[str] = []
        self.outside: list[str] = []
        self.open: set[Request] = set()
        self.last = time.monotonic()
        page.on("console", self.hear)
        page.on("request", self.begin)
        page.on("requestfinished", self.finish)
        page.on("requestfailed", self.fail)
        page.on("response", self.answer)
        page.on("dialog", lambda dialog: dialog.dismiss())

    def stir(self) -> None:
        self.last = time.monotonic()

    def is_ours(self, url: str) -> bool:
        """Whether an address is served by the run, or is no address at all."""
        parts = urlsplit(url)
        if parts.scheme in ("data", "blob", "about"):
            return True
        is_served = parts.scheme in ("http", "ws") and parts.hostname in LOCAL
        return is_served and (parts.port or 80) in self.ports

    def judge(self, route: Route) -> None:
        """Let through what the run serves, and nothing else."""
        url = route.request.url
        if self.is_ours(url):
            route.continue_()
        else:
            self.outside.append(url[:300])
            route.abort("blockedbyclient")

    def hear(self, message: ConsoleMessage) -> None:
        self.stir()
        # The request itself is told with its address and status; this line repeats it.
        if message.text.startswith("Failed to load resource") or len(self.messages) >= MOST:
            return
        place = message.location
        where = f"{place['url']}:{place['lineNumber'] + 1}:{place['columnNumber'] + 1}"
        kept = {"type": message.type, "text": message.text[:1_000], "where": where}
        self.messages.append(kept)

    def throw(self, event: dict[str, Any]) -> None:
        """An error that nobody caught, with where it came from."""
        self.stir()
        if len(self.errors) < MOST:
            self.errors.append(described(event["exceptionDetails"]))

    def begin(self, request: Request) -> None:
        self.stir()
        if request.resource_type not in ("eventsource", "websocket"):
            self.open.add(request)

    def finish(self, request: Request) -> None:
        self.stir()
        self.open.discard(request)

    def fail(self, request: Request) -> None:
        self.finish(request)
        why = request.failure or "failed"
        # A page that moves on cuts its own requests off.
        if self.is_ours(request.url) and "ERR_ABORTED" not in why and len(self.failed) < MOST:
            self.failed.append(f"{request.method} {request.url[:300]}: {why}")

    def answer(self, response: Response) -> None:
        self.stir()
        is_bad = response.status >= 400 and not response.url.endswith("/favicon.ico")
        if is_bad and len(self.failed) < MOST:
            said = f"{response.request.method} {response.url[:300]}: {response.status}"
            self.failed.append(f"{said} {response.status_text}".rstrip())

    def is_quiet(self) -> bool:
        return not self.open and time.monotonic() - self.last > QUIET


def described(details: dict[str, Any]) -> str:
    """An uncaught error in a line: what it says, and the place in the source."""
    thrown = details.get("exception", {})
    said = thrown.get("description") or str(thrown.get("value", "")) or details.get("text", "")
    frames = details.get("stackTrace", {}).get("callFrames", [])
    place = frames[0] if frames else details
    url = place.get("url") or details.get("url", "")
    where = f"{url}:{place.get('lineNumber', 0) + 1}:{place.get('columnNumber', 0) + 1}"
    return f"{said.splitlines()[0][:500] if said else 'an error'} ({where})"


def look(page: Page, session: CDPSession, wish: dict[str, Any]) -> dict[str, Any]:
    """What one page did until it came to rest or the time was over."""
    watcher = PageWatcher(page, wish["ports"])
    session.on("Runtime.exceptionThrown", watcher.throw)
    cast(Any, session).send("Runtime.enable")
    page.route("**/*", watcher.judge)
    deadline = time.monotonic() + wish["seconds"]
    status, trouble = 0, ""
    try:
        answer = page.goto(wish["url"], wait_until="load", timeout=wish["seconds"] * 1_000)
        status = answer.status if answer else 0
    except TimeoutError:
        trouble = f"it was still loading after {wish['seconds']:g} s"
    except Error as error:
        trouble = error.message.splitlines()[0]
    while not watcher.is_quiet() and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    facts = page.evaluate(FACTS)
    picture = ""
    if wish["picture"]:
        picture = base64.b64encode(page.screenshot(animations="disabled")).decode()
    return {
        "status": status,
        "trouble": trouble,
        "final": page.url,
        "messages": watcher.messages,
        "errors": watcher.errors,
        "failed": watcher.failed,
        "outside": list(dict.fromkeys(watcher.outside))[:20],
        "is_quiet": watcher.is_quiet(),
        "facts": {**facts, "text": facts["text"][:TEXT]},
        "picture": picture,
    }


def compare(browser: Browser, wish: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """What differs between an earlier picture and this one, in a page that nobody wrote to."""
    if not (wish["before"] and found["picture"]):
        return {"share": 0.0, "difference": ""}
    page = browser.new_context(offline=True).new_page()
    return page.evaluate(DIFFERENCE, [wish["before"], found["picture"]])


def main() -> None:
    """Look as the input says, and print what was seen."""
    wish = json.load(sys.stdin)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=wish["browser"], args=[*FLAGS])
        context = browser.new_context(
            viewport={"width": wish["width"], "height": wish["height"]}, service_workers="block"
        )
        page = context.new_page()
        found = look(page, context.new_cdp_session(page), wish)
        found |= compare(browser, wish, found)
        browser.close()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
