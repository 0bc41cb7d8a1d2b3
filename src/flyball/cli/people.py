"""`flyball people`: manage roles in the projects of a team."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from flyball.cli.card import DATABASE, JSON
from flyball.cli.terminal.edge import say
from flyball.cli.typed.words import complete_directory

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from flyball.app.people.person import People, Person
    from flyball.app.project import Home

ROLE = click.option(
    "--role",
    required=True,
    type=click.Choice(["look", "drive", "approve", "administer"]),
    help="What they may do; each role includes those before it.",
)
PROJECT = click.option(
    "--project",
    default="",
    metavar="P",
    shell_complete=complete_directory,
    help="A project's name or directory; default: every project.",
)


@click.group("people")
def people() -> None:
    """Manage the people of a team: each has a token and roles.

    \b
    look        see runs, files, artifacts and streams
    drive       also begin, instruct, pause, resume and cancel runs
    approve     also answer, extend, merge, revert, apply diffs
    administer  also name drivers that are files of the server; see the people

    While there are no people, the board's own token opens everything. With --database they are
    shared by every board that uses it, and a project is named by its clone address.
    """


@people.command()
@click.argument("name")
@ROLE
@PROJECT
@DATABASE
@JSON
def add(name: str, role: str, project: str, as_json: bool) -> None:
    """Add a person and print their token, once."""
    from flyball.app.people.person import add_person
    from flyball.cli.terminal.view import user

    _require_person()
    place = _project(project)
    with _people() as store:
        is_first = not store.all()
        token = add_person(store, name, {place: role}, user(), time.time())
    if as_json:
        say(json.dumps({"name": name, "grants": {place: role}, "token": token}))
        return
    say(f"{name} may {role} in {_told(place)}. Their token, which is not stored:")
    say(token)
    if is_first:
        say("From now on the board's own token is disabled: everybody uses their own.")


@people.command(short_help="Change a person's role; the token stays.")
@click.argument("name")
@ROLE
@PROJECT
@DATABASE
@JSON
def grant(name: str, role: str, project: str, as_json: bool) -> None:
    """Change a person's role, in one project or in all; the token stays."""
    from flyball.app.people.person import grant as give

    _require_person()
    place = _project(project)
    with _people() as store:
        _tell([give(store, name, place, role)], as_json=as_json)


@people.command("list")
@DATABASE
@JSON
def list_(as_json: bool) -> None:
    """List people and roles; tokens are not stored."""
    with _people() as store:
        found = store.all()
    if not found and not as_json:
        say("No people are registered: the board's own token allows everything.")
    _tell(found, as_json=as_json)


@people.command()
@click.argument("name")
@PROJECT
@DATABASE
@JSON
def revoke(name: str, project: str, as_json: bool) -> None:
    """Revoke access to a project; without --project, to all."""
    from flyball.app.people.person import revoke as take

    _require_person()
    place = _project(project) if project else ""
    with _people() as store:
        changed = take(store, name, place)
    if changed is not None:
        _tell([changed], as_json=as_json)
    elif as_json:
        say(json.dumps({"name": name, "grants": {}}))
    else:
        say(f"{name} no longer has access.")


def _require_person() -> None:
    """Refuse a governed agent: with its own token it could answer its own questions."""
    from flyball.hosts.person import require_person_anywhere

    require_person_anywhere(_home(), os.environ)


def _home() -> Home:
    from flyball.app.project import open_home

    return open_home(Path.cwd(), os.environ, {})


@contextmanager
def _people() -> Generator[People]:
    from flyball.app.people.team import open_people

    store = open_people(_home())
    try:
        yield store
    finally:
        store.close()


def _project(name: str) -> str:
    """Return a project's name in grants, from its name, title, directory or address."""
    from flyball.app.board.projects import Projects
    from flyball.app.people.person import EVERY
    from flyball.app.people.team import scope_of
    from flyball.app.project import open_home
    from flyball.errors import NotFound, UsageError
    from flyball.workspace.trees.git import without_credentials

    if name in ("", EVERY):
        return EVERY
    known = Projects(os.environ).all()
    meant = {each.scope for each in known if name in (each.name, each.home.repo.name, each.scope)}
    if len(meant) > 1:
        said = " or ".join(sorted(meant))
        raise UsageError(f"{name!r} may mean {said}.", "Name its directory.")
    if meant:
        return meant.pop()
    if Path(name).is_dir():
        return scope_of(open_home(Path(name), os.environ, {}))
    # Another machine may have the only clones of it.
    if _home().database and (":" in name or name.startswith("/")):
        return without_credentials(name)
    hint = f"These have runs: {', '.join(each.scope for each in known) or 'none'}."
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
