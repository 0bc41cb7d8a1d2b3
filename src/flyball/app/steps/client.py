"""Which program takes steps from us, and whether a person can speak through it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from flyball.app.hosts.person import HOW, MARKS, SHELLS
from flyball.app.sessions import Sessions
from flyball.errors import NotAPerson
from flyball.workspace.process.holder import ancestors, is_running, this_process


class StepClient(NamedTuple):
    """The program on the other side: a process, and those that it was started from."""

    process: str
    above: frozenset[str] = frozenset()
    mark: str = ""
    """What an agent put into our environment, where that tells that it started us in its shell."""

    def require_person(self, sessions: Sessions, run: str) -> None:
        """Raise unless an answer through this program is a person's.

        A program shows a question to its own person. One that a governed agent has started shows it
        to the agent, and so does one that joins a run which another program drives.
        """
        live = sessions.all()
        if self.above & ({each.process for each in live} - {""}):
            raise NotAPerson("This client was started by an agent that is governed here.", HOW)
        if self.mark:
            raise NotAPerson(f"This server was started by an agent: {self.mark} is set.", HOW)
        drivers = {each.process for each in live if each.run == run} - {""}
        if drivers and self.process not in drivers:
            raise NotAPerson(f"Another program drives run {run}.", HOW)


def client_above() -> StepClient:
    """The program that started this process to talk over its standard input and output."""
    chain = ancestors(os.getpid())
    at = next((n for n, each in enumerate(chain) if each.program not in SHELLS), len(chain))
    own = chain[at].process if at < len(chain) else this_process()
    return StepClient(own, frozenset(each.process for each in chain[at + 1 :]))


def clients_by_address(environ: Mapping[str, str]) -> StepClient:
    """Whoever connects to this process and knows its token."""
    above = frozenset(each.process for each in ancestors(os.getpid()))
    mark = next((name for name in MARKS if environ.get(name)), "")
    return StepClient(this_process(), above, mark)


def is_alive(process: str) -> bool:
    """Whether a client still runs."""
    return bool(process) and is_running(process)
