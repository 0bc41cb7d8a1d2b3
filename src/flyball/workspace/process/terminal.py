"""Decide whether a process's terminal is a person's, or one that an agent may have opened.

An agent's shell can start a detached process in its own session, with a terminal of its own. Such a
process cannot be older than the agent, be below a program that is older, belong to another user, or
move out of the agent's control group by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

TERMINALS = ("/dev/pts/", "/dev/tty", "/dev/console")
PROC = Path("/proc")
REAPERS = frozenset({"systemd", "init", "tini", "dumb-init", "catatonit", "docker-init"})
"""Programs that adopt orphaned processes, so being below them proves nothing."""
TIMERS = frozenset({"cron", "crond", "atd", "anacron"})
"""Programs that run scheduled commands, an agent's as well; older than all agents."""
TRANSIENT = "run-"
"""The names of units that `systemd-run` creates on request."""


class SeenProcess(NamedTuple):
    """What the kernel knows about a process."""

    pid: int
    program: str
    parent: int
    group: int
    session: int
    terminal: int
    foreground: int
    began: int
    user: int
    unit: str


def has_terminal(process: str, proc: Path = PROC) -> bool:
    """Return whether a process has a terminal; True where the system does not say."""
    try:
        stdin = (proc / process.partition("@")[0] / "fd" / "0").readlink()
    except OSError:
        return True
    return str(stdin).startswith(TERMINALS)


def objection_to_terminal(pid: int, agents: Collection[int], proc: Path = PROC) -> str:
    """Explain why a process's terminal may not be a person's; empty if it is.

    Where the kernel reports no process facts, there is no way to check, and the result is empty.
    """
    chain = tuple(_chain(pid, proc))
    if not chain:
        return ""
    own = chain[0]
    if not own.terminal:
        return "it has no terminal of its own"
    if own.group != own.foreground:
        return "it runs in the background of its terminal"
    # The leader of a session that began outside this container is not visible.
    if own.session and own.session not in {each.pid for each in chain}:
        return "the shell of its terminal did not start it"
    if timers := [each.program for each in chain if each.program in TIMERS]:
        return f"{timers[0]} started it"
    return objection_to_leader(chain, agents, proc)


def objection_to_leader(chain: tuple[SeenProcess, ...], agents: Collection[int], proc: Path) -> str:
    """Return whether an agent could have started the program that opened the terminal."""
    top = chain[-1]
    if top.parent == 0 or top.user != chain[0].user:
        return ""
    if top.unit.rpartition("/")[2].startswith(TRANSIENT):
        return "its terminal was opened by a unit that anybody can start"
    seen = [each for pid in agents if (each := _look(pid, proc))]
    if any(top.began >= each.began and top.unit == each.unit for each in seen):
        return f"{top.program}, which opened its terminal, began after the agent and beside it"
    return ""


def _chain(pid: int, proc: Path) -> Iterator[SeenProcess]:
    """Yield a process and its ancestors, up to the one that adopts orphans."""
    seen = _look(pid, proc)
    while seen is not None:
        yield seen
        if seen.parent <= 1:
            return
        seen = _look(seen.parent, proc)
        if seen is not None and seen.program in REAPERS:
            return


def _look(pid: int, proc: Path) -> SeenProcess | None:
    place = proc / str(pid)
    try:
        text = (place / "stat").read_text("utf-8", "replace")
        status = (place / "status").read_text("utf-8", "replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    program = text.partition("(")[2].rpartition(")")[0]
    numbers = [int(fields[n]) for n in (1, 2, 3, 4, 5, 19)]
    return SeenProcess(pid, program, *numbers, user=_user(status), unit=_unit(place))


def _user(status: str) -> int:
    lines = (line.split() for line in status.splitlines())
    return next((int(words[1]) for words in lines if words[:1] == ["Uid:"]), -1)


def _unit(place: Path) -> str:
    """Return a process's control group, in the newest hierarchy."""
    try:
        lines = (place / "cgroup").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[-1].rpartition(":")[2] if lines else ""
