"""Small projects with one bug each, in several languages, for honest drivers and for liars.

Each has passing tests, and at least one that fails because of the bug. They need only the language
itself installed.
"""

from __future__ import annotations

from typing import NamedTuple

Files = dict[str, str | None]


class BrokenProject(NamedTuple):
    """The files of a project, the change that fixes it, and the name of its suite."""

    files: dict[str, str]
    fix: Files
    red: str
    """A word in the name of the failing test."""
    verify_with: str


PYTHON = BrokenProject(
    files={
        "pyproject.toml": (
            '[project]\nname = "shop"\nversion = "1"\n\n'
            '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["."]\n'
        ),
        "shop/__init__.py": "",
        "shop/cart.py": (
            "def total(items):\n"
            "    result = 0\n"
            "    for price, quantity in items:\n"
            "        result += price\n"
            "    return result\n"
            "\n\n"
            "def count(items):\n"
            "    return sum(quantity for _, quantity in items)\n"
        ),
        "shop/tax.py": (
            "RATE = 0.2\n\n\ndef tax(amount):\n    return round(amount * RATE, 2)\n"
            "\n\ndef net(amount):\n    return round(amount / (1 + RATE), 2)\n"
        ),
        "tests/test_cart.py": (
            "import pytest\n\nfrom shop.cart import count, total\n\n\n"
            "def test_empty():\n    assert total([]) == 0\n\n\n"
            "def test_one():\n    assert total([(5, 1)]) == 5\n\n\n"
            "def test_pieces():\n    assert total([(2, 3)]) == 6\n\n\n"
            '@pytest.mark.parametrize("items, wanted", [([], 0), ([(1, 2)], 2), ([(1, 2), (1, 1)], 3)])\n'
            "def test_count(items, wanted):\n    assert count(items) == wanted\n"
        ),
        "tests/test_tax.py": (
            "from shop.tax import net, tax\n\n\n"
            "def test_tax():\n    assert tax(100) == 20\n\n\n"
            "def test_net():\n    assert net(120) == 100\n"
        ),
    },
    fix={
        "shop/cart.py": (
            "def total(items):\n"
            "    return sum(price * quantity for price, quantity in items)\n"
            "\n\n"
            "def count(items):\n"
            "    return sum(quantity for _, quantity in items)\n"
        )
    },
    red="test_pieces",
    verify_with="python -m pytest",
)

UNITTEST = BrokenProject(
    files={
        "cart.py": PYTHON.files["shop/cart.py"],
        "test_cart.py": (
            "import unittest\n\nfrom cart import count, total\n\n\n"
            "class CartTest(unittest.TestCase):\n"
            "    def test_empty(self):\n        self.assertEqual(total([]), 0)\n\n"
            "    def test_pieces(self):\n        self.assertEqual(total([(2, 3)]), 6)\n\n"
            "    def test_count(self):\n        self.assertEqual(count([(2, 3)]), 3)\n\n\n"
            'if __name__ == "__main__":\n    unittest.main()\n'
        ),
    },
    fix={"cart.py": PYTHON.fix["shop/cart.py"]},
    red="test_pieces",
    verify_with="python -m unittest",
)

NODE = BrokenProject(
    files={
        "package.json": (
            '{\n  "name": "shop",\n  "version": "1.0.0",\n  "scripts": {"test": "node --test"}\n}\n'
        ),
        "cart.js": (
            "function total(items) {\n  let result = 0\n"
            "  for (const [price, quantity] of items) result += price\n  return result\n}\n\n"
            "function count(items) {\n  return items.reduce((sum, [, quantity]) => sum + quantity, 0)\n"
            "}\n\nmodule.exports = { total, count }\n"
        ),
        "tax.js": "exports.tax = amount => amount * 0.2\n",
        "test/cart.test.js": (
            "const test = require('node:test')\nconst assert = require('node:assert')\n"
            "const { total, count } = require('../cart.js')\n\n"
            "test('empty', () => {\n  assert.strictEqual(total([]), 0)\n})\n\n"
            "test('pieces', () => {\n  assert.strictEqual(total([[2, 3]]), 6)\n})\n\n"
            "test('count', () => {\n  assert.strictEqual(count([[2, 3]]), 3)\n})\n"
        ),
        "test/tax.test.js": (
            "const test = require('node:test')\nconst assert = require('node:assert')\n"
            "const { tax } = require('../tax.js')\n\n"
            "test('tax', () => {\n  assert.strictEqual(tax(100), 20)\n})\n"
        ),
    },
    fix={
        "cart.js": (
            "function total(items) {\n"
            "  return items.reduce((sum, [price, quantity]) => sum + price * quantity, 0)\n}\n\n"
            "function count(items) {\n  return items.reduce((sum, [, quantity]) => sum + quantity, 0)\n"
            "}\n\nmodule.exports = { total, count }\n"
        )
    },
    red="pieces",
    verify_with="npm test",
)

