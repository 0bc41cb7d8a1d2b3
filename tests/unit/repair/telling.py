"""Threads for the repairer's tests: what it asked for, and what the tools answered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.unit.drivers.asking import line, request_for, tool

from flyball.drivers.prompt import opening
from flyball.drivers.protocol import Reply, Request
from flyball.plan.library import LIBRARY
from flyball.repair.driver import RepairDriver
from flyball.run.thread import Speaker, SpokenCall, ThreadLine
from flyball.terms.evidence import AnyEvidence, FailedTest, SuiteReport
from flyball.terms.finding import (
    AnyFinding,
    CandidateSearch,
    HoldingChange,
    Suspect,
    SuspectLines,
)
from flyball.terms.phase import Phase

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


class Told(NamedTuple):
    """What a call is answered: the words, and what they say as values."""

    text: str
    ok: bool = False
    error: str = ""
    kind: str = ""
    evidence: tuple[AnyEvidence, ...] = ()
    finding: AnyFinding | None = None


def suite(passed: int, failed: int, *failures: FailedTest, **more: Any) -> SuiteReport:
    start: dict[str, Any] = {"runner": "unittest", "command": "unittest", "elapsed": 2.0}
    start |= {"exit_code": 1 if failed else 0, "passed": passed, "failed": failed}
    return SuiteReport(id="e", tree="t", failures=failures, **(start | more))


def after_suite(report: SuiteReport, finding: AnyFinding | None = None) -> Told:
    text = f"{report.runner}: {report.passed} passed, {report.failed} failed"
    return Told(text, report.is_green, evidence=(report,), finding=finding)


def searched(
    tried: int, generated: int, elapsed: float, *holding: HoldingChange, is_limited: bool = False
) -> Told:
    finding = CandidateSearch(
        tried=tried, generated=generated, elapsed=elapsed, is_limited=is_limited, holding=holding
    )
    return Told(f"Tried {tried} of {generated} candidates.", bool(holding), finding=finding)


WHY = """\
Traceback (most recent call last):
  File "/s/runs/r1/apart/t1/tree/shop/test_cart.py", line 8, in test_pens
    self.assertEqual(total(3), 6)
AssertionError: 3 != 6"""
RED = after_suite(
    suite(2, 1, FailedTest("test_cart.CartTest.test_pens", WHY)),
    SuspectLines(
        lines=(Suspect("cart.py", 5, 1.0, "return n"), Suspect("cart.py", 2, 0.58, "def total(n):"))
    ),
)
RED_ELSEWHERE = after_suite(
    suite(
        0,
        1,
        FailedTest("adds", "Expected values to be strictly equal:\n\n-1 !== 3"),
        runner="npm",
        elapsed=0.4,
    )
)
GREEN = after_suite(suite(3, 0), SuspectLines())
CUT = after_suite(
    suite(1, 0, exit_code=1, elapsed=7.0, reason="there was not enough time for 2 of 3 tests")
)
ALL_GREEN = after_suite(suite(3, 0, elapsed=0.5))
STILL_RED = after_suite(
    suite(2, 1, FailedTest("test_cart.CartTest.test_other", "AssertionError: 1 != 2"), elapsed=0.5)
)
NOT_PYTHON = Told("Only Python suites can be looked into, and this project is tested by npm.")
NO_TESTS = Told("This project has no tests that a known runner would find.")
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
FOUND = searched(
    40,
    900,
    3.5,
    HoldingChange("cart.py", 5, "operand added", "`n` → `n * 2`", BEST),
    HoldingChange("cart.py", 5, "off by one", "`n` → `n + 3`", OTHER),
)
IN_VAIN = searched(900, 900, 9.5)
CHANGED = Told("Changed cart.py (+1 -1).", ok=True)

Step = tuple[str, dict[str, object], Told]


def did(tool: str, answer: Told | str, **args: object) -> Step:
    """A call and its answer; mere words are those of a call that came to nothing."""
    return tool, args, Told(answer) if isinstance(answer, str) else answer


CHECKPOINT = did(
    "checkpoint",
    Told("The checkpoint is recorded.", ok=True),
    proposed_action="Try small changes at these lines for up to 17 s, each in a scratch copy.",
)


def lines_of(steps: Sequence[Step]) -> tuple[ThreadLine, ...]:
    found: list[ThreadLine] = []
    for n, (name, args, answer) in enumerate(steps):
        found.append(line(Speaker.DRIVER, calls=(SpokenCall(f"c{n}", name, args),)))
        found.append(line(Speaker.TOOL, call=f"c{n}", tool=name, **answer._asdict()))
    return tuple(found)


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
        wanted=request,
        template=template,
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
