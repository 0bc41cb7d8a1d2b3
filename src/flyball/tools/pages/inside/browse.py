"""Open one page in Chromium and print what it did as JSON; run in the browser's sandbox.

The input is JSON: url, browser, ports, seconds, width, height, whether a picture is wanted, and an
optional earlier picture to compare with, in base64.
"""

from __future__ import annotations

import base64
import json
import re
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
    Frame,
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
"""Seconds without a request or message after which a page counts as idle."""
MOST = 200
TEXT = 4_000
ANSWERS = 10_000
"""Milliseconds in which a page must respond; one with an endless script does not.

On a busy machine, a lower value would report healthy pages as stuck.
"""
STUCK = "it no longer responds: a script of it runs without end"
RESTLESS = 5
"""Number of immediate navigations after which a page counts as looping."""
_PLACE = re.compile(r"https?://[^\s()]+:\d+:\d+")
_SOCKET = re.compile(r"WebSocket connection to '([^']+)'")
FACTS = Path(__file__).with_name("facts.js").read_text()
DIFFERENCE = Path(__file__).with_name("difference.js").read_text()


class PageWatcher:
    """Everything that a page did so far, and the time of its last activity."""

    def __init__(self, page: Page, ports: list[int]) -> None:
        self.ports = ports
        self.messages: list[dict[str, str]] = []
        self.errors: list[str] = []
        self.elsewhere: list[Error] = []
        self.failed: list[str] = []
        self.outside: list[str] = []
        self.open: set[Request] = set()
        self.moves = 0
        self.last = time.monotonic()
        self.page = page
        page.on("console", self.on_console)
        page.on("pageerror", self.break_elsewhere)
        page.on("framenavigated", self.move)
        page.on("request", self.begin)
        page.on("requestfinished", self.finish)
        page.on("requestfailed", self.fail)
        page.on("response", self.answer)
        page.on("dialog", lambda dialog: dialog.dismiss())

    def stir(self) -> None:
        self.last = time.monotonic()

    def is_ours(self, url: str) -> bool:
        """Return whether the run serves a URL, or the URL uses no network."""
        parts = urlsplit(url)
        if parts.scheme in ("data", "blob", "about"):
            return True
        is_served = parts.scheme in ("http", "ws") and parts.hostname in LOCAL
        return is_served and (parts.port or 80) in self.ports

    def judge(self, route: Route) -> None:
        """Allow requests to the run's servers, and abort all others."""
        url = route.request.url
        if self.is_ours(url):
            route.continue_()
        else:
            self.outside.append(url[:300])
            route.abort("blockedbyclient")

    def on_console(self, message: ConsoleMessage) -> None:
        self.stir()
        # The request itself is reported with its URL and status; this line repeats it.
        if message.text.startswith("Failed to load resource"):
            return
        socket = _SOCKET.match(message.text)
        if socket and not self.is_ours(socket[1]):
            self.outside.append(socket[1][:300])
            return
        place = message.location
        where = f"{place['url']}:{place['lineNumber'] + 1}:{place['columnNumber'] + 1}"
        kept = {"type": message.type, "text": message.text[:1_000], "where": where}
        self.messages.append(kept)
        if len(self.messages) >= MOST:
            # A page with endless messages would keep this process busy.
            self.page.remove_listener("console", self.on_console)

    def throw(self, event: dict[str, Any]) -> None:
        """Record an uncaught exception with its source."""
        self.stir()
        if len(self.errors) < MOST:
            self.errors.append(described(event["exceptionDetails"]))

    def move(self, frame: Frame) -> None:
        """Record the navigation to another document."""
        if frame == self.page.main_frame:
            self.moves += 1

    def break_elsewhere(self, error: Error) -> None:
        """Record an error of other origins and of workers, which only the page reports."""
        self.stir()
        if len(self.elsewhere) < MOST:
            self.elsewhere.append(error)

    def uncaught(self) -> list[str]:
        """Return every uncaught exception, without duplicates."""
        told = list(self.errors)
        for error in self.elsewhere:
            text = f"{error.name}: {error.message}" if error.name else error.message
            line = (text.splitlines() or ["an error"])[0][:500]
            if any(each.startswith(line) for each in self.errors):
                continue
            place = _PLACE.search(error.stack or "")
            told.append(f"{line} ({place[0]})" if place else line)
        return told

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
        # Navigation aborts a page's own requests.
        if self.is_ours(request.url) and "ERR_ABORTED" not in why and len(self.failed) < MOST:
            self.failed.append(f"{request.method} {request.url[:300]}: {why}")

    def answer(self, response: Response) -> None:
        self.stir()
        is_bad = response.status >= 400 and not response.url.endswith("/favicon.ico")
        if is_bad and len(self.failed) < MOST:
            text = f"{response.request.method} {response.url[:300]}: {response.status}"
            self.failed.append(f"{text} {response.status_text}".rstrip())

    def is_quiet(self) -> bool:
        return not self.open and time.monotonic() - self.last > QUIET


