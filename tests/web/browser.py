"""Chromium for the tests of the page: found, started, and watched for anything it complains of."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MISSING = "BROWSER TESTS DID NOT RUN: no Chromium is installed, and `make browser` could not."


def chromium() -> str:
    """The system's browser; without one the test is skipped loudly, and in CI it fails."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    if os.environ.get("CI"):
        pytest.fail(MISSING)
    pytest.skip(MISSING)


class Opened(NamedTuple):
    """A page, and what its console and its network had to complain of."""

    page: Page
    complaints: list[str]


@contextmanager
def browsing(address: str, **options: Any) -> Generator[Opened]:
    """A browser at an address; requests to anywhere else are complaints."""
    from playwright.sync_api import sync_playwright

    program = chromium()
    complaints: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(**options)
        page.set_default_timeout(30_000)
        origin = address.split("/?")[0]
        page.on("console", lambda told: _note(complaints, told.type, told.text))
        page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
        page.on("request", lambda asked: _note_foreign(complaints, origin, asked.url))
        page.goto(address)
        try:
            yield Opened(page, complaints)
        finally:
            browser.close()


def _note(complaints: list[str], kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        complaints.append(f"{kind}: {text}")


def _note_foreign(complaints: list[str], origin: str, url: str) -> None:
    if not url.startswith((origin, "data:", "blob:")):
        complaints.append(f"asked {url}")
