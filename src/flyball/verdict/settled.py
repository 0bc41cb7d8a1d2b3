"""The commands configured for directories, to test, check or serve them."""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from flyball.errors import ConfigError, EmptyCommand, NoSuchDirectory, UnbalancedCommand
from flyball.verdict.part import TOP, is_within


class SettledCommand(msgspec.Struct, frozen=True):
    """A command, and the settings source that contains it."""

    command: str
    origin: str


class ProjectCommands(msgspec.Struct, frozen=True):
    """The configured command of each directory, relative to the project; the survey uses them
    first."""

    tests: Mapping[str, SettledCommand] = {}
    checks: Mapping[str, SettledCommand] = {}
    servers: Mapping[str, SettledCommand] = {}


NOTHING_SETTLED = ProjectCommands()


class ProjectPlace(NamedTuple):
    """The locations of the project and of the user's files, to resolve absolute directories."""

    top: str = ""
    home: str = ""


ANYWHERE = ProjectPlace()


def add_commands(
    known: Mapping[str, SettledCommand],
    value: object,
    key: str,
    origin: str,
    place: ProjectPlace = ANYWHERE,
) -> dict[str, SettledCommand]:
    """Combine the known commands with those of another source, which take precedence.

    A bare command is for the top directory. An absolute directory inside another project is
    ignored. An empty command, or one that no shell could parse, is an error here: found only when
    the tests run, it would look like a failing suite.
    """
    found = dict(known)
    for directory, command in _table(value, key, origin).items():
        where = f"{origin}: `{key}` for {_shown(directory)}"
        _require_readable(command, where)
        at = directory_in(directory, place)
        if at.startswith(".."):
            raise NoSuchDirectory(f"{where} points outside the project.", "Name a directory in it.")
        if not at.startswith("/"):
            found[at] = SettledCommand(command.strip(), origin)
    return found


def directory_in(directory: str, place: ProjectPlace) -> str:
    """Return a directory relative to the project; one outside it stays absolute."""
    named = directory.strip() or TOP
    if named == "~" or named.startswith("~/"):
        named = f"{place.home or '/'}{named[1:]}"
    whole = posixpath.normpath(named)
    if not whole.startswith("/") or not is_within(whole, place.top or "/nowhere"):
        return whole
    return posixpath.relpath(whole, place.top)


def _require_readable(command: str, where: str) -> None:
    if not command.strip():
        raise EmptyCommand(f"{where} is empty.", "Write the command, or remove the line.")
    try:
        shlex.split(command, comments=True)
    except ValueError as error:
        raise UnbalancedCommand(
            f"{where} cannot be split into words: {str(error).lower()}.",
            "Close the quotes, or escape the one that is meant.",
        ) from error


def _table(value: object, key: str, origin: str) -> dict[str, str]:
    """Return the command of each directory; a bare command belongs to the top directory."""
    try:
        table = msgspec.convert(value, str | dict[str, str])
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"{origin}: `{key}` is neither a command nor a table of commands.",
            'Write a command, or one for each directory: {"firmware" = "./run.sh"}.',
        ) from error
    return {TOP: table} if isinstance(table, str) else table


def _shown(directory: str) -> str:
    return "the top" if directory.strip() in ("", TOP) else repr(directory)
