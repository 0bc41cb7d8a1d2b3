"""Git and the repository, each trouble made for real."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.repos import git, own_state, put, repository
from tests.unit.doctor.patient import home_of, seen_by

from flyball.doctor.repository import examine_repository
from flyball.doctor.symptom import Symptom

GIT = shutil.which("git") or "git"


def look(place: Path, repo: Path) -> dict[str, Symptom]:
    return seen_by(examine_repository, home_of(place, repo))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return repository(tmp_path / "shop", {"cart.py": "TOTAL = 1\n", ".gitignore": "*.log\n"})


def old_git(place: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git that is this machine's in all but the version it reports."""
    program = place / "bin" / "git"
    program.parent.mkdir()
    answer = f'[ "$1" = --version ] && echo "git version {version}" && exit'
    program.write_text(f'#!/bin/sh\n{answer}\nexec {GIT} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    return program


def test_a_repository_in_order_has_nothing_to_mend(shop: Path, tmp_path: Path):
    git(shop, "config", "user.name", "Ada")
    git(shop, "config", "user.email", "ada@example.org")
    found = look(tmp_path, shop)
    assert all(each.holds for each in found.values())
    assert found["git"].seen.startswith("git version 2.")
    assert found["identity"].seen == "Ada <ada@example.org>"
    assert found["checkout"].seen == "everything is committed"


@pytest.mark.parametrize("version", ["1.8.3.1", "2.17.1", "2.29.9"])
def test_a_git_that_is_too_old_is_named_with_the_one_that_is_needed(
    version: str, shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = old_git(tmp_path, version, monkeypatch)
    found = look(tmp_path, shop)
    assert found["git"].blocks
    assert found["git"].seen == f"git version {version} ({program}) is too old"
    assert found["git"].hint == "Install git 2.30 or later."
    assert "checkout" not in found


def test_a_git_that_cannot_merge_trees_is_worth_knowing(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    old_git(tmp_path, "2.34.1", monkeypatch)
    found = look(tmp_path, shop)
    assert (found["git"].holds, found["git"].blocks) == (False, False)
    assert "2.38" in found["git"].hint
    assert found["checkout"].holds


def test_a_git_that_does_not_say_its_version_is_no_git(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    old_git(tmp_path, "of my own", monkeypatch)
    assert look(tmp_path, shop)["git"].blocks


def test_a_missing_git_blocks_everywhere(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))
    bare = tmp_path / "bare"
    bare.mkdir()
    assert look(tmp_path, shop)["git"].blocks
    assert look(tmp_path, bare)["git"].blocks


def test_without_a_repository_runs_work_in_place(tmp_path: Path):
    (tmp_path / "bare").mkdir()
    found = look(tmp_path, tmp_path / "bare")["repository"]
    assert (found.holds, found.blocks) == (False, False)
    assert "runs work in place" in found.seen
    assert "git init" in found.hint


def test_a_broken_repository_is_told_from_none(tmp_path: Path):
    put(tmp_path / "torn", {".git/config": "[core]\n", "cart.py": "1\n"})
    assert (
        "not a repository that git can use" in look(tmp_path, tmp_path / "torn")["repository"].seen
    )


def test_without_an_identity_it_says_how_commits_are_signed(shop: Path, tmp_path: Path):
    git(shop, "config", "user.name", "Ada")
    found = look(tmp_path, shop)["identity"]
    assert "signed Ada <flyball@localhost>" in found.seen
    assert "user.email" in found.hint
    assert not found.blocks


def test_a_repository_without_a_commit_is_worth_knowing(tmp_path: Path):
    repo = repository(tmp_path / "new")
    put(repo, {"cart.py": "1\n"})
    found = look(tmp_path, repo)
    assert "no commit yet" in found["commit"].seen
    assert not any(each.blocks for each in found.values())


def test_a_detached_head_is_worth_knowing(shop: Path, tmp_path: Path):
    git(shop, "checkout", "-q", "--detach")
    assert "no branch" in look(tmp_path, shop)["branch"].seen
    assert "git switch -c" in look(tmp_path, shop)["branch"].hint


def test_uncommitted_files_are_counted_and_the_repository_is_not_touched(
    shop: Path, tmp_path: Path
):
    put(shop, {"cart.py": "TOTAL = 2\n", "new.py": "1\n", "debug.log": "noise\n", "staged.py": "1"})
    git(shop, "add", "staged.py")
    before = own_state(shop)
    found = look(tmp_path, shop)["checkout"]
    assert found.seen == "3 files not committed (cart.py, new.py, staged.py)"
    assert "A run starts with them" in found.hint
    assert "merge" in found.hint
    assert not found.blocks
    assert own_state(shop) == before


def clash(repo: Path) -> None:
    """Two branches that changed the same line."""
    git(repo, "checkout", "-q", "-b", "other")
    put(repo, {"cart.py": "TOTAL = 3\n"})
    git(repo, "commit", "-q", "-am", "three")
    git(repo, "checkout", "-q", "main")
    put(repo, {"cart.py": "TOTAL = 4\n"})
    git(repo, "commit", "-q", "-am", "four")


@pytest.mark.parametrize("doing", ["merge", "rebase", "cherry-pick"])
def test_what_git_has_not_finished_is_named(doing: str, shop: Path, tmp_path: Path):
    clash(shop)
    git(shop, doing, "other", check=False)
    found = look(tmp_path, shop)
    assert found["unfinished"].seen.startswith(f"a {doing} is under way")
    assert "Finish or abort" in found["unfinished"].hint
    assert not found["unfinished"].blocks
    assert found["checkout"].seen.startswith("1 file not committed (cart.py)")


def test_a_lock_that_a_dead_git_left_behind_blocks(shop: Path, tmp_path: Path):
    lock = shop / ".git" / "index.lock"
    lock.touch()
    found = look(tmp_path, shop)["index"]
    assert found.blocks
    assert str(lock) in found.seen
    assert found.hint.endswith(f"rm {lock}")
