"""What the program is told, and how one test is run."""

from __future__ import annotations

import json
import time
from typing import Any, NamedTuple, TextIO

from flyball.tools.repair.inside.suites import FAIL, Suite
from flyball.tools.repair.inside.workers import Alarm

ALARM = Alarm.set.__code__.co_filename
"""Where a traceback ends that an alarm has caused."""
SLOWEST_CPU = 6.0
"""How long a test gets at most that did not end when it was looked at."""
UNHURRIED = 10.0
"""Where candidates are counted, a child that hangs is waited for so much longer."""


class Proposal(NamedTuple):
    """A candidate: which file, and what to change in it."""

    n: int
    path: str
    edits: list[tuple[int, int, str]]


class Orders:
    """What this program is told to do."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.task: str = told["task"]
        self.runner: str = told["runner"]
        self.args: list[Any] = told["args"]
        self.root: str = told["root"]
        self.width: int = told["width"]
        self.failing: list[str] = told["failing"]
        self.near: list[str] = told.get("near", [])
        self.cpu: dict[str, float] = told.get("cpu", {})
        self.endless: set[str] = set(told.get("endless", []))
        self.slow: set[str] = set(told.get("slow", []))
        self.broken: list[str] = told.get("broken", [])
        self.sample: int = told.get("sample", 0)
        self.enough: int = told.get("enough", 0)
        self.patience: float = told.get("patience", 0.0)
        """After the first that holds, others are looked for in this part of the limit."""
        self.is_probe: bool = told.get("is_probe", False)
        self.candidates = [Proposal(**each) for each in told.get("candidates", [])]
        self.began = time.monotonic()
        self.seconds: float | None = told["seconds"]
        """None: not the clock ends a search, but the number of candidates."""
        self._tried: set[int] = set()
        # Appended to and flushed line by line: what was found must be there even if the program is
        # killed.
        self._report: TextIO = open(told["report"], "a", encoding="utf-8")  # noqa: SIM115

    @property
    def is_over(self) -> bool:
        return self.is_past(1.0)

    @property
    def spent(self) -> float:
        """Which part of the time is gone; without a clock, which part of the candidates."""
        if self.seconds is None:
            return len(self._tried) / max(1, len(self.candidates))
        return (time.monotonic() - self.began) / self.seconds

    def is_past(self, part: float) -> bool:
        """Whether more than this part of the limit is gone."""
        return self.spent > part

    def wall(self, seconds: float) -> float:
        """How long a child may take by the clock: where no clock counts, it only catches hangs."""
        return seconds * UNHURRIED if self.seconds is None else seconds

    def note(self, n: int, **end: Any) -> None:
        """Report how a candidate ended."""
        self._tried.add(n)
        self.say(n=n, **end)

    def say(self, **line: Any) -> None:
        self._report.write(json.dumps(line) + "\n")
        self._report.flush()


def run_one(suite: Suite, name: str, cpu: float, following: str = "") -> dict[str, Any]:
    """Run one test, for so many seconds of computing at most."""
    alarm = Alarm()
    began = time.process_time()
    alarm.set(cpu)
    try:
        end = suite.run(name, following)
    finally:
        alarm.clear()
    # The alarm is an exception in the test, so a runner calls it a failure.
    kind = "time" if alarm.has_rung and end.kind == FAIL else end.kind
    why = _before_alarm(end.why) if kind == "time" else end.why
    return {"end": kind, "why": why[-2000:], "cpu": time.process_time() - began}


def _before_alarm(why: str) -> str:
    """A traceback up to where a test was when its time was up."""
    # What follows is the handler of the alarm itself, which is nobody's fault.
    return why.rpartition(f'  File "{ALARM}"')[0] or why


def order_by_nearness(names: list[str], failing: list[str]) -> list[str]:
    """The other tests: those of the same file first, nearest first."""
    wanted = set(failing)
    places = [i for i, name in enumerate(names) if name in wanted]
    # Tests of the same file are the likeliest to run the same lines, and so to break by a change
    # there.
    files = {_file_of(name) for name in failing}

    def distance(i: int) -> tuple[bool, int]:
        return _file_of(names[i]) not in files, min((abs(i - p) for p in places), default=0)

    return [names[i] for i in sorted(range(len(names)), key=distance) if names[i] not in wanted]


def _file_of(name: str) -> str:
    return name.partition("::")[0] if "::" in name else name.rpartition(".")[0]
