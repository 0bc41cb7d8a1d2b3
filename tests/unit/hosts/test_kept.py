"""Workspaces and journals of a hosted run between two moments of its host."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.governed import environment, shop
from tests.postgres import database, postgres
from tests.repos import git, repository
from tests.unit.hosts.alone import AloneHost, alone_in
from tests.unit.workspace.trees.test_footprint import settle

from flyball.agents.event import HostAnswer
from flyball.app.project import Home, open_home
from flyball.app.runs.journals import list_runs
from flyball.hosts import kept as kept_module
from flyball.hosts.answering import read_payload
from flyball.hosts.governor import HostGovernor
from flyball.hosts.kept import MOST_OPEN, KeptWorkspaces
from flyball.workspace.errors import WorkspaceHeld
from flyball.workspace.process.process_identity import ancestors
from flyball.workspace.run.opening import (
    find_workspace,
    lock_checkout,
    open_workspace,
    peek_workspace,
)


def opened(place: Path, *runs: str) -> Path:
    """A project in which these runs have worked; their state directory comes back."""
    repo = repository(place / "repo", {"a.py": "a = 1\n"})
    for run in runs:
        open_workspace(repo, run, place / "state", in_place=True).close()
    return place / "state"


def test_unchanged_workspace_is_reused(tmp_path: Path):
    state, kept = opened(tmp_path, "r1"), KeptWorkspaces()
    first = kept.open("r1", state)
    first.snapshot("one")
    kept.keep("r1", first)
    assert kept.open("r1", state) is first


def test_workspace_changed_by_another_process_is_reopened(tmp_path: Path):
    state, kept = opened(tmp_path, "r1"), KeptWorkspaces()
    first = kept.open("r1", state)
    kept.keep("r1", first)
    peek_workspace("r1", state).snapshot("elsewhere")
    again = kept.open("r1", state)
    assert again is not first
    assert again.has_snapshot("elsewhere")


def test_only_the_last_few_stay_open(tmp_path: Path):
    runs = [f"r{n}" for n in range(MOST_OPEN + 1)]
    state, kept = opened(tmp_path, *runs), KeptWorkspaces()
    spaces = {run: kept.open(run, state) for run in runs}
    for run, workspace in spaces.items():
        kept.keep(run, workspace)
    assert kept.open(runs[0], state) is not spaces[runs[0]]
    assert kept.open(runs[-1], state) is spaces[runs[-1]]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "home").mkdir()
    repo = shop(tmp_path / "shop")
    settle(*repo.rglob("*"))
    return open_home(repo, environment(tmp_path / "home"), {})


def branches(home: Home) -> list[str]:
    found = git(home.repo, "for-each-ref", "refs/flyball", "--format=%(refname)").split()
    return [each.removeprefix("refs/") for each in found]


def test_a_workspace_is_ready_before_its_run_begins(home: Home):
    kept = KeptWorkspaces()
    assert kept.take(home) is None
    kept.prepare(home)
    found = kept.take(home)
    assert found
    assert found.workspace.tree_hash() == found.workspace.base
    assert find_workspace(found.run, home.state)
    assert kept.take(home) is None
    with pytest.raises(WorkspaceHeld):
        lock_checkout(home.state, home.repo)
    found.workspace.close()
    lock_checkout(home.state, home.repo).release()


MEANWHILE: dict[str, Callable[[Home], object]] = {
    "a file": lambda home: (home.repo / "cart.py").write_text("x"),
    "an ignored file": lambda home: (home.repo / "local.log").write_text("x"),
    "a commit": lambda home: git(home.repo, "commit", "--allow-empty", "-qm", "more"),
    "another branch": lambda home: git(home.repo, "switch", "-qc", "other"),
    "what is tracked": lambda home: git(home.repo, "rm", "-q", "--cached", "cart.py"),
    "what git ignores": lambda home: (home.repo / ".git/info/exclude").write_text("*.py\n"),
    "its record": lambda home: next(iter(home.state.glob("runs/*/workspace.json"))).unlink(),
}


@pytest.mark.parametrize("change", MEANWHILE.values(), ids=MEANWHILE.keys())
def test_one_that_would_be_made_otherwise_now_is_not_taken(
    home: Home, change: Callable[[Home], object]
):
    kept = KeptWorkspaces()
    kept.prepare(home)
    change(home)
    assert kept.take(home) is None


def test_one_that_is_being_made_is_waited_for(home: Home, monkeypatch: pytest.MonkeyPatch):
    kept, begun, make = KeptWorkspaces(), threading.Event(), kept_module._make_ready

    def made(home: Home) -> kept_module.ReadyRun:
        begun.set()
        return make(home)

    monkeypatch.setattr(kept_module, "_make_ready", made)
    monkeypatch.setattr(kept_module, "PATIENCE", 60.0)
    maker = threading.Thread(target=kept.prepare, args=(home,))
    maker.start()
    assert begun.wait(60)
    assert kept.take(home)
    maker.join()


def test_other_settings_make_another_one(home: Home):
    kept = KeptWorkspaces()
    kept.prepare(home)
    other = open_home(home.repo, {**home.environ, "FLYBALL_BASH_NETWORK": "true"}, {})
    assert kept.take(other) is None
    assert kept.take(home)


def test_what_is_ready_in_one_project_is_for_no_other(home: Home, tmp_path: Path):
    kept = KeptWorkspaces()
    kept.prepare(home)
    other = open_home(shop(tmp_path / "other"), home.environ, {})
    assert kept.take(other) is None
    assert kept.take(home)


def test_stale_workspace_is_recreated_without_leftovers(home: Home):
    kept = KeptWorkspaces()
    kept.prepare(home)
    (first,) = branches(home)
    kept.prepare(home)
    assert branches(home) == [first]
    (home.repo / "cart.py").write_text("x")
    kept.prepare(home)
    (second,) = branches(home)
    assert second != first
    kept.discard(home)
    assert branches(home) == []
    assert [*(home.state / "runs").iterdir()] == []


def test_what_a_killed_process_had_ready_is_cleared_away_and_a_living_one_s_is_not(home: Home):
    KeptWorkspaces().prepare(home)
    (note,) = (home.state / "hosts").iterdir()
    dead = note.rename(note.with_name("ready-1@0"))
    living = ancestors(os.getpid())[0].process
    (home.state / "hosts" / f"ready-{living}").write_text("somebody-s")
    KeptWorkspaces().discard(home)
    assert branches(home) == []
    assert not dead.exists()
    assert (home.state / "hosts" / f"ready-{living}").exists()


def test_a_project_in_which_nothing_can_be_made_has_none(home: Home):
    kept = KeptWorkspaces()
    (home.repo / ".git" / "HEAD").write_text("ref: refs/heads/none")
    (home.repo / ".git" / "config").write_text("[broken")
    home.state.parent.mkdir(parents=True)
    home.state.write_text("no directory")
    kept.prepare(home)
    assert kept.take(home) is None


def test_prompt_takes_the_ready_workspace_with_later_changes(home: Home):
    kept = KeptWorkspaces()
    governor = HostGovernor(home, kept)

    def told(event: str, **fields: object) -> HostAnswer:
        common = {"session_id": "s1", "cwd": str(home.repo), "hook_event_name": event}
        return asyncio.run(
            governor.answer(read_payload("claude", json.dumps(common | fields).encode()))
        )

    kept.prepare(home)
    (name,) = branches(home)
    said = told("UserPromptSubmit", prompt="the total is wrong, fix it")
    assert name.removeprefix("flyball/") in said.text
    assert kept.is_wanted.is_set()
    (home.repo / "cart.py").write_text("changed behind our back")
    said = told(
        "PreToolUse", tool_name="Bash", tool_input={"command": "git log -1"}, tool_use_id="l1"
    )
    assert "cart.py changed without an allowed call" in said.text
    assert "def total" in (home.repo / "cart.py").read_text()


def test_writes_of_running_programs_are_reverted_at_the_stop(tmp_path: Path):
    host = alone_in(tmp_path)
    run = {"tool_name": "Bash", "tool_input": {"command": "python3 -m unittest"}}
    assert not host.judged(host.data("PreToolUse", **run, tool_use_id="t1")).is_refused
    (host.repo / "late.py").write_text("x = 1\n")
    said = host.judged(host.data("Stop", last_assistant_message="I looked."))
    assert "late.py" in said.notice
    assert not (host.repo / "late.py").exists()
    assert not host.state().cards[-1].in_flight


def test_a_refused_call_does_not_pass_under_the_id_of_an_allowed_one(tmp_path: Path):
    host = alone_in(tmp_path)
    look = {"tool_name": "Bash", "tool_input": {"command": "git log --oneline | cat"}}
    secret = {"tool_name": "Bash", "tool_input": {"command": "cat .env"}}
    assert not host.judged(host.data("PreToolUse", **look, tool_use_id="call_0")).is_refused
    for _ in range(2):
        assert host.judged(host.data("PreToolUse", **secret, tool_use_id="call_0")).is_refused
    assert not host.judged(host.data("PreToolUse", **look, tool_use_id="call_0")).is_refused


__all__ = ["database", "postgres"]


def test_a_session_is_governed_from_the_database_where_one_is_settled(
    tmp_path: Path, database: str
):
    (tmp_path / "home").mkdir()
    env = {**environment(tmp_path / "home"), "FLYBALL_DATABASE": database}
    host = AloneHost(shop(tmp_path / "shop"), env)
    host.judged(host.data("UserPromptSubmit", prompt="the total is wrong, fix it"))
    assert not host.judged(host.before("cart.py")).is_refused
    assert not host.judged(host.after("cart.py")).is_refused
    assert host.judged(host.before("cart.py", "Write")).is_refused
    state = host.state()
    assert (state.spend.calls, state.cards[-1].memory.reads) == (0, 1)
    (row,) = asyncio.run(list_runs(host.governor.home))
    assert row.run == state.run
    assert list(tmp_path.rglob("journal.sqlite*")) == []
