"""Tests that must fail, added to a suite: if they do not fail, the run is no evidence.

Product code can patch the runner, forge its report or end the process. Whatever it does to make
failing tests pass also affects these. Their names are random in every run.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flyball.regex import regex


class Canary(NamedTuple):
    """A file to add to a checkout, and a word in the names of its failing tests."""

    path: str
    text: str
    word: str
    tests: int = 2
    """How many of its tests must fail."""


_PYTHON = """\
import unittest


def test_{word}_plain():
    assert len("{word}") == 0


class {name}Test(unittest.TestCase):
    def test_{word}_case(self):
        self.assertEqual(len("{word}"), 0)
"""
_UNITTEST = """\
import unittest


class {name}Test(unittest.TestCase):
    def test_{word}_equal(self):
        self.assertEqual(len("{word}"), 0)

    def test_{word}_true(self):
        self.assertTrue("{word}" == "")
"""
_GO = """\
package {package}

import "testing"

func Test{name}Plain(t *testing.T) {{
	if len("{word}") != 0 {{
		t.Errorf("len is %d", len("{word}"))
	}}
}}

func Test{name}Fatal(t *testing.T) {{
	t.Fatal("{word}")
}}
"""
_THROWS = "throw new Error('{word}')"
_EXPECTS = (
    _THROWS,
    "expect('{word}'.length).toBe(0)",
    "expect(['{word}']).toEqual([])",
    "expect('{word}').toBeFalsy()",
)
_JS = {
    "jest": ("() =>", _EXPECTS),
    "vitest": ("() =>", _EXPECTS),
    "mocha": ("function () ", (_THROWS, "assert.strictEqual('{word}'.length, 0)")),
    "ava": (
        "t =>",
        (
            "t.fail('{word}')",
            "t.is('{word}'.length, 0)",
            "t.deepEqual(['{word}'], [])",
            "t.true('{word}' === '')",
        ),
    ),
    "node": (
        "() =>",
        (
            _THROWS,
            "assert.strictEqual('{word}'.length, 0)",
            "assert.deepStrictEqual(['{word}'], [])",
            "assert.ok('{word}' === '')",
        ),
    ),
}
"""How a test of each runner begins, and what must fail in it."""
_IMPORTS = {
    True: {
        "vitest": "import { test, expect } from 'vitest'",
        "ava": "import test from 'ava'",
        "node": "import test from 'node:test'\nimport assert from 'node:assert'",
        "mocha": "import assert from 'node:assert'",
    },
    False: {
        "vitest": "import { test, expect } from 'vitest'",
        "ava": "const test = require('ava')",
        "node": "const test = require('node:test')\nconst assert = require('node:assert')",
        "mocha": "const assert = require('node:assert')",
    },
}
_ESM = regex(r"^\s*(?:import\s|export\s)", re.MULTILINE)
_GO_PACKAGE = regex(r"^package\s+(\w+)", re.MULTILINE)


APART = frozenset({"jest", "vitest", "ava", "node"})
"""Runners that isolate test files: what code does to one does not affect the others."""


def canary_for(
    runner: str, tests: Iterable[tuple[str, str]], word: str, loads: Sequence[str] = ()
) -> Canary | None:
    """Return a file of failing tests to add to the suite; None if that is not possible.

    If the runner isolates test files, `loads` are files of the product that it loads first. `tests`
    are the suite's test files with their texts, `word` a random lower-case word. The directory with
    the most tests is chosen, since the suite certainly searches it. The names sort last, so that a
    suite that stops at its first failure has already run its own tests.
    """
    files = sorted(tests)
    if not files:
        return None
    folders = Counter(posixpath.dirname(path) for path, _ in files)
    folder = max(folders, key=lambda each: (folders[each], -len(each)))
    path, text = [each for each in files if posixpath.dirname(each[0]) == folder][-1]
    name = word.capitalize()
    if runner in ("pytest", "unittest"):
        body = _PYTHON if runner == "pytest" else _UNITTEST
        return _put(folder, f"test_zz_{word}.py", body.format(word=word, name=name), word)
    if runner == "go":
        package = _GO_PACKAGE.search(text)
        if package is None:
            return None
        body = _GO.format(package=package[1], name=name, word=word)
        return _put(folder, f"zz_{word}_test.go", body, name)
    if runner in _JS:
        is_module = bool(_ESM.search(text)) or path.endswith((".mjs", ".mts"))
        start, fails = _JS[runner]
        call = "it" if runner == "mocha" else "test"
        lines = [
            f"{call}('{word} {n}', {start} {{ {each.format(word=word)} }})"
            for n, each in enumerate(fails, 1)
        ]
        body = "\n".join([_IMPORTS[is_module].get(runner, ""), *lines, ""])
        load = "await import" if is_module and runner != "jest" else "require"
        for each in loads:
            near = posixpath.relpath(each, folder or ".")
            body += (
                f"try {{ {load}('{near if near.startswith('.') else f'./{near}'}') }} catch {{}}\n"
            )
        return _put(folder, _sibling(path, word), body, word, len(fails))
    return None


def _sibling(path: str, word: str) -> str:
    """Return a name that the patterns for a test file also match: only its stem changes."""
    stem, dot, rest = posixpath.basename(path).partition(".")
    start = "test-zz" if stem in ("test", "tests") else "zz"
    return f"{start}-{word}{dot}{rest}"


def _put(folder: str, name: str, text: str, word: str, tests: int = 2) -> Canary:
    return Canary(posixpath.join(folder, name), text, word, tests)
