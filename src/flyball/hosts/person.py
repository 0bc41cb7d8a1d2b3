"""Restrict actions to people: a governed host may not approve its own requests or disable hooks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from pwd import getpwuid

from flyball.agents.event import HostEvent
from flyball.app.project import Home
from flyball.app.sessions import Session, Sessions
from flyball.app.settling import state_dir
from flyball.errors import NotAPerson
from flyball.workspace.process.process_identity import ancestors, environ_of, is_running
from flyball.workspace.process.terminal import has_terminal, objection_to_terminal


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
    """Return the live sessions in a project, in each state directory of these environments."""
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
    if doubt := objection_to_terminal(os.getpid(), agents):
        raise NotAPerson(f"An agent is governed here, and {doubt}.", IN_DOUBT)


HOW = "Run the command yourself, in your own terminal."
IN_DOUBT = "Run it in a terminal that was open before the agent, or on the page of `flyball serve`."


MARKS = ("CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE")
"""Variables that hosts set in the environment of every process they start."""


ASKING = frozenset({"claude"})
"""Hosts that ask their user about a call if a hook requests it; others deny or run the call."""


def has_own_question(event: HostEvent) -> bool:
    """Return whether a host will ask a person who is present about a call."""
    return event.host in ASKING and not event.agent and has_terminal(event.process)


def is_unattended(event: HostEvent) -> bool:
    """Return whether a host's session has no terminal, so that no person can be working in it."""
    return bool(event.process) and not has_terminal(event.process)


def may_govern(starter: str, hosts: Iterable[str]) -> bool:
    """Return whether a process may start a governor: not if one of these hosts started it.

    The governor would run in an environment that the host controls.
    """
    return not any(is_below(starter, each) for each in hosts)


def is_below(process: str, other: str) -> bool:
    """Return whether one process, identified by an `Ancestor`, descends from another."""
    return bool(process and other) and other in _above(_number(process))


def is_pretended(event: HostEvent, host: str) -> bool:
    """Return whether a hook was called by a process that the session's host started.

    A process whose parent has exited is attached to a process above the host or below the first
    one, or it has an agent's mark. Without any of these, the session continues in another process
    of the host.
    """
    if not event.hook or not host or event.process == host or not is_running(host):
        return False
    if not _is_there(event.hook):
        # It was killed meanwhile, so its ancestors are unknown.
        return False
    if host in _above(event.hook):
        return True
    environ = environ_of(event.process)
    is_left = not event.process or is_below(host, event.process)
    return is_left or any(environ.get(mark) for mark in MARKS)


def _above(pid: int) -> frozenset[str]:
    return frozenset(each.process for each in ancestors(pid))


def _number(process: str) -> int:
    return int(process.partition("@")[0])


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
