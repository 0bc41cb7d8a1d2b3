"""Small changes to the new lines, and which of them the tests notice."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.unit.engine.shop import FILES, Shop, open_shop
from tests.unit.journal.runs import story

from flyball.core.suite.part import PartSuite
from flyball.repair.source import Source
from flyball.verdict.change_facts import change_facts
from flyball.verdict.mutants import (
    MOST,
    Noticed,
    added_lines,
    choose_mutants,
    count_noticed,
)
from flyball.verdict.reports import SuiteRuns, TreeRun
from flyball.verdict.runners.layout import look
from flyball.verdict.suite_runs import TreePair
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
    shop: Shop,
    suite: PartSuite | None = None,
    seconds: float = 120.0,
    runs: tuple[SuiteRuns, ...] = (),
) -> Noticed:
    """What is told of the tests of the card's change."""
    workspace, base, head = shop.context.workspace, shop.card.base, shop.card.tree
    changes = workspace.trees.changes(TreeHash(base), TreeHash(head))
    call = shop.call()
    call = call._replace(settings=replace(call.settings, mutant_seconds=seconds))
    with clean_checkout(workspace, base) as old, clean_checkout(workspace, head) as new:
        facts = change_facts(workspace.trees, look(old), look(new), changes, head)
        compared = TreePair(base, head, facts, look(new))
        return await count_noticed(call, (suite or PartSuite("pytest"),), compared, runs)


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
        shop.change({"cart.py": PRICED, "test_cart.py": PLAIN.replace("== 3", "== 4")})
        assert await noticed(shop) == Noticed()


@story
async def test_nothing_is_tried_where_no_product_line_is_new_or_nobody_can_try(tmp_path: Path):
    with open_shop(tmp_path) as shop:
        shop.change({"test_cart.py": str(FILES["test_cart.py"]) + "\n"})
        assert await noticed(shop) == Noticed()
        shop.change({"cart.py": PRICED})
        assert await noticed(shop, PartSuite("vitest")) == Noticed()
        assert await noticed(shop, seconds=0) == Noticed()
        shop.change({"cart.py": "x = object()\n"})
        assert await noticed(shop) == Noticed()


@pytest.mark.exhaustive
@story
async def test_nothing_is_tried_where_not_even_two_changes_fit_into_the_limit(tmp_path: Path):
    with open_shop(tmp_path) as shop:
        shop.change({"cart.py": PRICED, "test_cart.py": PLAIN})
        far = TreeRun("pytest", 0, {}, seconds={"test_cart.py": 0.001, "test_far.py": 600.0})
        near = far._replace(seconds={"test_cart.py": 41.0})
        fits = await noticed(shop, runs=(SuiteRuns(".", "pytest", far, far),))
        slow = await noticed(shop, runs=(SuiteRuns(".", "pytest", near, near),))
    assert fits.found is not None and not fits.not_tried
    assert slow == Noticed(
        not_tried="small changes to the new lines: the tests of them take 41 s each time"
    )


def test_new_lines_are_those_that_were_not_there():
    assert list(added_lines(b"a\nb\nc\n", b"a\nB\nc\nd\n")) == [2, 4]
    assert list(added_lines(b"", b"a\n")) == [1]
    assert list(added_lines(b"a\nb\n", b"b\n")) == []


def test_every_line_is_asked_once_before_any_is_asked_twice():
    body = "".join(f"    if a > {n} and b < {n + 1}:\n        return {n}\n" for n in range(8))
    source = Source("a.py", f"def f(a, b):\n{body}".encode())
    chosen = choose_mutants({"a.py": source}, {"a.py": range(2, 18)})
    assert len(chosen) == MOST
    assert len({each.line for each in chosen}) == MOST
