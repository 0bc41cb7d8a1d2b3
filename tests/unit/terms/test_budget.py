"""What a run may do, what it has done, what is kept back, and how far it is."""

from __future__ import annotations

import pytest
from tests.simulation.world import call

from flyball.terms.budget import (
    Budget,
    Extension,
    Spend,
    cost,
    is_reserved,
    spent_limit,
)
from flyball.terms.progress import Parts, Progress, Stage, unwatched


def test_extensions_are_a_persons_word_and_pass_the_ceiling():
    budget = Budget(calls=400, ceiling=150).extend(Extension("ann", 10, "nearly there"))
    assert budget.limit == 160
    assert not spent_limit(budget, Spend(calls=159))
    assert spent_limit(budget, Spend(calls=200))


@pytest.mark.parametrize(
    ("budget", "spend", "words"),
    [
        (Budget(calls=3), Spend(calls=3), "all 3 tool calls are spent"),
        (Budget(calls=3), Spend(calls=2), ""),
        (Budget(calls=3, tokens=100), Spend(input_tokens=90, output_tokens=10), "all 100 tokens"),
        (Budget(calls=3, money=0.5), Spend(money=0.5), "all of the 0.50 allowed is spent"),
        (Budget(calls=3, tokens=100, money=1), Spend(), ""),
    ],
)
def test_which_limit_is_used_up_is_said(budget, spend, words):
    found = spent_limit(budget, spend)
    assert words in found
    assert bool(found) == bool(words)


@pytest.mark.parametrize(
    ("tool", "spent", "mutated", "kept"),
    [
        ("read", 2, False, False),
        ("read", 3, True, True),
        ("read", 2, True, False),
        ("edit_diff", 3, False, True),
        ("edit_diff", 2, False, False),
        ("test", 4, True, False),
        ("checkpoint", 4, True, False),
    ],
)
def test_the_last_calls_are_for_verification(tool, spent, mutated, kept):
    budget = Budget(calls=5, reserve=2)
    assert is_reserved(budget, Spend(calls=spent), call("1", tool), has_mutated=mutated) is kept


def test_words_cost_nothing():
    assert [cost(call("1", tool)) for tool in ("note", "checkpoint", "appeal", "read")] == [
        0,
        0,
        0,
        1,
    ]


def test_parts_side_by_side_are_one_report():
    parts = Parts("verdict", before=30.0)
    parts.note(Progress("old code", 2.0, done=3, of=10), 2.0)
    parts.note(Progress("new code", 2.0, done=4, of=12), 2.1)
    now = parts.at(4.0)
    assert (now.elapsed, now.before, now.done, now.of) == (4.0, 30.0, 7, 22)
    assert now.what == "verdict: old code and new code"


def test_a_whole_of_which_one_part_is_unknown_is_not_counted():
    parts = Parts("verdict")
    parts.note(Progress("old code", 2.0, done=3, of=10), 2.0)
    parts.note(Progress("new code", 2.0, done=4), 2.0)
    assert (parts.at(4.0).done, parts.at(4.0).of) == (7, 0)


def test_different_units_are_not_added():
    parts = Parts("verdict")
    parts.note(Progress("old code", 2.0, done=3, of=10), 2.0)
    parts.note(Progress("small changes", 2.0, done=4, of=5, unit="tried"), 2.0)
    assert (parts.at(4.0).done, parts.at(4.0).of) == (0, 0)


def test_a_part_that_reports_no_more_is_left_out_and_the_latest_stays():
    parts = Parts("verdict")
    assert parts.at(2.0).what == "verdict"
    parts.note(Progress("old code", 2.0), 2.0)
    parts.note(Progress("new code", 4.0), 4.0)
    assert parts.at(8.0).what == "verdict: new code"
    assert parts.at(60.0).what == "verdict: new code"


def test_a_line_of_telemetry_is_read_back():
    now = Progress("new code", 2.0, 30.0, done=3, of=10)
    assert Progress.of_line(now.line("step-1", "call-1")) == now
    assert unwatched(now) is None


def test_an_operation_of_steps_says_which_one_it_is_at():
    stage = Stage("opening", 3, before=8.0)
    assert stage.at(1.0) == Progress("opening", 1.0, 8.0, 0, 3, "steps")
    stage.next("submodules")
    assert stage.at(2.0) == Progress("opening: submodules", 2.0, 8.0, 1, 3, "steps")
