"""A team member: a name, the digest of a token, and roles per project."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Protocol

import msgspec

from flyball.errors import Conflict, NotFound, UsageError
from flyball.regex import regex

EVERY = "*"
"""The grant for every project without one of its own."""
NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
LIST_THEM = "`flyball people list` shows them."


class Right(IntEnum):
    """A person's permission level; each level includes the lower ones."""

    NOTHING = 0
    LOOK = 1
    DRIVE = 2
    APPROVE = 3
    ADMINISTER = 4

    @property
    def word(self) -> str:
        """Return the role's name."""
        return self.name.lower()


ROLES = {each.word: each for each in Right if each}
"""The roles that can be granted, by name."""


class Person(msgspec.Struct, frozen=True):
    """A person who may send requests; only they know their token."""

    name: str
    digest: str
    """SHA-256 of a random 256-bit token, which cannot be guessed."""
    grants: dict[str, str] = {}
    """Project → role; `*` stands for every project that is not named."""
    added_at: float = 0.0
    added_by: str = ""

    def right(self, project: str) -> Right:
        """Return the person's role in a project; a grant for the project overrides the one for
        all."""
        role = self.grants.get(project, self.grants.get(EVERY, ""))
        return ROLES.get(role, Right.NOTHING)

    @property
    def highest(self) -> Right:
        """Return the person's highest role in any project."""
        return max(map(self.right, self.grants), default=Right.NOTHING)


Change = Callable[[Person], Person]


class People(Protocol):
    """Storage for a team's people."""

    def all(self) -> Sequence[Person]:
        """Return all people, sorted by name; raise if they cannot be read, so that no one gets
        access."""
        ...

    def add(self, person: Person) -> None:
        """Add a person; raise `Conflict` if the name is taken."""
        ...

    def change(self, name: str, action: Change) -> Person:
        """Apply `action` to a person under a lock and store the result.

        Raise `NotFound` if there is no person of that name.
        """
        ...

    def remove(self, name: str) -> bool:
        """Remove a person immediately; return whether they existed."""
        ...

    def close(self) -> None:
        """Close the storage."""
        ...


def digest_of(token: str) -> str:
    """Return the stored digest of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def find_person(people: Iterable[Person], token: str) -> Person | None:
    """Return the person with this token; the time it takes reveals nothing about any of them."""
    wanted, found = digest_of(token), None
    for each in people:
        if hmac.compare_digest(each.digest, wanted):
            found = each
    return found


def add_person(people: People, name: str, grants: dict[str, str], by: str, at: float) -> str:
    """Add a person; return their token, which is not stored."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a person.", "Use letters, digits, dots, dashes, @; at most 64."
        )
    token = secrets.token_urlsafe(32)
    people.add(Person(name, digest_of(token), grants, at, by))
    return token


def name_taken(name: str) -> Conflict:
    """Return the error for a new person whose name is taken."""
    return Conflict(
        f"There is already a person {name}.", "`flyball people grant` changes what they may do."
    )


def unknown_person(name: str) -> NotFound:
    """Return the error for an unknown name."""
    return NotFound("person", name, LIST_THEM)


def grant(people: People, name: str, project: str, role: str) -> Person:
    """Grant a person a role in a project, or in all of them."""
    return people.change(
        name, lambda known: msgspec.structs.replace(known, grants={**known.grants, project: role})
    )


def revoke(people: People, name: str, project: str = "") -> Person | None:
    """Revoke a person's access to a project, or all access including the token."""
    if not project:
        if not people.remove(name):
            raise unknown_person(name)
        return None

    def without(known: Person) -> Person:
        if project not in known.grants:
            raise Conflict(f"{name} has no role in {project}.", LIST_THEM)
        left = {each: role for each, role in known.grants.items() if each != project}
        return msgspec.structs.replace(known, grants=left)

    return people.change(name, without)
