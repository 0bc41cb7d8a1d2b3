"""How one test of a change compares with what it was before."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Comparison(StrEnum):
    """What became of a test's demands, from harmless to grave."""

    SAME = "same"
    ADDED = "added"
    STRONGER = "stronger"
    OTHER_EXPECTATION = "other-expectation"
    """As strong as before, about another value."""
    NOT_UNDERSTOOD = "not-understood"
    """It changed, and no known style of assertion explains how."""
    WEAKER = "weaker"
    SKIPPED = "skipped"
    GONE = "gone"


class ChangedTest(NamedTuple):
    """One test whose text changed, with both texts; `became` is its name where it moved."""

    path: str
    function: str
    comparison: Comparison
    sentence: str
    before: str = ""
    after: str = ""
    suite: tuple[str, ...] = ()
    became: str = ""

    @property
    def name(self) -> str:
        """The test as reports name it: file, suites, function. Without a function, the file."""
        return "::".join(each for each in (self.path, *self.suite, self.function) if each)
