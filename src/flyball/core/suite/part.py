"""A repository's parts: which one owns a file, and which ones a change reaches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

TOP = "."


class PartSuite(msgspec.Struct, frozen=True, omit_defaults=True):
    """One way to test a part: the runner, the directory it starts in, and what it is told."""

    runner: str
    at: str = TOP
    command: str = ""
    """A command that a person settled, or the project's own script; empty where we build it."""
    origin: str = ""
    """The source of settings that its command stands in, where a person settled it."""


class Part(msgspec.Struct, frozen=True, omit_defaults=True):
    """A directory that is built and tested as one; the top of a repository always is one."""

    path: str = TOP
    kinds: tuple[str, ...] = ()
    suites: tuple[PartSuite, ...] = ()
    checks: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    """Paths of the parts that this one says it needs."""
    check_origin: str = ""
    """The source of settings that its one check stands in, where a person settled it."""


def is_within(path: str, part: str) -> bool:
    """Whether a path lies in a directory; everything lies in the top."""
    return part == TOP or path == part or path.startswith(f"{part}/")


def owner_of(parts: Sequence[Part], path: str) -> Part | None:
    """The innermost part around a file that has a suite of its own.

    Where none has, it is the innermost part there is: somebody must answer for the file.
    """
    around = sorted(
        (part for part in parts if is_within(path, part.path)),
        key=lambda part: -1 if part.path == TOP else len(part.path),
        reverse=True,
    )
    return next((part for part in around if part.suites), around[0] if around else None)


def reached(parts: Sequence[Part], paths: Iterable[str]) -> tuple[Part, ...]:
    """The owners of these files and every part that needs one of them, in the order of `parts`."""
    touched = {owner.path for path in paths if (owner := owner_of(parts, path))}
    grew = True
    while grew:
        new = {part.path for part in parts if not touched.isdisjoint(part.depends_on)} - touched
        touched |= new
        grew = bool(new)
    return tuple(part for part in parts if part.path in touched)
