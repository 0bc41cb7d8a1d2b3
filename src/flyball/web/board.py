"""Shared state of all routes: a server's board, and the part that one person may use."""

from __future__ import annotations

import asyncio
import getpass
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from litestar.di import NamedDependency

from flyball.app.board.account import Accounts
from flyball.app.board.projects import BoardProject, Projects
from flyball.app.board.running import RunsHere
from flyball.app.board.watching import Watch
from flyball.app.board.workers import workers_of
from flyball.app.people.person import EVERY, People, Person, Right
from flyball.app.people.team import open_people
from flyball.app.project import Home, open_home
from flyball.errors import FlyballError, NotAllowed, NotFound
from flyball.hosts.person import require_no_host

RECHECK = 1.0
"""Maximum seconds that a stream continues after its reader lost the right to it."""


class Board(NamedTuple):
    """One server's view of a state directory."""

    projects: Projects
    watch: Watch
    runs: RunsHere
    environ: Mapping[str, str]
    people: People
    accounts: Accounts


class PersonalBoard:
    """The board as one person may use it for one route: other projects are invisible.

    Every route gets its projects here, whether they are named in the path, the query or the body.
    """

    def __init__(self, board: Board, person: Person, need: Right) -> None:
        self.person = person
        self.by = person.name
        self.runs = board.runs
        self.environ = board.environ
        self._board = board
        self._need = need

    def projects(self) -> Sequence[BoardProject]:
        """Return the projects visible to the person."""
        return [each for each in self._board.projects.all() if self._sees(each.name)]

    @property
    def here(self) -> str:
        """Return the default project: the server's own, or the person's first."""
        own = self._board.projects.here
        if own and self._sees(own):
            return own
        return next((each.name for each in self.projects()), "")

    def project(self, name: str) -> Home:
        """Return a project by its name; by default the default project."""
        wanted = name or self.here
        if not self._sees(wanted):
            raise NotFound("project", wanted, "`GET /api/projects` lists the projects.")
        home = self._board.projects.find(wanted)
        self.require(home, self._need)
        return home

    def fresh(self, name: str, flags: Mapping[str, Any]) -> Home:
        """Return a project with its settings reloaded, so that a new run uses the current ones."""
        return open_home(self.project(name).repo, self.environ, flags)

    def home_of(self, run: str) -> Home:
        """Return the project of a run; a run of a hidden project is not found."""
        home = self._board.watch.locate(run, self._sees)
        self.require(home, self._need)
        return home

    def account(self, run: str) -> dict[str, Any]:
        """Return everything about a run that the person may see."""
        return self._board.accounts.account(self.home_of(run), run)

    def spoken_to(self, run: str) -> Home:
        """Return the project of a run for an action that only a person may take."""
        home = self.home_of(run)
        require_no_host(home, self.environ)
        return home

    def may(self, home: Home, need: Right) -> bool:
        """Return whether the person's role in a project includes a right."""
        return self._right(home.state.name) >= need

    def require(self, home: Home, need: Right, what: str = "this") -> None:
        """Raise if the person's role in a project does not include a right."""
        if not self.may(home, need):
            raise NotAllowed(
                f"{self.by} may not do {what} in {home.repo.name}.",
                f"It needs the role `{need.word}` there.",
            )

    def rows(self, project: str = "") -> list[dict[str, Any]]:
        """Return the runs of a project, or of all visible ones."""
        return [row for row in self._board.watch.rows(project) if self._sees(row["project"])]

    def workers(self) -> list[dict[str, Any]]:
        """Return the workers; leases on runs of hidden projects are counted, not named."""
        watch = self._board.watch
        return workers_of(watch.rows(), self._sees, watch.workers())

    def everybody(self) -> Sequence[Person]:
        """Return the people of the team, for an administrator of all projects."""
        if self.person.right(EVERY) < Right.ADMINISTER:
            raise NotAllowed(
                f"{self.by} may not see the people.", "It needs `administer` in every project."
            )
        return self._board.people.all()

    async def follow(self, home: Home, run: str, last: str) -> AsyncIterator[bytes]:
        """Yield a run's stream, for as long as the person may read it."""
        async for frame in self._while_allowed(self._board.watch.follow(home, run, last)):
            yield frame

    async def follow_all(self) -> AsyncIterator[bytes]:
        """Yield the list of visible runs and its changes, for as long as the person may."""
        async for frame in self._while_allowed(self._board.watch.follow_all(self._sees)):
            yield frame

    async def _while_allowed(self, frames: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        looked = time.monotonic()
        async for frame in frames:
            if time.monotonic() - looked > RECHECK:
                if not await asyncio.to_thread(self._is_as_it_was):
                    return
                looked = time.monotonic()
            yield frame

    def _is_as_it_was(self) -> bool:
        """Return whether the person's rights are unchanged; otherwise they must reconnect."""
        try:
            known = self._board.people.all()
        except FlyballError:
            return False
        return self.person in known if known else not self.person.digest

    def _sees(self, project: str) -> bool:
        return self._right(project) >= Right.LOOK

    def _right(self, project: str) -> Right:
        return self.person.right(self._board.projects.scope(project))


OurBoard = NamedDependency[PersonalBoard]
"""The board, as a dependency of a route."""


def open_board(environ: Mapping[str, str], here: Path, beat: float = 15.0) -> Board:
    """Open a board over every project of the state directory that the environment names."""
    projects = Projects(environ, here)
    runs = RunsHere(projects.base, environ, _user())
    watch = Watch(projects, beat, runs.spoken)
    return Board(
        projects, watch, runs, environ, open_people(open_home(here, environ, {})), Accounts()
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
