"""Texts that a terminal would obey, paths of tests, patterns, and lines about progress."""

from __future__ import annotations

import pytest

from flyball.terms.glob import matches
from flyball.terms.printable import printable
from flyball.terms.progress import Progress
from flyball.terms.test_paths import is_support


def test_controls_are_written_as_escapes():
    assert printable("a\x1b]0;title\x07b\n") == "a\\u001b]0;title\\u0007b\n"


def test_progress_tells_count_and_the_time_before():
    far = Progress("pytest", 12.4, before=30.0, done=3, of=9)
    assert far.text == "pytest: 3 of 9 tests, 12 s (last time 30 s)"
    assert Progress("opening", 2.0, done=4, unit="files").text == "opening: 4 files, 2 s"
    assert Progress("opening", 2.0).text == "opening: 2 s"
    line = far.line("step-1", "c1")
    assert (line["type"], line["card"], line["call"], line["done"]) == (
        "progress",
        "step-1",
        "c1",
        3,
    )


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("tests/test_cart.py", False),
        ("tests/conftest.py", False),
        ("tests/fixtures/a.json", True),
        ("src/cart.py", False),
    ],
)
def test_support_of_tests_is_told_by_its_place(path: str, is_one: bool):
    assert is_support(path) is is_one


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("src/a.py", "src/*.py", True),
        ("src/x/a.py", "src/*.py", False),
        ("src/x/a.py", "src/**/*.py", True),
        ("src/a.py", "src/**/*.py", True),
        ("src/x/a.py", "src", True),
        ("src/x/a.py", "src/", True),
        ("src/x/a.py", "src/**", True),
        ("srcx/a.py", "src", False),
        ("a.py", "?.py", True),
        ("ab.py", "?.py", False),
        ("deep/down/.env", "**/.env", True),
        (".env", "**/.env", True),
        ("./src/a.py", "./src/a.py", True),
        ("a+b.py", "a+b.py", True),
        ("aab.py", "a+b.py", False),
        ("any/thing", "**", True),
        ("app/[id]/page.tsx", "app/[id]/*.tsx", True),
        ("app/i/page.tsx", "app/[id]/*.tsx", False),
    ],
)
def test_pattern_names_path(path, pattern, expected):
    assert matches(path, [pattern]) is expected


def test_no_pattern_names_nothing():
    assert not matches("a", [])
