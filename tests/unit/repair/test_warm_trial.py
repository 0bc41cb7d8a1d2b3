"""Which candidate is tried next, and when it is over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.unit.engine.shop import FILES, Shop, open_shop

from flyball.errors import ToolUnavailable
from flyball.repair.inside.suites import Orders
from flyball.repair.inside.trials import AGAIN, SLOWER, Trial
from flyball.repair.trial import scratch_copy
from flyball.verdict.settled import ProjectCommands, SettledCommand

LIMIT = 0.5


class Suite:
    names = ("test_a",)


class Watched:
    """A trial of a hundred candidates, with one test that fails, whose children compute at will."""

    def __init__(self, place: Path, seconds: float | None) -> None:
        candidates = [{"n": n, "path": "a.py", "edits": []} for n in range(100)]
        told: dict[str, Any] = {
            "task": "try", "runner": "pytest", "args": [], "root": str(place), "width": 1,
            "failing": ["test_a"], "candidates": candidates, "seconds": seconds, "enough": 50,
            "patience": 0.1, "report": str(place / "report"),
        }  # fmt: skip
        self.computed = 0.0
        self.trial = Trial(Orders(told), Suite(), lambda: self.computed)  # type: ignore[arg-type]
        self.trial.limits, self.trial.few = {"test_a": LIMIT}, ["test_a"]
        self.trial.waiting.extend(self.trial.orders.candidates)

    def after(self, seconds: float) -> list[int]:
        """The numbers of the candidates tried next, once children have computed so long."""
        self.computed += seconds
        job = self.trial.following()
        return [each.n for each in job.key] if job else []

    def ended(self, n: int, end: str) -> None:
        self.trial.hear(self.trial.orders.candidates[n : n + 1], [{"end": end}], False)


@pytest.fixture
def timed(tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(tmp_path, 1000.0)
    yield watched
    watched.trial.orders._report.close()


@pytest.fixture
def counted(tmp_path: Path) -> Iterator[Watched]:
    watched = Watched(tmp_path, None)
    yield watched
    watched.trial.orders._report.close()


def test_one_that_was_too_slow_is_tried_again_before_all_others_were_tried(timed: Watched) -> None:
    first = timed.after(0.0)
    timed.ended(0, "time")
    assert 0 not in timed.after(0.0)
    assert timed.after(LIMIT * SLOWER / AGAIN) == [0]
    assert 0 in first
    timed.ended(0, "time")
    assert timed.after(100.0)[0] > 1


def test_idle_time_grants_no_second_try(timed: Watched) -> None:
    timed.after(0.0)
    timed.ended(0, "time")
    timed.trial.orders.began -= 900.0
    assert timed.after(0.0) != [0]


def test_while_something_holds_nothing_is_tried_again(timed: Watched) -> None:
    timed.trial.waiting.popleft()
    timed.trial.waiting.popleft()
    timed.ended(0, "time")
    timed.ended(1, "hold")
    assert 0 not in timed.after(100.0)


def test_counted_search_ignores_the_clock(counted: Watched) -> None:
    counted.trial.orders.began -= 1e9
    assert not counted.trial.is_over
    assert counted.trial.orders.wall(5.0) > 5.0


def test_after_the_first_that_holds_a_part_of_the_candidates_is_still_tried(
    counted: Watched,
) -> None:
    counted.ended(0, "hold")
    for n in range(1, 11):
        assert not counted.trial.is_over
        counted.ended(n, "fail")
        counted.ended(n, "fail")
    counted.ended(11, "fail")
    assert counted.trial.is_over


def test_after_the_first_that_holds_a_part_of_the_time_is_still_used(timed: Watched) -> None:
    timed.ended(0, "hold")
    assert not timed.trial.is_over
    timed.trial.orders.began -= 101.0
    assert timed.trial.is_over


def looked_into(shop: Shop, command: str) -> tuple[str, str, tuple[str, ...]]:
    """The runner, the part and the words that a trial would use with this settled command."""
    call = shop.call()
    settled = ProjectCommands(tests={".": SettledCommand(command, "a test")} if command else {})
    call = call._replace(settings=replace(call.settings, commands=settled))
    with scratch_copy(call) as stage:
        return stage.choice.name, stage.choice.at, stage.choice.args


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("", ("unittest", ".", ())),
        ("pytest -q other", ("pytest", ".", ("-q", "other"))),
        (".venv/bin/python3.12 -m pytest other", ("pytest", ".", ("other",))),
        ("uv run pytest", ("pytest", ".", ())),
        ("python -m unittest discover", ("unittest", ".", ())),
    ],
)
def test_a_settled_command_decides_which_tests_are_tried(
    tmp_path: Path, command: str, wanted: tuple[str, str, tuple[str, ...]]
):
    with open_shop(tmp_path, {**FILES, "other/test_it.py": "def test_it():\n    pass\n"}) as shop:
        found = looked_into(shop, command)
    assert found[1:] == wanted[1:]
    assert found[0] == wanted[0] or not command


@pytest.mark.parametrize("command", ["sh run.sh", "python -m unittest test_cart.CartTest"])
def test_a_settled_command_that_cannot_be_looked_into_is_not_replaced_by_another(
    tmp_path: Path, command: str
):
    with open_shop(tmp_path) as shop, pytest.raises(ToolUnavailable, match=command):
        looked_into(shop, command)
