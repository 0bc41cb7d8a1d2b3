"""Nobody approves himself: what only a person may say is refused from inside a governed host."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from flyball.app.project import Home
from flyball.app.sessions import Sessions
from flyball.errors import NotAPerson
from flyball.workspace.process.holder import ancestors

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ash", "ksh"})
MARKS = ("CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE")
"""What hosts put into the environment of everything that they start."""


def host_of(pid: int) -> str:
    """The host that started a hook: the nearest process above it that is no shell."""
    return next((each.process for each in ancestors(pid) if each.program not in SHELLS), "")


def require_person(home: Home, environ: Mapping[str, str]) -> None:
    """Raise unless a person says it: from a terminal, and from nothing that a host has started.

    Only where a host works in this project; elsewhere there is nobody to keep from it.
    """
    sessions = Sessions(home.state).all()
    if not sessions:
        return
    hosts = {each.process for each in sessions} - {""}
    if any(each.process in hosts for each in ancestors(os.getpid())):
        raise NotAPerson("This was started by the agent that is governed here.", HOW)
    if marks := [name for name in MARKS if environ.get(name)]:
        raise NotAPerson(f"This was started by an agent: {marks[0]} is set.", HOW)
    if not sys.stdin.isatty():
        raise NotAPerson("An agent is governed here, and this does not come from a terminal.", HOW)


HOW = "Say it yourself, in a terminal of your own."
