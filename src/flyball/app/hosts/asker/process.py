"""Decide which processes may speak for a host: its own, and not those that it started."""

from __future__ import annotations

import os
from collections.abc import Iterable

from flyball.core.host.event import HostEvent
from flyball.workspace.process.process_identity import ancestors, environ_of, is_running
from flyball.workspace.process.terminal import has_terminal

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
