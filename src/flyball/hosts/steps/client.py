"""Identify the program that takes steps from us, and whether a person can answer through it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from flyball.app.sessions import Sessions
from flyball.errors import NotAPerson
from flyball.hosts.person import HOW, MARKS
from flyball.workspace.process.ancestry import SHELLS
from flyball.workspace.process.process_identity import (
    ancestors,
    environ_of,
    is_running,
    process_at,
    process_name,
    this_process,
)


class StepClient(NamedTuple):
    """The client program: a process, and its ancestors."""

    process: str
    above: frozenset[str] = frozenset()
    mark: str = ""
    """An agent's mark in the server's environment: an agent's shell started the server."""
    client_mark: str = ""
    """An agent's mark on the client. Agents drive their own runs, so it matters only for others'
    runs.
    """
    is_known: bool = True
    """Whether the client is a program of this machine that can be told from others."""

    def require_person(self, sessions: Sessions, run: str) -> None:
        """Raise unless an answer through this program is a person's.

        A program shows a question to its own user. A program that a governed agent started shows it
        to that agent, and so does one that joins a run driven by another program.
        """
        if not self.is_known:
            raise NotAPerson(
                "The program at the other end of this connection cannot be identified.", HOW
            )
        live = sessions.all()
        if self.above & ({each.process for each in live} - {""}):
            raise NotAPerson("This client was started by an agent that is governed here.", HOW)
        if self.mark:
            raise NotAPerson(f"This was started in the shell of an agent: {self.mark} is set.", HOW)
        drivers = {each.process for each in live if each.run == run} - {""}
        if drivers and self.process not in drivers:
            raise NotAPerson(f"Another program drives run {run}.", HOW)
        if self.client_mark and not drivers:
            said = f"This was started in the shell of an agent: {self.client_mark} is set."
            raise NotAPerson(said, HOW)

    def may_take_up(self, known: str) -> bool:
        """Return whether this client may take over a run, given who has driven it so far."""
        return not is_alive(known) and not (known and self.client_mark)


def client_above() -> StepClient:
    """Return the program that started this process to use its standard input and output."""
    chain = ancestors(os.getpid())
    at = next((n for n, each in enumerate(chain) if each.program not in SHELLS), len(chain))
    own = chain[at].process if at < len(chain) else this_process()
    # Not our own environment: hosts mark every process they start, including this one.
    above = frozenset(each.process for each in chain[at + 1 :])
    return StepClient(own, above, client_mark=_mark_on(own))


def _mark_on(process: str) -> str:
    """Return an agent's mark in a process's environment; empty if it cannot be read."""
    return next((name for name in MARKS if name in environ_of(process)), "")


def clients_by_address(environ: Mapping[str, str]) -> StepClient:
    """Identify the clients of a server at an address: all that is known is who started the
    server."""
    above = frozenset(each.process for each in ancestors(os.getpid()))
    mark = next((name for name in MARKS if environ.get(name)), "")
    return StepClient(this_process(), above, mark, is_known=False)


def client_at(server: StepClient, theirs: tuple[str, int], ours: tuple[str, int]) -> StepClient:
    """Return the program at the other end of a connection, if this machine knows it."""
    pid = process_at(theirs, ours)
    if not pid:
        return server
    own = process_name(pid)
    # A client may have started the server itself, as over standard input.
    above = (server.above - {own}) | {each.process for each in ancestors(pid)}
    return StepClient(own, above, server.mark, _mark_on(own))


def is_alive(process: str) -> bool:
    """Return whether a client is still running."""
    return bool(process) and is_running(process)
