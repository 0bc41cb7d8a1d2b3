"""Without any model, a failing test is worked on by search, under the same governor."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FLYBALL = str(Path(sys.executable).with_name("flyball"))
BROKEN = """def total(items):
    result = 0
    for item in items:
        result -= item
    return result
"""
CASES = """import unittest
from cart import total


class CartTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(total([1, 2, 3]), 6)

    def test_empty(self):
        self.assertEqual(total([]), 0)
"""


@pytest.mark.slow
def test_a_failing_suite_goes_from_red_to_green_without_a_model(tmp_path: Path):
    repo = tmp_path / "shop"
    repo.mkdir()
    (repo / "cart.py").write_text(BROKEN)
    (repo / "test_cart.py").write_text(CASES)
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "first")):
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        subprocess.run(["git", *identity, *words], cwd=repo, check=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith("FLYBALL_")}
    done = subprocess.run(
        [FLYBALL, "run", "--json", "the tests fail, fix it"],
        cwd=repo,
        env={**env, "FLYBALL_STATE_DIR": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [line["type"] for line in lines]
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert kinds.index("checkpoint") < kinds.index("patch")
    assert lines[-1]["type"] == "final"
    assert lines[-1]["proof"] == "tests went from red to green"
    assert (repo / "cart.py").read_text() == BROKEN
    assert (repo / "test_cart.py").read_text() == CASES
