"""The first user's question: why is the preview blank? Asked, answered and mended, for real."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.governed import Line, Shell, call, objects, say, script
from tests.repos import repository

from flyball.tools.pages.browser import can_browse
from flyball.workspace.servers.network import can_serve

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(
        not (can_serve() and can_browse(os.environ)), reason="needs Chromium and a namespace"
    ),
]
PAGE = "<!doctype html><title>Shop</title><div id=app></div><script src=app.js></script>\n"
BROKEN = "const cart = null;\ndocument.getElementById('app').textContent = cart.total;\n"
HALF = "const cart = {};\ndocument.getElementById('app').textContent = cart.total.now;\n"
WHOLE = "const cart = {total: 'Three pens'};\napp.textContent = cart.total;\n"
SERVER = """\
import http.server
import os

server = http.server.ThreadingHTTPServer(
    ("127.0.0.1", int(os.environ.get("PORT", "8000"))), http.server.SimpleHTTPRequestHandler
)
server.serve_forever()
"""
PLAIN = {"server.py": SERVER, "index.html": PAGE, "app.js": BROKEN}
LOOK = call("browser_console", url="/")
REVIEW = {"role": "reviewer", "text": "One line, as promised."}


def drive(place: Path, files: dict[str, str], request: str, *lines: Line) -> list[Any]:
    """What is told of a run on a project of these files with a driver that says these lines."""
    home = place / "home"
    home.mkdir()
    repo = repository(place / "shop", files)
    driver = script(place / "lines", *lines)
    said = Shell(repo, home)("run", request, "--driver", driver, "--json")
    return objects(said.stdout)


def final(lines: list[Any]) -> Any:
    return next(line for line in reversed(lines) if line["type"] == "final")


def test_why_a_page_is_blank_is_found_within_the_budget(tmp_path: Path):
    lines = drive(
        tmp_path,
        PLAIN,
        "Why is the preview blank?",
        LOOK,
        call("read", path="app.js"),
        say("app.js reads `total` of `cart`, which is null."),
    )
    told = json.dumps(lines)
    assert "Cannot read properties of null (reading 'total')" in told
    assert "/app.js:2:" in told
    used = [line["used"] for line in lines if line["type"] == "budget"]
    assert max(used) <= 8
    assert final(lines)["status"] == "success", lines[-3:]


def checkpoint() -> Line:
    return call(
        "checkpoint",
        goal="The page shows the cart.",
        findings="app.js reads total of null.",
        proposed_action="Give the cart its total.",
        files=["app.js"],
        verify_with=["the page shows its text"],
    )


def test_a_fix_is_rejected_until_the_console_is_clean(tmp_path: Path):
    lines = drive(
        tmp_path,
        PLAIN,
        "The preview is blank; fix it.",
        LOOK,
        checkpoint(),
        call("write_file", path="app.js", content=HALF),
        say("It is mended."),
        LOOK,
        call("write_file", path="app.js", content=WHOLE),
        LOOK,
        say("It is mended now."),
        REVIEW,
    )
    end = final(lines)
    assert end["status"] == "success", json.dumps(lines, indent=1)
    assert end["proof"].startswith("it answers"), end
    (page,) = (tmp_path / "shop" / ".flyball" / "artifacts").glob("*/step-1.md")
    account = page.read_text()
    for when in ("before", "after"):
        (picture,) = re.findall(rf"!\[\S+ {when}\]\((\S+)\)", account)
        assert (page.parent / picture).read_bytes().startswith(b"\x89PNG")
    looks = [line["passing"] for line in lines if line.get("kind") == "console-report"]
    assert looks[-1] and looks.count(False) == 2, "before the change, and after half of it"


def test_a_fix_that_leaves_the_console_dirty_never_succeeds(tmp_path: Path):
    lines = drive(
        tmp_path,
        PLAIN,
        "The preview is blank; fix it.",
        LOOK,
        checkpoint(),
        call("write_file", path="app.js", content=HALF),
        LOOK,
        *(say(f"It is mended, {n}.") for n in range(6)),
    )
    assert final(lines)["status"] != "success"
