"""Where a moment of a host belongs: the projects whose governors answer it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from flyball.app.project import Home, open_home, project_top
from flyball.app.sessions import Session, Sessions
from flyball.app.settling import state_dir
from flyball.core.host.event import NAMELESS, HostEvent, Moment
from flyball.core.host.tool import (
    COMMAND_FIELDS,
    PATCH_FIELDS,
    PATH_FIELDS,
    Naming,
    host_tool,
    patched_files,
    texts_in,
)
from flyball.errors import Conflict, FlyballError
from flyball.regex import regex
from flyball.workspace.process.ancestry import PROC
from flyball.workspace.run.opening import find_workspace

_OF_THE_SESSION = (Moment.AFTER_CALL, Moment.STOPPING, Moment.SESSION_ENDED)
"""Moments that concern whatever a session has under way, wherever it has gone since."""
_WHOLE_PATH = regex(r"(?<![\w.~/-])/[^\s'\"`;|&<>()$*?]+")


def governed_at(place: Path, environ: Mapping[str, str]) -> Home | None:
    """The project of a directory, where it is one that we govern."""
    # Without git there is no cheap tree to compare, and a home directory is no project.
    if not _is_directory(place) or not (project_top(place.resolve()) / ".git").exists():
        return None
    return open_home(place, environ, {})


class Governed(NamedTuple):
    """The projects that an event belongs to, where we govern them; most belong to one."""

    homes: tuple[Home, ...]
    lost: tuple[FlyballError, ...] = ()
    """What keeps us from looking at what its session has under way elsewhere."""


def governed_by(event: HostEvent, environ: Mapping[str, str]) -> Governed:
    """Where an event belongs.

    A host may say that it is anywhere, and may go from one project into another. Where it is in
    none, it is asked where its hook is, in which project its session works, and in which the files
    lie that its call names.
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
                # Said once: whoever goes on elsewhere has nothing more to do with it.
                Sessions(state).end(session)
    return Governed(tuple(found or _of_named(event, environ)), tuple(lost))


def from_there(event: HostEvent, home: Home) -> str:
    """The directory that names in an event are meant from; the project's, where there is none."""
    return event.cwd if event.cwd and _is_directory(Path(event.cwd)) else os.fspath(home.repo)


def _place_of(hook: int) -> Path | None:
    """Where a hook's process is; where its governor is, if the system does not tell."""
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
    """Where else an event's session has a run, the last one first: what is known, and its state."""
    base = state_dir(environ) / "projects"
    if event.session == NAMELESS or not base.is_dir():
        return []
    states = (each for each in base.iterdir() if here is None or each != here.state)
    known = ((Sessions(each).known(event.host, event.session), each) for each in states)
    found = [(session, state) for session, state in known if session and session.run]
    return sorted(found, key=lambda each: each[0].run, reverse=True)


def _of_run(run: str, state: Path, environ: Mapping[str, str]) -> list[Home]:
    """The project of a run, if its directory is there; its state has only a digest of that."""
    facts = find_workspace(run, state)
    if facts is None or not _is_directory(project := Path(facts.project)):
        return []
    if not (project / ".git").exists():
        raise Conflict(
            f"{project} has no `.git` any more, and what became of run {run} cannot be looked at.",
            "Put it back; a person can let the agent go on with `flyball off`.",
        )
    return [open_home(project, environ, {})]


def _of_named(event: HostEvent, environ: Mapping[str, str]) -> list[Home]:
    """The project that a call would change; by a command, one in which somebody is at work."""
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
    """The paths from the root that a call would write, or that its command names."""
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
