"""Find the projects of a state directory by their run data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flyball.app.people.team import scope_of
from flyball.app.project import PLACE_FILE, Home, open_home
from flyball.app.settling import state_dir
from flyball.errors import FlyballError, NotFound

NOTHING: Mapping[str, Any] = {}


class BoardProject(NamedTuple):
    """A selectable project: its name in the state directory, and its path."""

    name: str
    home: Home
    scope: str
    """The project's name in grants."""


class Projects:
    """Every project that has runs, and the project that the server was started in."""

    def __init__(self, environ: Mapping[str, str], here: Path | None = None) -> None:
        self.environ = environ
        self.base = state_dir(environ)
        self._here = open_home(here, environ, NOTHING) if here else None
        self._known: dict[str, BoardProject] = {}

    @property
    def here(self) -> str:
        """Return the name of the project that the server was started in."""
        return self._here.state.name if self._here else ""

    def all(self) -> tuple[BoardProject, ...]:
        """Return the current project first, then the others by name."""
        if self._here and self.here not in self._known:
            self._add(self._here)
        for place in sorted(self.base.glob("projects/*")):
            if place.name not in self._known and (home := self._open(place)):
                self._add(home)
        return tuple(self._known.values())

    def scope(self, name: str) -> str:
        """Return a project's name in grants; an unknown name maps to itself."""
        if name not in self._known:
            self.all()
        known = self._known.get(name)
        return known.scope if known else name

    def _add(self, home: Home) -> None:
        name = home.state.name
        self._known[name] = BoardProject(name, home, scope_of(home))

    def find(self, name: str) -> Home:
        """Return a project by its name; by default, the current project."""
        wanted = name or self.here
        for each in self.all():
            if each.name == wanted:
                return each.home
        raise NotFound("project", wanted, "`GET /api/projects` lists the projects.")

    def fresh(self, name: str, flags: Mapping[str, Any] = NOTHING) -> Home:
        """Return a project with its settings reloaded, so that a new run uses the current ones."""
        return open_home(self.find(name).repo, self.environ, flags)

    def _open(self, place: Path) -> Home | None:
        """Return the home of a state directory if its project still exists."""
        # The directory's name has only a digest of the path; each run has stored the path itself,
        # and an import has recorded it.
        noted = sorted(place.glob("runs/*/workspace.json"), reverse=True)
        for file in (place / PLACE_FILE, *noted):
            try:
                repo = Path(json.loads(file.read_text())["project"])
                home = open_home(repo, self.environ, NOTHING)
            except (OSError, ValueError, KeyError, TypeError, FlyballError):
                continue
            if home.state == place:
                return home
        return None
