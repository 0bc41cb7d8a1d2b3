"""What all routes work with: the projects, the watch over their runs, and the runs driven here."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from litestar.di import NamedDependency

from flyball.app.board.projects import Projects
from flyball.app.board.running import RunsHere
from flyball.app.board.watching import Watch
from flyball.app.hosts.person import require_no_host
from flyball.app.project import Home


class Board(NamedTuple):
    """One server's view of a state directory."""

    projects: Projects
    watch: Watch
    runs: RunsHere
    environ: Mapping[str, str]

    def home_of(self, run: str) -> Home:
        """The project that a run belongs to."""
        return self.watch.locate(run)

    def spoken_to(self, run: str) -> Home:
        """The same for a word that only a person may say."""
        home = self.home_of(run)
        require_no_host(home, self.environ)
        return home


OurBoard = NamedDependency[Board]
"""The board, as a route asks for it."""


def open_board(environ: Mapping[str, str], here: Path | None, beat: float = 15.0) -> Board:
    """A board over every project of the state directory that the environment names."""
    projects = Projects(environ, here)
    runs = RunsHere(projects.base, environ, _user())
    return Board(projects, Watch(projects, beat, runs.spoken), runs, environ)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
