"""A selection holds the tests that changed and those that reach the change."""

from __future__ import annotations

import pytest

from flyball.verdict import selection
from flyball.verdict.selection import count_tests, select_tests

PYTHON = {
    "src/shop/__init__.py": "",
    "src/shop/cart.py": "from . import money\nfrom .rates import RATE as R\n",
    "src/shop/money.py": "import os, json as j\n",
    "src/shop/rates.py": "RATE = 1\n",
    "src/shop/other.py": "",
    "tests/conftest.py": "",
    "tests/test_cart.py": (
        "from shop.cart import total\n\ndef test_a():\n    pass\n\nasync def test_b():\n    pass\n"
    ),
    "tests/test_other.py": "import shop.other\n\n\ndef test_c():\n    pass\n",
    "tests/deep/test_money.py": "from shop import (money)\n",
    "shop_test.txt": "nothing",
}


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        (["src/shop/money.py"], ("tests/deep/test_money.py", "tests/test_cart.py")),
        (["src/shop/rates.py"], ("tests/test_cart.py",)),
        (["src/shop/other.py"], ("tests/test_other.py",)),
        (["tests/test_other.py"], ("tests/test_other.py",)),
        (
            ["tests/conftest.py"],
            ("tests/deep/test_money.py", "tests/test_cart.py", "tests/test_other.py"),
        ),
        (["README.md"], ()),
    ],
)
def test_python(changed, wanted):
    assert select_tests(changed, PYTHON) == wanted


def test_relative_imports_climb():
    files = {
        "a/b/c.py": "from ..d import x\n",
        "a/d.py": "",
        "a/b/test_c.py": "from .c import y\n",
        "a/b/test_up.py": "from .. import d\n",
    }
    assert select_tests(["a/d.py"], files) == ("a/b/test_c.py", "a/b/test_up.py")


def test_javascript_and_typescript():
    files = {
        "src/cart.ts": "import { rate } from './rates.js'\n",
        "src/rates.ts": "export const rate = 1\n",
        "src/lib/index.js": "module.exports = require('../rates')\n",
        "test/cart.test.ts": (
            "import { total } from '../src/cart'\n\n"
            "test('a', () => {})\n  it.each([1])('b', () => {})\n"
        ),
        "test/lib.test.js": "const lib = require('../src/lib')\n",
        "test/none.test.js": "import x from 'react'\n",
    }
    assert select_tests(["src/rates.ts"], files) == ("test/cart.test.ts", "test/lib.test.js")
    assert count_tests(files) == 2


def test_go_by_packages():
    files = {
        "go.mod": "module example.com/shop\n",
        "cart.go": 'package shop\n\nimport "example.com/shop/money"\n',
        "cart_test.go": "package shop\n\nfunc TestCart(t *testing.T) {}\n",
        "money/money.go": "package money\n",
        "money/money_test.go": "package money\n\nfunc TestMoney(t *testing.T) {}\n",
        "other/other_test.go": "package other\n",
    }
    assert select_tests(["money/money.go"], files) == ("cart_test.go", "money/money_test.go")
    assert select_tests(["cart.go"], files) == ("cart_test.go",)
    assert count_tests(files) == 2


def test_tests_are_counted_by_their_texts():
    assert count_tests(PYTHON) == 3


FACADE = {
    "src/shop/__init__.py": "from shop.cart import total\nfrom shop.money import cents\n",
    "src/shop/cart.py": "RATE = 2\n\ndef total(items):\n    return 1\n",
    "src/shop/money.py": "def cents(text):\n    return 1\n",
    "tests/test_total.py": "from shop import total\n",
    "tests/test_cents.py": "from shop import cents\n",
    "tests/test_cart.py": "from shop.cart import total\n",
    "tests/test_alone.py": "import os\n",
}


@pytest.mark.parametrize(
    ("changed", "apart"),
    [
        (["src/shop/cart.py"], {"tests/test_cents.py", "tests/test_alone.py"}),
        (
            ["src/shop/money.py"],
            {"tests/test_total.py", "tests/test_cart.py", "tests/test_alone.py"},
        ),
        (["src/shop/__init__.py"], {"tests/test_alone.py", "tests/test_cart.py"}),
        (
            ["tests/test_alone.py"],
            {"tests/test_total.py", "tests/test_cents.py", "tests/test_cart.py"},
        ),
        (["gone.py"], {name for name in FACADE if name.startswith("tests/")}),
    ],
)
def test_tests_that_use_nothing_of_the_change_are_apart(changed, apart):
    assert selection.find_tests_apart(changed, FACADE) == apart


def test_a_name_that_an_index_hands_on_is_used_by_whoever_names_it():
    files = {
        "lib/index.js": "export * from './add'\n",
        "lib/add.js": "export const add = (a, b) => a + b\n",
        "lib/sub.js": "export function sub(a) {}\n",
        "lib/add.test.js": "import { add } from './index'\nimport './sub'\n",
        "lib/sub.test.js": "import { sub } from './sub'\n",
    }
    assert selection.find_tests_apart(["lib/add.js"], files) == {"lib/sub.test.js"}
    assert selection.find_tests_apart(["lib/sub.js"], files) == frozenset()


def test_a_package_at_the_top_hands_on_what_lies_below_it():
    files = {
        "__init__.py": "from .a import one\n",
        "a.py": "def one():\n    pass\n",
        "test_a.py": "from . import one\n",
        "test_b.py": "from . import two\n",
    }
    assert selection.find_tests_apart(["a.py"], files) == {"test_b.py"}
