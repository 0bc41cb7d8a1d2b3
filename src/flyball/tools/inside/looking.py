"""Running tests under trace: which lines of the project each of them runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from flyball.tools.inside.child import Alarm, Children, Job
from flyball.tools.inside.orders import Orders, nearest, run_one
from flyball.tools.inside.suites import FAIL, PASS, SKIP, Suite
from flyball.tools.inside.tracing import Ours, traced

CPU = 4.0
"""How long a traced test may compute."""
WALL = 30.0
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in ')


def look(orders: Orders, suite: Suite) -> None:
    """Trace the failing tests and some of the others."""
    names = list(suite.names)
    orders.say(tests=len(names), broken=suite.broken)
    ours = Ours(orders.root, suite.files)
    known = set(names)
    failing = [name for name in orders.failing if name in known]
    if not orders.failing:
        failing = _find_failing(orders, suite)

    def answer(name: str, said: list[Any]) -> None:
        orders.say(name=name, **(said[0] if said else {"end": "crash"}))

    def jobs(wanted: list[str]) -> Iterator[Job]:
        for name in wanted:
            yield Job(name, lambda name=name: _trace(suite, ours, name), WALL)

    children = Children(orders.width, answer)
    children.run_all(jobs(failing), lambda: orders.is_over)
    children.run_all(jobs(nearest(names, failing)[: orders.sample]), lambda: orders.is_over)


def _find_failing(orders: Orders, suite: Suite) -> list[str]:
    found: list[str] = []

    def answer(name: str, said: list[Any]) -> None:
        if not said or said[0]["end"] not in (PASS, SKIP):
            found.append(name)

    jobs = (Job(name, lambda name=name: [run_one(suite, name, CPU)], WALL) for name in suite.names)
    Children(orders.width, answer).run_all(jobs, lambda: orders.is_over)
    return found


def _trace(suite: Suite, ours: Ours, name: str) -> Iterator[dict[str, Any]]:
    alarm = Alarm()

    def work() -> Any:
        alarm.set(CPU)
        try:
            return suite.run(name)
        finally:
            alarm.clear()

    end, lines = traced(ours, work)
    frames = [(ours.path(file), int(line)) for file, line in _FRAME.findall(end.why)]
    yield {
        "end": "time" if alarm.has_rung and end.kind == FAIL else end.kind,
        "why": end.why[-600:],
        "frames": [frame for frame in frames if frame[0]],
        "lines": {path: sorted(found) for path, found in lines.items()},
    }
