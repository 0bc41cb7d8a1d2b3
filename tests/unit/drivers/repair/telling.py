"""Threads for the repairer's tests: what it asked for, and what the tools answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tests.unit.drivers.asking import line, request_for, tool

from flyball.core.flow.library import LIBRARY
from flyball.core.run.thread import Speaker, SpokenCall, ThreadLine
from flyball.core.terms.phase import Phase
from flyball.drivers.prompt import opening
from flyball.drivers.protocol import Reply, Request
from flyball.drivers.repair.driver import RepairDriver

NAMES = (
    "localise_faults",
    "try_candidates",
    "test",
    "check",
    "grep",
    "git_log",
    "checkpoint",
    "note",
    "edit_diff",
)
TOOLS = tuple(tool(name) for name in NAMES)

RED = """\
unittest, test by test: 2 passed, 1 failed (exit 1, 2.0 s)
FAILED test_cart.CartTest.test_pens
Traceback (most recent call last):
  File "/s/runs/r1/scratch/t1/shop/test_cart.py", line 8, in test_pens
    self.assertEqual(total(3), 6)
AssertionError: 3 != 6
Suspicious lines, the most suspicious first:
1.00  cart.py:5  return n
0.58  cart.py:2  def total(n):"""
RED_ELSEWHERE = """\
npm: 0 passed, 1 failed (exit 1, 0.4 s)
FAILED adds
Expected values to be strictly equal:

-1 !== 3"""
GREEN = "unittest, test by test: 3 passed, 0 failed (exit 0, 2.0 s)"
CUT = """\
unittest, test by test: 1 passed, 0 failed (exit 1, 7.0 s)
Note: there was no time for 2 of 3 tests."""
ALL_GREEN = "unittest: 3 passed, 0 failed (exit 0, 0.5 s)"
STILL_RED = """\
unittest: 2 passed, 1 failed (exit 1, 0.5 s)
FAILED test_cart.CartTest.test_other
AssertionError: 1 != 2"""
NOT_PYTHON = "Only Python suites can be looked into, and this project is tested by npm."
NO_TESTS = "This project has no tests that a known runner would find."
BEST = """\
--- a/cart.py
+++ b/cart.py
@@ -4,2 +4,2 @@
     n = int(n)
-    return n
+    return n * 2
"""
OTHER = """\
--- a/cart.py
+++ b/cart.py
@@ -4,2 +4,2 @@
     n = int(n)
-    return n
+    return n + 3
"""
FOUND = f"""\
Tried 40 of 900 candidates in 3.5 s: 2 make every test pass.
1. cart.py:5 operand added: `n` → `n * 2`
```diff
{BEST}```
2. cart.py:5 off by one: `n` → `n + 3`
```diff
{OTHER}```"""
IN_VAIN = "Tried 900 of 900 candidates in 9.5 s: 0 make every test pass."
CHANGED = "Changed cart.py (+1 -1)."

Step = tuple[str, dict[str, object], str]


def did(tool: str, answer: str, **args: object) -> Step:
    """A call and its answer."""
    return tool, args, answer


CHECKPOINT = did(
    "checkpoint",
    "The checkpoint is recorded.",
    proposed_action="Try small changes at these lines for up to 17 s, each in a scratch copy.",
)


def lines_of(steps: Sequence[Step], governor: Sequence[str] = ()) -> tuple[ThreadLine, ...]:
    found: list[ThreadLine] = []
    for n, (name, args, answer) in enumerate(steps):
        found.append(line(Speaker.DRIVER, calls=(SpokenCall(f"c{n}", name, args),)))
        found.append(line(Speaker.TOOL, answer, call=f"c{n}", tool=name))
    return (*found, *(line(Speaker.GOVERNOR, text) for text in governor))


def asked(
    *steps: Step,
    phase: Phase = Phase.ANALYZE_CODE,
    template: str = "fix",
    request: str = "the tests fail, fix it",
    role: str = "executor",
    more: Sequence[ThreadLine] = (),
) -> Request:
    """What the driver is told after these steps."""
    return request_for(
        phase=phase,
        role=role,
        opening=opening(request, LIBRARY[template], {}),
        lines=(*lines_of(steps), *more),
        tools=TOOLS,
    )


def reply_to(request: Request, seconds: float = 60.0) -> Reply:
    heard: list[str] = []
    reply = asyncio.run(RepairDriver(seconds).think(request, heard.append))
    assert "".join(heard) == reply.text
    assert reply.model == "repair"
    return reply


def made(reply: Reply) -> list[tuple[str, dict[str, object]]]:
    """The calls of a reply."""
    return [(call.tool, call.args) for call in reply.calls]
