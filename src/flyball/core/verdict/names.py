"""Names of tests, as findings speak of them."""

from __future__ import annotations

from collections.abc import Iterable

SHOWN_NAMES = 5


def file_of(name: str) -> str:
    return name.partition("::")[0]


def listed(names: Iterable[str]) -> str:
    found = sorted(names)
    more = len(found) - SHOWN_NAMES
    said = ", ".join(found[:SHOWN_NAMES])
    return f"{said} and {more} more" if more > 0 else said
