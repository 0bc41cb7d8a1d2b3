"""Reproductions of a conflict: only a failure that is the conflict's own counts as one."""

import asyncio

import pytest
from tests.toolchains import need

from flyball.errors import ToolError
from flyball.terms.conflict import REQUEST
from flyball.tools.conflict import ConflictForm, Surroundings, look_up

PYTHON = {
    "shop.py": "def total(a, b):\n    return a + b\n",
    "test_shop.py": """\
import unittest

from shop import total


class ShopTest(unittest.TestCase):
    def test_fine(self):
        self.assertEqual(total(2, 2), 4)

    def test_broken(self):
        self.assertEqual(total(2, 3), 7)
""",
    "test_other.py": "import nothing_here\n",
}
JAVASCRIPT = {
    "package.json": '{"name": "shop", "scripts": {"test": "node --test shop.test.js"}}\n',
    "shop.js": "exports.total = (a, b) => a + b;\n",
    "shop.test.js": """\
const test = require("node:test");
const assert = require("node:assert");
const { total } = require("./shop");

test("fine", () => {
  assert.strictEqual(total(2, 2), 4);
});
test("broken", () => {
  assert.strictEqual(total(2, 3), 7);
});
""",
    "other.js": 'require("nothing-here");\n',
    "other.test.js": 'require("./other");\n',
}
GO = {
    "go.mod": "module example.com/shop\n\ngo 1.19\n",
    "shop.go": "package shop\n\nfunc Total(a, b int) int {\n\treturn a + b\n}\n",
    "shop_test.go": """\
package shop

import "testing"

func TestFine(t *testing.T) {
}

func TestBroken(t *testing.T) {
\tif got := Total(2, 3); got != 7 {
\t\tt.Fatalf("got %d", got)
\t}
}
""",
    "other/other.go": 'package other\n\nimport _ "example.com/nothing"\n',
    "other/other_test.go": "package other\n",
}
CLAIMS = {
    "python": (PYTHON, "self.assertEqual(total(2, 3), 7)", "test_shop.py:11"),
    "javascript": (JAVASCRIPT, "assert.strictEqual(total(2, 3), 7)", "shop.test.js:9"),
    "go": (GO, "got := Total(2, 3); got != 7", "shop_test.go:9"),
}
LONG = pytest.mark.exhaustive
ASKED = "Fix total: total(2, 3) must be 5."


def reproduced(make_bench, language: str, command: str, **more: str):
    need({"javascript": "node"}.get(language, language))
    files, says, where = CLAIMS[language]
    bench = make_bench(files)
    base = bench.context.workspace.tree_hash()
    form = ConflictForm(
        **{"says": says, "but": "must be 5", "where": f"{where}, request"} | more, reproduce=command
    )
    context = bench.context._replace(tree=base)
    return asyncio.run(look_up(form, context, Surroundings(ASKED, base)))


@pytest.mark.parametrize(("language", "command"), [
    ("python", "python -m unittest test_shop"),
    ("python", "python -m unittest test_shop.ShopTest.test_broken"),
    pytest.param("python", "python -m pytest -q test_shop.py", marks=LONG),
    pytest.param("python", "python -m unittest", marks=LONG),
    ("javascript", "node --test shop.test.js"),
    ("javascript", "npm test"),
    pytest.param("go", "go test -run TestBroken .", marks=LONG),
])  # fmt: skip
def test_failing_test_of_the_conflict_reproduces_it(make_bench, language: str, command: str):
    report = reproduced(make_bench, language, command)
    assert (report.reproduce, report.exit_code) == (command, 1)
    assert report.but.place == REQUEST


@pytest.mark.parametrize(("language", "command", "why"), [
    ("python", "python -m unittest test_shop.ShopTest.nope", "says nothing of"),
    pytest.param("python", "python -m unittest nope", "says nothing of", marks=LONG),
    ("python", "python -m pytest test_shop.py::nope", "no test failed"),
    pytest.param("python", "python -m pytest nope.py", "no test failed", marks=LONG),
    pytest.param("python", "python -m pytest --nope test_shop.py", "says nothing of", marks=LONG),
    pytest.param("python", "python -m pytest -k nope test_shop.py", "no test failed", marks=LONG),
    ("python", "python -m unittest test_shop.ShopTest.test_fine", "exit 0"),
    ("python", "python -m unittest test_other", "says nothing of"),
    pytest.param("python", "python -m pytest test_other.py", "says nothing of", marks=LONG),
    ("python", "python -c 'import nothing_here'", "says nothing of"),
    ("javascript", "node --test nope.test.js", "says nothing of"),
    ("javascript", "node --test other.test.js", "says nothing of"),
    pytest.param("go", "go test -run Nope .", "exit 0", marks=LONG),
    pytest.param("go", "go test ./nope", "says nothing of", marks=LONG),
    pytest.param("go", "go test ./other", "says nothing of", marks=LONG),
])  # fmt: skip
def test_other_failures_do_not_reproduce_it(make_bench, language: str, command: str, why: str):
    with pytest.raises(ToolError, match=why):
        reproduced(make_bench, language, command)


@pytest.mark.parametrize(("language", "command", "says", "but", "where"), [
    ("python", "python -m unittest test_other", "import nothing_here",
     "No module named 'nothing_here'", "test_other.py:1"),
    ("python", "python -c 'import nothing_here'", "import nothing_here",
     "No module named 'nothing_here'", "test_other.py:1"),
    ("javascript", "node --test other.test.js", 'require("nothing-here")',
     "Cannot find module 'nothing-here'", "other.js:1"),
    pytest.param("go", "go test ./other", 'import _ "example.com/nothing"',
                 "example.com/nothing", "other/other.go:3", marks=LONG),
])  # fmt: skip
def test_what_cannot_be_had_reproduces_its_own_conflict(
    make_bench, language: str, command: str, says: str, but: str, where: str
):
    report = reproduced(make_bench, language, command, says=says, but=but, where=where)
    assert report.but.place == f"`{command}`"
