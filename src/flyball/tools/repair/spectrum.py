"""Where the fault is likely to be: lines that failing tests run and passing ones do not."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from flyball.core.weakening import is_test_path
from flyball.tools.repair.source import Source, expressions, own_lines

ENDED_BADLY = frozenset({"fail", "time", "crash"})
DEEPEST = 0.25
ON_TRACE = 0.12
DEFINED = 0.6
"""How suspicious a definition is beside the line that goes by it."""


class Traced(msgspec.Struct, frozen=True):
    """One test as it was seen to run."""

    name: str
    end: str
    frames: tuple[tuple[str, int], ...] = ()
    lines: dict[str, tuple[int, ...]] = {}

    @property
    def has_failed(self) -> bool:
        return self.end in ENDED_BADLY


class Place(NamedTuple):
    """A line, and how suspicious it is: 1 is as suspicious as can be."""

    path: str
    line: int
    score: float


def suspicious(tests: Sequence[Traced], sources: Mapping[str, Source]) -> list[Place]:
    """Statements by suspicion: Ochiai over the tests, raised where a traceback ended."""
    failing = [test for test in tests if test.has_failed]
    passing = [test for test in tests if test.end == "pass"]
    ran_red, ran_green = _count(failing), _count(passing)
    deepest, on_trace = _frames(failing)
    best: dict[tuple[str, int], float] = {}
    for (path, line), red in ran_red.items():
        source = sources.get(path)
        node = source.statement_at(line) if source else None
        if node is None:
            continue
        score = red / math.sqrt(len(failing) * (red + ran_green[path, line]))
        lines = range(own_lines(node)[0], own_lines(node)[1] + 1)
        score += DEEPEST * max((deepest[path, each] for each in lines), default=0.0)
        score += ON_TRACE * max((on_trace[path, each] for each in lines), default=0.0)
        key = (path, node.lineno)
        best[key] = max(best.get(key, 0.0), score)
    for key, score in _definitions(best, sources):
        best[key] = max(best.get(key, 0.0), score)
    top = max(best.values(), default=1.0)
    places = [Place(path, line, score / top) for (path, line), score in best.items()]
    return sorted(
        places, key=lambda place: (-round(place.score, 2), -_parts(place, sources), *place)
    )


def _parts(place: Place, sources: Mapping[str, Source]) -> int:
    """Of how many parts a statement is made: of two as suspicious, more can be wrong with one."""
    node = sources[place.path].statement_at(place.line)
    return sum(1 for _ in expressions(node)) if node else 0


def _definitions(
    best: Mapping[tuple[str, int], float], sources: Mapping[str, Source]
) -> list[tuple[tuple[str, int], float]]:
    """What suspicious lines go by and no test runs: constants, and defaults of their function."""
    found: list[tuple[tuple[str, int], float]] = []
    for (path, line), score in best.items():
        source = sources[path]
        node = source.statement_at(line)
        for line in source.definitions_for(node) if node else ():
            found.append(((path, line), DEFINED * score))
    return found


def passing_at(tests: Sequence[Traced]) -> Mapping[tuple[str, int], int]:
    """How many passing tests run each line."""
    return _count([test for test in tests if test.end == "pass"])


def _count(tests: Sequence[Traced]) -> Counter[tuple[str, int]]:
    found: Counter[tuple[str, int]] = Counter()
    for test in tests:
        for path, lines in test.lines.items():
            if not is_test_path(path):
                found.update((path, line) for line in lines)
    return found


def _frames(failing: Sequence[Traced]) -> tuple[Counter[Any], Counter[Any]]:
    """The share of failing tests whose traceback ends at, or goes through, a line."""
    deepest: Counter[Any] = Counter()
    through: Counter[Any] = Counter()
    for test in failing:
        ours = [frame for frame in test.frames if not is_test_path(frame[0])]
        if ours:
            deepest[ours[-1]] += 1 / len(failing)  # type: ignore[assignment]
            for frame in set(ours):
                through[frame] += 1 / len(failing)  # type: ignore[assignment]
    return deepest, through
