"""A run whose journal is in Postgres, from the command line: driven, listed, and told about."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.postgres import database, postgres

__all__ = ["database", "postgres"]

FILES = {
    "cart.py": "def total(prices):\n    return sum(prices) - 1\n",
    "test_cart.py": (
        "import unittest\n\nimport cart\n\n\nclass CartTest(unittest.TestCase):\n"
        "    def test_total(self):\n        self.assertEqual(cart.total([1, 2]), 3)\n"
    ),
}


@pytest.mark.exhaustive
def test_a_run_is_kept_in_the_database_and_nowhere_else(tmp_path: Path, database: str) -> None:
    shop = tmp_path / "shop"
    shop.mkdir()
    for name, text in FILES.items():
        (shop / name).write_text(text)
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for args in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "start")):
        subprocess.run(["git", *args], cwd=shop, check=True)
    environ = {
        **os.environ,
        "FLYBALL_STATE_DIR": str(tmp_path / "state"),
        "FLYBALL_CONFIG": os.devnull,
    }

    def flyball(*args: str) -> str:
        program = Path(sys.executable).with_name("flyball")
        command = [program, *args, "--database", database]
        done = subprocess.run(command, cwd=shop, env=environ, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    flyball("run", "the tests fail, fix it", "--json")
    row = json.loads(flyball("runs", "list", "--json"))
    assert row["status"] == "success"
    assert list(tmp_path.glob("state/**/journal.sqlite")) == []
    told = json.loads(flyball("doctor", "--json"))
    assert [each["name"] for each in told["database"] if not each["holds"]] == []
