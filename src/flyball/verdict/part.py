"""A repository's parts: which one owns a file, and which ones a change reaches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

TOP = "."


class PartSuite(msgspec.Struct, frozen=True, omit_defaults=True):
    """One way to test a part: the runner, its start directory, and its arguments."""

    runner: str
    at: str = TOP
    command: str = ""
    """A command that a person settled, or the project's own script; empty where we build it."""
    origin: str = ""
    """The source of the settings that contain its command, if a person chose it."""


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """A directory that is built and tested as one; the top directory always is a part."""

    path: str = TOP
    kinds: tuple[str, ...] = ()
    suites: tuple[PartSuite, ...] = ()
    checks: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    """Paths of the parts that this one declares as dependencies."""
    check_origin: str = ""
    """The source of the settings that contain its one check, if a person chose it."""


def is_within(path: str, part: str) -> bool:
    """Return whether a path is inside a directory; everything is inside the top."""
    return part == TOP or path == part or path.startswith(f"{part}/")


def owner_of(parts: Sequence[Part], path: str) -> Part | None:
    """Return the innermost part around a file that has a suite of its own.

    Without one, return the innermost part: every file belongs to some part.
    """
    around = sorted(
        (part for part in parts if is_within(path, part.path)),
        key=lambda part: -1 if part.path == TOP else len(part.path),
        reverse=True,
    )
    return next((part for part in around if part.suites), around[0] if around else None)


def reached(parts: Sequence[Part], paths: Iterable[str]) -> tuple[Part, ...]:
    """Return the owners of these files and the parts that need them, in the order of `parts`."""
    touched = {owner.path for path in paths if (owner := owner_of(parts, path))}
    grew = True
    while grew:
        new = {part.path for part in parts if not touched.isdisjoint(part.depends_on)} - touched
        touched |= new
        grew = bool(new)
    return tuple(part for part in parts if part.path in touched)
