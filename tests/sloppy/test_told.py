"""What a driver is told in a real run: one thing at a time, whole words, nothing twice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.governed import FIX
from tests.sloppy.careful import SHOP, call, calls, fix, instead_of

from flyball.drivers.protocol import Request
from flyball.run.event import Usage

WRONG = FIX.replace("price * quantity", "quantity")


def last_words(request: Request) -> str:
    """What stands at the end of a request: the outcome, and where the card is."""
    return "\n".join(line.text for line in request.lines[-2:])


def test_after_a_red_test_one_thing_is_asked_for(tmp_path: Path):
    ended = fix(tmp_path, instead_of("edit", call("edit_diff", diff=WRONG), call("test")))
    said = [last_words(request) for request in ended.driver.requests]
    red = next(words for words in said if "FAILED test_cart.CartTest.test_three_pens" in words)
    assert red.count("Missing: a passing `test`") == 1
    assert "checkpoint" not in red


@pytest.mark.exhaustive
def test_a_map_of_many_files_ends_with_a_whole_name(tmp_path: Path):
    names = [f"shop/parts/department_{n:03}/goods_of_every_kind_{n:03}.py" for n in range(400)]
    files = {**SHOP, **{name: f"def kind_{n}():\n    return {n}\n" for n, name in enumerate(names)}}
    ended = fix(tmp_path, files=files)
    opening = ended.driver.requests[0].opening
    shown = set(re.findall(r"[\w./]*goods_of_every_kind\w*(?:\.\w+)?", opening))
    assert shown
    assert all(any(name.endswith(each) for name in names) for each in shown), shown
    assert len(opening) < 20_000


def test_a_hand_over_tells_a_refusal_once(tmp_path: Path):
    refused = [call("write_file", path=f"new_{n}.py", content="x = 1\n") for n in range(3)]
    long = calls(("read", {"path": "cart.py"}), usage=Usage(900_000, 10))
    ended = fix(tmp_path, instead_of("checkpoint", *refused, long))
    first = ended.driver.requests[0].opening
    handed = [each.opening for each in ended.driver.requests if each.opening != first]
    assert handed, "a thread that has grown too long is begun anew"
    told = re.findall(r"`write_file` changes things", handed[0])
    assert len(told) <= 1, handed[0]
