"""Read a journal's file without waiting, for shell completion."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

PATIENCE = 0.2
"""How many seconds another process may hold the file: a key press expects an answer."""


class NamedRun(NamedTuple):
    """A run's name and its request."""

    run: str
    request: str


def newest_runs(path: Path, most: int) -> tuple[NamedRun, ...]:
    """Return a journal's newest runs, newest first; none if it is locked or unreadable."""
    # Neither made nor migrated, as nothing may come of a key that was pressed.
    where = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with closing(sqlite3.connect(where, uri=True, timeout=PATIENCE)) as db:
            rows = db.execute(
                "SELECT run, request FROM runs ORDER BY created_at DESC, rowid DESC LIMIT ?",
                (most,),
            ).fetchall()
    except sqlite3.Error:
        return ()
    return tuple(NamedRun(*row) for row in rows)


def resolve_run(found: Sequence[NamedRun], name: str) -> str:
    """Return the run that a name refers to: whole, a prefix, or `last`; empty if it is not
    unique."""
    names = [each.run for each in found]
    if name == "last" and names:
        return names[0]
    if name in names:
        return name
    meant = [run for run in names if name and (run.startswith(name) or run.endswith(name))]
    return meant[0] if len(meant) == 1 else ""
