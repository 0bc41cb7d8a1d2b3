"""What a change is, apart from any run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.engine.shop import FILES, MENDED, SHOWN, Shop, open_shop

from flyball.terms.evidence import Comparison
from flyball.verdict.reports import ChangeFacts
from flyball.verdict.runners.layout import look
from flyball.verdict.take import change_facts
from flyball.workspace.run.clean import clean_checkout
from flyball.workspace.trees.trees import LARGE, TreeHash


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with open_shop(tmp_path) as opened:
        yield opened


def facts_of(shop: Shop) -> ChangeFacts:
    workspace, base, head = shop.context.workspace, shop.card.base, shop.card.tree
    changes = workspace.trees.changes(TreeHash(base), TreeHash(head))
    with clean_checkout(workspace, base) as old, clean_checkout(workspace, head) as new:
        return change_facts(workspace.trees, look(old), look(new), changes, head)


def test_code_and_tests_are_told_apart_and_changed_tests_compared(shop: Shop):
    shop.change({"cart.py": MENDED, "test_cart.py": SHOWN})
    found = facts_of(shop)
    assert found.files == ("cart.py", "test_cart.py")
    assert found.testing_side == {"test_cart.py"}
    added = {test.function: test.comparison for test in found.tests}
    assert added.get("test_two", Comparison.ADDED) is Comparison.ADDED
    assert (found.unkept, found.reaches) == ({}, ())


def test_a_deleted_test_is_on_the_testing_side_still(shop: Shop):
    shop.change({}, "test_cart.py")
    found = facts_of(shop)
    assert found.testing_side == {"test_cart.py"}
    assert {test.comparison for test in found.tests} == {Comparison.GONE}


def test_a_link_and_what_is_no_text_are_taken_for_what_they_may_be(shop: Shop):
    (shop.root / "alias.py").symlink_to("cart.py")
    shop.change({"picture.bin": b"\0\1\2"})
    found = facts_of(shop)
    assert "alias.py" in found.testing_side
    assert "picture.bin" not in found.testing_side


TESTS_OLD = "from cart import total\nfrom shop.old import same\n"


@pytest.mark.parametrize(
    ("text", "is_shared"),
    [
        (
            "import warnings\n\nfrom .cart import total\n\nwarnings.warn('', stacklevel=2)\n",
            False,
        ),
        ("from .cart import total\n\nWANTED = 2\n", True),
        ("from operator import ge as same\n", True),
    ],
)
def test_a_new_module_that_tests_import_is_theirs_where_it_holds_values(
    shop: Shop, text: str, *, is_shared: bool
):
    shop.change({"shop/old.py": text, "test_old.py": TESTS_OLD})
    assert [each.path for each in facts_of(shop).shared] == ["shop/old.py"] * is_shared


def test_a_file_that_was_not_kept_says_why(shop: Shop):
    with (shop.root / "big.bin").open("wb") as file:
        file.truncate(LARGE + 1)
    shop.change({"empty.txt": ""})
    assert facts_of(shop).unkept == {"big.bin": f"larger than {LARGE >> 20} MB"}


@pytest.mark.parametrize(("including", "expected"), [("list.h", 0), ("list.c", 1)])
def test_macros_of_a_c_file_are_its_own_unless_it_is_included(
    shop: Shop, including: str, expected: int
):
    shop.change(
        {
            "src/list.c": "#define CHECK_NULL(p) if (!(p)) return 0\nint total(void);\n",
            "src/all.h": f'#include "{including}"\n',
        }
    )
    told = [each.sentence for each in facts_of(shop).reaches]
    assert len([each for each in told if "src/list.c defines" in each]) == expected, told


def test_values_of_the_tests_in_new_code_are_shown(shop: Shop):
    learnt = "def total(prices):\n    return {'one two three': 4711}.get(prices, 0)\n"
    asked = str(FILES["test_cart.py"]).replace("total([]), 0", "total('one two three'), 4711")
    shop.change({"cart.py": learnt, "test_cart.py": asked})
    assert facts_of(shop).shared_literals == ("'one two three'", "4711")


def test_code_that_names_the_runner_is_told(shop: Shop):
    shop.change({"cart.py": f"import os\n\n{MENDED}\nos._exit(0)\n"})
    (reach, *_) = facts_of(shop).reaches
    assert reach.in_product
