"""`flyball people`: who may do what in which project of a team."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.surfaces.cli.card import JSON
from flyball.surfaces.cli.terminal.edge import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flyball.app.people.person import People, Person

ROLE = click.option(
    "--role",
    required=True,
    type=click.Choice(["look", "drive", "approve", "administer"]),
    help="What they may do; each includes those before it.",
)
PROJECT = click.option(
    "--project", default="", metavar="P", help="A project's name or directory; else every one."
)


@click.group("people")
def people() -> None:
    """Add, list and revoke the people of a team, each with a token and roles.

    \b
    look        see runs, files, artifacts and streams
    drive       also begin, instruct, pause, resume and cancel runs
    approve     also answer, extend, merge, take back, apply diffs
    administer  also name drivers that are files of the server; see the people

    While there is nobody, the board's own token opens everything.
    """


@people.command()
@click.argument("name")
@ROLE
@PROJECT
@JSON
def add(name: str, role: str, project: str, as_json: bool) -> None:
    """Let a new person in; prints their token, once."""
    from flyball.app.people.person import add_person
    from flyball.surfaces.cli.terminal.view import user

    _require_person()
    place = _project(project)
    store = _people()
    is_first = not store.all()
    token = add_person(store, name, {place: role}, user(), time.time())
    if as_json:
        say(json.dumps({"name": name, "grants": {place: role}, "token": token}))
        return
    say(f"{name} may {role} in {_told(place)}. Their token, which is kept nowhere:")
    say(token)
    if is_first:
        say("From now on the board's own token opens nothing: everybody comes with theirs.")


@people.command()
@click.argument("name")
@ROLE
@PROJECT
@JSON
def grant(name: str, role: str, project: str, as_json: bool) -> None:
    """Give a person another role, in one project or in every one; the token stays."""
    from flyball.app.people.person import grant as give

    _require_person()
    _tell([give(_people(), name, _project(project), role)], as_json=as_json)


@people.command("list")
@JSON
def list_(as_json: bool) -> None:
    """Everybody, with their roles; tokens are not known."""
    found = _people().all()
    if not found and not as_json:
        say("There is nobody: the board's own token opens everything.")
    _tell(found, as_json=as_json)


@people.command()
@click.argument("name")
@PROJECT
@JSON
def revoke(name: str, project: str, as_json: bool) -> None:
    """Take a project from a person; without --project, everything at once."""
    from flyball.app.people.person import revoke as take

    _require_person()
    changed = take(_people(), name, _project(project) if project else "")
    if not project and not as_json:
        say(f"{name} is let in no more.")
        return
    _tell([changed], as_json=as_json)


def _require_person() -> None:
    """Refuse an agent that is governed: a token of its own would let it answer itself."""
    from flyball.app.hosts.person import require_person_anywhere
    from flyball.app.project import open_home

    require_person_anywhere(open_home(Path.cwd(), os.environ, {}), os.environ)


def _people() -> People:
    from flyball.app.people.file_people import FilePeople
    from flyball.app.settling import state_dir

    return FilePeople(state_dir(os.environ))


def _project(name: str) -> str:
    """A project as grants name it, from its name, its title or its directory."""
    from flyball.app.board.projects import Projects
    from flyball.app.people.person import EVERY
    from flyball.app.project import open_home
    from flyball.errors import NotFound, UsageError

    if name in ("", EVERY):
        return EVERY
    known = Projects(os.environ).all()
    meant = [each.name for each in known if name in (each.name, each.home.repo.name)]
    if len(meant) > 1:
        raise UsageError(f"{name!r} may mean {' or '.join(meant)}.", "Name its directory.")
    if meant:
        return meant[0]
    if Path(name).is_dir():
        return open_home(Path(name), os.environ, {}).state.name
    hint = f"These have runs: {', '.join(each.name for each in known) or 'none'}."
    raise NotFound("project", name, hint)


def _told(project: str) -> str:
    return "every project" if project == "*" else project


def _tell(found: Sequence[Person], *, as_json: bool) -> None:
    for each in found:
        if as_json:
            told = {"name": each.name, "grants": each.grants, "added_by": each.added_by}
            say(json.dumps({**told, "added_at": each.added_at}))
            continue
        roles = ", ".join(f"{role} in {_told(at)}" for at, role in sorted(each.grants.items()))
        say(f"{each.name}  {roles or 'no role anywhere'}")
