"""When a thread is given up, and what its successor is told."""

from __future__ import annotations

import pytest

from flyball.guards.handover import (
    HandOver,
    RunnerAction,
    RunnerVerb,
    handover,
    runner_actions,
    should_reset,
)


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({}, None),
        ({"context_tokens": 79, "context_limit": 100}, None),
        ({"context_tokens": 80, "context_limit": 100}, "80 of 100 tokens"),
        ({"context_tokens": 10**9, "context_limit": 0}, None),
        ({"ledger_match": "ValueError: bad"}, "in the ledger: ValueError: bad"),
        ({"replanned": True}, "plan has changed"),
        ({"hard_guard": "cycle"}, "the cycle guard"),
    ],
)
def test_why_a_thread_is_reset(facts: dict[str, object], reason: str | None):
    said = should_reset(**facts)  # type: ignore[arg-type]
    assert said is None if reason is None else reason in (said or "")


def test_the_most_telling_reason_is_given():
    said = should_reset(90, 100, ledger_match="x", replanned=True, hard_guard="cycle")
    assert said is not None
    assert "cycle" in said


FULL = HandOver(
    goal="Make the total right for an empty cart.",
    reason="the cycle guard stopped this thread",
    plan=("find the sum", "mend it", "run the tests"),
    done=("read cart.py",),
    evidence=("12 passed, 1 failed on tree ab12",),
    open_issues=("test_empty fails",),
    do_not_repeat=("do not rewrite the parser",),
)


def test_everything_is_said_under_its_heading_in_order():
    text = handover(FULL)
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "# Hand-over",
        "## Goal",
        "## Plan",
        "## Done",
        "## Evidence",
        "## Open issues",
        "## Do not repeat",
    ]
    assert "This thread is new because the cycle guard stopped this thread." in text
    assert "left out" not in text


def test_empty_sections_are_left_away():
    assert handover(HandOver("Say hello.")) == "# Hand-over\n\n## Goal\nSay hello.\n"


@pytest.mark.parametrize("cap", [0, 60, 150, 300, 500, 900, 3000])
def test_the_cap_holds_and_the_goal_is_whole(cap: int):
    many = HandOver(
        FULL.goal,
        FULL.reason,
        *(tuple(f"{name} number {n}" for n in range(30)) for name in ("p", "d", "e", "o", "x")),
    )
    text = handover(many, cap)
    assert FULL.goal in text
    assert len(text) <= max(cap, len(handover(HandOver(FULL.goal))))


def test_a_goal_longer_than_the_cap_is_still_whole():
    goal = "build " + "x" * 9000
    assert goal in handover(HandOver(goal, plan=("a",)), 100)


def test_the_newest_is_kept_and_the_plan_from_its_start():
    entries = tuple(f"entry {n} " + "x" * 50 for n in range(20))
    text = handover(HandOver("g", plan=entries, done=entries), 600)
    assert "entry 0 " in text
    assert "entry 19 " in text
    assert "later left out" in text
    assert "earlier left out" in text


def test_a_long_entry_is_shortened_to_one_line():
    text = handover(HandOver("g", done=("a\nb " + "x" * 1000,)))
    line = next(line for line in text.splitlines() if line.startswith("- a b"))
    assert len(line) == 402
    assert line.endswith("…")


def test_runner_actions_carry_the_text_into_a_new_thread():
    assert runner_actions("hello") == (
        RunnerAction(RunnerVerb.COPY_TO_CLIPBOARD, "hello"),
        RunnerAction(RunnerVerb.NEW_THREAD),
        RunnerAction(RunnerVerb.PASTE_PROMPT, "hello"),
        RunnerAction(RunnerVerb.SEND_PROMPT),
    )


def test_a_persons_words_are_whole_whatever_the_cap():
    words = "Leave the parser alone; " + "the fault is in the lexer. " * 9
    text = handover(HandOver("g", reason="r", plan=("a",), words=words), 80)
    assert text == f"# Hand-over\n\n## Goal\ng\n\n## A person says\n{words.strip()}\n"
