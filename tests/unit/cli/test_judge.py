"""`flyball judge` as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.governed import (
    EDIT,
    READ,
    REVIEW,
    SUITE,
    checkpoint,
    environment,
    objects,
    say,
    script,
    shop,
)

from flyball.cli.judge import judge
from flyball.cli.run import run
from flyball.cli.runs import runs
from flyball.errors import ConfigError, NotFound


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("judge")
    shop(place / "shop")
    lines = (READ, EDIT, checkpoint(), EDIT, SUITE, say("Right."), REVIEW)
    args = ["fix", "--intent", "small_fix", "--driver", script(place / "s", *lines)]
    result = CliRunner(env=environment(place)).invoke(run, [*args, "--repo", str(place / "shop")])
    assert result.exit_code == 0, result.output
    return place


def invoke(place: Path, *args: str) -> Result:
    repo = ("--repo", str(place / "shop"))
    return CliRunner(env=environment(place)).invoke(judge, [*args, *repo])


def policy(tmp_path: Path, text: str) -> tuple[str, str]:
    (tmp_path / "policy.toml").write_text(text)
    return "--policy", str(tmp_path / "policy.toml")


@pytest.mark.slow
def test_the_same_policy_says_the_same(place: Path):
    result = invoke(place, "last")
    assert result.stdout.splitlines()[-1] == ("0 of 5 calls would have been answered differently.")
    assert "edit_diff    blocked (out_of_phase)" in result.output


def test_a_smaller_budget_would_have_blocked(place: Path, tmp_path: Path):
    result = invoke(place, "last", *policy(tmp_path, "[budget]\nmax_tool_rounds = 2\n"), "--json")
    calls = [line for line in objects(result.stdout) if line["type"] == "call"]
    changed = {(c["was"]["tool"], c["now"]["code"]) for c in calls if c["differs"]}
    assert ("test", "budget_spent") in changed
    assert not calls[0]["differs"]


def test_a_person_would_have_been_asked(place: Path, tmp_path: Path):
    result = invoke(place, "last", *policy(tmp_path, "[policy]\napprove_checkpoint = true\n"))
    assert "a person would have been asked: Accept the checkpoint?" in result.output


def test_a_file_is_judged_like_a_run(place: Path, tmp_path: Path):
    file = tmp_path / "run.jsonl"
    repo = ("--repo", str(place / "shop"))
    CliRunner(env=environment(place)).invoke(runs, ["export", "last", "-o", str(file), *repo])
    assert invoke(place, str(file)).stdout == invoke(place, "last").stdout


def test_what_cannot_be_judged_is_named(place: Path, tmp_path: Path):
    assert isinstance(invoke(place, "nothing").exception, NotFound)
    assert isinstance(invoke(place, "last", "--policy", "none.toml").exception, NotFound)
    wrong = invoke(place, "last", *policy(tmp_path, "[budget]\nrounds = 1\n")).exception
    assert isinstance(wrong, ConfigError)
