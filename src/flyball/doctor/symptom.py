"""The result of one check: a line for a person, and whether it prevents Flyball from working."""

from __future__ import annotations

from typing import NamedTuple


class Symptom(NamedTuple):
    """The result of one check: what was found, and how to fix it if there is a problem."""

    name: str
    holds: bool
    seen: str
    hint: str = ""
    blocks: bool = False
    """Whether it prevents Flyball from working here; otherwise it is only a note."""


def fine(name: str, seen: str) -> Symptom:
    """Return a result that needs no action."""
    return Symptom(name, True, seen)


def note(name: str, seen: str, hint: str) -> Symptom:
    """Return a note: Flyball works, but with this restriction."""
    return Symptom(name, False, seen, hint)


def trouble(name: str, seen: str, hint: str) -> Symptom:
    """Return a problem that must be fixed before Flyball can work."""
    return Symptom(name, False, seen, hint, True)


def listed(names: list[str], most: int = 3) -> str:
    """Return the first few names, and the number of others."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
