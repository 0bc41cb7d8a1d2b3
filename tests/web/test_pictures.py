"""The pictures of a page before and after a change, on the board: shown, and nothing more."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.e2e.test_pages import LOOK, PLAIN, REVIEW, WHOLE, checkpoint
from tests.governed import Shell, call, objects, say, script
from tests.repos import repository
from tests.tiers import NEEDS_PAGES
from tests.web.browser import browsing
from tests.web.served import Served, serving

from flyball.terms.change_verdict import ChangeStrength

pytestmark = [pytest.mark.exhaustive, NEEDS_PAGES]
WHAT = ["before", "after", "difference"]


class Shown(NamedTuple):
    """A board with one run, whose card has pictures."""

    served: Served
    repo: Path
    run: str

    @property
    def card(self) -> dict[str, Any]:
        return self.served.get(f"/api/runs/{self.run}")["cards"][0]

    def route(self, name: str) -> str:
        return f"/api/runs/{self.run}/cards/{self.card['id']}/pictures/{name}"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    place = tmp_path_factory.mktemp("pictures")
    home = place / "home"
    home.mkdir()
    repo = repository(place / "shop", {**PLAIN})
    mend = call("write_file", path="app.js", content=WHOLE)
    lines = script(place / "lines", LOOK, checkpoint(), mend, LOOK, say("It is mended."), REVIEW)
    shell = Shell(repo, home)
    told = objects(
        shell("run", "The preview is blank; fix it.", "--driver", lines, "--json").stdout
    )
    run = next(line["run"] for line in told if line["type"] == "run")
    with serving({**shell.env, "FLYBALL_CONFIG": os.devnull}, repo) as served:
        yield Shown(served, repo, run)


def test_pictures_are_served_as_pictures_and_nothing_else_is(shown: Shown):
    (page,) = shown.card["pictures"]
    assert list(page["files"]) == WHAT and 0 < page["share"] < 0.1 and not page["stale"]
    for name in page["files"].values():
        answer = shown.served.ask("GET", shown.route(name))
        assert answer.status == 200 and answer.body.startswith(b"\x89PNG")
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert shown.served.ask("GET", shown.route(name), token="").status == 401
    for other in ("step-1.json", "..%2Fstep-1.json", "%2e%2e%2f%2e%2e%2f.gitignore", "no.png"):
        assert shown.served.ask("GET", shown.route(other)).status == 404
    missing = shown.route("x.png").replace(shown.card["id"], "no-card")
    assert shown.served.ask("GET", missing).status == 404


def test_what_took_the_place_of_a_picture_is_not_served(shown: Shown, tmp_path: Path):
    path = next(e["picture"] for e in shown.card["evidence"] if e.get("picture"))
    place, kept = shown.repo / path, tmp_path / "kept.png"
    place.rename(kept)
    try:
        place.write_text("<script>alert(1)</script>")
        assert shown.served.ask("GET", shown.route(place.name)).status == 404
        place.unlink()
        place.symlink_to(kept)
        assert shown.served.ask("GET", shown.route(place.name)).status == 404
    finally:
        place.unlink(missing_ok=True)
        kept.rename(place)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_shows_before_after_and_difference_side_by_side(shown: Shown, scheme: str):
    size = {"width": 1280, "height": 900}
    with browsing(shown.served.address, viewport=size, color_scheme=scheme) as opened:
        page = opened.page
        for tab in ("run", "evidence"):
            page.evaluate(f"location.hash = '#/run/{shown.run}/{tab}'")
            page.wait_for_selector("[role=tab][aria-selected=true]")
            page.wait_for_function(
                "() => [...document.querySelectorAll('.shots img')].filter("
                "(each) => each.complete && each.naturalWidth === 1280).length === 3"
            )
            images = [each.bounding_box() or {} for each in page.query_selector_all(".shots img")]
            assert len({round(box["y"]) for box in images}) == 1, images
            titles = page.locator(".shots figcaption").all_inner_texts()
            assert [each.split(":")[0].lower() for each in titles] == WHAT
            if folder := os.environ.get("FLYBALL_KEEP_PICTURES"):
                page.screenshot(path=f"{folder}/{scheme}-{tab}.png", full_page=True)
        assert not opened.complaints


def test_an_exported_file_holds_its_pictures(shown: Shown, tmp_path: Path):
    file = tmp_path / "run.html"
    file.write_bytes(shown.served.ask("GET", f"/api/runs/{shown.run}/export.html").body)
    with browsing(shown.served.address) as opened:
        page = opened.page
        page.goto(file.as_uri())
        page.wait_for_function(
            "() => [...document.querySelectorAll('.shots img')].filter("
            "(each) => each.complete && each.naturalWidth === 1280).length === 3"
        )
        sources = page.locator(".shots img").evaluate_all("all => all.map((each) => each.src)")
        assert all(each.startswith("data:image/png;base64,") for each in sources)
        assert opened.complaints == [f"asked {file.as_uri()}"]


def test_a_change_that_is_only_shown_is_not_told_in_red(shown: Shown):
    assert shown.card["verdict"]["strength"] == ChangeStrength.SHOWN
    with browsing(shown.served.address) as opened:
        opened.page.evaluate(f"location.hash = '#/run/{shown.run}/proof'")
        opened.page.wait_for_selector(".summary.h-fair .headline")
        assert opened.page.locator(".headline.bad").count() == 0
