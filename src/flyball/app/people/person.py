"""A person as a team knows them: a name, the digest of a token, and what they may do where."""

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
"""The grant that holds in every project which has none of its own."""
NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
LIST_THEM = "`flyball people list` shows them."


class Right(IntEnum):
    """What a person may do; each includes those before it."""

    NOTHING = 0
    LOOK = 1
    DRIVE = 2
    APPROVE = 3
    ADMINISTER = 4

    @property
    def word(self) -> str:
        """The role as people write it."""
        return self.name.lower()


ROLES = {each.word: each for each in Right if each}
"""The roles that can be given, by their names."""


class Person(msgspec.Struct, frozen=True):
    """Somebody who may ask; their token is known to nobody but them."""

    name: str
    digest: str
    """SHA-256 of a random token of 256 bits: nothing shorter than all of it can be guessed."""
    grants: dict[str, str] = {}
    """Project → role; `*` stands for every project that is not named."""
    added_at: float = 0.0
    added_by: str = ""

    def right(self, project: str) -> Right:
        """What they may do in a project; its own grant counts before the one for all."""
        role = self.grants.get(project, self.grants.get(EVERY, ""))
        return ROLES.get(role, Right.NOTHING)

    @property
    def highest(self) -> Right:
        """The most that they may do anywhere."""
        return max(map(self.right, self.grants), default=Right.NOTHING)


Change = Callable[[Person], Person]


class People(Protocol):
    """Where a team's people are kept."""

    def all(self) -> Sequence[Person]:
        """Everybody, by name; raises where they cannot be known, so that nobody gets in."""
        ...

    def add(self, person: Person) -> None:
        """Keep a new person; `Conflict` where the name is taken."""
        ...

    def change(self, name: str, deed: Change) -> Person:
        """What a deed makes of a person, kept; alone with them, so that none is lost to another.

        `NotFound` where there is nobody of that name.
        """
        ...

    def remove(self, name: str) -> bool:
        """Forget a person at once; whether there was one."""
        ...

    def close(self) -> None:
        """Let go of where they are kept."""
        ...


def digest_of(token: str) -> str:
    """What is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def find_person(people: Iterable[Person], token: str) -> Person | None:
    """Whose token this is; how long that takes tells nothing about any of them."""
    wanted, found = digest_of(token), None
    for each in people:
        if hmac.compare_digest(each.digest, wanted):
            found = each
    return found


def add_person(people: People, name: str, grants: dict[str, str], by: str, at: float) -> str:
    """Let a new person in; their token, which is kept nowhere."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a person.", "Use letters, digits, dots, dashes, @; at most 64."
        )
    token = secrets.token_urlsafe(32)
    people.add(Person(name, digest_of(token), grants, at, by))
    return token


def name_taken(name: str) -> Conflict:
    """What is said where a new person's name is somebody's."""
    return Conflict(
        f"There is a person {name} already.", "`flyball people grant` changes what they may do."
    )


def nobody_called(name: str) -> NotFound:
    """What is said where a name is nobody's."""
    return NotFound("person", name, LIST_THEM)


def grant(people: People, name: str, project: str, role: str) -> Person:
    """Give a person a role in a project, or in all of them."""
    return people.change(
        name, lambda known: msgspec.structs.replace(known, grants={**known.grants, project: role})
    )


def revoke(people: People, name: str, project: str = "") -> Person | None:
    """Take a project from a person, or without one everything, their token included."""
    if not project:
        if not people.remove(name):
            raise nobody_called(name)
        return None

    def without(known: Person) -> Person:
        if project not in known.grants:
            raise Conflict(f"{name} has no role of their own in {project}.", LIST_THEM)
        left = {each: role for each, role in known.grants.items() if each != project}
        return msgspec.structs.replace(known, grants=left)

    return people.change(name, without)
