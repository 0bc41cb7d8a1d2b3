"""Find the project of a host's hook event, whose governor answers it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from flyball.agents.event import NAMELESS, HostEvent, Moment
from flyball.agents.tool import (
    COMMAND_FIELDS,
    PATCH_FIELDS,
    PATH_FIELDS,
    Naming,
    host_tool,
    patched_files,
    texts_in,
)
from flyball.app.project import Home, open_home, project_top
from flyball.app.sessions import Session, Sessions
from flyball.app.settling import state_dir
from flyball.errors import Conflict, FlyballError
from flyball.regex import regex
from flyball.workspace.process.ancestry import PROC
from flyball.workspace.run.opening import find_workspace

_OF_THE_SESSION = (Moment.AFTER_CALL, Moment.STOPPING, Moment.SESSION_ENDED)
"""Events that concern all of a session's work, wherever it has moved since."""
_WHOLE_PATH = regex(r"(?<![\w.~/-])/[^\s'\"`;|&<>()$*?]+")


def governed_at(place: Path, environ: Mapping[str, str]) -> Home | None:
    """Return the project of a directory, if Flyball governs it."""
    # Without git there is no cheap way to compare trees, and a home directory is no project.
    if not _is_directory(place) or not (project_top(place.resolve()) / ".git").exists():
        return None
    return open_home(place, environ, {})


class Governed(NamedTuple):
    """The governed projects that an event belongs to; usually one."""

    homes: tuple[Home, ...]
    lost: tuple[FlyballError, ...] = ()
    """Why the session's work in other projects cannot be found."""


def governed_by(event: HostEvent, environ: Mapping[str, str]) -> Governed:
    """Return the projects of an event.

    A host may report any directory, and may move from one project to another. If its directory is
    in no project, the candidates are the hook's own directory, the project of its session and the
    files that its call names.
    """
    said, place = Path(event.cwd) if event.cwd else None, _place_of(event.hook)
    places = filter(None, (said, place))
    here = next((home for each in places if (home := governed_at(each, environ))), None)
    if here and event.moment not in _OF_THE_SESSION:
        return Governed((here,))
    found = [here] if here else []
    lost: list[FlyballError] = []
    for session, state in _states_of(event, environ, here):
        try:
            found += _of_run(session.run, state, environ)
        except FlyballError as error:
            if here is None or event.moment is Moment.STOPPING:
                lost.append(error)
            if here and event.moment is Moment.STOPPING:
                # Sent once: a session that moved elsewhere needs it no more.
                Sessions(state).end(session)
    return Governed(tuple(found or _of_named(event, environ)), tuple(lost))


def from_there(event: HostEvent, home: Home) -> str:
    """Return the directory to which relative names in an event refer; by default the project's."""
    return event.cwd if event.cwd and _is_directory(Path(event.cwd)) else os.fspath(home.repo)


def _place_of(hook: int) -> Path | None:
    """Return the hook process's directory, or the governor's if the system does not report it."""
    try:
        known = Path(PROC, str(hook), "cwd")
        return known.readlink() if hook and Path(PROC).is_dir() else Path.cwd()
    except OSError:
        return None


def _is_directory(place: Path) -> bool:
    try:
        return place.is_dir()
    except (OSError, ValueError):
        return False


def _states_of(
    event: HostEvent, environ: Mapping[str, str], here: Home | None
) -> list[tuple[Session, Path]]:
    """Return the states and directories of other known runs of an event's session, last one
    first."""
    base = state_dir(environ) / "projects"
    if event.session == NAMELESS or not base.is_dir():
        return []
    states = (each for each in base.iterdir() if here is None or each != here.state)
    known = ((Sessions(each).known(event.host, event.session), each) for each in states)
    found = [(session, state) for session, state in known if session and session.run]
    return sorted(found, key=lambda each: each[0].run, reverse=True)


def _of_run(run: str, state: Path, environ: Mapping[str, str]) -> list[Home]:
    """Return a run's project if its directory exists; the state has only a path's digest."""
    facts = find_workspace(run, state)
    if facts is None or not _is_directory(project := Path(facts.project)):
        return []
    if not (project / ".git").exists():
        raise Conflict(
            f"{project} has no `.git` any more, so the state of run {run} cannot be checked.",
            "Put it back; a person can let the agent go on with `flyball off`.",
        )
    return [open_home(project, environ, {})]


def _of_named(event: HostEvent, environ: Mapping[str, str]) -> list[Home]:
    """Return the project that a call would change; for a command, one with a live session."""
    if event.moment is not Moment.BEFORE_CALL:
        return []
    is_command = host_tool(event.tool).names is Naming.A_COMMAND
    for name in _whole_paths(event):
        above = (Path(name), *Path(name).parents)
        home = governed_at(next(filter(_is_directory, above)), environ)
        if home and (not is_command or Sessions(home.state).in_checkout()):
            return [home]
    return []


def _whole_paths(event: HostEvent) -> Iterator[str]:
    """Yield the absolute paths that a call would write or that its command names."""
    match host_tool(event.tool).names:
        case Naming.A_FILE:
            names = texts_in(event.args, PATH_FIELDS)
        case Naming.A_PATCH:
            patches = texts_in(event.args, PATCH_FIELDS)
            names = [name for patch in patches for name in patched_files(patch)]
        case Naming.A_COMMAND:
            texts = texts_in(event.args, COMMAND_FIELDS)
            names = [name for text in texts for name in _WHOLE_PATH.findall(text)]
        case _:
            names = ()
    yield from (name for name in names if name.startswith("/") and "\0" not in name)
