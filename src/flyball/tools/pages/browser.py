"""A page in a real browser, which can access only this run's servers."""

from __future__ import annotations

import base64
import os
import shutil
import struct
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.errors import ToolUnavailable
from flyball.record.pictures import page_of
from flyball.terms.evidence import ConsoleReport, PictureChange, VisualReport
from flyball.tools.call.protocol import CallContext, log_file
from flyball.tools.pages.confined import empty_place, run_inside
from flyball.tools.pages.serving import Served, ports_of
from flyball.workspace.cards.artifacts import hide_artifacts
from flyball.workspace.files.plain import read_within
from flyball.workspace.trees.trees import REGULAR
from flyball.workspace.trees.writer import write_entry

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALLED = ("chromium-*/chrome-linux*/chrome", "chromium_headless_shell-*/*/*headless*shell*")
NO_BROWSER = "No page can be opened here: Chromium or Playwright is missing."
HOW_TO_INSTALL = "Run `pip install 'flyball[browser]'` and install Chromium."
WIDTH, HEIGHT = 1280, 800
PNG = b"\x89PNG\r\n\x1a\n"


class ConsoleMessage(msgspec.Struct, frozen=True):
    """One console message of a page, and its source position."""

    type: str
    text: str
    where: str


class PageFacts(msgspec.Struct, frozen=True, rename="camel"):
    """Objective facts about a page."""

    title: str = ""
    text: str = ""
    blank: bool = False
    overlay: tuple[str, ...] = ()
    overlay_text: str = ""
    unstyled: bool = False
    overflow: float = 0
    missing: tuple[str, ...] = ()
    pale: tuple[str, ...] = ()


class PageLook(msgspec.Struct, frozen=True):
    """The activity of a page until it was idle, and its picture."""

    status: int
    trouble: str
    final: str
    messages: tuple[ConsoleMessage, ...]
    errors: tuple[str, ...]
    failed: tuple[str, ...]
    outside: tuple[str, ...]
    is_quiet: bool
    facts: PageFacts
    picture: bytes = b""
    before: str = ""
    """The path of an earlier picture that this one was compared with."""
    share: float = 0.0
    """The share of pixels that differ from it."""
    difference: bytes = b""
    """A picture of the difference; empty without an earlier picture."""

    @property
    def console_errors(self) -> tuple[str, ...]:
        """Return uncaught exceptions, and messages logged as errors."""
        written = [f"{m.text} ({m.where})" for m in self.messages if m.type == "error"]
        return (*self.errors, *written, *([self.trouble] if self.trouble else ()))


def find_browser(env: Mapping[str, str]) -> str:
    """Return the Chromium to use: the system's, or one that Playwright installed; or empty."""
    for name in PROGRAMS:
        if found := shutil.which(name, path=env.get("PATH", os.defpath)):
            return found
    place = env.get("PLAYWRIGHT_BROWSERS_PATH")
    if place:
        for pattern in INSTALLED:
            for found in sorted(Path(place).glob(pattern), reverse=True):
                return os.fspath(found)
    return ""


@cache
def has_playwright() -> bool:
    """Return whether the browser automation package is installed, without importing it."""
    return find_spec("playwright") is not None


def can_browse(env: Mapping[str, str]) -> bool:
    """Return whether pages can be opened here."""
    return has_playwright() and bool(find_browser(env))


class KeptPicture(NamedTuple):
    """The path of a page's picture from the project's top, and how it differs from before."""

    path: str = ""
    change: PictureChange | None = None


def keep_picture(seen: PageLook, context: CallContext) -> KeptPicture:
    """Store the picture of a page, and its difference, next to the card's account."""
    if not seen.picture:
        return KeptPicture()
    hide_artifacts(context.project)
    name = log_file(context.call).removesuffix(".log")
    path = _keep(f"{name}.png", seen.picture, context)
    if not seen.difference:
        return KeptPicture(path)
    difference = _keep(f"{name}-difference.png", seen.difference, context)
    return KeptPicture(path, PictureChange(seen.before, seen.share, difference))


def _keep(name: str, data: bytes, context: CallContext) -> str:
    path = (context.artifacts / name).relative_to(context.project).as_posix()
    write_entry(context.project, path, REGULAR, data)
    return path


class EarlierPicture(NamedTuple):
    """An earlier picture of a page, and its path."""

    path: str = ""
    data: bytes = b""


def earlier_picture(url: str, size: tuple[int, int], context: CallContext) -> EarlierPicture:
    """Return the first picture of a page in this size from a tree other than the current one."""
    for item in context.evidence:
        if not isinstance(item, ConsoleReport | VisualReport) or item.tree == context.tree:
            continue
        if item.picture and page_of(item.url) == page_of(url):
            data = read_within(context.project, item.picture) or b""
            if size_of(data) == size:
                return EarlierPicture(item.picture, data)
    return EarlierPicture()


def size_of(png: bytes) -> tuple[int, int]:
    """Return width and height of a PNG picture; zero if it is not one."""
    if not png.startswith(PNG) or len(png) < 24:
        return 0, 0
    width, height = struct.unpack(">II", png[16:24])
    return width, height


async def open_page(
    served: Served,
    context: CallContext,
    *,
    seconds: float,
    size: tuple[int, int] = (WIDTH, HEIGHT),
) -> PageLook:
    """Open a server's page in the browser until it is idle, and return what it did."""
    if not can_browse(context.env):
        raise ToolUnavailable(NO_BROWSER, HOW_TO_INSTALL)
    servers = context.servers
    earlier = earlier_picture(served.url, size, context)
    ports = set(ports_of(served.server, context)) | set(servers.taken())
    task = {
        "url": served.url,
        "browser": find_browser(context.env),
        "ports": sorted(ports),
        "seconds": seconds,
        "width": size[0],
        "height": size[1],
        "picture": True,
        "before": base64.b64encode(earlier.data).decode(),
    }
    with empty_place() as place:
        found = await run_inside("browse.py", task, context, place, isolated="-I")
    for name in ("picture", "difference"):
        found[name] = base64.b64decode(found[name])
    return msgspec.convert({**found, "before": earlier.path}, PageLook)
