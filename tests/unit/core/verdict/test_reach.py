"""What reaches into the runner is named; ordinary code is not."""

from __future__ import annotations

import pytest

from flyball.core.verdict.reach import runner_reaches

NONE: frozenset[str] = frozenset()


def reaches(path: str, text: str, old: str | None = None, side: frozenset[str] = NONE):
    return runner_reaches({path: old}, {path: text}, side)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("sitecustomize.py", "x = 1"),
        ("lib/hook.pth", "import os"),
        ("pkg.egg-info/entry_points.txt", "[pytest11]"),
        ("pytest.py", "def main(): pass"),
        ("src/unittest/__init__.py", ""),
        ("json.py", ""),
        ("cart.py", "import os\nos._exit(0)"),
        ("cart.py", "atexit.register(f)"),
        ("cart.py", "sys.settrace(f)"),
        ("cart.py", "builtins.len = f"),
        ("cart.py", "unittest.TestCase.assertEqual = lambda *a: None"),
        ("cart.py", "import _pytest.runner"),
        ("cart.py", "if 'pytest' in sys.argv[0]: total = 6"),
        ("cart.py", "if os.environ.get('PYTEST_CURRENT_TEST'): total = 6"),
        ("cart.py", "class P:\n    def __eq__(self, other):\n        'Doc.'\n        return True"),
        ("cart.js", "process.exit(0)"),
        ("cart.js", "process.on('exit', () => {})"),
        ("cart.ts", "if (process.env.VITEST) return 6"),
        ("cart.mjs", "import assert from 'node:assert'"),
        ("cart.js", "globalThis.expect = () => ({})"),
        ("cart.go", "os.Exit(0)"),
        ("cart.go", "if testing.Testing() { return 6 }"),
        ("cart.rs", "std::process::exit(0);"),
        ("cart.c", "exit(0);"),
        ("cart.c", "__attribute__((constructor)) void f(void) {}"),
        ("cart.rb", "at_exit { exit! 0 }"),
    ],
)
def test_product_code_that_reaches_into_the_runner(path, text):
    found = reaches(path, text)
    assert found
    assert all(each.in_product for each in found)
    assert all(path in each.sentence for each in found)


@pytest.mark.parametrize("path", ["conftest.py", "web/vitest.config.ts", ".npmrc", "Makefile"])
def test_what_is_loaded_around_tests_is_named_without_blame(path):
    (found,) = reaches(path, "new", "old", frozenset({path}))
    assert not found.in_product
    assert "changed" in found.sentence


@pytest.mark.parametrize(
    ("path", "text", "old"),
    [
        ("cart.py", "def total(): return 6", None),
        ("cart.py", "import sys\nmain(sys.argv[1:])", None),
        ("cart.py", "os._exit(0)\nx = 1", "os._exit(0)"),
        ("cart.py", "def broken(:", None),
        ("cart.py", "class P:\n    def __eq__(self, o):\n        return self.x == o.x", None),
        ("cart.py", "class P:\n    def __eq__(self, o):\n        x = 1\n        return True", None),
        ("cart.py", "class P:\n    def __bool__(self): pass", None),
        ("notes.txt", "os._exit(0)", None),
        ("cart.py", "same", "same"),
    ],
)
def test_ordinary_code_is_left_alone(path, text, old):
    assert reaches(path, text, old) == ()


def test_a_fixed_comparison_that_was_there_before_is_not_news():
    old = "class P:\n    def __eq__(self, o):\n        return True"
    assert reaches("cart.py", old + "\n\nx = 1", old) == ()


def test_a_test_may_name_its_framework_and_a_deleted_file_names_nothing():
    assert reaches("test_cart.py", "import pytest", side=frozenset({"test_cart.py"})) == ()
    assert runner_reaches({"cart.py": "x"}, {"cart.py": None}, NONE) == ()


def test_a_sentence_is_said_once_a_file():
    assert len(reaches("cart.py", "os._exit(0)\nos._exit(1)")) == 1
