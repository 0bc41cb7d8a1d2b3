"""Rank lines by how suspicious they are, from the tests that run them and how those fail."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from flyball.regex import regex
from flyball.repair.source import Source, expressions, own_lines
from flyball.terms.test_paths import is_test_path

NONE = "none"
ENDLESS = "endless"

_ERROR = regex(r"^(?:E\s+)?([A-Za-z_][\w.]*(?:Error|Exception|Iteration))\b(.*)$", re.M)


def error_kinds(reasons: Iterable[str]) -> frozenset[str]:
    """Return the kinds of error that failing tests ended with."""
    found: set[str] = set()
    for why in reasons:
        if why == "time":
            found.add(ENDLESS)
            continue
        errors = _ERROR.findall(why)
        if errors:
            # The last one: those before it are causes that were handled on the way.
            name, message = errors[-1]
            found.add(NONE if "NoneType" in message else name.rpartition(".")[2])
    return frozenset(found)


# `rank_lines` scores by Ochiai over the traced tests and corrects it by what is known of
# statements; `add_signs` raises lines where a trial change did some good. The constants below are
# the weights.

ENDED_BADLY = frozenset({"fail", "time", "crash"})
DEEPEST = 0.25
ON_TRACE = 0.12
EARLY = 0.8
"""How much a failing test counts for lines that it ran only before what failed."""
HEADS = 0.9
"""How suspicious the head of a block is, relative to its body."""
DEFINED = 0.6
"""How suspicious a definition is, relative to the line that uses it."""
HOLLOW = 0.5
"""How suspicious a line such as `try` is, which means nothing without what follows it."""
TELLING = 0.8
"""How suspicious a line is that only reports a fault: it raises, or belongs to an exception."""
IDLE = 1.3
"""How much more suspicious a line is whose computed value is unused."""

Key = tuple[str, int]
ACTIONS = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
ERRORS = ("Error", "Exception", "Warning")
FRAMES = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Try, ast.Import, ast.ImportFrom,
    ast.Global, ast.Nonlocal,
)  # fmt: skip


class Traced(msgspec.Struct, frozen=True):
    """One traced test."""

    name: str
    end: str
    frames: tuple[tuple[str, int], ...] = ()
    lines: dict[str, tuple[int, ...]] = {}
    late: dict[str, tuple[int, ...]] = {}
    """The lines that ran after the last test line that passed, if known."""

    @property
    def has_failed(self) -> bool:
        return self.end in ENDED_BADLY


class SuspectLine(NamedTuple):
    """A line and its suspiciousness, at most 1."""

    path: str
    line: int
    score: float


class Sign(NamedTuple):
    """Other evidence against a statement, and the lines it points to."""

    path: str
    line: int
    score: float
    at: int


def rank_lines(tests: Sequence[Traced], sources: Mapping[str, Source]) -> list[SuspectLine]:
    """Rank statements by suspiciousness: Ochiai over the tests, raised where a traceback ended."""
    best = _ochiai_scores(tests, sources)
    # A condition that is wrong lets the wrong lines run, and a wrong constant is never run at all:
    # the tests accuse neither, so both take a share of what they led to.
    for key, score in [*_heads(best, sources), *_definitions(best, sources)]:
        best[key] = max(best.get(key, 0.0), score)
    parts: dict[Key, int] = {}
    for (path, line), score in best.items():
        node = sources[path].statement_at(line)
        parts[path, line] = sum(1 for _ in expressions(node)) if node else 0
        if node:
            best[path, line] = score * _share(node, parts[path, line], sources[path])
    top = max(best.values(), default=1.0)
    places = [SuspectLine(path, line, score / top) for (path, line), score in best.items()]
    # Rounded, since scores that differ in the third digit say nothing; then the line with more in
    # it, where more can be wrong; then by place, so that the order never depends on a dictionary.
    return sorted(places, key=lambda place: (-round(place.score, 2), -parts[place[:2]], *place))


def _share(node: ast.stmt, parts: int, source: Source) -> float:
    """Return the share of its score that a statement keeps: some only report a fault, or start a
    block."""
    if isinstance(node, FRAMES) and not parts:
        return HOLLOW
    if isinstance(node, ast.Expr) and not any(isinstance(each, ACTIONS) for each in ast.walk(node)):
        return IDLE
    around = source.class_of(node)
    is_told = around and any(_name(base).endswith(ERRORS) for base in around.bases)
    return TELLING if is_told or isinstance(node, ast.Raise) else 1.0


def _name(node: ast.expr) -> str:
    return getattr(node, "attr", getattr(node, "id", ""))


def add_signs(places: Sequence[SuspectLine], signs: Iterable[Sign]) -> list[SuspectLine]:
    """Return the places with the results of trial changes added to their scores, worst first."""
    more = {(sign.path, sign.line): sign for sign in signs}
    found: list[SuspectLine] = []
    for place in places:
        sign = more.get(place[:2])
        found.append(SuspectLine(sign.path, sign.at, place.score + sign.score) if sign else place)
    top = max((place.score for place in found), default=1.0)
    found = [place._replace(score=place.score / top) for place in found]
    return sorted(found, key=lambda place: -round(place.score, 2))


def _ochiai_scores(tests: Sequence[Traced], sources: Mapping[str, Source]) -> dict[Key, float]:
    """Return the score of each statement that failing tests run, from the tests that run it."""
    failing = [test for test in tests if test.has_failed]
    ran_red, ran_green = _count_failing(failing), count_passing(tests)
    deepest, on_trace = _traceback_shares(failing)
    best: dict[Key, float] = {}
    for (path, line), red in ran_red.items():
        source = sources.get(path)
        node = source.statement_at(line) if source else None
        if node is None:
            continue
        # Ochiai: the share of failing tests that run the line, against how many tests run it at
        # all.
        score = red / math.sqrt(len(failing) * (red + ran_green[path, line]))
        lines = range(own_lines(node)[0], own_lines(node)[1] + 1)
        score += DEEPEST * max((deepest[path, each] for each in lines), default=0.0)
        score += ON_TRACE * max((on_trace[path, each] for each in lines), default=0.0)
        key = (path, node.lineno)
        best[key] = max(best.get(key, 0.0), score)
    return best


def _heads(best: Mapping[Key, float], sources: Mapping[str, Source]) -> Iterator[tuple[Key, float]]:
    """Yield the conditions and loops around suspicious lines, nearest first."""
    for (path, line), score in best.items():
        source = sources[path]
        node = source.statement_at(line)
        above = source.parent.get(node) if node else None
        while isinstance(above, ast.If | ast.While | ast.For | ast.With | ast.Try):
            if not isinstance(above, ast.With | ast.Try):
                score *= HEADS
                yield (path, above.lineno), score
            above = source.parent.get(above)


def _definitions(
    best: Mapping[Key, float], sources: Mapping[str, Source]
) -> Iterator[tuple[Key, float]]:
    """Yield definitions that suspicious lines use and no test runs: constants, and defaults."""
    for (path, line), score in best.items():
        source = sources[path]
        node = source.statement_at(line)
        for line in source.definitions_for(node) if node else ():
            yield (path, line), DEFINED * score


def count_passing(tests: Sequence[Traced]) -> Counter[Key]:
    """Return how many passing tests run each line."""
    found: Counter[Key] = Counter()
    for test in tests:
        if test.end == "pass":
            found.update(_project_lines(test.lines))
    return found


def _count_failing(failing: Sequence[Traced]) -> dict[Key, float]:
    """Count the failing tests that run each line; code that ran long before the failure counts
    less."""
    found: dict[Key, float] = {}
    for test in failing:
        # What ran before the last assertion that went well has been checked, to some degree.
        late = set(_project_lines(test.late or test.lines))
        for key in _project_lines(test.lines):
            found[key] = found.get(key, 0.0) + (1.0 if key in late else EARLY)
    return found


def _project_lines(lines: Mapping[str, Iterable[int]]) -> Iterator[Key]:
    """Yield lines of the project, without its tests."""
    for path, numbers in lines.items():
        if not is_test_path(path):
            yield from ((path, number) for number in numbers)


def _traceback_shares(failing: Sequence[Traced]) -> tuple[Counter[Any], Counter[Any]]:
    """Return the share of failing tests whose traceback ends at, or goes through, a line."""
    deepest: Counter[Any] = Counter()
    through: Counter[Any] = Counter()
    for test in failing:
        ours = [frame for frame in test.frames if not is_test_path(frame[0])]
        if ours:
            deepest[ours[-1]] += 1 / len(failing)  # type: ignore[assignment]
            for frame in set(ours):
                through[frame] += 1 / len(failing)  # type: ignore[assignment]
    return deepest, through
