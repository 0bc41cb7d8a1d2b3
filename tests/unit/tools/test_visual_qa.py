"""Pictures of pages, and what is plainly wrong with them."""

from __future__ import annotations

import os

import msgspec
import pytest
from tests.unit.tools.test_dev_server import together

from flyball.tools.pages.browser import PageFacts, PageLook, can_browse
from flyball.tools.visual_qa import plain_faults
from flyball.workspace.servers.network import can_serve

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
@pytest.mark.skipif(
    not (can_serve() and can_browse(os.environ)), reason="needs Chromium and a namespace"
)
def test_a_real_page_is_pictured_and_a_later_edit_makes_it_stale(make_bench):
    bench = make_bench({"index.html": UGLY})
    wish = {"url": "/", "expectation": "a shop"}
    ugly, _, fine = together(
        bench,
        ("visual_qa", wish),
        lambda: bench.put({"index.html": "<!doctype html><p>Buy</p>"}),
        ("visual_qa", {**wish, "viewport": "phone"}),
    )
    (report,) = ugly.evidence
    assert not report.ok and "pixels wider" in report.note and "too faint" in report.note
    assert "pictures are missing" in report.note
    assert "Not judged by a model" in ugly.text
    assert fine.ok, fine.text
    assert fine.evidence[0].tree != report.tree
    assert (bench.project / report.picture).read_bytes().startswith(b"\x89PNG")
