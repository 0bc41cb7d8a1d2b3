"""What a mortal run is about: a small fix by one card, or three plans with cards side by side."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from flyball.drivers.protocol import Driver, Reply, Request
from flyball.run.event import Finish
from flyball.run.thread import Speaker, SpokenCall
from flyball.terms.intent import Intent

Calls = tuple[tuple[str, dict[str, object]], ...]


class Tale(NamedTuple):
    """A request, the project it is about, and who works on it."""

    request: str
    intent: Intent
    files: Mapping[str, str]
    driver: Driver


FILES = {
    ".gitignore": "*.log\n__pycache__/\n",
    "cart.py": (
        "def total(prices):\n    return sum(prices) - 1\n\n\ndef count(prices):\n    return 0\n"
    ),
    "old.txt": "nobody reads this\n",
    "test_cart.py": (
        "import pathlib, time, unittest\n"
        "import cart\n\n"
        "with open(pathlib.Path(__file__).with_name('suite.log'), 'a') as log:\n"
        "    log.write('suite\\n')\n"
        "time.sleep(0.05)\n\n\n"
        "class CartTest(unittest.TestCase):\n"
        "    def test_total(self):\n"
        "        self.assertEqual(cart.total([1, 2]), 3)\n\n"
        "    def test_count(self):\n"
        "        self.assertEqual(cart.count([1, 2]), 2)\n"
    ),
}


def _edit(before: str, after: str) -> dict[str, object]:
    return {"diff": f"--- a/cart.py\n+++ b/cart.py\n@@ @@\n-{before}\n+{after}\n"}


CHECKPOINT: dict[str, object] = {
    "goal": "total and count are right",
    "findings": "total is off by one, count is constant",
    "proposed_action": "mend both",
    "files": ["cart.py", "notes.md", "old.txt"],
    "verify_with": ["test"],
}

STEPS: tuple[Calls, ...] = (
    (("read", {"path": "cart.py"}), ("read", {"path": "test_cart.py"}), ("list", {})),
    (("write_file", {"path": "notes.md", "content": "too early\n"}),),
    (("grep", {"q": "return"}), ("git_log", {})),
    (("note", {"text": "both functions are wrong"}),),
    (("checkpoint", CHECKPOINT),),
    (("edit_diff", _edit("    return sum(prices) - 1", "    return sum(prices)")),),
    (("test", {}),),
    (("edit_diff", _edit("    return 0", "    return len(prices)")),),
    (("write_file", {"path": "notes.md", "content": "Both are mended.\n"}),),
    (("read", {"path": "cart.py"}),),
    (("read", {"path": "notes.md"}),),
    (("project", {}),),
    (("delete_file", {"path": "old.txt"}),),
    (("bash", {"cmd": "printf '%s\\n' ID-begins >> ran.log; sleep 0.1; echo ID-ends >> ran.log"}),),
    (("test", {}),),
)
"""What the driver does, in order; what was interrupted it does again under a new name."""


class Robot:
    """A driver that looks at its thread to find out what is still to be done."""

    def __init__(self, steps_of: Callable[[Request], Sequence[Calls]]) -> None:
        self._steps_of = steps_of

    async def think(self, request: Request, on_text: Callable[[str], None]) -> Reply:
        match request.role:
            case "reviewer":
                return Reply(text="The risk is low.")
            case "planner":
                return Reply(text=PLANS[request.card])
            case "executor" | "verifier" if request.offered:
                return self._work(request)
            case _:
                return Reply(text="All is said.")

    def _work(self, request: Request) -> Reply:
        outcomes = {line.call: line.text for line in request.lines if line.call}
        for n, step in enumerate(self._steps_of(request)):
            tries = [f"{request.card}/s{n}t{t}" for t in range(1 + _tries(request, n))]
            if any(_is_done(outcomes, id, len(step)) for id in tries[:-1]):
                continue
            return Reply(calls=tuple(_calls(step, tries[-1])), finish=Finish.TOOL_CALLS)
        last = request.lines[-1]
        if last.speaker is Speaker.GOVERNOR and "not done" in last.text:
            call = SpokenCall(f"{request.card}/again{len(request.lines)}", "test", {})
            return Reply(calls=(call,), finish=Finish.TOOL_CALLS)
        return Reply(text=REPORTS.get(request.card, "All is mended."))

    async def close(self) -> None:
        """Nothing is held."""


def _calls(step: Sequence[tuple[str, dict[str, object]]], id: str) -> Iterator[SpokenCall]:
    for i, (tool, args) in enumerate(step):
        if tool == "bash":
            args: dict[str, object] = {"cmd": str(args["cmd"]).replace("ID", id.partition("/")[2])}
        yield SpokenCall(f"{id}.{i}", tool, args)


def _tries(request: Request, step: int) -> int:
    asked = [call.id for line in request.lines for call in line.calls]
    begins = f"{request.card}/s{step}t"
    return len({id.rpartition(".")[0] for id in asked if id.startswith(begins)})


def _is_done(outcomes: dict[str, str], id: str, size: int) -> bool:
    found = [outcomes.get(f"{id}.{i}", "was interrupted") for i in range(size)]
    return not any("was interrupted" in text for text in found)


FIX = Tale("fix the cart", Intent.SMALL_FIX, FILES, Robot(lambda _: STEPS))


def _plan(*steps: str, work: str = "keep") -> str:
    listed = [
        {"id": id, "title": f"mend {id}", "success_criteria": ["its test passes"]} for id in steps
    ]
    return json.dumps({"goal": "the shop works", "steps": listed, "work": work})


def _report(issue: str = "") -> str:
    issues = [{"step_id": "last", "issue": issue, "severity": "critical"}] if issue else []
    return json.dumps({"goal_achieved": not issue, "issues": issues})


PLANS = {
    "plan.1": _plan("left", "right"),
    "plan.2": _plan("left", "right", work="rollback"),
    "plan.3": _plan("middle"),
}
REPORTS = {
    "verify.1": _report("it went the wrong way"),
    "verify.2": _report("the middle is missing"),
    "verify.3": _report(),
}
PARTS = ("left", "middle", "right")
SHOP = {
    ".gitignore": "__pycache__/\n",
    **{f"{part}.py": "VALUE = 1\n" for part in PARTS},
    "test_parts.py": (
        "import unittest\n\nimport left, middle, right\n\n\n"
        "class PartsTest(unittest.TestCase):\n"
        "    def test_values(self):\n"
        "        self.assertGreater(left.VALUE + middle.VALUE + right.VALUE, 0)\n"
    ),
}


def _steps_of(request: Request) -> Sequence[Calls]:
    """An executor changes its own part, a verifier runs the tests."""
    if request.role == "verifier":
        return ((("test", {}),),)
    part, _, iteration = request.card.partition(".")
    path = f"{part}.py"
    diff = f"--- a/{path}\n+++ b/{path}\n@@ @@\n-VALUE = 1\n+VALUE = 1{iteration or 1}\n"
    point: dict[str, object] = {**CHECKPOINT, "files": [path]}
    return (
        (("read", {"path": path}), ("read", {"path": "test_parts.py"})),
        (("checkpoint", point),),
        (("edit_diff", {"diff": diff}),),
        (("test", {}),),
    )


PLAN = Tale("make the shop work", Intent.FEATURE_BUILD, SHOP, Robot(_steps_of))

TALES = {"fix": FIX, "plan": PLAN}
