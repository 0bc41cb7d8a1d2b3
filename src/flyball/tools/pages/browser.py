"""A page in a real browser, which sees this run's servers and nothing else."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

from flyball.errors import ToolUnavailable
from flyball.tools.call.protocol import CallContext, log_file
from flyball.tools.pages.confined import empty_place, run_inside
from flyball.tools.pages.serving import Served, ports_of
from flyball.workspace.cards.artifacts import hide_artifacts
from flyball.workspace.trees.trees import REGULAR
from flyball.workspace.trees.writer import write_entry

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALLED = ("chromium-*/chrome-linux*/chrome", "chromium_headless_shell-*/*/*headless*shell*")
NO_BROWSER = "No page can be opened here: Chromium or Playwright is missing."
HOW_TO_INSTALL = "Run `pip install 'flyball[browser]'` and install Chromium."
WIDTH, HEIGHT = 1280, 800


class ConsoleMessage(msgspec.Struct, frozen=True):
    """One message of a page's console, and the place that wrote it."""

    type: str
    text: str
    where: str


class PageFacts(msgspec.Struct, frozen=True, rename="camel"):
    """What can be seen of a page without an opinion."""

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
    """What a page did until it came to rest, and what it looks like."""

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

    @property
    def console_errors(self) -> tuple[str, ...]:
        """What was thrown and not caught, and what was written as an error."""
        written = [f"{m.text} ({m.where})" for m in self.messages if m.type == "error"]
        return (*self.errors, *written, *([self.trouble] if self.trouble else ()))


def find_browser(env: Mapping[str, str]) -> str:
    """The Chromium to use: the system's, or one that Playwright has installed; or nothing."""
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
    """Whether the package that drives a browser is installed; it is not loaded for that."""
    return find_spec("playwright") is not None


def can_browse(env: Mapping[str, str]) -> bool:
    """Whether pages can be opened here."""
    return has_playwright() and bool(find_browser(env))


def keep_picture(seen: PageLook, context: CallContext) -> str:
    """Keep the picture of a page beside the card's account; where it is, from the project's top."""
    if not seen.picture:
        return ""
    hide_artifacts(context.project)
    place = context.artifacts / log_file(context.call).replace(".log", ".png")
    path = place.relative_to(context.project).as_posix()
    write_entry(context.project, path, REGULAR, seen.picture)
    return path


async def open_page(
    served: Served,
    context: CallContext,
    *,
    seconds: float,
    size: tuple[int, int] = (WIDTH, HEIGHT),
) -> PageLook:
    """What a page of a server does in the browser, until it is quiet."""
    if not can_browse(context.env):
        raise ToolUnavailable(NO_BROWSER, HOW_TO_INSTALL)
    servers = context.servers
    ports = set(ports_of(served.server, context)) | set(servers.taken())
    wish = {
        "url": served.url,
        "browser": find_browser(context.env),
        "ports": sorted(ports),
        "seconds": seconds,
        "width": size[0],
        "height": size[1],
        "picture": True,
    }
    with empty_place() as place:
        found = await run_inside("browse.py", wish, context, place, isolated="-I")
    found["picture"] = base64.b64decode(found["picture"])
    return msgspec.convert(found, PageLook)
