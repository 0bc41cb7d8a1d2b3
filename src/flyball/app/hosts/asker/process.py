"""Which process speaks for a host: its own, and nothing that it has started."""

from __future__ import annotations

import os
from collections.abc import Iterable

from flyball.core.host.event import HostEvent
from flyball.workspace.process.holder import ancestors, environ_of, is_running
from flyball.workspace.process.terminal import has_terminal

MARKS = ("CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE")
"""What hosts put into the environment of everything that they start."""


ASKING = frozenset({"claude"})
"""Hosts that ask their person about a call if a hook says so; others deny it, or make it."""


def has_own_question(event: HostEvent) -> bool:
    """Return whether a host will put a question about a call to a person who is there."""
    return event.host in ASKING and not event.agent and has_terminal(event.process)


def is_unattended(event: HostEvent) -> bool:
    """Whether nobody can be at work in a host's session: it has been given no terminal."""
    return bool(event.process) and not has_terminal(event.process)


def may_govern(starter: str, hosts: Iterable[str]) -> bool:
    """Whether what a process starts may answer for us: not if one of these hosts started that.

    It would do so in an environment of their making.
    """
    return not any(is_below(starter, each) for each in hosts)


def is_below(process: str, other: str) -> bool:
    """Whether one process, as an `Ancestor` names it, was started by another or by its children."""
    return bool(process and other) and other in _above(_number(process))


def is_pretended(event: HostEvent, host: str) -> bool:
    """Whether a hook was called by something that the session's host has started, as if by it.

    What its starter left behind hangs below a process above the host or below the first one, or it
    has an agent's mark. Without any of these the session goes on in another process of the host's.
    """
    if not event.hook or not host or event.process == host or not is_running(host):
        return False
    if not _is_there(event.hook):
        # Killed meanwhile: nobody knows any more what was above it.
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
