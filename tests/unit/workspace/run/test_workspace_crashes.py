"""Whoever is killed while a run's trees move finds them whole when it comes again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]

STRIDES = {"making": 6, "discarding": 4, "taking-in": 10, "rolling-back": 24}
"""How many points are passed over between two deaths, so that each act takes seconds only."""


def deaths(act: str, kind: str, stride: int, place: Path) -> int:
    """How many deaths it took until the act was through; all that must hold held each time."""
    module = "tests.unit.workspace.run.crashpoints"
    command = [sys.executable, "-W", "error", "-m", module, act, kind, str(stride), str(place)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("act", STRIDES)
def test_without_git_a_death_at_many_points_is_made_good(act: str, tmp_path: Path):
    assert deaths(act, "plain", 2, tmp_path) > 5


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["plain", "git"])
@pytest.mark.parametrize("act", STRIDES)
def test_a_death_at_every_point_is_made_good(act: str, kind: str, tmp_path: Path):
    # Rolling back with git passes hundreds of points, each a git process or more: a few of them
    # take a minute, all of them a quarter of an hour.
    stride = 12 if (act, kind) == ("rolling-back", "git") else 1
    assert deaths(act, kind, stride, tmp_path) > 5


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("act", STRIDES)
def test_with_git_a_death_at_many_points_is_made_good(act: str, tmp_path: Path):
    assert deaths(act, "git", STRIDES[act], tmp_path) > 5
