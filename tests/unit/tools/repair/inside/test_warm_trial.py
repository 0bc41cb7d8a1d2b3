"""Which candidate is tried next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flyball.tools.repair.inside.job import Orders
from flyball.tools.repair.inside.warm_trial import AGAIN, SLOWER, Trial

LIMIT = 0.5


class Suite:
    names = ("test_a",)


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    """A trial of a hundred candidates, with one test that fails."""
    candidates = [{"n": n, "path": "a.py", "edits": []} for n in range(100)]
    told: dict[str, Any] = {
        "task": "try", "runner": "pytest", "args": [], "root": str(tmp_path), "width": 1,
        "failing": ["test_a"], "candidates": candidates, "seconds": 1000.0, "enough": 1,
        "report": str(tmp_path / "report"),
    }  # fmt: skip
    found = Trial(Orders(told), Suite())  # pyright: ignore[reportArgumentType]
    found.limits, found.few = {"test_a": LIMIT}, ["test_a"]
    found.waiting.extend(found.orders.candidates)
    yield found
    found.orders._report.close()


def after(trial: Trial, seconds: float) -> list[int]:
    """The numbers of the candidates that are tried next, once so much time has gone by."""
    trial.orders.began -= seconds
    job = trial.following()
    return [each.n for each in job.key] if job else []


def test_one_that_was_too_slow_is_tried_again_before_all_others_were_tried(trial: Trial) -> None:
    first = after(trial, 0.0)
    trial.hear(trial.orders.candidates[:1], [{"end": "time"}], False)
    assert 0 not in after(trial, 0.0)
    assert after(trial, LIMIT * SLOWER / AGAIN) == [0]
    assert 0 in first
    trial.hear(trial.orders.candidates[:1], [{"end": "time"}], False)
    assert after(trial, 100.0)[0] > 1


def test_while_something_holds_nothing_is_tried_again(trial: Trial) -> None:
    slow, good = trial.waiting.popleft(), trial.waiting.popleft()
    trial.hear([slow], [{"end": "time"}], False)
    trial.hear([good], [{"end": "hold"}], False)
    assert 0 not in after(trial, 100.0)


def test_when_all_were_tried_the_slow_ones_get_all_the_time(trial: Trial) -> None:
    trial.hear(trial.orders.candidates[:1], [{"end": "time"}], False)
    trial.waiting.clear()
    assert after(trial, 0.0) == [0]
    assert after(trial, 0.0) == []
