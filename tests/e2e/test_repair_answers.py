"""Without any model, questions are answered from what can be seen, and big wishes are not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.governed import Shell
from tests.repos import repository

CASES = """\
import unittest

from shop import price


class PriceTest(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(3), 6)
"""


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    shop = {"shop.py": "def price(n):\n    return n * 2\n", "test_shop.py": CASES}
    return Shell(repository(tmp_path / "shop", shop), tmp_path)


def answer(shell: Shell, request: str, *more: str, code: int = 0) -> str:
    done = shell("run", request, *more)
    assert done.returncode == code, done.stdout + done.stderr
    (card,) = json.loads(shell("runs", "show", "last", "--json").stdout)["cards"]
    assert card["commit"] == ""
    return card["answer"]


def test_the_state_of_the_tests_is_told(shell: Shell):
    assert answer(shell, "do the tests pass?").startswith("The only test passes (unittest")


@pytest.mark.slow
def test_a_name_is_found_where_it_is_defined_and_used(shell: Shell):
    assert answer(shell, "where is price defined?") == (
        "`price` is defined at:\n  shop.py:1  def price(n):\n"
        "Imported at:\n  test_shop.py:3  from shop import price\n"
        "Used at (1):\n  test_shop.py:8  self.assertEqual(price(3), 6)"
    )


@pytest.mark.slow
def test_the_last_changes_are_told(shell: Shell):
    told = answer(shell, "what changed lately?")
    assert told.startswith("The last changes:\n")
    assert "shop.py" in told


@pytest.mark.slow
def test_small_talk_is_one_line(shell: Shell):
    assert answer(shell, "thanks!") == "You are welcome."


@pytest.mark.slow
def test_a_feature_needs_a_model_and_the_lines_to_type_are_given(shell: Shell):
    told = answer(shell, "add a pricing page", code=4)
    assert "flyball run --model anthropic:claude-sonnet-5 'add a pricing page'" in told
    assert "flyball run --driver relay:talk 'add a pricing page'" in told


@pytest.mark.slow
def test_a_green_suite_leaves_nothing_to_repair(shell: Shell):
    told = answer(shell, "the tests fail, fix it", code=4)
    assert told.startswith("No test fails, so there is nothing to repair; nothing was changed.")


@pytest.mark.slow
def test_a_project_without_tests_is_told_what_to_do(tmp_path: Path):
    shell = Shell(repository(tmp_path / "shop", {"shop.py": "x = 1\n"}), tmp_path)
    told = answer(shell, "fix the bug", code=4)
    assert told.startswith("No test could be run, so there is no evidence to work from")
    assert "Write a test that shows the fault" in told
