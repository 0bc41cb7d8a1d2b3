"""A journal that forgets: for tests, simulations and library users."""

from __future__ import annotations

from pathlib import Path

from flyball.journal.sqlite import SqliteJournal


def memory_journal() -> SqliteJournal:
    """The same journal, in memory only."""
    return SqliteJournal(Path(":memory:"))