def described(details: dict[str, Any]) -> str:
    """Return an uncaught exception as one line: its message, and the source position."""
    thrown = details.get("exception", {})
    text = thrown.get("description") or str(thrown.get("value", "")) or details.get("text", "")
    frames = details.get("stackTrace", {}).get("callFrames", [])
    place = frames[0] if frames else details
    url = place.get("url") or details.get("url", "")
    where = f"{url}:{place.get('lineNumber', 0) + 1}:{place.get('columnNumber', 0) + 1}"
    return f"{text.splitlines()[0][:500] if text else 'an error'} ({where})"


def look(page: Page, session: CDPSession, task: dict[str, Any]) -> dict[str, Any]:
    """Return the activity of a page until it was idle or the time was over."""
    watcher = PageWatcher(page, task["ports"])
    session.on("Runtime.exceptionThrown", watcher.throw)
    cast(Any, session).send("Runtime.enable")
    # On the context and not on the page: a window that it opens is watched, too.
    page.context.route("**/*", watcher.judge)
    deadline = time.monotonic() + task["seconds"]
    status, trouble = 0, ""
    try:
        answer = page.goto(task["url"], wait_until="load", timeout=task["seconds"] * 1_000)
        status = answer.status if answer else 0
    except TimeoutError:
        trouble = f"it was still loading after {task['seconds']:g} s"
        cast(Any, session).send("Page.stopLoading")
    except Error as error:
        trouble = error.message.splitlines()[0]
    while not watcher.is_quiet() and time.monotonic() < deadline:
        page.wait_for_timeout(50)
    facts, picture = {"text": ""}, ""
    try:
        # Unlike a plain evaluation this does not wait for endless scripts, and continues when the
        # page reloads.
        facts = page.wait_for_function(FACTS, timeout=ANSWERS).json_value()
        if task["picture"]:
            shot = page.screenshot(animations="disabled", timeout=2 * ANSWERS)
            picture = base64.b64encode(shot).decode()
    except TimeoutError:
        trouble = trouble or STUCK
    except Error as error:
        trouble = trouble or error.message.splitlines()[0]
    if watcher.moves >= RESTLESS:
        trouble = f"it keeps reloading: it was loaded {watcher.moves} times"
    return {
        "status": status,
        "trouble": trouble,
        "final": page.url,
        "messages": watcher.messages,
        "errors": watcher.uncaught(),
        "failed": watcher.failed,
        "outside": list(dict.fromkeys(watcher.outside))[:20],
        "is_quiet": watcher.is_quiet(),
        "facts": {**facts, "text": facts["text"][:TEXT]},
        "picture": picture,
    }


def compare(browser: Browser, task: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Return the difference between an earlier picture and this one, computed in an empty page."""
    if not (task["before"] and found["picture"]):
        return {"share": 0.0, "difference": ""}
    page = browser.new_context(offline=True).new_page()
    return page.evaluate(DIFFERENCE, [task["before"], found["picture"]])


def main() -> None:
    """Open the page in the input, and print the result."""
    task = json.load(sys.stdin)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=task["browser"], args=[*FLAGS])
        context = browser.new_context(
            viewport={"width": task["width"], "height": task["height"]}, service_workers="block"
        )
        page = context.new_page()
        found = look(page, context.new_cdp_session(page), task)
        found |= compare(browser, task, found)
        browser.close()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
