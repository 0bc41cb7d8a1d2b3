"""The reviewer's note on every change, and the new thread of a chat window after a reset."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.e2e.planning import VERIFIES, plan, report, step, work, write
from tests.governed import EDIT, FIX, READ, SUITE, Shell, checkpoint, objects, say, script, shop

pytestmark = pytest.mark.slow

NOTE = {"risk": "low: one line", "assumptions": ["prices are numbers", "no item is None"]}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(shop(tmp_path / "shop"), tmp_path)


@pytest.mark.exhaustive
def test_a_step_of_a_plan_carries_the_reviewers_note(shell: Shell, tmp_path: Path):
    note = {"card": "fix", "role": "reviewer", "calls": [{"tool": "note", "args": NOTE}]}
    done = {"card": "fix", "role": "reviewer", "text": "I have read it."}
    lines = [*work("fix", "cart.py", FIX)[:-1], note, done]
    driver = write(tmp_path / "s.jsonl", plan(step("fix")), lines, VERIFIES, report(achieved=True))
    words = ("run", "fix it", "--intent", "feature_build", "--driver", f"scripted:{driver}")
    ran = shell(*words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    shown = shell("runs", "show", "last").stdout
    assert "  risk: low: one line\n  assumes: prices are numbers; no item is None\n" in shown
    card = shell("card", "show", "last", "fix").stdout
    assert "  risk: low: one line\n  assumes: prices are numbers; no item is None\n" in card
    (told,) = objects(shell("runs", "show", "last", "--json").stdout)
    fix = next(each for each in told["cards"] if each["id"] == "fix")
    assert {"risk": fix["risk"], "assumptions": fix["assumptions"]} == NOTE


def test_a_reviewer_who_only_talks_still_leaves_a_remark(shell: Shell, tmp_path: Path):
    review = {"role": "reviewer", "text": "The risk is low."}
    driver = script(tmp_path / "s.jsonl", READ, checkpoint(), EDIT, SUITE, say("Done."), review)
    assert shell("run", "fix", "--intent", "small_fix", "--driver", driver).returncode == 0
    assert "  risk: The risk is low.\n" in shell("card", "show", "last", "step-1").stdout
    shown = shell("runs", "show", "last").stdout
    assert shown.count("The risk is low.") == 1
    assert "  risk: The risk is low.\n" in shown


@pytest.mark.exhaustive
def test_after_a_reset_a_chat_window_is_told_to_begin_anew(shell: Shell, tmp_path: Path):
    relay = tmp_path / "relay"
    relay.mkdir()
    for n in range(1, 12):
        words = "```call read path=cart.py\n```" if n <= 5 else "The quantity is ignored."
        (relay / f"{n:04}.reply.md").write_text(words)
    asked = ("run", "why?", "--intent", "diagnose", "--driver", f"relay:{relay}")
    assert shell(*asked).returncode == 3
    going_on = shell("approve", "last", "--note", "Look at the quantity.")
    assert going_on.returncode == 0, going_on.stdout + going_on.stderr
    requests = [json.loads(path.read_text()) for path in sorted(relay.glob("*.request.json"))]
    began = [n for n, each in enumerate(requests, 1) if each["runner_actions"]]
    assert began == [1, 6]
    after = requests[5]
    assert after["runner_actions"] == [
        "COPY_TO_CLIPBOARD",
        "NEW_THREAD",
        "PASTE_PROMPT",
        "SEND_PROMPT",
    ]
    (message,) = after["messages"]
    assert "# Hand-over" in message["content"]
    assert "## A person says\nLook at the quantity." in message["content"]
    assert "`NEW_THREAD`" in (relay / "0006.request.md").read_text()
