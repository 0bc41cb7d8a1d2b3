"""Where a team's people are kept, and what their grants call a project."""

from __future__ import annotations

from flyball.app.people.decisions import DATABASE
from flyball.app.people.file_people import FilePeople
from flyball.app.people.person import People
from flyball.app.project import Home, load_extra, project_name
from flyball.app.settling import state_dir


def open_people(home: Home) -> People:
    """The people of the database that is settled, or of this user's state directory."""
    if home.database:
        return load_extra(DATABASE).PostgresPeople(home.database)
    return FilePeople(state_dir(home.environ))


def scope_of(home: Home) -> str:
    """What a grant calls a project: in a database the same on every machine that has a clone."""
    return project_name(home) if home.database else home.state.name
