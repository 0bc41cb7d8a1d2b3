"""Canaries: files of failing tests that look like their neighbours."""

from __future__ import annotations

import ast

import pytest

from flyball.verdict.canary import canary_for


@pytest.mark.parametrize("runner", ["pytest", "unittest"])
def test_python_gets_two_failing_tests_where_most_tests_are(runner):
    files = [("tests/test_b.py", ""), ("tests/test_c.py", ""), ("tests/ui/test_a.py", "")]
    canary = canary_for(runner, files, "wren")
    assert canary is not None
    assert canary.path == "tests/test_zz_wren.py"
    names = [n.name for n in ast.walk(ast.parse(canary.text)) if isinstance(n, ast.FunctionDef)]
    assert len(names) == 2
    assert all(canary.word in name for name in names)


@pytest.mark.parametrize(
    ("runner", "path", "text", "wanted", "line"),
    [
        ("vitest", "src/a.test.ts", "import x from 'y'", "src/zz-wren.test.ts", "from 'vitest'"),
        ("jest", "__tests__/cart.spec.jsx", "", "__tests__/zz-wren.spec.jsx", "expect("),
        ("mocha", "test/cart.js", "", "test/zz-wren.js", "it("),
        ("ava", "test.js", "import test from 'ava'", "test-zz-wren.js", "import test from 'ava'"),
        ("ava", "test/a.cjs", "const x = 1", "test/zz-wren.cjs", "require('ava')"),
        ("node", "a.test.mjs", "", "zz-wren.test.mjs", "import test from 'node:test'"),
    ],
)
def test_javascript_is_written_as_its_neighbour_is(runner, path, text, wanted, line):
    canary = canary_for(runner, [(path, text)], "wren")
    assert canary is not None
    assert canary.path == wanted
    assert line in canary.text
    assert canary.text.count("wren") >= 2
    assert "{{" not in canary.text


def test_go_joins_the_package_of_a_test():
    canary = canary_for("go", [("pkg/a_test.go", "// x\npackage cart_test\n")], "wren")
    assert canary is not None
    assert canary.path == "pkg/zz_wren_test.go"
    assert canary.text.startswith("package cart_test\n")
    assert canary.word == "Wren"
    assert canary_for("go", [("a_test.go", "no package")], "wren") is None


def test_where_none_can_be_made_there_is_none():
    assert canary_for("make", [("test.sh", "")], "wren") is None
    assert canary_for("pytest", [], "wren") is None


@pytest.mark.parametrize(
    ("runner", "path", "text", "line"),
    [
        ("node", "test/a.test.js", "", "try { require('../cart.js') } catch {}"),
        ("node", "a.test.mjs", "", "try { await import('./cart.js') } catch {}"),
        (
            "ava",
            "test/a.js",
            "import test from 'ava'",
            "try { await import('../cart.js') } catch {}",
        ),
        ("jest", "a.test.js", "import x from 'y'", "try { require('./cart.js') } catch {}"),
    ],
)
def test_where_test_files_are_kept_apart_the_product_is_loaded_beside(runner, path, text, line):
    canary = canary_for(runner, [(path, text)], "wren", ["cart.js"])
    assert canary is not None
    assert line in canary.text.splitlines()
