"""How the repairer goes about failing tests, move by move."""

from __future__ import annotations

import pytest
from tests.unit.drivers.asking import line
from tests.unit.repair.telling import (
    ALL_GREEN,
    BEST,
    CHANGED,
    CHECKPOINT,
    CUT,
    FOUND,
    GREEN,
    IN_VAIN,
    NO_TESTS,
    NOT_PYTHON,
    OTHER,
    RED,
    RED_ELSEWHERE,
    STILL_RED,
    Step,
    Told,
    asked,
    did,
    made,
    reply_to,
    searched,
)

from flyball.repair.driver import reverse_diff
from flyball.run.on_driver import STATE_IT
from flyball.run.thread import Speaker
from flyball.terms.call import INTERRUPTED
from flyball.terms.phase import Phase

LOOKED = did("localise_faults", RED)
SEARCHED = did("try_candidates", FOUND)
APPLIED = did("edit_diff", CHANGED, diff=BEST)
PASSED = (did("test", ALL_GREEN, args=["test_cart.CartTest.test_pens"]), did("test", ALL_GREEN))
NOTED = did("note", "Noted.", text="Other changes")


def test_it_looks_at_the_tests_one_by_one_within_its_time():
    assert made(reply_to(asked(), seconds=40)) == [("localise_faults", {"seconds": 14.0})]


def test_what_the_tools_allow_bounds_even_the_longest_time():
    assert made(reply_to(asked(), seconds=1e9)) == [("localise_faults", {"seconds": 600.0})]
    ((_, args),) = made(reply_to(asked(LOOKED), seconds=1e9))
    assert "for up to 3600 s" in str(args["proposed_action"])


def test_its_checkpoint_says_what_fails_where_and_how_long_it_will_try():
    ((tool, args),) = made(reply_to(asked(LOOKED), seconds=40))
    assert tool == "checkpoint"
    assert args["goal"] == "Make test_cart.CartTest.test_pens pass, and every other test."
    findings = str(args["findings"])
    assert "1 test of 3 fails:" in findings
    assert "test_cart.py:8 expects `total(3) == 6`, but `total(3)` is 3." in findings
    assert "1.00  cart.py:5  return n" in findings
    assert "for up to 36 s" in str(args["proposed_action"])
    assert (args["files"], args["verify_with"]) == (["cart.py"], ["unittest"])


def test_it_searches_as_long_as_it_promised_whatever_is_set_by_now():
    reply = reply_to(asked(LOOKED, CHECKPOINT, phase=Phase.EXECUTE), seconds=600)
    assert made(reply) == [("try_candidates", {"seconds": 17.0})]


@pytest.mark.parametrize(
    ("steps", "calls"),
    [
        ((SEARCHED,), [("edit_diff", {"diff": BEST})]),
        (
            (SEARCHED, APPLIED),
            [("test", {"args": ["test_cart.CartTest.test_pens"]}), ("test", {})],
        ),
    ],
)
def test_it_applies_the_best_then_runs_the_failing_tests_and_all(
    steps: tuple[Step, ...], calls: list[object]
):
    request = asked(LOOKED, CHECKPOINT, *steps, phase=Phase.EXECUTE)
    assert made(reply_to(request)) == calls


def test_the_other_changes_are_noted_with_their_diffs():
    steps = (LOOKED, CHECKPOINT, SEARCHED, APPLIED, *PASSED)
    ((tool, args),) = made(reply_to(asked(*steps, phase=Phase.EXECUTE)))
    assert tool == "note"
    assert OTHER in str(args["text"])
    assert "  cart.py:5 off by one: `n` → `n + 3`\n" in str(args["text"])
    assert BEST not in str(args["text"])


def test_it_claims_no_more_than_that_the_tests_pass():
    steps = (LOOKED, CHECKPOINT, SEARCHED, APPLIED, *PASSED, NOTED)
    reply = reply_to(asked(*steps, phase=Phase.EXECUTE))
    assert not reply.calls
    assert reply.text.startswith("A plausible change: the tests pass. cart.py:5, operand added")
    assert "1 other would pass too: `flyball runs show r1`." in reply.text
    assert "fixed" not in reply.text


