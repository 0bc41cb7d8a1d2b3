"""A crash at any instant loses nothing and repeats nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("tale", "instants", "stride"), [("fix", 5, 1), ("plan", 2, 4)])
def test_a_run_survives_being_killed_at_every_moment_and_at_random_instants(
    tale: str, instants: int, stride: int
) -> None:
    """A plan has five times as many moments, most of the kinds that a fix has: one in four dies."""
    options = ["--tale", tale, "--instants", str(instants), "--stride", str(stride), "--seed", "7"]
    command = [sys.executable, "-m", "tests.simulation.crash", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "broken: 0" in done.stdout
    assert f"{instants} runs, each killed at a random instant" in done.stdout
