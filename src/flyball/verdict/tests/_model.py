"""The model of a test, for all languages."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from flyball.verdict.tests._tree import Node


class Reach(IntEnum):
    """Whether an assertion can fail its test: always, in one of two branches, sometimes, never."""

    DEAD = 0
    SWALLOWED = 1
    CONDITIONAL = 2
    EITHER = 3
    LIVE = 4


class Assertion(NamedTuple):
    """The tested expression, the comparison, and the expected value.

    `form` is the way it is written: a `comparison` or a `truth` that is asserted, a `call`, a
    `chain` of calls, a `condition` under which the test fails, or `output` that must be printed.
    """

    op: str
    subject: str
    expected: tuple[str, ...]
    strength: int
    form: str
    node: Node
    """The whole assertion."""
    wanted: Node | None = None
    """Its expected side, where that is one expression."""
    claim: Node | None = None
    """The expression that is asserted, where the assertion is about more than one."""
    tolerance: float | None = None
    reach: Reach = Reach.LIVE

    @property
    def key(self) -> tuple[object, ...]:
        """Return the key by which two assertions count as the same."""
        return (self.op, self.subject, self.expected, self.tolerance)

    @property
    def line(self) -> int:
        return self.node.line

    @property
    def text(self) -> str:
        return self.node.text

    @property
    def plain(self) -> str:
        """Return the whole assertion in one line, to compare shapes."""
        return f"{self.op}({','.join((self.subject, *self.expected))})"


class Skip(NamedTuple):
    """A place where a test is skipped; with `is_focus`, all others are."""

    text: str
    line: int
    is_focus: bool = False


class TestCase(NamedTuple):
    """One test, or a helper that tests call, or the rest of a file."""

    __test__ = False

    path: str
    suites: tuple[str, ...]
    name: str
    text: str
    line: int
    last_line: int
    assertions: tuple[Assertion, ...] = ()
    rows: tuple[str, ...] = ()
    skips: tuple[Skip, ...] = ()
    steps: tuple[str, ...] = ()
    """Its statements that assert nothing, without layout."""
    calls: frozenset[str] = frozenset()
    is_test: bool = True
    node: Node | None = None
    body: Node | None = None

    @property
    def place(self) -> tuple[str, ...]:
        return (*self.suites, self.name) if self.name else self.suites

    @property
    def id(self) -> str:
        """Return the test as reports name it: file, suites, name."""
        return "::".join((self.path, *self.place))
