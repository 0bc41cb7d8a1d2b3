"""Flows and failing steps, through the command that a user types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.governed import Line, Shell, call, checkpoint, objects, say, script, shop

pytestmark = pytest.mark.slow

STEP = {"objective": "o", "prompt_template": "p"}
LOOKS = {"role": "researcher", "phases": ["plan.recon.analyze_code", "final"]}
BREAKS = """\
--- a/cart.py
+++ b/cart.py
@@ -1,3 +1,3 @@
 def total(items):
-    result = 0
+    result = 1
     for price, quantity in items:
"""
WRONG = """\
--- a/cart.py
+++ b/cart.py
@@ -2,3 +2,3 @@
     result = 0
     for price, quantity in items:
-        result += price
+        result += quantity
"""
RIGHT = WRONG.replace("-        result += price\n", "-        result += quantity\n").replace(
    "+        result += quantity\n", "+        result += price * quantity\n"
)
DIAGNOSIS = {
    "diff_summary": "one line", "notes": "the price is lost", "devlog_line": "d",
    "criteria_checklist": {"c1": True, "c2": True},
}  # fmt: skip


def form(text: str, **fields: object) -> Line:
    return say(f"{text}\n\n```json\n{json.dumps(fields)}\n```")


def on(card: str, role: str, *lines: Line) -> list[Line]:
    """What a driver says on one card."""
    return [{**line, "card": card, "role": role} for line in lines]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(shop(tmp_path / "shop"), tmp_path)


def written(place: Path, *steps: dict[str, Any]) -> str:
    file = place / "flow.json"
    file.write_text(json.dumps({"name": "a flow", "steps": steps}))
    return str(file)


def test_a_wrong_flow_file_is_reported_whole_and_nothing_starts(shell: Shell, tmp_path: Path):
    file = tmp_path / "flow.yaml"
    file.write_text(
        "steps:\n- step_id: S1\n  title: One\n  objective: o\n  prompt_template: p\n"
        "  gates: [{type: tests_past}]\n  on_pass: {next_step_id: S9}\n"
    )
    done = shell("run", "--flow", str(file), "--driver", "repair")
    assert done.returncode == 2
    assert f"{file}:6: unknown-gate: There is no gate `tests_past`." in done.stderr
    assert f"{file}:7: missing-target: " in done.stderr
    told = json.loads(shell("run", "--flow", str(file), "--json").stdout)
    assert told["code"] == "template"
    assert "S9" in told["message"]
    assert shell("runs", "list", "--json").stdout == ""


def test_an_intent_that_only_looks_refuses_a_flow_that_changes(shell: Shell, tmp_path: Path):
    file = written(tmp_path, {**STEP, "step_id": "S1", "title": "One"})
    driver = script(tmp_path / "s", say("no"))
    done = shell("run", "--flow", file, "--driver", driver, "--intent", "diagnose")
    assert done.returncode == 2
    assert "The step S1 of the flow changes files, but diagnose is read-only." in done.stderr
    alone = shell("run", "--flow", file)
    assert alone.returncode == 2
    assert "The built-in repairer cannot follow a flow. Name a model" in alone.stderr


def test_gates_are_checked_by_flyball_whatever_the_driver_says(shell: Shell, tmp_path: Path):
    file = written(
        tmp_path,
        {
            **STEP,
            "step_id": "mend",
            "title": "Mend it",
            "gates": [{"type": "tests_pass"}],
            "on_fail": {"max_retries": 1, "escalate_policy": "FAIL_JOB"},
        },
    )
    lines = [
        *on("mend", "executor", checkpoint(), call("edit_diff", diff=BREAKS), say("All green!")),
        *on("mend", "executor", say("Still green!"), say("I give up.")),
        *on("mend.D1", "researcher", form("The price is lost.", **DIAGNOSIS)),
    ]
    done = shell("run", "--flow", file, "--driver", script(tmp_path / "s", *lines), "--json")
    told = objects(done.stdout)
    assert done.returncode == 1, done.stderr
    verdicts = [
        line for line in told if line["type"] == "evidence" and line["kind"] == "verdict-report"
    ]
    assert [line["passing"] for line in verdicts] == [False, False]
    assert [
        (line["card"], line["escalation"]) for line in told if line["type"] == "escalation"
    ] == [("mend", "RETRY"), ("mend", "DIAGNOSE"), ("mend.D1", "FAIL_JOB")]
    final = told[-1]
    assert final["message"] == "A step failed permanently."
    assert "Diagnosis: The price is lost." in final["issues"][0]
    errors = [each["error"] for each in objects(shell("ledger", "list", "--json").stdout)]
    assert any("The gate tests_pass did not pass" in error for error in errors)
    assert any("test_nothing fails" in error for error in errors)


def test_a_step_fails_is_tried_again_diagnosed_and_planned_anew(shell: Shell, tmp_path: Path):
    step = {"id": "one", "title": "Mend the total", "success_criteria": ["the tests pass"]}
    plan = form("So be it.", goal="The total is right.", steps=[step])
    lines = [
        *on("plan.1", "planner", plan, plan),
        *on("one", "executor", checkpoint(), call("edit_diff", diff=WRONG), call("test")),
        *on("one", "executor", *(say(f"Done, really ({n}).") for n in range(5))),
        *on("one.D1", "researcher", form("The price is lost.", **DIAGNOSIS)),
        *on("plan.2", "planner", plan, plan),
        *on("one.2", "executor", checkpoint(), call("edit_diff", diff=RIGHT), call("test")),
        *on("one.2", "executor", say("It counts every piece.")),
        *on("one.2", "reviewer", say("One line.")),
        *on("verify.2", "verifier", call("test"), form("Seen.", goal_achieved=True)),
    ]
    driver = script(tmp_path / "s", *lines)
    asked = ("run", "--driver", driver, "--intent", "feature_build", "--yes", "--json")
    done = shell(*asked, "the total is wrong")
    told = objects(done.stdout)
    cards = [line["card"] for line in told if line["type"] == "card" and "ending" not in line]
    assert cards == ["plan.1", "one", "one.D1", "plan.2", "one.2", "verify.2"], done.stdout
    assert done.returncode == 0
    assert told[-1]["iterations"] == 2
    rejected = [line for line in told if line["type"] == "governor" and line["kind"] == "rejection"]
    assert len(rejected) == 3


@pytest.mark.exhaustive
def test_a_projects_template_is_used_once_it_is_trusted(shell: Shell, tmp_path: Path):
    folder = shell.cwd / ".flyball" / "templates"
    folder.mkdir(parents=True)
    (folder / "audit.toml").write_text(
        'step_id = "audit"\ntitle = "Audit"\nobjective = "o"\nprompt_template = "p"\n'
        'role = "researcher"\nphases = ["plan.recon.analyze_code", "final"]\n'
        '[[gates]]\ntype = "command_succeeds"\nparameters = {command = "grep -q total cart.py"}\n'
    )
    step = {"id": "one", "title": "Look", "success_criteria": ["seen"], "template": "audit"}
    plan = form("So be it.", goal="Looked.", steps=[step])
    lines = [
        *on("plan.1", "planner", plan, plan),
        *on("one", "researcher", say("All is well.")),
        *on("verify.1", "verifier", call("check"), form("Seen.", goal_achieved=True)),
    ]
    driver = script(tmp_path / "s", *lines)
    asked = (
        "run",
        "--driver",
        driver,
        "--intent",
        "feature_build",
        "--yes",
        "--max-iterations",
        "1",
    )
    before = shell(*asked, "look at it")
    assert before.returncode == 1
    assert "audit.toml is not used: type `flyball trust`" in before.stdout
    shown = shell("trust", "--yes")
    assert 'command = "grep -q total cart.py"' in shown.stdout
    assert "audit" in shell("flow", "list").stdout
    assert "grep -q total cart.py" in shell("flow", "show", "audit").stdout
    done = shell(*asked, "look at it", "--json")
    told = objects(done.stdout)
    seen = [line for line in told if line["type"] == "evidence" and line["card"] == "one"]
    assert seen[0]["evidence"]["command"] == "grep -q total cart.py"
    assert done.returncode == 0, done.stdout


@pytest.mark.exhaustive
def test_a_person_is_asked_where_a_tool_fails_and_may_let_it_try_again(
    shell: Shell, tmp_path: Path
):
    file = written(
        tmp_path,
        {
            **STEP, **LOOKS, "step_id": "look", "title": "Look",
            "gates": [{"type": "visual_ok"}], "on_fail": {"max_retries": 0},
        },
    )  # fmt: skip
    lines = on("look", "researcher", say("Fine."), say("Fine again."))
    done = shell("run", "--flow", file, "--driver", script(tmp_path / "s", *lines))
    assert done.returncode == 3
    assert "The gate visual_ok did not pass" in done.stdout
    assert "Try again?" in done.stdout
    run = done.stdout.split()[1].rstrip(":")
    again = shell("answer", run, "look at the stylesheet instead")
    assert again.returncode == 3
    assert "Fine again." in again.stdout
    assert shell("deny", run).returncode == 1
