"""Export one run as a single HTML file: the page's code and style, with the run's data."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
import string
from typing import Any

import msgspec
from litestar import Response, get
from litestar.params import FromPath

from flyball.app.board.account import account, picture_of, places_of, replay_data
from flyball.app.board.feed import RunTail
from flyball.app.project import Home, redactor_of
from flyball.app.runs.files import diff_of
from flyball.app.runs.journals import opened
from flyball.errors import FlyballError
from flyball.regex import regex
from flyball.web.assets import asset
from flyball.web.board import OurBoard
from flyball.web.diff import view_diff, view_replay
from flyball.web.run_routes import download
from flyball.workspace.cards.use_cases import show_card

MODULES = (
    "dom.js",
    "api.js",
    "diff.js",
    "verdict.js",
    "timeline.js",
    "ribbon.js",
    "replay.js",
    "run.js",
    "export.js",
)
"""The modules in dependency order."""
MOST_PICTURES = 16 << 20
"""Maximum total size of pictures in one file, so that browsers can open it."""
IMPORT = regex(r"^import .*?;\n", re.MULTILINE | re.DOTALL)
EXPORT = regex(r"^export (?=const|let|function|async|class)", re.MULTILINE)

PAGE = string.Template("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src $hash; \
style-src 'unsafe-inline'; img-src data:">
<title>$title</title>
<style>$style</style>
</head>
<body class="exported">
<main id="main"></main>
<script type="application/json" id="exported">$data</script>
<script type="module">$script</script>
</body>
</html>
""")


@get(
    "/api/runs/{run:str}/export.html",
    sync_to_thread=True,
    tags=["runs"],
    summary="A run as one self-contained file.",
)
def export_html(board: OurBoard, run: FromPath[str]) -> Response[bytes]:
    """Export a run as a page to keep or to send."""
    data = export_page(board.home_of(run), run).encode()
    return download(data, "text/html", f"{run}.html")


def export_page(home: Home, run: str) -> str:
    """Return a run as one HTML file in the page's style, without network requests."""
    exported = asyncio.run(_data(home, run))
    script = "".join(_bare(asset(name).data.decode()) for name in MODULES)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return PAGE.substitute(
        hash=f"'sha256-{digest}'",
        title=_escaped(f"Flyball: {exported['run']['request'][:80]}"),
        style=asset("style.css").data.decode(),
        # Inside a script element only this character can end it.
        data=msgspec.json.encode(exported).decode().replace("<", "\\u003c"),
        script=script,
    )


async def _data(home: Home, run: str) -> dict[str, Any]:
    described = await account(home, run)
    return {
        "run": described,
        "lines": await _lines(home, run),
        "diff": msgspec.to_builtins(view_diff(await _whole_diff(home, run), "*")),
        "cards": {
            card["id"]: msgspec.to_builtins(view_diff(_card_diff(home, run, card["id"]), "*"))
            for card in described["cards"]
            if card["commit"]
        },
        "replay": msgspec.to_builtins(view_replay(await replay_data(home, run))),
        "pictures": await _pictures(home, run, described["cards"]),
    }


async def _pictures(home: Home, run: str, cards: list[Any]) -> dict[str, dict[str, str]]:
    """Return the pictures of each card by name, as many as fit; the others are only named."""
    found: dict[str, dict[str, str]] = {}
    left = MOST_PICTURES
    for card in cards:
        for name in [name for page in card["pictures"] for name in page["files"].values()]:
            try:
                data = await picture_of(home, run, card["id"], name)
            except FlyballError:
                # It was deleted since; the journal still records it.
                continue
            if len(data) <= left:
                left -= len(data)
                text = base64.b64encode(data).decode()
                found.setdefault(card["id"], {})[name] = f"data:image/png;base64,{text}"
    return found


async def _lines(home: Home, run: str) -> list[Any]:
    """Return the run's telemetry as its stream would send it."""
    found: list[Any] = []
    tail = RunTail(run)
    async with opened(home) as journal:
        while frames := await tail.read(journal):
            for _, frame in frames:
                found.append(msgspec.json.decode(frame.partition(b"data: ")[2]))
    return found


async def _whole_diff(home: Home, run: str) -> str:
    try:
        return await diff_of(home, run)
    except FlyballError:
        # Its workspace is gone, or it never had one; the journal's data is still worth exporting.
        return ""


def _card_diff(home: Home, run: str, card: str) -> str:
    try:
        diff = show_card(places_of(home), run, card).diff
    except FlyballError:
        return ""
    return redactor_of(home).text(diff)


def _bare(module: str) -> str:
    """Return a module without imports and exports, since all modules share one scope here."""
    return EXPORT.sub("", IMPORT.sub("", module))


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
