"""What the words of a request demand of the verdict."""

from __future__ import annotations

import pytest

from flyball.core.terms.intent import Intent
from flyball.verdict.asking import asked_for


def ask(request: str, intent: Intent = Intent.SMALL_FIX):
    return asked_for(request, ("I will change test_total",), intent, wants_red=True)


@pytest.mark.parametrize(
    "request_",
    ["the tests fail, fix it", "Two failing tests.", "CI is red", "repair the broken suite"],
)
def test_failing_tests_without_names_are_all_meant(request_):
    assert ask(request_).mends_all


def test_named_tests_are_meant_alone():
    found = ask("test_pieces fails, and so does cart.test.js")
    assert found.must_mend == ("test_pieces", "cart.test.js")
    assert not found.mends_all


def test_other_requests_are_about_no_failing_test():
    found = ask("the total is wrong when the cart is empty")
    assert not found.mends_all
    assert found.must_mend == ()


@pytest.mark.parametrize(
    ("request_", "intent", "keeps"),
    [
        ("the total is wrong", Intent.SMALL_FIX, True),
        ("refactor the cart", Intent.FEATURE_BUILD, True),
        ("change the label to Save", Intent.SMALL_FIX, False),
        ("add a pricing page", Intent.FEATURE_BUILD, False),
        ("look at the cart", Intent.DIAGNOSE, True),
    ],
)
def test_who_repairs_or_rearranges_changes_no_expectation(request_, intent, keeps):
    found = ask(request_, intent)
    assert found.keeps_behaviour is keeps
    assert found.announced == (request_, "I will change test_total")
    assert found.wants_red
