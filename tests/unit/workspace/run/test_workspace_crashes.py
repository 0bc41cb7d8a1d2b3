"""Whoever is killed while a run's trees move finds them whole when it comes again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]

STRIDES = {"making": 6, "discarding": 4, "taking-in": 10, "rolling-back": 24}
"""How many points are passed over between two deaths, so that each act takes seconds only."""


def deaths(act: str, kind: str, stride: int, place: Path, first: int = 1) -> int:
    """How many deaths it took until the act was through; all that must hold held each time."""
    module = "tests.unit.workspace.run.crashpoints"
    how = [act, kind, str(first), str(stride), str(place)]
    command = [sys.executable, "-W", "error", "-m", module, *how]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("act", STRIDES)
def test_without_git_a_death_at_many_points_is_made_good(act: str, tmp_path: Path):
    assert deaths(act, "plain", 2, tmp_path) > 5


EVERY_POINT = [
    (act, kind, 1, 1)
    for act in STRIDES
    for kind in ("plain", "git")
    if (act, kind) not in (("taking-in", "git"), ("rolling-back", "git"))
]
# Each of these points is a git process or more: in four parts, which run side by side.
EVERY_POINT += [("taking-in", "git", first, 4) for first in (1, 2, 3, 4)]
# And here there are hundreds of them, which would take a quarter of an hour.
EVERY_POINT += [("rolling-back", "git", 1, 12)]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("act", "kind", "first", "stride"), EVERY_POINT)
def test_a_death_at_every_point_is_made_good(
    act: str, kind: str, first: int, stride: int, tmp_path: Path
):
    assert deaths(act, kind, stride, tmp_path, first) > 5


@pytest.mark.exhaustive
@pytest.mark.slow
@pytest.mark.parametrize("act", STRIDES)
def test_with_git_a_death_at_many_points_is_made_good(act: str, tmp_path: Path):
    assert deaths(act, "git", STRIDES[act], tmp_path) > 5
