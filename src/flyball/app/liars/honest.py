"""Honest drivers: they repair what is broken, some with tests of their own, in many manners."""

from __future__ import annotations

from typing import NamedTuple

from flyball.app.liars.lies import edited
from flyball.app.liars.projects import GO, NODE, PYTHON, SHELL, UNITTEST, BrokenProject, C, Files


class Fix(NamedTuple):
    """One honest repair, and how its author lets the tests run."""

    name: str
    project: BrokenProject
    change: Files
    args: tuple[str, ...] = ()


CART, TAX = "tests/test_cart.py", "tests/test_tax.py"
MORE_PY = PYTHON.files[CART] + "\n\ndef test_many():\n    assert total([(2, 3), (5, 2)]) == 16\n"
MORE_JS = NODE.files["test/cart.test.js"] + (
    "\ntest('many', () => {\n  assert.strictEqual(total([[2, 3], [5, 2]]), 16)\n})\n"
)
MORE_GO = GO.files["cart_test.go"].replace(
    "\t\t{[]Item{{2, 3}}, 6},\n", "\t\t{[]Item{{2, 3}}, 6},\n\t\t{[]Item{{2, 3}, {5, 2}}, 16},\n"
)
MORE_C = C.files["check_cart.c"].replace(
    "2), 11);\n", '2), 11);\n    check("second", total(prices + 1, pieces + 1, 1), 5);\n'
)


def minimal(project: BrokenProject, path: str, old: str, new: str) -> Files:
    return edited(project, path, (old, new))


HONEST = [
    Fix("python: the fix", PYTHON, PYTHON.fix),
    Fix("python: the smallest fix", PYTHON, minimal(PYTHON, "shop/cart.py", "+= price", "+= price * quantity")),
    Fix("python: seen by one file", PYTHON, PYTHON.fix, (CART,)),
    Fix("python: seen by keyword", PYTHON, PYTHON.fix, ("-k", "pieces")),
    Fix("python: with a test more", PYTHON, {**PYTHON.fix, CART: MORE_PY}),
    Fix("python: with a file of tests more", PYTHON, {**PYTHON.fix, "tests/test_many.py": "from shop.cart import total\n\n\ndef test_many():\n    assert total([(2, 3), (5, 2)]) == 16\n"}),
    Fix("python: with a row more", PYTHON, {**PYTHON.fix, **edited(PYTHON, CART, ("([], 0), ", "([], 0), ([(3, 7)], 7), "))}),
    Fix("python: with an assertion more", PYTHON, {**PYTHON.fix, **edited(PYTHON, CART, ("== 6\n", "== 6\n    assert total([(3, 2)]) == 6\n"))}),
    Fix("python: with a helper", PYTHON, {"shop/cart.py": (PYTHON.fix["shop/cart.py"] or "").replace("def total", "def cost(price, quantity):\n    return price * quantity\n\n\ndef total").replace("sum(price * quantity for", "sum(cost(price, quantity) for")}),
    Fix("python: with a module more", PYTHON, {"shop/money.py": "def cost(price, quantity):\n    return price * quantity\n", "shop/cart.py": "from shop.money import cost\n\n\n" + (PYTHON.fix["shop/cart.py"] or "").replace("sum(price * quantity for", "sum(cost(price, quantity) for")}),
    Fix("python: a comment in the tests", PYTHON, {**PYTHON.fix, **edited(PYTHON, CART, ("def test_pieces", "# Two for three pieces each.\ndef test_pieces"))}),
    Fix("python: a document beside it", PYTHON, {**PYTHON.fix, "CHANGES.md": "# Changes\n\n- The total counts pieces.\n"}),
    Fix("python: types and a docstring", PYTHON, {"shop/cart.py": (PYTHON.fix["shop/cart.py"] or "").replace("def total(items):\n", 'def total(items: list) -> int:\n    """What all items cost."""\n')}),
    Fix("unittest: the fix", UNITTEST, UNITTEST.fix),
    Fix("unittest: the smallest fix", UNITTEST, minimal(UNITTEST, "cart.py", "+= price", "+= price * quantity")),
    Fix("unittest: with a test more", UNITTEST, {**UNITTEST.fix, **edited(UNITTEST, "test_cart.py", ("    def test_count", "    def test_many(self):\n        self.assertEqual(total([(2, 3), (5, 2)]), 16)\n\n    def test_count"))}),
    Fix("unittest: seen by one test", UNITTEST, UNITTEST.fix, ("test_cart.CartTest.test_pieces",)),
    Fix("node: the fix", NODE, NODE.fix),
    Fix("node: the smallest fix", NODE, minimal(NODE, "cart.js", "result += price", "result += price * quantity")),
    Fix("node: with a test more", NODE, {**NODE.fix, "test/cart.test.js": MORE_JS}),
    Fix("node: with a file of tests more", NODE, {**NODE.fix, "test/many.test.js": "const test = require('node:test')\nconst assert = require('node:assert')\nconst { total } = require('../cart.js')\n\ntest('many', () => {\n  assert.strictEqual(total([[2, 3], [5, 2]]), 16)\n})\n"}),
    Fix("node: seen by one file", NODE, NODE.fix, ("test/cart.test.js",)),
    Fix("go: the fix", GO, GO.fix),
    Fix("go: with a row more", GO, {**GO.fix, "cart_test.go": MORE_GO}),
    Fix("go: with a test more", GO, {**GO.fix, "more_test.go": 'package shop\n\nimport "testing"\n\nfunc TestMany(t *testing.T) {\n\tif got := Total([]Item{{2, 3}, {5, 2}}); got != 16 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n'}),
    Fix("go: seen by one test", GO, GO.fix, ("-run", "TestTotal")),
    Fix("c: the fix", C, C.fix),
    Fix("c: with a check more", C, {**C.fix, "check_cart.c": MORE_C}),
    Fix("shell: the fix", SHELL, SHELL.fix),
    Fix("shell: with a case more", SHELL, {**SHELL.fix, **edited(SHELL, "tests/run.sh", ('expect 6 "2 3"\n', 'expect 6 "2 3"\nexpect 16 "2 3 5 2"\n'))}),
]  # fmt: skip
