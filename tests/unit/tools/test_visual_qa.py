"""Pictures of pages, and what is plainly wrong with them."""

from __future__ import annotations

import asyncio
import struct

import msgspec
import pytest
from tests.tiers import NEEDS_PAGES
from tests.unit.tools.conftest import BY_NAME
from tests.unit.tools.test_dev_server import together

from flyball.terms.budget import Usage
from flyball.tools.call.prepare import read_form
from flyball.tools.call.protocol import PictureOpinion
from flyball.tools.pages.browser import PageFacts, PageLook, size_of
from flyball.tools.visual_qa import UNJUDGED, opinion_text, plain_faults

FINE = PageLook(
    status=200, trouble="", final="http://127.0.0.1:8000/", messages=(), errors=(), failed=(),
    outside=(), is_quiet=True, facts=PageFacts(text="Three pens"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        ({}, ""),
        ({"blank": True}, "the page is blank"),
        ({"overlay": ("vite-error-overlay",)}, "an error overlay"),
        ({"unstyled": True}, "unstyled"),
        ({"overflow": 40}, "40 pixels wider than the window"),
        ({"overflow": 1}, ""),
        ({"missing": ("http://127.0.0.1:8000/a.png",)}, "pictures are missing"),
        ({"pale": ('p "Buy" (1.1:1)',)}, "too faint"),
    ],
)
def test_what_is_plainly_wrong(facts, fault):
    seen = msgspec.structs.replace(FINE, facts=PageFacts(**facts))
    found = list(plain_faults(seen))
    assert len(found) == bool(fault)
    assert fault in "".join(found)


def test_an_answer_that_is_no_page_is_wrong():
    seen = msgspec.structs.replace(FINE, status=500, trouble="it was still loading after 20 s")
    assert list(plain_faults(seen)) == [seen.trouble, "the page answered 500"]


@pytest.mark.parametrize("viewport", ["desktop", "phone", "800x600"])
def test_a_size_by_name_or_by_numbers(make_bench, viewport):
    call = make_bench().call("visual_qa", url="/", expectation="a hat", viewport=viewport)
    assert not call.fault


def test_no_other_size(make_bench):
    call = make_bench().call("request_visual_qa", url="/", expectation="a hat", viewport="huge")
    assert "viewport" in call.fault


STYLE = "body{margin:0} .wide{width:4000px} .pale{color:#eee;background:#fff}"
UGLY = (
    f"<!doctype html><style>{STYLE}</style><p class=pale>Buy</p><div class=wide>x</div>"
    "<img src=gone.png>"
)


@pytest.mark.exhaustive
@NEEDS_PAGES
def test_a_real_page_is_pictured_and_a_later_edit_makes_it_stale(make_bench):
    bench = make_bench({"index.html": UGLY})
    asked = {"url": "/", "expectation": "a shop"}
    ugly, _, fine = together(
        bench,
        ("visual_qa", asked),
        lambda: bench.put({"index.html": "<!doctype html><p>Buy</p>"}),
        ("visual_qa", {**asked, "viewport": "phone"}),
    )
    (report,) = ugly.evidence
    assert not report.ok and "pixels wider" in report.note and "too faint" in report.note
    assert "pictures are missing" in report.note
    assert "Not judged by a model" in ugly.text
    assert fine.ok, fine.text
    assert fine.evidence[0].tree != report.tree
    assert (bench.project / report.picture).read_bytes().startswith(b"\x89PNG")


def test_opinion_or_missing_opinion_is_reported():
    yes = PictureOpinion("m", True, "Three pens are listed.")
    assert opinion_text(yes).endswith("says yes: Three pens are listed.")
    assert "says no: it gave no reason" in opinion_text(PictureOpinion("m", False))
    assert opinion_text(PictureOpinion()) == UNJUDGED
    unclear = PictureOpinion("m", None, "It said neither yes nor no.")
    assert opinion_text(unclear).startswith(UNJUDGED) and unclear.reason in opinion_text(unclear)


def test_the_size_of_a_picture():
    png = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + struct.pack(">II", 1280, 800)
    assert size_of(png) == (1280, 800)
    assert size_of(png[:20]) == size_of(b"GIF89a" * 9) == (0, 0)


SCRIPT = "const cart = null;\napp.textContent = cart.total;\n"
FIXED = "app.textContent = 'Three pens';\n"
SHOP = "<!doctype html><title>Shop</title><div id=app></div><script src=app.js></script>\n"


def asking(bench, *opinions):
    """The bench with a model that sees, which says these things of the pictures it is shown."""
    said, seen = iter(opinions), []

    async def judge(picture, expectation):
        seen.append((picture, expectation))
        return next(said)

    bench.context = bench.context._replace(eyes=judge)
    return seen


@pytest.mark.exhaustive
@NEEDS_PAGES
def test_blank_page_is_fixed_judged_and_compared(make_bench):
    bench = make_bench({"index.html": SHOP, "app.js": SCRIPT})
    asked = asking(bench, PictureOpinion("m", True, "Three pens.", Usage(900, 12)))

    def keep(result):
        bench.context = bench.context._replace(evidence=result.evidence, call="c2")

    found = []

    async def look(tool, **args):
        tree = bench.context.workspace.tree_hash()
        form = read_form(args, BY_NAME[tool])
        found.append(await BY_NAME[tool].perform(form, bench.context._replace(tree=tree)))

    async def both():
        try:
            await look("browser_console", url="/")
            keep(found[0])
            bench.put({"app.js": FIXED})
            await look("visual_qa", url="/", expectation="the pens are listed")
        finally:
            bench.context.servers.close()

    asyncio.run(both())
    blank, fine = found
    assert not blank.ok and "/app.js:2:" in blank.evidence[0].errors[0]
    (report,) = fine.evidence
    assert report.ok and report.judged_by == "m" and report.opinion == "Three pens."
    assert report.usage == Usage(900, 12)
    assert asked[0][1] == "the pens are listed" and size_of(asked[0][0]) == (1280, 800)
    assert report.change.before == blank.evidence[0].picture
    assert 0 < report.change.share < 0.1
    assert size_of((bench.project / report.change.picture).read_bytes()) == (1280, 800)
    assert report.change.picture != report.picture


@pytest.mark.exhaustive
@NEEDS_PAGES
def test_a_yes_of_a_model_outranks_nothing_that_is_plainly_wrong(make_bench):
    bench = make_bench({"index.html": "<!doctype html><title>Shop</title>"})
    yes, no = PictureOpinion("m", True, "Fine."), PictureOpinion("m", False, "No cart.")
    asking(bench, yes, no)
    asked = {"url": "/", "expectation": "a cart"}
    blank, _, other = together(
        bench,
        ("visual_qa", asked),
        lambda: bench.put({"index.html": "<!doctype html><p>Buy</p>"}),
        ("visual_qa", asked),
    )
    assert not blank.ok and blank.evidence[0].note == "the page is blank"
    assert not other.ok and other.evidence[0].note == "No cart."
