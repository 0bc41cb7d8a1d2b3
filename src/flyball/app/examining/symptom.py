"""What an examination says of one thing: a line for a person, and whether Flyball works with it."""

from __future__ import annotations

from typing import NamedTuple


class Symptom(NamedTuple):
    """One thing that was looked at: what was seen, and what to do where something is amiss."""

    name: str
    holds: bool
    seen: str
    hint: str = ""
    blocks: bool = False
    """Whether it keeps Flyball from working here; what does not is only worth knowing."""


def fine(name: str, seen: str) -> Symptom:
    """Nothing to do."""
    return Symptom(name, True, seen)


def note(name: str, seen: str, hint: str) -> Symptom:
    """Worth knowing: Flyball works, and this says how it differs."""
    return Symptom(name, False, seen, hint)


def trouble(name: str, seen: str, hint: str) -> Symptom:
    """Something that must be mended before Flyball can do its work."""
    return Symptom(name, False, seen, hint, True)


def listed(names: list[str], most: int = 3) -> str:
    """A few names, and how many more there are."""
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest
