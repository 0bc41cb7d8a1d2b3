"""Sets of names, written as one string."""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    """Return the blank-separated names in a text."""
    return frozenset(text.split())
