"""A crash at any instant loses nothing and repeats nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tale", "instants", "stride"),
    [
        pytest.param("fix", 1, 20, id="fix"),
        pytest.param("fix", 20, 1, id="fix at every moment", marks=pytest.mark.exhaustive),
        pytest.param("plan", 10, 1, id="plan at every moment", marks=pytest.mark.exhaustive),
    ],
)
def test_a_run_survives_being_killed_at_many_moments_and_at_random_instants(
    tale: str, instants: int, stride: int
) -> None:
    options = ["--tale", tale, "--instants", str(instants), "--stride", str(stride), "--seed", "7"]
    command = [sys.executable, "-m", "tests.simulation.crash", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "broken: 0" in done.stdout
    assert f"{instants} runs, each killed at a random instant" in done.stdout
