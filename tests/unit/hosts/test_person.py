"""Who only a person may be: from which processes, environments and state directories."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from flyball.app.project import Home, open_home
from flyball.app.sessions import Session, Sessions
from flyball.errors import NotAPerson
from flyball.hosts import person
from flyball.hosts.person import require_person, require_person_anywhere
from flyball.workspace.process.process_identity import ancestors

Asks = Callable[[Home, Mapping[str, str]], None]
ASKING = pytest.mark.parametrize("ask", [require_person, require_person_anywhere])


def home_with(state: Path, repo: Path) -> tuple[Home, dict[str, str]]:
    environ = {"HOME": str(state.parent), "FLYBALL_STATE_DIR": str(state)}
    repo.mkdir(exist_ok=True)
    return open_home(repo, environ, {}), environ


@ASKING
def test_where_nobody_works_anybody_may_speak(tmp_path: Path, ask: Asks):
    home, environ = home_with(tmp_path / "state", tmp_path / "repo")
    ask(home, {**environ, "CLAUDECODE": "1"})


@ASKING
def test_an_agent_is_known_by_its_mark_whatever_the_state_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Asks
):
    real, above = home_with(tmp_path / "state", tmp_path / "repo")
    Sessions(real.state).keep(Session("claude", "s1"))
    monkeypatch.setattr(person, "environ_of", lambda _: above)
    home, environ = home_with(tmp_path / "elsewhere", tmp_path / "repo")
    with pytest.raises(NotAPerson, match="CLAUDECODE is set"):
        ask(home, {**environ, "CLAUDECODE": "1"})


@ASKING
def test_agent_is_recognized_by_its_state_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Asks
):
    home, above = home_with(tmp_path / "state", tmp_path / "repo")
    host = ancestors(os.getpid())[0].process
    Sessions(home.state).keep(Session("claude", "s1", process=host))
    monkeypatch.setattr(person, "environ_of", lambda _: above)
    with pytest.raises(NotAPerson, match="started by the agent"):
        ask(*home_with(tmp_path / "elsewhere", tmp_path / "repo"))


@ASKING
@pytest.mark.parametrize("linked", ["journal.sqlite", "off.json"])
def test_a_state_directory_of_links_is_the_one_they_lead_to(tmp_path: Path, ask: Asks, linked: str):
    home, _ = home_with(tmp_path / "state", tmp_path / "repo")
    Sessions(home.state).keep(Session("claude", "s1"))
    mirror, environ = home_with(tmp_path / "mirror", tmp_path / "repo")
    mirror.state.mkdir(parents=True)
    (mirror.state / linked).symlink_to(home.state / linked)
    with pytest.raises(NotAPerson, match="not come from a terminal"):
        ask(mirror, environ)
