"""People and their decisions in a cluster's database, shared by every board that uses it."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import msgspec

from flyball.app.people.decisions import NotedDecision
from flyball.app.people.person import Change, Person, name_taken, unknown_person
from flyball.journal.connection import Connection, PostgresLink

PATIENCE = 5.0
"""Seconds to wait for an unavailable database, while a request waits."""

COLUMNS = "name, digest, grants, added_at, added_by"


class PostgresPeople:
    """The people of a database; a change applies to the next request, on every machine."""

    def __init__(self, url: str) -> None:
        self._link = PostgresLink(url, patience=PATIENCE)

    def all(self) -> Sequence[Person]:
        """Return all people, sorted by name; raise if the database does not respond."""

        def action(db: Connection, _: bool) -> Sequence[Person]:
            # By the bytes of the name, as for files: the database may use another order.
            rows = db.execute(f'SELECT {COLUMNS} FROM people ORDER BY name COLLATE "C"'.encode())
            return [_person(row) for row in rows.fetchall()]

        return self._link.ask(action)

    def add(self, person: Person) -> None:
        """Add a person; raise `Conflict` if the name is taken."""

        def action(db: Connection, is_again: bool) -> None:
            added = db.execute(
                f"INSERT INTO people ({COLUMNS}) VALUES (%s, %s, %s, %s, %s)"
                " ON CONFLICT DO NOTHING",
                (
                    person.name,
                    person.digest,
                    _json(person.grants),
                    person.added_at,
                    person.added_by,
                ),
            )
            # Our own first attempt may have succeeded before the connection broke.
            if added.rowcount != 1 and not (is_again and _named(db, person.name) == person):
                raise name_taken(person.name)

        self._link.ask(action)

    def change(self, name: str, action: Change) -> Person:
        """Apply `action` to a person and store the result; raise `NotFound` if the name is
        unknown.
        """

        def asked(db: Connection, _: bool) -> Person:
            with db.transaction():
                known = _named(db, name, "FOR UPDATE")
                if known is None:
                    raise unknown_person(name)
                changed = action(known)
                db.execute(
                    "UPDATE people SET digest = %s, grants = %s WHERE name = %s",
                    (changed.digest, _json(changed.grants), name),
                )
                return changed

        return self._link.ask(asked)

    def remove(self, name: str) -> bool:
        """Remove a person immediately; return whether they existed."""
        return self._link.ask(
            lambda db, is_again: (
                db.execute("DELETE FROM people WHERE name = %s", (name,)).rowcount == 1 or is_again
            )
        )

    def close(self) -> None:
        """Close the connection."""
        self._link.close()


def note(url: str, noted: NotedDecision) -> None:
    """Record a decision where every board of the database reads it."""
    # The same key in each attempt, so that a decision is recorded once.
    values = (*msgspec.structs.astuple(noted), secrets.token_hex(16))
    with closing(PostgresLink(url, patience=PATIENCE)) as link:
        link.ask(
            lambda db, _: db.execute(
                "INSERT INTO decisions (run, at, by_whom, what, card, key)"
                " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                values,
            )
        )


def noted_about(url: str, run: str) -> Sequence[NotedDecision]:
    """Return the recorded decisions about a run, oldest first."""
    statement = "SELECT run, at, by_whom, what, card FROM decisions WHERE run = %s ORDER BY id"
    with closing(PostgresLink(url, patience=PATIENCE)) as link:
        rows = link.ask(lambda db, _: db.execute(statement, (run,)).fetchall())
    return [NotedDecision(*row) for row in rows]


def runs_noted(url: str, what: str) -> frozenset[str]:
    """Return the runs with a recorded decision of this kind."""
    statement = "SELECT DISTINCT run FROM decisions WHERE what = %s"
    with closing(PostgresLink(url, patience=PATIENCE)) as link:
        rows = link.ask(lambda db, _: db.execute(statement, (what,)).fetchall())
    return frozenset(run for (run,) in rows)


def _named(db: Connection, name: str, lock: str = "") -> Person | None:
    row = db.execute(f"SELECT {COLUMNS} FROM people WHERE name = %s {lock}".encode(), (name,))
    found = row.fetchone()
    return _person(found) if found else None


def _person(row: tuple[Any, ...]) -> Person:
    name, digest, grants, added_at, added_by = row
    known = msgspec.json.decode(grants, type=dict[str, str])
    return Person(name, digest, known, added_at, added_by)


def _json(grants: dict[str, str]) -> str:
    return msgspec.json.encode(grants).decode()
