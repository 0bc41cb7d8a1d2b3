"""Every promise of the README has a witness, and every witness exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from bench.__main__ import BENCHES

ROOT = Path(__file__).parents[2]
README = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| (?!promise|---)(.+?) \| (.+) \|$", PAGE, re.MULTILINE))
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
BENCH = re.compile(r"`([a-z_]+)`")


@pytest.mark.parametrize("promise", ROWS)
def test_a_promise_is_in_the_readme_and_has_witnesses(promise: str):
    assert promise in README.replace("**", ""), "the README does not say this any more"
    assert TEST.search(ROWS[promise]), "a promise needs a test that fails if it is untrue"


@pytest.mark.parametrize("promise", ROWS)
def test_every_witness_exists(promise: str):
    for path, name in TEST.findall(ROWS[promise]):
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        functions = {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        assert name in functions, f"{path} has no {name}"
    rest = TEST.sub("", ROWS[promise])
    named = BENCH.findall(rest)
    assert [name for name in named if name not in BENCHES] == []
    assert bool(named) == ("bench" in rest)


def test_every_promise_that_the_readme_lists_has_a_row():
    """The paragraph of what you get, and the bold words of how it works."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    section = text.split("## How it works")[1].split("\n## ")[0]
    listed = re.findall(r"^- \*\*(.+?)\*\*", section, re.MULTILINE)
    assert len(listed) >= 5
    assert [words for words in listed if words not in ROWS] == []
    sold = " ".join(text.split("What you get:")[1].split("\n\n")[0].split())
    kept = [promise for promise in ROWS if promise in sold.replace("**", "")]
    assert len(kept) == sold.count(",") + 2, "each part of what you get has a row of its own"
