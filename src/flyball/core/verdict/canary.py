"""Tests that must fail, put beside a suite: if they do not, the run is no evidence.

Product code can patch the runner, forge its report or end the process; whatever it does to make
failing tests pass, it does to these, too. Their names are drawn anew for every run.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple


class Canary(NamedTuple):
    """One file to put into a checkout, and a word that the names of its failing tests hold."""

    path: str
    text: str
    word: str


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
_JS = {
    "jest": "test('{word} one', () => {{ expect('{word}'.length).toBe(0) }})\n"
    "test('{word} two', () => {{ throw new Error('{word}') }})\n",
    "vitest": "import {{ test, expect }} from 'vitest'\n"
    "test('{word} one', () => {{ expect('{word}'.length).toBe(0) }})\n"
    "test('{word} two', () => {{ throw new Error('{word}') }})\n",
    "mocha": "it('{word} one', function () {{ throw new Error('{word}') }})\n"
    "it('{word} two', function (done) {{ done(new Error('{word}')) }})\n",
    "ava": "{ava}\ntest('{word} one', t => {{ t.is('{word}'.length, 0) }})\n"
    "test('{word} two', t => {{ t.fail('{word}') }})\n",
    "node": "{node}\ntest('{word} one', () => {{ throw new Error('{word}') }})\n"
    "test('{word} two', async () => {{ throw new Error('{word}') }})\n",
}
_IMPORTS = {
    True: {"ava": "import test from 'ava'", "node": "import test from 'node:test'"},
    False: {"ava": "const test = require('ava')", "node": "const test = require('node:test')"},
}
_ESM = re.compile(r"^\s*(?:import\s|export\s)", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)


def canary_for(runner: str, tests: Iterable[tuple[str, str]], word: str) -> Canary | None:
    """A file of failing tests beside one of the suite's own; None where none can be made.

    `tests` are the suite's test files with their texts, `word` a lower-case word drawn for this
    run. The folder with the most tests is taken, since a suite surely looks there; the names come
    last in it, so that a suite that stops at its first failure has run before.
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
        body = _JS[runner].format(word=word, **_IMPORTS[is_module])
        return _put(folder, _sibling(path, word), body, word)
    return None


def _sibling(path: str, word: str) -> str:
    """A name that the patterns which found one test file find, too: all but its stem stays."""
    stem, dot, rest = posixpath.basename(path).partition(".")
    start = "test-zz" if stem in ("test", "tests") else "zz"
    return f"{start}-{word}{dot}{rest}"


def _put(folder: str, name: str, text: str, word: str) -> Canary:
    return Canary(posixpath.join(folder, name), text, word)
