"""What a change gained in test files read by their styles, for what only moved there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from flyball.core.weakening.reach import Reach
from flyball.core.weakening.renames import Renames
from flyball.core.weakening.styles import Demand, Script
from flyball.core.weakening.styles.layers import values_of, without_names

Pool = Counter[tuple[object, ...]]


NEAR = 60
"""How many candidates are looked at: a test may have thousands of rows or assertions."""


class ValueIndex:
    """Rows by the values they hold, so that one among thousands is found at once."""

    def __init__(self, rows: Iterable[str]) -> None:
        self._holders: defaultdict[str, list[str]] = defaultdict(list)
        for row in rows:
            for value in set(values_of(row)):
                self._holders[value].append(row)

    def around(self, row: str) -> list[str]:
        """Those that hold its rarest value."""
        holders = [self._holders.get(value, []) for value in values_of(row)]
        return min(holders, key=len)[:NEAR] if holders else []

    def holds(self, row: str) -> bool:
        """Whether every value of a row stands in one of them, in the same order."""
        return any(is_within(row, other) for other in self.around(row))


class ScriptComparing(NamedTuple):
    """What all comparisons of one change share; both pools are used up as things are found."""

    renames: Renames
    demands: Pool
    rows: Counter[str]
    moved: ValueIndex
    helped: frozenset[str]
    helpers: frozenset[str]
    features: frozenset[str]
    """What the project can be built with or without."""


def gained_demands(before: Mapping[str, Script], after: Mapping[str, Script]) -> Pool:
    """What tests gained; an assertion that only went over to another test is among it."""
    gained = _demands(after) - _demands(before)
    return Counter(key[1] for key in gained.elements())


def gained_helpers(before: Mapping[str, Script], after: Mapping[str, Script]) -> frozenset[str]:
    """What is newly asserted beside tests, whatever its variables are called."""

    def shapes(scripts: Mapping[str, Script]) -> set[str]:
        rest = [b for s in scripts.values() for b in s.blocks if not b.is_test]
        return {without_names(d.plain) for b in rest for d in b.demands if counts(d)}

    return frozenset(shapes(after) - shapes(before))


def _demands(scripts: Mapping[str, Script]) -> Counter[tuple[object, tuple[object, ...]]]:
    pieces = [piece for script in scripts.values() for piece in script.blocks]
    return Counter(((p.path, p.place), d.key) for p in pieces for d in p.demands if counts(d))


def gained_rows(before: Mapping[str, Script], after: Mapping[str, Script]) -> Counter[str]:
    """Rows that tests gained; one that only went over to another test is among them."""

    def rows(scripts: Mapping[str, Script]) -> Counter[tuple[str, ...]]:
        pieces = [piece for script in scripts.values() for piece in script.blocks]
        return Counter((p.path, *p.place, r.text) for p in pieces for r in p.rows)

    gained = rows(after) - rows(before)
    return Counter(key[-1] for key in gained.elements())


def counts(demand: Demand) -> bool:
    return demand.reach >= Reach.CONDITIONAL and demand.strength > 0


def is_within(row: str, other: str) -> bool:
    """Whether every value of a row stands in another, in the same order."""
    values = iter(values_of(other))
    return all(value in values for value in values_of(row))
