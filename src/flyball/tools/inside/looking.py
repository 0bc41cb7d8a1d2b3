"""Running every test by itself, then some under trace: what fails, and which lines it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from flyball.tools.inside.child import Alarm, Children, Job
from flyball.tools.inside.orders import Orders, nearest, run_one
from flyball.tools.inside.suites import FAIL, PASS, SKIP, Suite
from flyball.tools.inside.tracing import Ours, traced

QUICK_CPU = 0.6
"""A test that computes longer may be endless; a few of them are looked at again."""
SLOW_CPU = 3.0
LOOKED_AT_AGAIN = 2
TRACED_CPU = 5.0
ENDLESS_CPU = 0.8
ENDLESS_TRACED = 3
WALL = 40.0
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in |^([^\s:]+\.py):(\d+): ', re.M)


def look(orders: Orders, suite: Suite) -> None:
    """Run all tests, then trace the failing ones and those nearest to them."""
    names = list(suite.names)
    orders.say(tests=len(names), broken=suite.broken)
    ends = _run_all(orders, suite, names)
    for name, end in ends.items():
        orders.say(ran=name, end=end["end"], why=end["why"][-1500:], cpu=end["cpu"])
    failing = [name for name, end in ends.items() if end["end"] not in (PASS, SKIP)]
    if not failing:
        return
    ours = Ours(orders.root, suite.files)
    endless = [name for name in failing if ends[name]["end"] == "time"]
    wanted = [name for name in failing if name not in endless[ENDLESS_TRACED:]]
    passing = [name for name in nearest(names, failing) if ends.get(name, {}).get("end") == PASS]

    def answer(name: str, said: list[Any]) -> None:
        orders.say(name=name, **(said[0] if said else {"end": "crash"}))

    def job(name: str) -> Job:
        cpu = ENDLESS_CPU if name in endless else TRACED_CPU
        return Job(name, lambda: _trace(suite, ours, name, cpu), WALL)

    for group in (wanted, passing[: orders.sample]):
        jobs = map(job, group)
        Children(orders.width, answer).run_all(jobs, lambda: orders.is_over)


def _run_all(orders: Orders, suite: Suite, names: list[str]) -> dict[str, dict[str, Any]]:
    """How each test ended; one that only seems endless gets the time it needs."""
    ends = _run(orders, suite, names, QUICK_CPU)
    endless = [name for name, end in ends.items() if end["end"] == "time"]
    again = _run(orders, suite, endless[:LOOKED_AT_AGAIN], SLOW_CPU)
    ends.update(again)
    if any(end["end"] != "time" for end in again.values()):
        ends.update(_run(orders, suite, endless[LOOKED_AT_AGAIN:], SLOW_CPU))
    return {name: ends[name] for name in names if name in ends}


def _run(orders: Orders, suite: Suite, names: list[str], cpu: float) -> dict[str, dict[str, Any]]:
    ends: dict[str, dict[str, Any]] = {}

    def answer(name: str, said: list[Any]) -> None:
        ends[name] = said[0] if said else {"end": "crash", "why": "the process died", "cpu": 0.0}

    jobs = (Job(name, lambda name=name: [run_one(suite, name, cpu)], WALL) for name in names)
    Children(orders.width, answer).run_all(jobs, lambda: orders.is_over)
    return ends


def _trace(suite: Suite, ours: Ours, name: str, cpu: float) -> Iterator[dict[str, Any]]:
    alarm = Alarm()

    def work() -> Any:
        alarm.set(cpu)
        try:
            return suite.run(name)
        finally:
            alarm.clear()

    end, lines = traced(ours, work)
    found = [(a or b, int(m or n)) for a, m, b, n in _FRAME.findall(end.why)]
    frames = [(ours.path(file), line) for file, line in found]
    yield {
        "end": "time" if alarm.has_rung and end.kind == FAIL else end.kind,
        "frames": [frame for frame in frames if frame[0]],
        "lines": {path: sorted(each) for path, each in lines.items()},
    }
