"""Texts that a terminal would obey, paths of tests, and lines about how far something is."""

from __future__ import annotations

import pytest

from flyball.core.terms.printable import printable
from flyball.core.terms.progress import Progress
from flyball.core.terms.test_paths import is_support


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