def test_in_a_new_thread_it_still_claims_just_that():
    steps = (SEARCHED, APPLIED, did("test", ALL_GREEN), NOTED)
    reply = reply_to(asked(*steps, phase=Phase.EXECUTE))
    assert reply.text.startswith("A plausible change: the tests pass.")
    assert "Failed before" not in reply.text


def test_rejected_change_is_replaced_by_the_next():
    steps = (LOOKED, CHECKPOINT, SEARCHED, APPLIED, did("test", STILL_RED))
    reply = reply_to(asked(*steps, phase=Phase.EXECUTE))
    assert made(reply) == [
        ("edit_diff", {"diff": reverse_diff(BEST)}),
        ("edit_diff", {"diff": OTHER}),
    ]


def test_after_two_such_changes_it_gives_up_with_the_tree_as_it_was():
    back = did("edit_diff", CHANGED, diff=reverse_diff(BEST))
    second = did("edit_diff", CHANGED, diff=OTHER)
    red = did("test", STILL_RED)
    steps = (LOOKED, CHECKPOINT, SEARCHED, APPLIED, red, back, second, red)
    reply = reply_to(asked(*steps, phase=Phase.EXECUTE))
    assert made(reply) == [("edit_diff", {"diff": reverse_diff(OTHER)})]
    gone = did("edit_diff", CHANGED, diff=reverse_diff(OTHER))
    reply = reply_to(asked(*steps, gone, phase=Phase.EXECUTE))
    assert reply.text.startswith("No change was found that makes the tests pass; nothing was")


def test_an_edit_that_is_refused_is_not_claimed():
    refused = did("edit_diff", "no_match: the text is not there.", diff=BEST)
    steps = (LOOKED, CHECKPOINT, SEARCHED, refused)
    reply = reply_to(asked(*steps, phase=Phase.EXECUTE))
    assert not reply.calls
    assert reply.text.startswith("A change was found that makes the tests pass, but it could not")
    assert "no_match: the text is not there." in reply.text
    assert BEST in reply.text


def test_a_search_in_vain_ends_in_a_diagnosis():
    steps = (LOOKED, CHECKPOINT, did("try_candidates", IN_VAIN))
    reply = reply_to(asked(*steps, phase=Phase.EXECUTE))
    assert not reply.calls
    for words in (
        "No change was found that makes the tests pass; nothing was changed.",
        "test_cart.py:8 expects `total(3) == 6`, but `total(3)` is 3.",
        "1.00  cart.py:5  return n",
        "900 of 900 small changes at these lines were tried in 10 s; none makes every test pass.\n",
    ):
        assert words in reply.text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (searched(20, 900, 9.5), "Give it more time with --budget-seconds."),
        (
            searched(12000, 12000, 9.5, is_limited=True),
            "12000 small changes at these lines, the most",
        ),
        (searched(0, 0, 9.5), "None of the changes it knows applies to these"),
    ],
)
def test_incomplete_or_empty_search_is_reported(answer: Told, words: str):
    steps = (LOOKED, CHECKPOINT, did("try_candidates", answer))
    assert words in reply_to(asked(*steps, phase=Phase.EXECUTE)).text


REFUSED = "`try_candidates` is not made: all 1 tool calls are spent.\nSum up."


def test_refused_search_runs_once_it_is_allowed():
    steps = (LOOKED, CHECKPOINT, did("try_candidates", REFUSED))
    reply = reply_to(asked(*steps, phase=Phase.EXECUTE))
    assert f"The search failed: {REFUSED.splitlines()[0]}" in reply.text
    more = [line(Speaker.DRIVER, reply.text)]
    again = reply_to(asked(*steps, phase=Phase.EXECUTE, more=more))
    assert made(again) == [("try_candidates", {"seconds": 17.0})]


def test_an_edit_that_was_refused_for_lack_of_budget_is_made_once_it_may():
    steps = (LOOKED, CHECKPOINT, SEARCHED, did("edit_diff", "`edit_diff` was not made.", diff=BEST))
    more = [line(Speaker.DRIVER, "It could not be made.")]
    again = reply_to(asked(*steps, phase=Phase.EXECUTE, more=more))
    assert made(again) == [("edit_diff", {"diff": BEST})]


