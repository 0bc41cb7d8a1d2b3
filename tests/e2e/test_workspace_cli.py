"""`flyball card` and `flyball runs merge|replay|prune` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from tests.repos import git, repository

from flyball.app.project import open_home
from flyball.cli.card import card
from flyball.cli.runs_tree import merge, prune, replay
from flyball.errors import FlyballError
from flyball.workspace.cards.artifacts import CardArtifact, VerdictNote, write_artifact
from flyball.workspace.run.opening import open_workspace

TEXT = "".join(f"line {n}\n" for n in range(12))
TOP = click.Group(commands={"card": card, "merge": merge, "replay": replay, "prune": prune})


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    repo = repository(tmp_path / "proj", {"a.txt": TEXT})
    home = open_home(repo, {"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path)}, {})
    with open_workspace(repo, "r1", home.state, in_place=False) as workspace:
        for name, old, new in (("c1", "line 1\n", "one\n"), ("c2", "line 10\n", "ten\n")):
            file = workspace.root / "a.txt"
            file.write_text(file.read_text().replace(old, new))
            (workspace.root / f"{name}.py").write_text("x = 1\n")
            workspace.commit_card("r1", name, f"Card {name}")
    verdict = VerdictNote("tests_pass", "passed", "3 tests ran")
    account = CardArtifact("r1", "c1", "Card c1", status="done", risk="low", verdicts=(verdict,))
    write_artifact(repo, account, str)
    return repo


def flyball(*args: str | Path, code: int = 0) -> str:
    result: Result = CliRunner().invoke(TOP, [str(arg) for arg in args])
    if isinstance(result.exception, FlyballError):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


def test_showing_a_card(repo: Path):
    text = flyball("card", "show", "r1", "c1", "--repo", repo)
    shown = json.loads(flyball("card", "show", "r1", "c1", "--repo", repo, "--json"))

    assert "Card c1  (done)" in text
    assert "tests_pass: passed. 3 tests ran" in text
    assert "added     c1.py  +1 −0" in text
    assert "+one" in text
    assert shown["record"]["card"] == "c1"
    assert shown["status"] == "kept"


def test_a_card_goes_back_and_forth(repo: Path):
    back = flyball("card", "revert", "r1", "c1", "--repo", repo)
    again = flyball("card", "revert", "r1", "c1", "--repo", repo)
    forth = json.loads(flyball("card", "apply", "r1", "c1", "--repo", repo, "--json"))

    assert "Reverted card c1" in back
    assert "deleted   c1.py" in back
    assert "kept later changes in a.txt" in back
    assert "nothing to do" in again
    assert forth["step"] == "apply"
    assert {change["path"] for change in forth["writes"]} == {"a.txt", "c1.py"}
    subjects = git(repo, "log", "--format=%s", "flyball/r1").splitlines()
    assert subjects[:2] == ["Apply again: Card c1", "Revert: Card c1"]


def test_several_paths_may_follow_the_option(repo: Path):
    flyball("card", "revert", "r1", "c1", "--repo", repo, "--paths", "c1.py", "a.txt")

    assert git(repo, "ls-tree", "--name-only", "flyball/r1").split() == ["a.txt", "c2.py"]
    with pytest.raises(FlyballError, match="--paths"):
        flyball("card", "revert", "r1", "c1", "c1.py", "--repo", repo)


def test_merging_replaying_and_deleting(repo: Path, tmp_path: Path):
    other = repository(tmp_path / "other", {"a.txt": TEXT})

    with pytest.raises(FlyballError, match=r"not merged: c1 \(Card c1\)"):
        flyball("prune", "r1", "--abandon", "--repo", repo)
    assert "c1  Card c1: applied" in flyball("replay", "r1", "--into", other, "--repo", repo)
    assert "into main: 2 commits" in flyball("merge", "r1", "--repo", repo)
    with pytest.raises(FlyballError, match="already"):
        flyball("merge", "r1", "--repo", repo)
    assert "of 1 runs" in flyball("prune", "--days", "0", "--repo", repo)
    assert "Deleted run r1" in flyball("prune", "r1", "--abandon", "--repo", repo)

    assert (repo / "a.txt").read_bytes() == (other / "a.txt").read_bytes()
    assert "flyball" not in git(repo, "branch", "--list")
    assert git(repo, "status", "--porcelain") == ""


def test_a_replay_that_does_not_fit_exits_with_1_and_writes_nothing(repo: Path, tmp_path: Path):
    other = repository(tmp_path / "other", {"a.txt": "nothing alike\n"})

    said = flyball("replay", "r1", "--into", other, "--repo", repo, code=1)
    report = json.loads(flyball("replay", "r1", "--into", other, "--repo", repo, "--json", code=1))

    assert "so nothing was written" in said
    assert report["ok"] is False
    assert git(other, "status", "--porcelain") == ""