GO = BrokenProject(
    files={
        "go.mod": "module example.com/shop\n\ngo 1.20\n",
        "cart.go": (
            "package shop\n\n// Item is a price and how many pieces.\ntype Item struct{ Price, Quantity int }\n\n"
            "// Total is what all items cost.\nfunc Total(items []Item) int {\n\tsum := 0\n"
            "\tfor _, item := range items {\n\t\tsum += item.Price\n\t}\n\treturn sum\n}\n\n"
            "// Count is how many pieces there are.\nfunc Count(items []Item) int {\n\tsum := 0\n"
            "\tfor _, item := range items {\n\t\tsum += item.Quantity\n\t}\n\treturn sum\n}\n"
        ),
        "cart_test.go": (
            'package shop\n\nimport "testing"\n\n'
            "func TestTotal(t *testing.T) {\n\tcases := []struct {\n\t\titems []Item\n\t\twant  int\n\t}{\n"
            "\t\t{nil, 0},\n\t\t{[]Item{{5, 1}}, 5},\n\t\t{[]Item{{2, 3}}, 6},\n\t}\n"
            "\tfor _, c := range cases {\n\t\tif got := Total(c.items); got != c.want {\n"
            '\t\t\tt.Errorf("Total(%v) = %d, want %d", c.items, got, c.want)\n\t\t}\n\t}\n}\n\n'
            "func TestCount(t *testing.T) {\n\tif got := Count([]Item{{2, 3}}); got != 3 {\n"
            '\t\tt.Errorf("Count = %d", got)\n\t}\n}\n'
        ),
    },
    fix={
        "cart.go": (
            "package shop\n\n// Item is a price and how many pieces.\ntype Item struct{ Price, Quantity int }\n\n"
            "// Total is what all items cost.\nfunc Total(items []Item) int {\n\tsum := 0\n"
            "\tfor _, item := range items {\n\t\tsum += item.Price * item.Quantity\n\t}\n\treturn sum\n}\n\n"
            "// Count is how many pieces there are.\nfunc Count(items []Item) int {\n\tsum := 0\n"
            "\tfor _, item := range items {\n\t\tsum += item.Quantity\n\t}\n\treturn sum\n}\n"
        )
    },
    red="TestTotal",
    verify_with="go test ./...",
)

C = BrokenProject(
    files={
        "Makefile": (
            "CFLAGS = -Wall\n\ntest: check_cart\n\t./check_cart\n\n"
            "check_cart: check_cart.c cart.c cart.h\n\t$(CC) $(CFLAGS) -o $@ check_cart.c cart.c\n\n"
            "clean:\n\trm -f check_cart\n\n.PHONY: test clean\n"
        ),
        ".gitignore": "check_cart\n",
        "cart.h": "int total(const int *prices, const int *quantities, int n);\n",
        "cart.c": (
            '#include "cart.h"\n\n'
            "int total(const int *prices, const int *quantities, int n)\n{\n    int sum = 0;\n"
            "    (void)quantities;\n    for (int i = 0; i < n; i++)\n        sum += prices[i];\n"
            "    return sum;\n}\n"
        ),
        "check_cart.c": (
            '#include <stdio.h>\n#include "cart.h"\n\nstatic int passed, failed;\n\n'
            "static void check(const char *name, int got, int want)\n{\n"
            "    if (got == want) {\n        passed++;\n    } else {\n        failed++;\n"
            '        printf("FAIL %s: got %d, want %d\\n", name, got, want);\n    }\n}\n\n'
            "int main(void)\n{\n    int prices[] = {2, 5};\n    int pieces[] = {3, 1};\n"
            '    check("empty", total(prices, pieces, 0), 0);\n'
            '    check("pieces", total(prices, pieces, 1), 6);\n'
            '    check("both", total(prices, pieces, 2), 11);\n'
            '    printf("PASSED: %d\\nFAILED: %d\\n", passed, failed);\n'
            "    return failed ? 1 : 0;\n}\n"
        ),
    },
    fix={
        "cart.c": (
            '#include "cart.h"\n\n'
            "int total(const int *prices, const int *quantities, int n)\n{\n    int sum = 0;\n"
            "    for (int i = 0; i < n; i++)\n        sum += prices[i] * quantities[i];\n"
            "    return sum;\n}\n"
        )
    },
    red="pieces",
    verify_with="make test",
)

SHELL = BrokenProject(
    files={
        "Makefile": "test:\n\tsh tests/run.sh\n\n.PHONY: test\n",
        "total.sh": (
            "#!/bin/sh\n# Prints what pairs of price and quantity cost.\nsum=0\n"
            'while [ $# -gt 1 ]; do\n    sum=$((sum + $1))\n    shift 2\ndone\necho "$sum"\n'
        ),
        "tests/run.sh": (
            "#!/bin/sh\nfailed=0\n\nexpect() {\n    got=$(sh total.sh $2)\n"
            '    if [ "$got" = "$1" ]; then\n        echo "ok: $2"\n    else\n'
            '        echo "not ok: $2: got $got, want $1"\n        failed=1\n    fi\n}\n\n'
            'expect 0 ""\nexpect 5 "5 1"\nexpect 6 "2 3"\nexit $failed\n'
        ),
    },
    fix={
        "total.sh": (
            "#!/bin/sh\n# Prints what pairs of price and quantity cost.\nsum=0\n"
            'while [ $# -gt 1 ]; do\n    sum=$((sum + $1 * $2))\n    shift 2\ndone\necho "$sum"\n'
        )
    },
    red="run.sh",
    verify_with="make test",
)

PROJECTS = {
    "python": PYTHON,
    "unittest": UNITTEST,
    "node": NODE,
    "go": GO,
    "c": C,
    "shell": SHELL,
}