@pytest.mark.parametrize(
    "answer",
    [
        Told("`try_candidates` was cut off by a crash.", kind=INTERRUPTED),
        Told("`try_candidates` gave way: the run is to rest.", error=INTERRUPTED),
    ],
)
def test_an_interrupted_search_is_made_again(answer: Told):
    cut = did("try_candidates", answer)
    reply = reply_to(asked(LOOKED, CHECKPOINT, cut, phase=Phase.EXECUTE))
    assert made(reply) == [("try_candidates", {"seconds": 17.0})]


def test_tests_that_there_was_no_time_for_are_looked_at_once_more():
    cut = did("localise_faults", CUT)
    assert made(reply_to(asked(cut), seconds=20)) == [("localise_faults", {"seconds": 9.0})]
    ((tool, args),) = made(reply_to(asked(cut, LOOKED), seconds=40))
    assert tool == "checkpoint"
    assert "for up to 23 s" in str(args["proposed_action"])


@pytest.mark.parametrize("answer", [GREEN, NOT_PYTHON])
def test_where_no_test_is_seen_failing_all_are_run_together(answer: Told):
    reply = reply_to(asked(did("localise_faults", answer)))
    assert made(reply) == [("test", {})]


def test_without_tests_it_checks_what_can_be_checked():
    steps = (did("localise_faults", NO_TESTS), did("test", NO_TESTS))
    assert made(reply_to(asked(*steps))) == [("check", {})]


@pytest.mark.parametrize(
    ("steps", "brief", "whole"),
    [
        (
            (did("localise_faults", GREEN), did("test", ALL_GREEN)),
            "No test fails, so there is nothing to repair; nothing was changed.",
            "All 3 tests pass (unittest)",
        ),
        (
            (did("localise_faults", GREEN), did("test", STILL_RED)),
            "Each test passes by itself, but not all of them together; nothing was changed.",
            "test_cart.CartTest.test_other",
        ),
        (
            (did("localise_faults", NOT_PYTHON), did("test", RED_ELSEWHERE)),
            (
                "Tests fail, but without a model only Python and JavaScript can be repaired; "
                "nothing was changed."
            ),
            "Expected values to be strictly equal: -1 !== 3",
        ),
        (
            (did("localise_faults", NO_TESTS), did("test", NO_TESTS), did("check", "syntax: ok")),
            "No test could be run, so there is no evidence to work from; nothing was changed.",
            "Write a test that shows the fault",
        ),
        (
            (did("localise_faults", CUT), did("localise_faults", CUT), did("test", CUT)),
            "No test failed, but not all could be run; nothing was changed.",
            "--budget-seconds",
        ),
        (
            (did("localise_faults", RED._replace(finding=None)),),
            "No line was found at which changes could be tried; nothing was changed.",
            "test_cart.py:8 expects `total(3) == 6`",
        ),
    ],
)
def test_hopeless_case_is_explained_once(steps: tuple[Step, ...], brief: str, whole: str):
    first = reply_to(asked(*steps))
    assert (first.text, first.calls) == (brief, ())
    said = [line(Speaker.DRIVER, brief), line(Speaker.GOVERNOR, STATE_IT)]
    second = reply_to(asked(*steps, phase=Phase.CHECKPOINT, more=said))
    assert second.text == first.text
    said += [line(Speaker.DRIVER, second.text), line(Speaker.GOVERNOR, STATE_IT)]
    third = reply_to(asked(*steps, phase=Phase.CHECKPOINT, more=said))
    assert third.text.startswith(brief)
    assert whole in third.text


def test_a_rejected_answer_leads_to_a_run_of_all_tests():
    steps = (LOOKED, CHECKPOINT, SEARCHED, APPLIED, PASSED[0])
    rejected = [line(Speaker.GOVERNOR, "Run `test`.", kind="rejection")]
    reply = reply_to(asked(*steps, phase=Phase.VERIFY, more=rejected))
    assert made(reply) == [("test", {})]


def test_a_reviewer_names_the_risk_and_then_that_nobody_has_read_it():
    ((tool, args),) = made(reply_to(asked(role="reviewer", phase=Phase.VERIFY)))
    assert tool == "note"
    assert str(args["risk"]).startswith("medium")
    noted = did("note", "Noted.")
    reply = reply_to(asked(noted, role="reviewer", phase=Phase.VERIFY))
    assert reply.text.startswith("Nobody has reviewed this change yet")


def test_a_researcher_leaves_it_to_the_tests():
    request = asked(role="researcher", template="feature", request="make the failing tests pass")
    assert not (reply_to(request)).calls
