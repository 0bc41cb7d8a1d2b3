"""What only a person may do, and a governed host may not: say yes to itself, or disarm us."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from flyball.app.installing.json_hooks import only_observes
from flyball.app.installing.plugin import is_observing
from flyball.app.installing.targets import HostPlaces
from flyball.app.project import Home
from flyball.app.sessions import Sessions
from flyball.core.host.event import HostEvent
from flyball.errors import NotAPerson
from flyball.workspace.files.plain import read_plain
from flyball.workspace.process.holder import ancestors, environ_of
from flyball.workspace.process.terminal import doubt_about_terminal, has_terminal

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ash", "ksh"})
MARKS = ("CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE")
"""What hosts put into the environment of everything that they start."""


def host_of(pid: int) -> str:
    """The host that started a hook: the nearest process above it that is no shell."""
    return next((each.process for each in ancestors(pid) if each.program not in SHELLS), "")


def is_unattended(event: HostEvent) -> bool:
    """Whether nobody can be at work in a host's session: it has been given no terminal."""
    return bool(event.process) and not has_terminal(event.process)


def require_person(home: Home, environ: Mapping[str, str]) -> None:
    """Raise unless a person says it: from a terminal, and from nothing that a host has started.

    Only where a host works in this project; elsewhere there is nobody to keep from it.
    """
    require_no_host(home, environ)
    sessions = Sessions(home.state).all()
    if not sessions:
        return
    if not sys.stdin.isatty():
        raise NotAPerson("An agent is governed here, and this does not come from a terminal.", HOW)
    agents = [int(each.process.partition("@")[0]) for each in sessions if each.process]
    if doubt := doubt_about_terminal(os.getpid(), agents):
        raise NotAPerson(f"An agent is governed here, and {doubt}.", IN_DOUBT)


def require_person_anywhere(home: Home, environ: Mapping[str, str]) -> None:
    """The same for what concerns every project of this user: no host may say it in any."""
    projects = home.state.parent
    for state in sorted(projects.iterdir()) if projects.is_dir() else ():
        require_person(home._replace(state=state), environ)


def require_no_host(home: Home, environ: Mapping[str, str]) -> None:
    """Raise where a host that works in this project has started this process.

    Enough for a server: its token stands for the person at the page.
    """
    sessions = Sessions(home.state).all()
    if not sessions:
        return
    hosts = {each.process for each in sessions} - {""}
    above = ancestors(os.getpid())
    if any(each.process in hosts for each in above):
        raise NotAPerson("This was started by the agent that is governed here.", HOW)
    # Whoever wipes the marks off its own environment has not wiped them off those above it.
    known = [environ, *(environ_of(each.process) for each in above)]
    if marks := [name for name in MARKS if any(each.get(name) for each in known)]:
        raise NotAPerson(f"This was started by an agent: {marks[0]} is set.", HOW)


HOW = "Say it yourself, in a terminal of your own."
IN_DOUBT = "Say it in a terminal that was open before the agent, or on the page of `flyball serve`."

OFF = re.compile(r'"(?:disableAllHooks"\s*:\s*true|enabled"\s*:\s*false)')
OURS = "flyball-hook"


def disarms(event: HostEvent, top: Path, environ: Mapping[str, str]) -> bool:
    """Whether hooks are switched off in a file, or none of the host's files has ours that govern.

    Where a host keeps its files is settled by its own environment, not by that of a governor that
    another session has started.
    """
    if OFF.search(_read(Path(event.file))):
        return True
    places = HostPlaces({**environ, **environ_of(event.process)}, top)
    texts = map(_read, settings_files(event.host, places))
    return not any(
        OURS in each and not (only_observes(each) or is_observing(each)) for each in texts
    )


def settings_files(host: str, places: HostPlaces) -> tuple[Path, ...]:
    """Every file that a host reads its hooks from."""
    found = [*places.files(host).values()]
    if host == "claude":
        found.append(places.project / ".claude" / "settings.local.json")
    if host == "codex":
        found.append(places.directory("CODEX_HOME", ".codex") / "config.toml")
    if host == "opencode" and (given := places.environ.get("OPENCODE_CONFIG_DIR")):
        found.append(Path(given) / "plugins" / "flyball.js")
    return tuple(found)


def _read(path: Path) -> str:
    return (read_plain(path) or b"").decode("utf-8", "replace")
