"""What all routes work with: the board of a server, and of it what one person may use."""

from __future__ import annotations

import asyncio
import getpass
import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from litestar.di import NamedDependency

from flyball.app.board.projects import BoardProject, Projects
from flyball.app.board.running import RunsHere
from flyball.app.board.watching import Watch
from flyball.app.board.workers import workers_of
from flyball.app.hosts.asker.person import require_no_host
from flyball.app.people.person import EVERY, People, Person, Right
from flyball.app.people.team import open_people
from flyball.app.project import Home, open_home
from flyball.errors import FlyballError, NotAllowed, NotFound

RECHECK = 1.0
"""How long a stream may go on, in seconds, after its reader lost the right to it."""


class Board(NamedTuple):
    """One server's view of a state directory."""

    projects: Projects
    watch: Watch
    runs: RunsHere
    environ: Mapping[str, str]
    people: People


class PersonalBoard:
    """The board as one person may use it for one route: of other projects nothing exists.

    Every project reaches a route through here, whatever its name came in: path, query or body.
    """

    def __init__(self, board: Board, person: Person, need: Right) -> None:
        self.person = person
        self.by = person.name
        self.runs = board.runs
        self.environ = board.environ
        self._board = board
        self._need = need

    def projects(self) -> Sequence[BoardProject]:
        """The projects that they may look at."""
        return [each for each in self._board.projects.all() if self._sees(each.name)]

    @property
    def here(self) -> str:
        """The project that is meant where none is named: the server's own, or their first."""
        own = self._board.projects.here
        if own and self._sees(own):
            return own
        return next((each.name for each in self.projects()), "")

    def project(self, name: str) -> Home:
        """A project by its name; without one, the one that is meant then."""
        wanted = name or self.here
        if not self._sees(wanted):
            raise NotFound("project", wanted, "`GET /api/projects` lists the projects.")
        home = self._board.projects.find(wanted)
        self.require(home, self._need)
        return home

    def fresh(self, name: str, flags: Mapping[str, Any]) -> Home:
        """A project with its settings read anew: a run starts with what holds now."""
        return open_home(self.project(name).repo, self.environ, flags)

    def home_of(self, run: str) -> Home:
        """The project that a run belongs to; another's run is not found, like one that is not."""
        home = self._board.watch.locate(run, self._sees)
        self.require(home, self._need)
        return home

    def spoken_to(self, run: str) -> Home:
        """The same for a word that only a person may say."""
        home = self.home_of(run)
        require_no_host(home, self.environ)
        return home

    def may(self, home: Home, need: Right) -> bool:
        """Whether their role in a project reaches so far."""
        return self._right(home.state.name) >= need

    def require(self, home: Home, need: Right, what: str = "this") -> None:
        """Raise where their role in a project does not reach so far."""
        if not self.may(home, need):
            raise NotAllowed(
                f"{self.by} may not do {what} in {home.repo.name}.",
                f"It needs the role `{need.word}` there.",
            )

    def rows(self, project: str = "") -> list[dict[str, Any]]:
        """The runs of a project, or of all that they may look at."""
        return [row for row in self._board.watch.rows(project) if self._sees(row["project"])]

    def workers(self) -> list[dict[str, Any]]:
        """Who drives runs; leases on runs of other projects are counted, and not named."""
        watch = self._board.watch
        return workers_of(watch.rows(), self._sees, watch.workers())

    def everybody(self) -> Sequence[Person]:
        """The people of the team, for who administers all of it."""
        if self.person.right(EVERY) < Right.ADMINISTER:
            raise NotAllowed(
                f"{self.by} may not see the people.", "It needs `administer` in every project."
            )
        return self._board.people.all()

    async def follow(self, home: Home, run: str, last: str) -> AsyncIterator[bytes]:
        """A run's stream, for as long as they may read it."""
        async for frame in self._while_allowed(self._board.watch.follow(home, run, last)):
            yield frame

    async def follow_all(self) -> AsyncIterator[bytes]:
        """The list of the runs that they may see and its changes, for as long as they may."""
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
        """Whether they may still do what they might; with other roles, they have to ask again."""
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
"""The board, as a route asks for it."""


def open_board(environ: Mapping[str, str], here: Path, beat: float = 15.0) -> Board:
    """A board over every project of the state directory that the environment names."""
    projects = Projects(environ, here)
    runs = RunsHere(projects.base, environ, _user())
    watch = Watch(projects, beat, runs.spoken)
    return Board(projects, watch, runs, environ, open_people(open_home(here, environ, {})))


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
