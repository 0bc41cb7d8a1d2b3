"""A crash at any instant loses nothing and repeats nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_run_survives_being_killed_at_every_moment_and_at_random_instants() -> None:
    command = [sys.executable, "-m", "bench.crash", "--instants", "20", "--seed", "7"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "broken: 0" in done.stdout
    assert "20 runs, each killed at a random instant" in done.stdout
