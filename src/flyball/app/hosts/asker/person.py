"""Restrict actions to people: a governed host may not approve its own requests or disable hooks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from pwd import getpwuid

from flyball.app.hosts.asker.process import MARKS
from flyball.app.project import Home
from flyball.app.sessions import Session, Sessions
from flyball.app.settling import state_dir
from flyball.errors import NotAPerson
from flyball.workspace.process.process_identity import ancestors, environ_of
from flyball.workspace.process.terminal import doubt_about_terminal


def require_person(home: Home, environ: Mapping[str, str]) -> None:
    """Raise unless a person asks: from a terminal, and not from a process that a host started.

    A terminal is required only while a host works in this project.
    """
    require_no_host(home, environ)
    _require_terminal(_sessions_of(home, _environments(environ)))


def require_person_anywhere(home: Home, environ: Mapping[str, str]) -> None:
    """Raise unless a person asks, for actions that affect every project of this user."""
    require_person(home, environ)
    own = {name: value for name, value in environ.items() if name == "HOME"}
    bases = {state_dir(each) / "projects" for each in (*_environments(environ), own)}
    states = (state for base in bases if base.is_dir() for state in base.iterdir())
    sessions = [each for state in states for each in Sessions(state).all()]
    _require_unstarted(sessions, _environments(environ))
    _require_terminal(sessions)


def require_no_host(home: Home, environ: Mapping[str, str]) -> None:
    """Raise if a host that works in this project started this process.

    This check is enough for a server: its token identifies the person at the page.
    """
    known = _environments(environ)
    _require_unstarted(_sessions_of(home, known), known)


def _environments(environ: Mapping[str, str]) -> list[Mapping[str, str]]:
    """Return the environments of this process and of all its ancestors.

    A process that clears the marks in its own environment, or changes the state directory there,
    cannot change those of its ancestors.
    """
    return [environ, *(environ_of(each.process) for each in ancestors(os.getpid()))]


def _sessions_of(home: Home, known: Iterable[Mapping[str, str]]) -> list[Session]:
    """Return the live sessions in a project, in every state directory that these environments
    name.
    """
    user = {"HOME": _own_directory()}
    states = [state_dir(each) / "projects" / home.state.name for each in (*known, user)]
    # A state directory may consist of links into another one.
    led_to = [(home.state / name).resolve().parent for name in ("journal.sqlite", "off.json")]
    trusted = (home.state.parent.parent / "trusted.json").resolve().parent
    states += [*led_to, trusted / "projects" / home.state.name]
    return [each for state in {home.state, *states} for each in Sessions(state).all()]


def _own_directory() -> str:
    """Return this user's home directory as the system has it, ignoring the environment."""
    try:
        return getpwuid(os.getuid()).pw_dir
    except KeyError:
        return str(Path.home())


def _require_unstarted(sessions: Sequence[Session], known: Iterable[Mapping[str, str]]) -> None:
    """Raise if one of these sessions, or an agent by its marks, started this process.

    Where no agent is governed nothing needs protection: an agent may use Flyball itself.
    """
    if not sessions:
        return
    hosts = {each.process for each in sessions} - {""}
    if any(each.process in hosts for each in ancestors(os.getpid())):
        raise NotAPerson("This was started by the agent that is governed here.", HOW)
    if marks := [name for name in MARKS if any(each.get(name) for each in known)]:
        raise NotAPerson(f"This was started by an agent: {marks[0]} is set.", HOW)


def _require_terminal(sessions: Sequence[Session]) -> None:
    if not sessions:
        return
    if not sys.stdin.isatty():
        raise NotAPerson("An agent is governed here, and this does not come from a terminal.", HOW)
    agents = [int(each.process.partition("@")[0]) for each in sessions if each.process]
    if doubt := doubt_about_terminal(os.getpid(), agents):
        raise NotAPerson(f"An agent is governed here, and {doubt}.", IN_DOUBT)


HOW = "Run the command yourself, in your own terminal."
IN_DOUBT = "Say it in a terminal that was open before the agent, or on the page of `flyball serve`."
