"""Scripts for planned runs: what planner, executors and verifier say, one line each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Line = dict[str, Any]


def call(card: str, tool: str, **args: Any) -> Line:
    return {"card": card, "calls": [{"tool": tool, "args": args}]}


def step(id: str, *after: str, **more: Any) -> dict[str, Any]:
    """A step of a plan that waits for the steps named after it."""
    return {
        "id": id,
        "title": f"Do {id}",
        "success_criteria": ["the tests pass"],
        "depends_on": list(after),
        **more,
    }


def plan(*steps: dict[str, Any], goal: str = "all of it works", **more: Any) -> Line:
    block = json.dumps({"goal": goal, "steps": list(steps), **more})
    return {"role": "planner", "text": f"Here is the plan.\n\n```json\n{block}\n```\n"}


def report(*, achieved: bool, issues: tuple[dict[str, str], ...] = (), **more: Any) -> Line:
    block = json.dumps({"goal_achieved": achieved, "issues": list(issues), **more})
    return {"role": "verifier", "text": f"```json\n{block}\n```"}


def issue(step_id: str, text: str, severity: str = "critical") -> dict[str, str]:
    return {"step_id": step_id, "issue": text, "severity": severity}


VERIFIES: Line = {"role": "verifier", "calls": [{"tool": "test", "args": {}}]}


def swap(path: str, old: str, new: str) -> str:
    return f"--- a/{path}\n+++ b/{path}\n@@ @@\n-{old}\n+{new}\n"


def work(card: str, path: str, diff: str, *, tests: bool = True) -> list[Line]:
    """One executor that states a checkpoint, makes one edit, tests it and is reviewed."""
    point = {
        "goal": f"change {path}",
        "findings": "it is wrong",
        "proposed_action": "edit it",
        "files": [path],
        "verify_with": ["test"],
    }
    lines = [call(card, "checkpoint", **point), call(card, "edit_diff", diff=diff)]
    lines += [call(card, "test")] if tests else []
    return [
        *lines,
        {"card": card, "text": f"{card} is done."},
        {"card": card, "role": "reviewer", "text": "The risk is low."},
    ]


def write(path: Path, *lines: Line | list[Line]) -> Path:
    flat = [line for each in lines for line in (each if isinstance(each, list) else [each])]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in flat))
    return path
