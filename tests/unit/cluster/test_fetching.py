"""A run of other machines in somebody's own clone, without overwriting what was done there."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.repos import git
from tests.unit.app.runs.test_run_bundle import RUN, Team

from flyball.app.project import Home, open_home
from flyball.app.runs.run_bundle import bring_run, fetch_run
from flyball.errors import Conflict, NotFound
from flyball.workspace.run.opening import open_workspace, peek_workspace


@pytest.fixture
def team(tmp_path: Path) -> Team:
    """A project whose run was begun from one clone, and another clone of it."""
    made = Team(tmp_path)
    made.begin()
    git(made.repo, "remote", "add", "origin", str(made.remote))
    git(made.repo, "push", "-q", "origin", "HEAD:main")
    git(made.place, "clone", "-q", "-b", "main", str(made.remote), "bobs")
    return made


def home_of(team: Team) -> Home:
    environ = {**team.env, "FLYBALL_STATE_DIR": str(team.place / "bobs-state")}
    return open_home(team.place / "bobs", environ, {})


def work(team: Team, fence: int, text: str, card: str) -> str:
    """Let a worker take the run, change a file and commit a card; the tree it came to."""
    carrier = team.carrier("one", fence)
    carrier.arrive()
    with team.open("one") as here:
        (here.root / "a.txt").write_text(text)
        here.commit_card(RUN, card, f"Write {text.strip()}")
        carrier.send(here)
        return here.tree_hash()


def test_a_fetched_run_is_like_one_that_was_driven_here(team: Team) -> None:
    work(team, 2, "three\n", "step-1")
    home = home_of(team)
    assert fetch_run(home, RUN).is_new
    here = peek_workspace(RUN, home.state)
    assert (here.root / "a.txt").read_text() == "three\n"
    assert [record.card for record in here.cards()] == ["step-1"]
    assert git(home.repo, "log", "-1", "--format=%s", f"flyball/{RUN}") == "Write three\n"
    assert (home.repo / "a.txt").read_text() == "one\n"
    assert not fetch_run(home, RUN).is_new


def test_what_a_worker_did_since_comes_with_the_next_fetch(team: Team) -> None:
    first = work(team, 2, "three\n", "step-1")
    home = home_of(team)
    fetch_run(home, RUN)
    second = work(team, 3, "four\n", "step-2")
    bring_run(home, RUN, first)
    assert len(peek_workspace(RUN, home.state).cards()) == 1
    bring_run(home, RUN, second)
    assert (peek_workspace(RUN, home.state).root / "a.txt").read_text() == "four\n"


def test_cards_that_were_moved_here_are_not_overwritten(team: Team) -> None:
    work(team, 2, "three\n", "step-1")
    home = home_of(team)
    fetch_run(home, RUN)
    with open_workspace(
        home.repo, RUN, home.state, in_place=False, home=Path(team.env["HOME"])
    ) as here:
        (here.root / "a.txt").write_text("my own\n")
        here.commit_card(RUN, "mine", "Mine")
    work(team, 3, "four\n", "step-2")
    with pytest.raises(Conflict, match="reapplied here since"):
        fetch_run(home, RUN)
    assert git(home.repo, "show", f"flyball/{RUN}:a.txt") == "my own\n"


def test_a_branch_that_is_checked_out_does_not_move(team: Team) -> None:
    work(team, 2, "three\n", "step-1")
    home = home_of(team)
    fetch_run(home, RUN)
    git(home.repo, "symbolic-ref", "HEAD", f"refs/heads/flyball/{RUN}")
    work(team, 3, "four\n", "step-2")
    with pytest.raises(Conflict, match="checked out"):
        fetch_run(home, RUN)


def test_a_run_that_no_cluster_drove_is_not_found(team: Team) -> None:
    with pytest.raises(NotFound, match="no cluster drove it"):
        fetch_run(home_of(team), "0101-000000-cccc")
