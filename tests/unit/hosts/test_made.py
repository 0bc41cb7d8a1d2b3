"""What the agent has made itself it may destroy: what came about since its host started."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.governed import environment, shop

from flyball.hosts.made import created_by_host, is_own_temporary, is_temporary
from flyball.workspace.process.process_identity import this_process

LATER = f"1@{10**12}"
"""A host that will start after everything here was made."""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return shop(tmp_path / "shop")


@pytest.fixture
def scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        yield Path(place)


def git(repo: Path, *args: str) -> None:
    env = {**environment(repo.parent / "home"), "GIT_COMMITTER_EMAIL": "a@b.c"}
    subprocess.run(["git", *args], cwd=repo, env={**os.environ, **env}, check=True)


def test_branches_stashes_and_worktrees_are_the_agents_if_they_are_younger(repo: Path):
    git(repo, "branch", "mine")
    (repo / "cart.py").write_text("x = 1\n")
    git(repo, "stash", "-q")
    git(repo, "worktree", "add", "-q", "../beside")
    me = this_process()
    for words in (
        ["git", "branch", "-D", "mine"],
        ["git", "stash", "drop"],
        ["git", "worktree", "remove", "../beside", "--force"],
    ):
        assert created_by_host(words, me, str(repo)), words
        assert not created_by_host(words, LATER, str(repo)), words
        assert not created_by_host(words, "", str(repo)), words


def test_a_branch_whose_reflog_has_expired_is_not_the_agents(repo: Path):
    git(repo, "branch", "old")
    git(repo, "reflog", "expire", "--expire=all", "--all")
    assert not created_by_host(["git", "branch", "-D", "old"], this_process(), str(repo))


def test_what_is_not_there_yet_is_made_by_the_same_command(repo: Path):
    for words in (
        ["git", "branch", "-D", "none"],
        ["git", "stash", "drop"],
        ["git", "tag", "-f", "none", "HEAD"],
        ["git", "worktree", "remove", "--force", "../none"],
        ["rm", "-rf", "/tmp/nobody-has-made-this"],
    ):
        assert created_by_host(words, LATER, str(repo)), words


def test_existing_tag_may_not_be_moved(repo: Path):
    git(repo, "tag", "v1")
    assert not created_by_host(["git", "tag", "-f", "v1"], this_process(), str(repo))


def test_temporary_files_are_the_agents_if_all_are_younger(repo: Path, scratch: Path):
    (scratch / "a").mkdir()
    (scratch / "a" / "b").touch()
    for name in (f"{scratch}/a", f"{scratch}/*"):
        assert created_by_host(["rm", "-rf", name], this_process(), str(repo))
        assert not created_by_host(["rm", "-rf", name], LATER, str(repo))
    mixed = ["rm", "-rf", "dist", f"{scratch}/a"]
    assert not created_by_host(mixed, this_process(), str(repo))
    assert is_own_temporary(mixed, this_process())
    assert not is_own_temporary(mixed, LATER)


def test_only_what_lies_below_is_temporary():
    assert is_temporary(["rm", "-r", "/tmp/a"])
    for name in ("/tmp", "/tmp/", "/tmp/../home", "/tmpx/a", "tmp/a"):
        assert not is_temporary(["rm", "-r", name]), name
        assert not created_by_host(["rm", "-r", name], this_process(), "/"), name


def test_nothing_else_is_taken_for_the_agents(repo: Path):
    for words in (
        ["git", "push"],
        ["git", "stash", "clear"],
        ["git", "branch", "-M", "a"],
        ["git", "branch", "-D"],
        ["rm"],
        ["shred", "/tmp/a"],
        [],
    ):
        assert not created_by_host(words, this_process(), str(repo)), words
    assert not created_by_host(["git", "branch", "-D", "x"], this_process(), "/nowhere/at/all")
