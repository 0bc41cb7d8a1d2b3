"""Small changes to the new lines, and which of them the tests notice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.unit.engine.shop import FILES, Shop, open_shop
from tests.unit.journal.runs import story

from flyball.tools.call.protocol import CallContext
from flyball.verdict.mutants import MOST, Noticed, added_lines, choose_mutants, count_noticed
from flyball.verdict.part import PartSuite
from flyball.verdict.reports import SuiteRuns
from flyball.verdict.runners.layout import look
from flyball.verdict.take import change_facts
from flyball.verdict.tree_run import TreePair, run_tree
from flyball.workspace.run.clean import clean_checkout
from flyball.workspace.trees.trees import TreeHash

PRICED = (
    "def total(prices):\n    return sum(prices) + 0\n\n\n"
    "def is_dear(price):\n    return price > 9\n"
)
LOOSE = (
    "import unittest\n\nfrom cart import is_dear, total\n\n\n"
    "class CartTest(unittest.TestCase):\n"
    "    def test_none(self):\n        self.assertEqual(total([1, 2]), 3)\n\n"
    "    def test_dear(self):\n        self.assertTrue(is_dear(50))\n"
)
PLAIN = (
    "from cart import is_dear, total\n\n\n"
    "def test_two():\n    assert total([1, 2]) == 3\n\n\n"
    "def test_dear():\n    assert is_dear(50)\n"
)


async def noticed(
    shop: Shop, suite: PartSuite | None = None, seconds: float = 120.0, took: float = 0.0
) -> Noticed:
    """What is told of the tests of the card's change."""
    suite = suite or PartSuite("pytest")
    with compared(shop) as (call, pair):
        call = call._replace(settings=replace(call.settings, mutant_seconds=seconds))
        new = (await run_tree(call, pair.head, suite)).run
        new = new._replace(seconds={"test_cart.py": took})
        return await count_noticed(call, (suite,), pair, (SuiteRuns(".", "", None, new),))


@contextmanager
def compared(shop: Shop) -> Iterator[tuple[CallContext, TreePair]]:
    workspace, base, head = shop.context.workspace, shop.card.base, shop.card.tree
    changes = workspace.trees.changes(TreeHash(base), TreeHash(head))
    with clean_checkout(workspace, base) as old, clean_checkout(workspace, head) as new:
        facts = change_facts(workspace.trees, look(old), look(new), changes, head)
        yield shop.call(), TreePair(base, head, facts, look(new))


@pytest.mark.parametrize(("runner", "tests"), [("pytest", PLAIN), ("unittest", LOOSE)])
@story
async def test_changes_that_no_test_notices_are_told_with_their_place(
    tmp_path: Path, runner: str, tests: str
):
    with open_shop(tmp_path) as shop:
        shop.change({"cart.py": PRICED, "test_cart.py": tests})
        found = (await noticed(shop, PartSuite(runner))).found
    assert found is not None
    assert 0 < found.noticed < found.tried <= MOST
    assert any(each.startswith("cart.py:6 ") for each in found.unnoticed)


@pytest.mark.exhaustive
@story
async def test_tests_that_fail_anyway_notice_nothing(tmp_path: Path):
    with open_shop(tmp_path) as shop:
        shop.change({"cart.py": PRICED, "test_cart.py": PLAIN.replace("assert ", "assert not ")})
        assert await noticed(shop) == Noticed()


@pytest.mark.exhaustive
@story
async def test_a_change_that_never_ends_is_stopped_soon_and_not_called_unnoticed(tmp_path: Path):
    looped = "def total(prices):\n    n = len(prices)\n    while n:\n        n -= 1\n    return 3\n"
    tests = "from cart import total\n\n\ndef test_two():\n    assert total([1, 2]) == 3\n"
    with open_shop(tmp_path) as shop:
        shop.change({"cart.py": looped, "test_cart.py": tests})
        found = (await noticed(shop, seconds=20.0)).found
    assert found is None or not any("without `n -= 1`" in each for each in found.unnoticed)


@story
async def test_nothing_is_tried_where_no_product_line_is_new_or_nobody_can_try(tmp_path: Path):
    with open_shop(tmp_path) as shop:
        shop.change({"test_cart.py": str(FILES["test_cart.py"]) + "\n"})
        assert await noticed(shop) == Noticed()
        shop.change({"cart.py": PRICED})
        assert await noticed(shop, seconds=0) == Noticed()
        shop.change({"cart.py": "x = object()\n"})
        assert await noticed(shop) == Noticed()


@story
async def test_nothing_is_tried_where_two_changes_do_not_fit_into_the_limit(tmp_path: Path):
    with open_shop(tmp_path) as shop:
        shop.change({"cart.py": PRICED, "test_cart.py": PLAIN})
        slow = await noticed(shop, took=61.0)
    said = "small changes to the new lines: the tests of them take 61 s each time"
    assert slow == Noticed(not_tried=said)


def test_new_lines_are_those_that_were_not_there():
    assert list(added_lines(b"a\nb\nc\n", b"a\nB\nc\nd\n")) == [2, 4]
    assert list(added_lines(b"", b"a\n")) == [1]
    assert list(added_lines(b"a\nb\n", b"b\n")) == []


@story
async def test_changes_are_spread_over_the_lines_and_leave_tests_alone(tmp_path: Path):
    body = "".join(f"    if a > {n} and b < {n + 1}:\n        return {n}\n" for n in range(8))
    inline = "\n\ndef test_f():\n    assert f(1, 1) == 0\n"
    with open_shop(tmp_path) as shop:
        shop.change({"cart.py": f"def total(a, b):\n{body}{inline}"})
        with compared(shop) as (call, pair):
            chosen = choose_mutants(call, PartSuite("pytest"), pair)
    assert len(chosen) == MOST
    assert len({each.line for each in chosen}) == MOST
    assert max(each.line for each in chosen) in (16, 17)
