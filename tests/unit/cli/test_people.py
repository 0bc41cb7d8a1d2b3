"""`flyball people` as an administrator types it, with people in a file and in a database."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.governed import environment, shop
from tests.postgres import database, postgres

from flyball.app.people.person import find_person
from flyball.app.people.team import open_people, scope_of
from flyball.app.project import open_home
from flyball.app.sessions import Session, Sessions
from flyball.cli.people import people
from flyball.errors import Conflict, NotAPerson, NotFound

__all__ = ["database", "postgres"]

ORIGIN = "https://git.example.org/shop.git"
Type = Callable[..., Result]


@pytest.fixture(params=["file", "database"])
def typed(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Types a command in the shop; everything of the user's is in the temporary directory."""
    shop(tmp_path / "shop")
    set_origin = ["git", "remote", "add", "origin", ORIGIN.replace("//", "//ada:secret@")]
    subprocess.run(set_origin, cwd=tmp_path / "shop", check=True)
    monkeypatch.chdir(tmp_path / "shop")
    for name, value in {**environment(tmp_path), "FLYBALL_DATABASE": ""}.items():
        monkeypatch.setenv(name, value)
    of_database: list[str] = []
    if request.param == "database":
        of_database = ["--database", request.getfixturevalue("database")]

    def type_(*args: str) -> Result:
        return CliRunner().invoke(people, [*args, *of_database])

    return type_


def said(result: Result) -> str:
    assert result.exit_code == 0, result.output or result.exception
    return result.output


def test_a_person_is_added_told_of_changed_and_let_go(typed: Type):
    assert "No people are registered" in said(typed("list"))
    first = said(typed("add", "ada", "--role", "administer"))
    token = first.splitlines()[1]
    assert first.startswith("ada may administer in every project.")
    assert "the board's own token is disabled" in first
    assert "own token" not in said(typed("add", "bob", "--role", "drive", "--project", "."))
    assert token not in said(typed("list"))
    home = open_home(Path.cwd(), os.environ, {})
    scope = scope_of(home)
    assert said(typed("list")) == f"ada  administer in every project\nbob  drive in {scope}\n"
    assert (
        said(typed("grant", "bob", "--role", "look", "--project", ".")) == f"bob  look in {scope}\n"
    )
    assert said(typed("revoke", "bob", "--project", ".")) == "bob  no role anywhere\n"
    assert said(typed("revoke", "bob")) == "bob no longer has access.\n"
    store = open_people(home)
    (ada,) = store.all()
    store.close()
    assert find_person([ada], token) == ada
    assert len(token) == 43


def test_a_program_is_told_the_same(typed: Type):
    told = json.loads(said(typed("add", "ada", "--role", "look", "--json")))
    assert (told["name"], told["grants"]) == ("ada", {"*": "look"})
    listed = json.loads(said(typed("list", "--json")))
    assert listed["grants"] == {"*": "look"}
    assert listed["added_by"]
    assert told["token"] not in json.dumps(listed)
    assert json.loads(said(typed("revoke", "ada", "--json"))) == {"name": "ada", "grants": {}}


def test_what_cannot_be_is_refused(typed: Type):
    said(typed("add", "ada", "--role", "look"))
    assert isinstance(typed("add", "ada", "--role", "look").exception, Conflict)
    assert isinstance(typed("grant", "bob", "--role", "look").exception, NotFound)
    assert isinstance(typed("revoke", "bob").exception, NotFound)
    assert isinstance(typed("add", "bob", "--role", "look", "--project", "x").exception, NotFound)
    assert "Invalid value for '--role'" in typed("add", "bob", "--role", "emperor").output


def test_a_project_of_a_database_is_called_by_its_address_without_credentials(
    typed: Type, request: pytest.FixtureRequest
):
    if request.node.callspec.params["typed"] == "file":
        said(typed("add", "ada", "--role", "look", "--project", "."))
        assert "git.example.org" not in said(typed("list"))
        return
    elsewhere = "ssh://git:pw@git.example.org/other.git"
    said(typed("add", "ada", "--role", "look", "--project", "."))
    said(typed("grant", "ada", "--role", "drive", "--project", elsewhere))
    assert json.loads(said(typed("list", "--json")))["grants"] == {
        ORIGIN: "look",
        "ssh://git.example.org/other.git": "drive",
    }


def test_an_agent_that_is_governed_gives_itself_no_token(
    typed: Type, monkeypatch: pytest.MonkeyPatch
):
    home = open_home(Path.cwd(), os.environ, {})
    Sessions(home.state).keep(Session("claude", "s1"))
    monkeypatch.setenv("CLAUDECODE", "1")
    for args in (("add", "me", "--role", "administer"), ("grant", "me", "--role", "look")):
        assert isinstance(typed(*args).exception, NotAPerson)
    assert said(typed("list")).startswith("No people are registered")
