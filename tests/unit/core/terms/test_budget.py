"""What a run may do, what it has done, what is kept back."""

from __future__ import annotations

import pytest
from tests.simulation.world import call

from flyball.core.terms.budget import (
    Budget,
    Extension,
    Spend,
    cost,
    is_reserved,
    spent_limit,
)


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
