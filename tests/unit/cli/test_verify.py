"""`flyball verify` as a user and a pipeline type it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.governed import CART, TESTS, environment, shop
from tests.repos import git, own_state, put, repository

from flyball.app.liars.trial import all_cases, chosen, make_repository
from flyball.cli.verify import verify
from flyball.errors import NotFound, UsageError

FLYBALL = (sys.executable, "-c", "from flyball.cli import main; main()")
MENDED = CART.replace("result += price", "result += price * quantity")
WEAKER = TESTS.replace("self.assertEqual(total([(2, 3)]), 6)", "self.assertTrue(total([(2, 3)]))")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    shop(tmp_path / "shop")
    return tmp_path


def invoke(place: Path, *args: str) -> Result:
    repo = ("--repo", str(place / "shop"))
    return CliRunner(env=environment(place)).invoke(verify, [*args, *repo])


def commit(place: Path, files: dict[str, str | bytes], message: str = "change") -> None:
    put(place / "shop", files)
    git(place / "shop", "add", "-A")
    git(place / "shop", "commit", "-q", "-m", message)


def test_a_repair_in_the_working_tree_is_shown_and_nothing_is_left_behind(place: Path):
    put(place / "shop", {"cart.py": MENDED})
    before = own_state(place / "shop")
    result = invoke(place)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "✓ shown: red → green (tests that were there) (2 tests)"
    assert lines[1].endswith("→ working tree")
    assert "  changed: cart.py" in lines
    assert any("red → green: test_cart.py::CartTest::test_three_pens" in line for line in lines)
    assert own_state(place / "shop") == before
    (project,) = (place / "state" / "projects").iterdir()
    assert not list((project / "verify").glob("*/run"))


def test_a_change_that_shows_nothing_is_labelled_so_and_nobody_is_sent_back(place: Path):
    commit(place, {"cart.py": MENDED})
    put(place / "shop", {"cart.py": f"{MENDED}\n\nRATE = 2\n"})
    result = invoke(place)
    assert result.exit_code == 0
    assert "✓ shown: green; nothing shown to fail before (2 tests)" in result.output


def test_a_regression_is_not_shown(place: Path):
    commit(place, {"cart.py": MENDED})
    put(place / "shop", {"cart.py": CART})
    result = invoke(place)
    assert result.exit_code == 4
    assert result.stdout.startswith("✗ not shown:")
    assert "not shown: test_cart.py::CartTest::test_three_pens fails" in result.output


@pytest.mark.slow
def test_a_weaker_test_is_a_question(place: Path):
    commit(place, {"cart.py": MENDED})
    put(place / "shop", {"cart.py": CART, "test_cart.py": WEAKER})
    result = invoke(place)
    assert result.exit_code == 3, result.output
    assert result.stdout.startswith("? a question:")
    assert "as it was, it fails on the new code" in result.output
    shown = [line.strip() for line in result.stdout.splitlines()]
    assert "-        self.assertEqual(total([(2, 3)]), 6)" in shown
    assert "+        self.assertTrue(total([(2, 3)]))" in shown
    assert shown[-1].startswith("A person decides whether this is intended")
    told = invoke(place, "--markdown")
    assert told.exit_code == 3
    assert told.stdout.startswith("### A question: ")
    assert "<details><summary>test_cart.py::CartTest::test_three_pens" in told.output
    assert "assertEqual(total([(2, 3)]), 6)" in told.output
    assert "assertTrue(total([(2, 3)]))" in told.output


def test_programs_read_the_same_facts(place: Path):
    put(place / "shop", {"cart.py": MENDED})
    result = invoke(place, "--json")
    told = json.loads(result.stdout)
    assert (result.exit_code, told["type"], told["status"]) == (0, "verdict", "shown")
    assert told["label"] == told["lines"][0] == "red → green (tests that were there) (2 tests)"
    assert told["verdict"]["mended"] == ["test_cart.py::CartTest::test_three_pens"]
    assert told["head"] == "working tree"


def test_two_commits_are_compared_where_they_parted(place: Path):
    git(place / "shop", "checkout", "-q", "-b", "fix")
    commit(place, {"cart.py": MENDED})
    git(place / "shop", "checkout", "-q", "main")
    commit(place, {"README.md": "The main line went on.\n"})
    result = invoke(place, "--base", "main", "--head", "fix", "--markdown")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("### Shown: red → green (tests that were there) (2 tests)")
    assert "- changed: cart.py" in result.output
    alone = json.loads(invoke(place, "--head", "fix", "--json").stdout)
    assert alone["verdict"]["changed"] == ["cart.py"]


def test_nothing_changed_is_said(place: Path):
    result = invoke(place)
    assert result.exit_code == 0
    red = "test_cart.py::CartTest::test_three_pens"
    assert result.stdout.startswith(f"· nothing changed; 1 test still fails: {red}\n")
    told = json.loads(invoke(place, "--json").stdout)
    assert told["status"] == "nothing changed"
    assert told["verdict"]["old_failures"] == [red]


def test_a_forge_gets_the_log_annotations_a_summary_and_files(place: Path):
    commit(place, {"cart.py": MENDED})
    put(place / "shop", {"cart.py": CART})
    summary, junit, sarif = place / "summary.md", place / "junit.xml", place / "out.sarif"
    repo = ("--repo", str(place / "shop"))
    files = ("--junit", str(junit), "--sarif", str(sarif))
    env = {**environment(place), "GITHUB_STEP_SUMMARY": str(summary)}
    result = CliRunner(env=env).invoke(verify, ["--github", *files, *repo])
    assert result.exit_code == 4, result.output
    first, verdict, *_ = result.stdout.splitlines()
    assert verdict.startswith("✗ not shown: ")
    stop = first.removeprefix("::stop-commands::")
    log, _, commands = result.stdout.partition(f"\n::{stop}::\n")
    assert len(stop) > 20 and "ran now: " in log
    assert commands.startswith("::error file=test_cart.py,")
    assert summary.read_text().startswith("### Not shown: ")
    assert "failure" in junit.read_text()
    assert json.loads(sarif.read_text())["runs"][0]["results"][0]["ruleId"] == "regression"


def test_a_forge_is_told_of_what_could_not_be_verified_at_all(place: Path):
    result = invoke(place, "--github", "--base", "nowhere")
    assert isinstance(result.exception, NotFound)
    assert result.stdout.startswith("::error title=flyball::")


def test_a_revision_that_is_not_there_and_a_place_without_history_are_named(
    place: Path, tmp_path: Path
):
    unknown = invoke(place, "--base", "nowhere")
    assert isinstance(unknown.exception, NotFound)
    assert "nowhere" in str(unknown.exception)
    (tmp_path / "plain").mkdir()
    bare = CliRunner(env=environment(place)).invoke(verify, ["--repo", str(tmp_path / "plain")])
    assert isinstance(bare.exception, UsageError)
    assert "is not in a git repository" in str(bare.exception)


def test_the_first_commit_has_nothing_before_it(tmp_path: Path):
    repository(tmp_path / "shop", {"cart.py": CART, "test_cart.py": TESTS})
    result = invoke(tmp_path, "--head", "HEAD")
    assert result.exit_code == 0
    assert "nothing changed" in result.output


@pytest.mark.slow
def test_a_grammar_that_is_missing_is_named_with_what_to_install(tmp_path: Path):
    (case,) = chosen(all_cases(), (), 1, ("045-node-fix",))
    make_repository(tmp_path / "shop", case, os.environ)
    put(tmp_path / "without", {"tree_sitter_javascript.py": "raise ImportError\n"})
    done = subprocess.run(
        [*FLYBALL, "verify", "--base", "main", "--json"],
        cwd=tmp_path / "shop",
        env={**os.environ, **environment(tmp_path), "PYTHONPATH": str(tmp_path / "without")},
        capture_output=True,
    )
    told = json.loads(done.stdout)["verdict"]
    assert told["uninverted"] is True
    (said,) = told["not_run"]
    assert "tree-sitter-javascript" in said and "pip install 'flyball[verify]'" in said
