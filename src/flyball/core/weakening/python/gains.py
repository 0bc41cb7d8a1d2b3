"""What a change gained in Python tests, for what only moved there."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from flyball.core.weakening.python.routine import Module, Routine
from flyball.core.weakening.python.strength import renamed
from flyball.core.weakening.python.tables import expanded, row_values
from flyball.core.weakening.reach import Reach
from flyball.core.weakening.renames import Renames

Pool = Counter[tuple[object, ...]]


class ModuleComparing(NamedTuple):
    """What all comparisons of one change share; the pool is used up as things are found."""

    renames: Renames
    pool: Pool
    helped: frozenset[tuple[str, ...]]
    rows: frozenset[tuple[str, ...]]


def new_assertions(before: Mapping[str, Module], after: Mapping[str, Module]) -> Pool:
    """Assertions that functions gained, for those that only moved from one to another."""
    pool: Pool = Counter()
    for path, module in after.items():
        for name, routine in module.routines.items():
            if routine.is_collected or name.split(".")[-1] in module.used:
                earlier = before[path].routines.get(name) if path in before else None
                pool += asserted(routine) - (asserted(earlier) if earlier else Counter())
    return pool


def new_helpers(
    before: Mapping[str, Module], after: Mapping[str, Module]
) -> frozenset[tuple[str, ...]]:
    """What new functions assert on behalf of tests, whatever they call their variables."""
    return frozenset(
        renamed(assertion)
        for path, module in after.items()
        for name, routine in module.routines.items()
        if not routine.is_collected
        and name.split(".")[-1] in module.used
        and (path not in before or name not in before[path].routines)
        for assertion in routine.assertions
    )


def new_rows(
    before: Mapping[str, Module], after: Mapping[str, Module]
) -> frozenset[tuple[str, ...]]:
    """Rows that some table gained; a row that went over to it says something else now."""

    def tables(modules: Mapping[str, Module]) -> Counter[tuple[str, ...]]:
        routines = [r for m in modules.values() for r in m.routines.values()]
        return Counter((r.name, *row_texts(row)) for r in routines for row in r.cases)

    return frozenset(key[1:] for key in tables(after) - tables(before))


def asserted(routine: Routine) -> Pool:
    """What it asserts, for each row where it runs over a table."""
    able = [a for a in routine.assertions if a.reach >= Reach.CONDITIONAL and a.op != "tautology"]
    own = Counter(assertion.key for assertion in able)
    rows = Counter(key for a in able for key in expanded(a, routine.tables) if key not in own)
    return own + rows


def row_texts(node: ast.expr) -> tuple[str, ...]:
    return tuple(map(ast.unparse, row_values(node)))
