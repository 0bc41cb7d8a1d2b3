"""Find literals and names in pieces of code without layout."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from flyball.regex import regex

LITERAL = regex(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`|(?<![\w.])-?\d[\w.]*"
    r"|\b(?:true|false|null|nil|None|True|False|undefined|NULL|nullptr)\b"
)
VARIABLE = regex(r"(?<![\w.$\"'>])[A-Za-z_$]\w*(?![\w(!\"'])")
NEAR = 60
"""The most candidates to compare: a test may have thousands of rows or assertions."""


@lru_cache(maxsize=20_000)
def values_of(text: str) -> tuple[str, ...]:
    """Return the literals in some code."""
    return tuple(LITERAL.findall(text))


def without_literals(text: str) -> str:
    """Return the shape of some code, ignoring its values."""
    return LITERAL.sub("_", text)


def without_names(text: str) -> str:
    """Return the shape of some code, ignoring the names of variables; strings are kept."""
    parts = re.split(r"(\"(?:\\.|[^\"\\])*\")", text)
    return "".join(p if n % 2 else VARIABLE.sub("_", p) for n, p in enumerate(parts))


def is_values(text: str) -> bool:
    """Return whether some code consists only of values."""
    return bool(text) and not re.search(r"[A-Za-z_$]", LITERAL.sub("", text))


def is_within(row: str, other: str) -> bool:
    """Return whether every value of a row occurs in another, in the same order."""
    values = iter(values_of(other))
    return all(value in values for value in values_of(row))


class ValueIndex:
    """Indexes rows by their values, to find one among thousands at once."""

    def __init__(self, rows: Iterable[str]) -> None:
        self._holders: defaultdict[str, list[str]] = defaultdict(list)
        for row in rows:
            for value in set(values_of(row)):
                self._holders[value].append(row)

    def around(self, row: str) -> list[str]:
        """Return the rows that contain its rarest value."""
        holders = [self._holders.get(value, []) for value in values_of(row)]
        return min(holders, key=len)[:NEAR] if holders else []

    def holds(self, row: str) -> bool:
        """Return whether every value of a row occurs in one of them, in the same order."""
        return any(is_within(row, other) for other in self.around(row))
