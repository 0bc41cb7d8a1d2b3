"""Looking at a journal's file without bringing it to the present schema: can it be used?"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from flyball.errors import Corrupt, SchemaTooNew
from flyball.journal.migrations import MIGRATIONS
from flyball.journal.sqlite import DAMAGED, explain_sqlite

PATIENCE = 1.0
"""Seconds that another process may hold the file: one write takes a few milliseconds."""


def require_usable(path: Path, patience: float = PATIENCE) -> int:
    """The schema of a journal that can be read and written; why it cannot is a `JournalError`."""
    # Neither made nor migrated: whoever only looks leaves the file to the release that wrote it.
    where = f"{path.absolute().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(where, uri=True, isolation_level=None)) as db:
            db.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
            version = _known_schema(db, path)
            _require_whole(db, path)
            db.execute("BEGIN IMMEDIATE")
            db.execute("ROLLBACK")
            return version
    except sqlite3.DatabaseError as error:
        raise explain_sqlite(path, error) from error


def _known_schema(db: sqlite3.Connection, path: Path) -> int:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > len(MIGRATIONS):
        raise SchemaTooNew(
            f"{path} was written by a later release (schema {version}, this one knows "
            f"{len(MIGRATIONS)}).",
            "Upgrade flyball.",
        )
    return version


def _require_whole(db: sqlite3.Connection, path: Path) -> None:
    (said,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if said != "ok":
        raise Corrupt(f"The journal {path} is damaged: {said}.", DAMAGED.format(path))
