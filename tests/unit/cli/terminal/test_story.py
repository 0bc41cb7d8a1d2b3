"""Telemetry in words."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest
from rich.console import Console
from tests.simulation.verdicts import REACH, REGRESSION, SHOWN

from flyball.cli.terminal.live import LONGEST_DIFF, LiveView
from flyball.cli.terminal.story import (
    NO_GIT,
    Story,
    StoryLine,
    call_words,
    evidence_words,
)


def tell(**line: Any) -> list[str]:
    return [said.plain for said in Story().tell(line)]


FINAL: dict[str, Any] = {
    "type": "final",
    "message": "Done.",
    "issues": [],
    "next_actions": [],
    "proof": "",
    "answer": "",
}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"type": "run", "run": "r", "request": "x", "driver": ""}, ["run r: x"]),
        (
            {"type": "run", "run": "r", "request": "x", "driver": "relay:/talk"},
            ["run r: x", "  → Answer the requests that are written to /talk."],
        ),
        ({"type": "usage", "input_tokens": 3}, []),
        ({"type": "phase", "phase": "paused", "label": "Waiting for You"}, []),
        ({"type": "phase", "phase": "verify", "label": "Verifying"}, ["▸ verify: Verifying"]),
        ({"type": "text", "role": "researcher", "text": "a\nb"}, ["  (researcher) a\n  b"]),
        ({"type": "undone", "paths": ["a"]}, ["  ↩ reverted, because it is not allowed here: a"]),
        (
            {"type": "workspace", "branch": "", "sandbox": "none", "runners": []},
            [
                "  in place, without git; nothing to test with; sandbox none",
                f"  ! {NO_GIT}",
                "  ! No sandbox works on this machine: commands are not confined.",
            ],
        ),
        (
            {
                "type": "workspace",
                "branch": "flyball/r",
                "sandbox": "kernel",
                "runners": ["pytest"],
                "carried": True,
            },
            [
                "  on flyball/r; pytest; sandbox kernel",
                "  your uncommitted work is included, as the first commit of that branch",
            ],
        ),
        (
            {**FINAL, "status": "cancelled", "ending": "stopped", "message": "Cancelled: by Ada."},
            ["  ! stopped: by Ada."],
        ),
        (
            {
                **FINAL,
                "status": "failed",
                "ending": "unchanged",
                "message": "Not done: the driver stopped.",
                "issues": ["[high] Step a: The driver stopped.", "[low] Step b: It is slow."],
            },
            [
                "  ! ended, nothing changed: Not done: the driver stopped.",
                "  ! [low] Step b: It is slow.",
            ],
        ),
        (
            {"type": "guard", "guard": "cycle", "level": "hard", "reason": "in a circle"},
            ["  ! stopped by guard cycle: in a circle"],
        ),
        (
            {"type": "iteration", "iteration": 2, "limit": 10, "text": "Re-planning… (red)"},
            ["▸ Re-planning… (red) iteration 2/10"],
        ),
        (
            {
                "type": "plan",
                "goal": "it works",
                "steps": [
                    {"id": "a", "title": "Do a"},
                    {"id": "b", "title": "Do b", "depends_on": ["a"]},
                ],
            },
            ["  ◆ plan: it works\n    1. Do a (a)\n    2. Do b (b, after a)"],
        ),
        (
            {"type": "report", "goal_achieved": False, "issues": ["[high] Step a: It is red"]},
            ["  ✗ the goal is not reached\n    [high] Step a: It is red"],
        ),
        ({"type": "rollback", "cards": ["a", "b"]}, ["  ↶ reverted: a, b"]),
        (
            {"type": "report", "goal_achieved": True, "issues": []},
            ["  · the verifier says that the goal is reached"],
        ),
        (
            {"type": "escalation", "card": "a", "escalation": "DIAGNOSE", "reason": "still red"},
            ["  ! DIAGNOSE: still red"],
        ),
        ({**FINAL, "status": "success", "ending": "succeeded"}, ["  ✓ succeeded: Done."]),
        ({**FINAL, "status": "stopped", "ending": "stopped"}, ["  ! stopped: Done."]),
        ({**FINAL, "status": "answered", "ending": "answered"}, ["  ■ answered: Done."]),
        (
            {**FINAL, "status": "failed", "ending": "unverified", "proof": "unverified"},
            ["  ! ended unverified: Done. (unverified)"],
        ),
        (
            {**FINAL, "status": "failed", "ending": "unchanged"},
            ["  ! ended, nothing changed: Done."],
        ),
        (
            {
                **FINAL,
                "status": "success",
                "ending": "succeeded",
                "proof": "red → green (new tests)",
                "answer": "I mended it.",
            },
            ["  ✓ succeeded (red → green (new tests))", "  · The driver says: I mended it."],
        ),
    ],
)
def test_each_line_is_reported_in_words(line: dict[str, Any], words: list[str]):
    assert tell(**line) == words


@pytest.mark.parametrize(
    ("kind", "evidence", "words"),
    [
        (
            "suite-report",
            {"command": "pytest", "exit_code": 0, "passed": 2, "skipped": 1},
            "● tests: 2 passed, 0 failed, 1 skipped (pytest)",
        ),
        (
            "suite-report",
            {"command": "pytest", "exit_code": 5, "reason": "no tests ran"},
            "✗ tests: 0 passed, 0 failed (pytest); no tests ran",
        ),
        (
            "check-report",
            {"kind": "lint", "command": "ruff", "exit_code": 1, "problems": ["a.py:1 bad"]},
            "✗ lint: 1 problems (ruff): a.py:1 bad",
        ),
        (
            "check-report",
            {"kind": "lint", "command": "ruff", "exit_code": 0},
            "● lint: clean (ruff)",
        ),
        (
            "command-report",
            {"command": "true", "exit_code": 0, "proves_nothing": "it cannot fail"},
            "! `true` proves nothing: it cannot fail",
        ),
        ("command-report", {"command": "make", "exit_code": 2}, "✗ `make` gave exit 2"),
        ("http-report", {"url": "http://a", "status": 200}, "● http://a: 200"),
        (
            "http-report",
            {"url": "http://a", "status": 0, "error": "refused"},
            "✗ http://a: refused",
        ),
        ("base-run", {"outcome": "green", "detail": "d"}, "! not red without the change: d"),
        (
            "weakening-report",
            {"findings": [{"path": "t.py", "line": 3, "kind": "skip"}]},
            "! tests got easier to pass: t.py:3 skip",
        ),
        ("file-report", {"path": "a.md", "exists": True}, "● a.md is there"),
        ("file-report", {"path": "a.md", "exists": False}, "✗ a.md is not there"),
        (
            "file-report",
            {"path": "a.md", "exists": True, "asked": ["x"]},
            "✗ a.md does not hold 'x'",
        ),
        (
            "file-report",
            {"path": "a.md", "exists": True, "asked": ["x"], "contains": ["x"]},
            "● a.md holds 'x'",
        ),
        (
            "verdict-report",
            {"verdict": msgspec.to_builtins(SHOWN)},
            (
                "✓ verdict: red → green (tests that were there) (3 tests)\n"
                "    ran before: pytest: 2 passed, 1 failed, 0.0 s\n"
                "    ran now: pytest: 3 passed, 0 failed, 0.0 s\n"
                "    red → green: test_a"
            ),
        ),
        (
            "verdict-report",
            {"verdict": {"strength": 5, "findings": [msgspec.to_builtins(REGRESSION)]}},
            (
                "✗ verdict: not shown: a test fails that passed before\n"
                "    not shown: test_a fails; it passed before."
            ),
        ),
        (
            "verdict-report",
            {"verdict": {"strength": 7, "findings": [msgspec.to_builtins(REACH)]}},
            (
                "? verdict: a question: the change reaches the test runner\n"
                "    question: src/a.py names the arguments of the runner."
            ),
        ),
        ("coverage-report", {"before": 90, "after": 87.5}, "· coverage: 90 % before, 87.5 % now"),
        ("approval-report", {"by": "ann", "what": "review"}, "● ann accepted it (review)"),
        (
            "gate-report",
            {"gate": "visual_ok", "why": "No browser."},
            "! not checked for visual_ok: No browser.",
        ),
    ],
)
def test_evidence_in_a_line(kind: str, evidence: dict[str, Any], words: str):
    said = evidence_words(kind, evidence)
    assert said is not None
    assert said.plain.strip() == words


@pytest.mark.parametrize("kind", ["weakening-report", "diff-report", "console-report"])
def test_some_evidence_is_not_worth_a_line(kind: str):
    assert evidence_words(kind, {}) is None


def test_a_call_is_shown_whole_to_the_approver():
    call = {"tool": "bash", "args": {"cmd": "make clean", "note": "a\nb"}}
    assert call_words(call) == "\ncall: bash\ncmd: make clean\nnote:\na\nb"
    assert call_words(None) == ""


def live(width: int = 60) -> tuple[LiveView, io.StringIO]:
    file = io.StringIO()
    console = Console(
        file=file,
        force_terminal=True,
        force_interactive=True,
        width=width,
        color_system=None,
        _environ={"TERM": "xterm"},
    )
    return LiveView(console), file


def test_the_live_view_wraps_under_its_marks():
    view, file = live(20)
    view.say(StoryLine("bad", "one two three four five", "✗"))
    assert [line.rstrip() for line in file.getvalue().splitlines()] == [
        "  ✗ one two three",
        "    four five",
    ]


def test_commands_are_not_broken():
    view, file = live(20)
    view.say(StoryLine("command", "flyball runs merge 1115-041704-gsfc"))
    assert "flyball runs merge 1115-041704-gsfc" in file.getvalue()


def test_a_long_diff_says_how_to_see_the_rest():
    view, file = live()
    view.diff("\n".join(f"+{n}" for n in range(LONGEST_DIFF + 5)) + "\n", "look there")
    assert "… 5 more lines: look there" in file.getvalue()


def phase(card: str, name: str, label: str = "") -> dict[str, Any]:
    return {"type": "phase", "card": card, "phase": name, "label": label}


def test_the_bottom_line_shows_phase_budget_call_and_words():
    view, file = live(100)
    with view:
        view.telemetry(phase("a", "recon", "Investigating Codebase"))
        view.telemetry({"type": "budget", "used": 5, "limit": 10})
        view.telemetry({"type": "iteration", "iteration": 1, "limit": 10, "text": "Planning…"})
        view.telemetry({"type": "usage", "input_tokens": 1500, "output_tokens": 1, "money": 0.5})
        started = {"type": "call", "call": "1", "state": "started", "tool": "grep", "about": "src"}
        view.telemetry(started)
        view.text("I am looking")
        with view.hold_still():
            pass
    shown = file.getvalue()
    for words in (
        "recon · Investigating Codebase",
        "██████░░░░░░ 5/10 calls",
        "iteration 1/10  1,501 tokens  $0.50",
        "grep src …",
        "I am looking",
    ):
        assert words in shown, words


def test_the_bottom_line_shows_where_each_of_several_cards_stands():
    view, file = live(100)
    with view:
        view.telemetry({"type": "iteration", "iteration": 1, "limit": 9, "text": "Planning…"})
        with view.hold_still():
            pass
        for card, name in (("a", "execute"), ("b", "recon"), ("b", "verify"), ("c", "succeeded")):
            view.telemetry(phase(card, name))
    assert "Planning…  " in file.getvalue()
    assert "a: execute  b: verify" in file.getvalue()
    assert "c:" not in file.getvalue().rpartition("\n")[2]


def test_where_several_cards_work_each_line_says_whose_it_is():
    story = Story()
    error = {"type": "guard", "card": "b", "guard": "cycle", "level": "soft", "reason": "round"}
    alone = [said.plain for said in story.tell(error)]
    [*story.tell({"type": "iteration", "text": "Planning…"})]
    together = [said.plain for said in story.tell(error)]
    assert (alone, together) == (
        ["  ! nudged by guard cycle: round"],
        ["  ! b: nudged by guard cycle: round"],
    )
    plan = {"type": "text", "card": "plan.1", "role": "planner", "text": "{}"}
    assert [*story.tell(plan)] == []


PROMISE: dict[str, Any] = {
    "type": "checkpoint",
    "card": "a",
    "goal": "Every test passes.",
    "findings": "1 test of 3 fails:\n  test_pens\nSuspicious lines:\n" + "  cart.py:17\n" * 30,
    "proposed_action": "Try small changes at these lines. " * 10,
    "files": ["cart.py"],
    "verify_with": ["unittest"],
}
RED = {"command": "unittest", "exit_code": 1, "passed": 2, "failed": 1}
NOTE = {
    "type": "note",
    "card": "a",
    "role": "executor",
    "text": "Others:\n  cart.py:11 operand added\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
    "risk": "",
    "assumptions": [],
}
VERDICT = {
    "type": "evidence",
    "card": "a",
    "kind": "verdict-report",
    "evidence": {"verdict": msgspec.to_builtins(SHOWN)},
}
DIFF = {
    "type": "evidence",
    "card": "a",
    "kind": "diff-report",
    "evidence": {"files": [{"path": "a"}]},
}
COMMIT = {
    "type": "card",
    "card": "a",
    "title": "x",
    "ending": "s",
    "commit": "1234",
    "proof": "red",
}


def told(*lines: dict[str, Any]) -> str:
    story = Story()
    return "\n".join(said.plain for line in lines for said in story.tell(line))


def test_a_promise_is_reported_briefly_and_whole_to_the_person_asked():
    red = {"type": "evidence", "card": "a", "kind": "suite-report", "evidence": RED}
    asked = {"type": "approval", "card": "a", "kind": "checkpoint", "text": "Accept?", "call": None}
    brief = told(red, PROMISE)
    assert len(brief.split("\n")) == 4
    assert "found: 1 test of 3 fails: test_pens Suspicious" in told(PROMISE)
    assert told(red, PROMISE, asked).count("cart.py:17") == 30


def test_a_question_does_not_repeat_the_answer_before_it():
    answer = {"type": "text", "role": "executor", "text": "One test fails: …"}
    asked = {"type": "approval", "card": "a", "kind": "promotion", "call": None}
    asked["text"] = "One test fails: …\n\nAllow this change?"
    assert told(answer, asked).split("\n") == ["  One test fails: …", "  ? Allow this change?"]
    assert told(asked).startswith("  ? One test fails: …"), "on resuming nothing was told before it"


def test_other_changes_are_named_and_their_diffs_are_left_to_who_asks():
    assert told(NOTE) == "  (executor) Others:\n    cart.py:11 operand added …"


def test_what_the_verdict_says_is_not_said_again():
    assert told(VERDICT, DIFF) == told(VERDICT)
    assert told(DIFF) == "  ± changed in all: a +0 −0"
    final = {**FINAL, "status": "success", "ending": "succeeded", "proof": "red"}
    ends = told(phase("a", "final", "Writing"), COMMIT, final)
    assert ends == "  ✓ succeeded, committed 1234 (red)"
    said = {"type": "text", "card": "a", "role": "executor", "text": "It is blank."}
    assert told(phase("a", "final", "Writing"), said) == "▸ final: Writing\n  It is blank."


def test_a_search_is_reported_once():
    call = {"type": "call", "card": "a", "state": "done", "tool": "try_candidates", "about": ""}
    report = {"command": "try_candidates (9 tried)", "exit_code": 0}
    seen = {"type": "evidence", "card": "a", "kind": "command-report", "evidence": report}
    assert told({**call, "ok": True, "summary": "Tried 9."}, seen) == "  · try_candidates: Tried 9."


def test_a_suite_that_could_not_be_started_is_reported():
    call = {"type": "call", "card": "a", "state": "returned", "tool": "test", "about": ""}
    why = "vitest is not installed for this project"
    failed = {**call, "ok": False, "summary": why}
    assert told({**failed, "evidence": []}) == f"  ✗ test: {why}"
    assert told({**failed, "evidence": ["step-1.a.1"]}) == ""


def test_a_diff_names_its_file_once():
    view, file = live()
    view.diff("diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "")
    assert file.getvalue().split("\n") == ["", "x", "@@ -1 +1 @@", "-a", "+b", ""]


def test_what_was_said_is_not_said_again():
    story = Story()
    words = {"type": "text", "role": "executor", "text": "Nothing can be done."}
    asked = {"type": "governor", "kind": "nudge", "text": "State it."}
    told = [said.plain for line in (words, asked, words, asked) for said in story.tell(line)]
    assert told == ["  Nothing can be done.", "  · State it."]


def test_a_card_that_said_nothing_at_its_end_has_no_last_phase():
    story = Story()
    lines = [
        {"type": "phase", "phase": "final", "label": "Writing the Answer"},
        {"type": "card", "card": "b", "title": "Write it"},
        {"type": "phase", "phase": "recon", "label": "Investigating Codebase"},
    ]
    told = [said.plain for line in lines for said in story.tell(line)]
    assert told == ["  card b: Write it", "▸ recon: Investigating Codebase"]


def test_without_git_nothing_is_committed():
    story = Story()
    lines = [
        {"type": "workspace", "branch": "", "sandbox": "kernel", "runners": ["pytest"]},
        {"type": "card", "card": "a", "ending": "succeeded", "commit": "f" * 40, "proof": "green"},
        {**FINAL, "status": "success", "ending": "succeeded"},
    ]
    told = [said.plain for line in lines for said in story.tell(line)]
    assert told[-1] == "  ✓ succeeded, kept as ffffffffffff (green)"
