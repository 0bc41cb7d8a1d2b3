"""The program that runs beside a project's tests: it traces them, or tries candidates on them."""

from __future__ import annotations

import importlib.machinery
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO

from flyball.tools.inside.child import Alarm, Children, Job
from flyball.tools.inside.suites import FAIL, PASS, SKIP, Suite, open_suite
from flyball.tools.inside.swapping import Edit, Living, Unswappable, edited
from flyball.tools.inside.tracing import Ours, traced

TRACED_CPU = 4.0
"""How long a traced test may compute."""
WALL = 6.0
"""By the clock on the wall a test may take this many times what it may compute."""
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


class Orders:
    """What this program is told to do."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.task: str = told["task"]
        self.runner: str = told["runner"]
        self.args: list[Any] = told["args"]
        self.focus: list[Any] = told.get("focus") or told["args"]
        """The same for the files with failing tests only."""
        self.root: str = told["root"]
        self.width: int = told["width"]
        self.failing: list[str] = told["failing"]
        self.near: list[str] = told.get("near", [])
        self.sample: int = told.get("sample", 0)
        self.enough: int = told.get("enough", 5)
        self.patience: float = told.get("patience", 5.0)
        self.candidates: list[dict[str, Any]] = told.get("candidates", [])
        self.until = time.monotonic() + told["seconds"]
        self.report: TextIO = open(told["report"], "a", encoding="utf-8")  # noqa: PTH123, SIM115

    @property
    def is_over(self) -> bool:
        return time.monotonic() > self.until

    def say(self, line: dict[str, Any]) -> None:
        self.report.write(json.dumps(line) + "\n")
        self.report.flush()


def main(orders_file: str) -> None:
    """Do what the file says; everything found is written to the report as it is found."""
    with open(orders_file, encoding="utf-8") as file:  # noqa: PTH123
        orders = Orders(json.load(file))
    sys.argv = ["pytest" if orders.runner == "pytest" else "unittest"]
    if orders.task == "trace":
        open_suite(orders.runner, orders.args, lambda suite: trace(orders, suite))
    else:
        attempt(orders)


def trace(orders: Orders, suite: Suite) -> None:
    """Run the failing tests and some of the others, and say which lines each one ran."""
    orders.say({"tests": len(suite.names), "broken": suite.broken})
    ours = Ours(orders.root, suite.files)
    failing = [name for name in orders.failing if name in set(suite.names)]
    if not orders.failing:
        failing = _find_failing(orders, suite)
    others = _nearest(suite.names, failing)[: orders.sample]

    def answer(name: str, said: Any) -> None:
        orders.say({"name": name, **(said or {"end": "crash"})})

    def jobs(names: Sequence[str]) -> Iterator[Job]:
        for name in names:
            yield Job(name, lambda name=name: _trace_one(suite, ours, name), TRACED_CPU * WALL)

    Children(orders.width, answer).run(jobs(failing), lambda: orders.is_over)
    Children(orders.width, answer).run(jobs(others), lambda: orders.is_over)


def _find_failing(orders: Orders, suite: Suite) -> list[str]:
    found: list[str] = []

    def answer(name: str, said: Any) -> None:
        if (said or {"end": "crash"})["end"] not in (PASS, SKIP):
            found.append(name)

    jobs = (
        Job(name, lambda name=name: _run_one(suite, name, TRACED_CPU), TRACED_CPU * WALL)
        for name in suite.names
    )
    Children(orders.width, answer).run(jobs, lambda: orders.is_over)
    return found


def _nearest(names: Sequence[str], failing: Sequence[str]) -> list[str]:
    """The other tests: those of the same file first, nearest first."""
    places = [i for i, name in enumerate(names) if name in set(failing)]
    files = {_file(name) for name in failing}

    def distance(i: int) -> tuple[bool, int]:
        return _file(names[i]) not in files, min((abs(i - p) for p in places), default=0)

    wanted = set(failing)
    return [names[i] for i in sorted(range(len(names)), key=distance) if names[i] not in wanted]


def _file(name: str) -> str:
    return name.partition("::")[0] if "::" in name else name.rpartition(".")[0]


def _run_one(suite: Suite, name: str, cpu: float, following: str = "") -> dict[str, Any]:
    alarm = Alarm()
    began = time.process_time()
    alarm.set(cpu)
    try:
        end = suite.run(name, following)
    finally:
        alarm.clear()
    kind = "time" if alarm.has_rung and end.kind == FAIL else end.kind
    return {"end": kind, "why": end.why[-2000:], "cpu": time.process_time() - began}


def _trace_one(suite: Suite, ours: Ours, name: str) -> dict[str, Any]:
    alarm = Alarm()

    def work() -> Any:
        alarm.set(TRACED_CPU)
        try:
            return suite.run(name)
        finally:
            alarm.clear()

    end, lines = traced(ours, work)
    frames = [(ours.path(file), int(line)) for file, line, _ in _FRAME.findall(end.why)]
    return {
        "end": "time" if alarm.has_rung and end.kind == FAIL else end.kind,
        "why": end.why[-600:],
        "frames": [frame for frame in frames if frame[0]],
        "lines": {path: sorted(found) for path, found in lines.items()},
    }


class Attempt:
    """Candidates on trial, in the order given, against tests that are already loaded."""

    def __init__(self, orders: Orders, suite: Suite) -> None:
        self.orders = orders
        self.suite = suite
        names = set(suite.names)
        self.failing = [name for name in orders.failing if name in names]
        self.limit: dict[str, float] = {}
        self.unfit: list[dict[str, Any]] = []
        self.slow: list[dict[str, Any]] = []
        self.holding = 0
        self.first_at = 0.0
        self.living: dict[str, Living] = {}
        near = [name for name in orders.near if name in names]
        rest = _nearest(suite.names, self.failing)
        self.others = list(dict.fromkeys([*near, *rest]))
        self.others = [name for name in self.others if name not in set(self.failing)]
        self.flaky: set[str] = set()

    @property
    def is_over(self) -> bool:
        """Out of time, or enough was found and looked at for a while after the first."""
        if self.orders.is_over or self.holding >= self.orders.enough:
            return True
        return bool(self.first_at) and time.monotonic() > self.first_at + self.orders.patience

    def run(self) -> None:
        self._measure()
        self.failing = [name for name in self.failing if name not in self.flaky]
        self.orders.say({"failing": self.failing, "flaky": sorted(self.flaky)})
        if not self.failing:
            return
        self.failing.sort(key=lambda name: self.limit[name])
        self.few = _representatives(self.failing)
        for path in {candidate["path"] for candidate in self.orders.candidates}:
            self.living[path] = Living(os.path.join(self.orders.root, path))
        self._try(self.orders.candidates, 1.0)
        if not self.holding:
            self._try(self.slow, 10.0)

    def _measure(self) -> None:
        """How long each failing test takes, and whether it fails here at all."""

        def answer(name: str, said: Any) -> None:
            end = said or {"end": "crash", "cpu": 0.0}
            if end["end"] in (PASS, SKIP):
                self.flaky.add(name)
            is_endless = end["end"] == "time"
            self.limit[name] = 0.2 if is_endless else 0.12 + 6 * end["cpu"]

        jobs = (
            Job(name, lambda name=name: _run_one(self.suite, name, 0.6), 10.0)
            for name in self.failing
        )
        Children(self.orders.width, answer).run(jobs, lambda: self.orders.is_over)
        for name in self.failing:
            self.limit.setdefault(name, 0.3)

    def _try(self, candidates: Sequence[dict[str, Any]], patience: float) -> None:
        by_number = {candidate["n"]: candidate for candidate in candidates}
        slow: list[dict[str, Any]] = []

        def answer(n: int, said: Any) -> None:
            end = said or {"end": "crash"}
            if end["end"] == "unfit":
                self.unfit.append(by_number[n])
                return
            if end["end"] == "time":
                slow.append(by_number[n])
            if end["end"] == "hold":
                self.holding += 1
                self.first_at = self.first_at or time.monotonic()
            self.orders.say({"n": n, **end})

        jobs = (
            Job(each["n"], lambda each=each: self._judge(each, patience), self._wall(patience))
            for each in candidates
        )
        Children(self.orders.width, answer).run(jobs, lambda: self.is_over)
        self.slow = slow

    def _wall(self, patience: float) -> float:
        left = self.orders.until - time.monotonic()
        tight = 2.0 + WALL * patience * sum(self.limit[name] for name in self.few)
        return min(max(left, 1.0), tight + 0.5 * len(self.others) + 5.0)

    def _judge(self, candidate: dict[str, Any], patience: float) -> dict[str, Any]:
        """In a child: the failing tests, and where they pass now, all the others."""
        try:
            edits = [Edit(*edit) for edit in candidate["edits"]]
            self.living[candidate["path"]].swap(edits)
        except Unswappable:
            return {"end": "unfit"}
        except (SyntaxError, ValueError):
            return {"end": "broken"}
        ends = {}
        for name in self.few:
            ends[name] = _run_one(self.suite, name, patience * self.limit[name])["end"]
            if ends[name] == "time":
                return {"end": "time"}
        if not any(end == PASS for end in ends.values()):
            return {"end": "fail"}
        for name in self.failing:
            if name not in ends:
                limit = patience * self.limit[name]
                ends[name] = _run_one(self.suite, name, limit)["end"]
        return self._conclude([name for name in self.failing if ends[name] == PASS])

    def _conclude(self, mended: list[str]) -> dict[str, Any]:
        broke = self._first_broken()
        if broke:
            return {"end": "fail", "broke": broke}
        if len(mended) == len(self.failing):
            return {"end": "hold"}
        return {"end": "part", "mended": mended}

    def _first_broken(self) -> str:
        for i, name in enumerate(self.others):
            following = self.others[i + 1] if i + 1 < len(self.others) else ""
            if _run_one(self.suite, name, 5.0, following)["end"] not in (PASS, SKIP):
                return name
        return ""


def _representatives(failing: Sequence[str], most: int = 3) -> list[str]:
    """A few tests that stand for all: of different functions where there are several."""
    chosen: dict[str, str] = {}
    for name in failing:
        chosen.setdefault(name.partition("[")[0], name)
    return list(chosen.values())[:most]


def attempt(orders: Orders) -> None:
    """Try candidates in a process that has loaded everything; those unfit for it from scratch."""
    left: list[dict[str, Any]] = []

    def warm() -> Any:
        kept: list[Any] = []

        def use(suite: Suite) -> None:
            orders.say({"tests": len(suite.names), "broken": suite.broken})
            if suite.broken:
                kept.extend(orders.candidates)
                return
            found = Attempt(orders, suite)
            found.run()
            kept.extend([] if found.holding else found.unfit)

        open_suite(orders.runner, orders.args, use)
        return kept

    def answer(_key: Any, said: Any) -> None:
        left.extend(orders.candidates if said is None else said)

    Children(1, answer).run([Job(0, warm, 86400.0)], lambda: False)
    from_scratch(orders, left)


def from_scratch(orders: Orders, candidates: Sequence[dict[str, Any]]) -> None:
    """Try candidates each in a process that has loaded nothing of the project yet."""
    if orders.runner == "pytest" and candidates:
        importlib.import_module("pytest")
    state = {"holding": 0, "first": 0.0}

    def answer(n: int, said: Any) -> None:
        end = said or {"end": "crash"}
        if end["end"] == "hold":
            state["holding"] += 1
            state["first"] = state["first"] or time.monotonic()
        orders.say({"n": n, **end})

    def is_over() -> bool:
        late = state["first"] and time.monotonic() > state["first"] + orders.patience
        return orders.is_over or state["holding"] >= orders.enough or bool(late)

    jobs = (
        Job(each["n"], lambda each=each: _judge_from_scratch(orders, each), 30.0)
        for each in candidates
    )
    Children(orders.width, answer).run(jobs, is_over)


def _judge_from_scratch(orders: Orders, candidate: dict[str, Any]) -> dict[str, Any]:
    _replace(os.path.join(orders.root, candidate["path"]), candidate["edits"])
    if not _passes(orders.runner, orders.focus):
        return {"end": "fail"}
    if orders.focus == orders.args or _passes(orders.runner, orders.args):
        return {"end": "hold"}
    return {"end": "fail"}


def _passes(runner: str, args: Sequence[Any]) -> bool:
    """Whether everything can be loaded and every test passes."""
    ends: list[str] = []

    def use(suite: Suite) -> None:
        ends.extend("broken" for _ in suite.broken)
        for name in () if suite.broken else suite.names:
            ends.append(_run_one(suite, name, 3.0)["end"])
            if ends[-1] not in (PASS, SKIP):
                return

    open_suite(runner, args, use)
    return PASS in ends and all(end in (PASS, SKIP) for end in ends)


def _replace(path: str, edits: Sequence[Any]) -> None:
    """Let a file be imported as if it had been changed."""
    real = os.path.realpath(path)
    with open(real, "rb") as file:  # noqa: PTH123
        data = edited(file.read(), [Edit(*edit) for edit in edits])
    loader: Any = importlib.machinery.SourceFileLoader
    plain: Callable[..., Any] = loader.get_code

    def get_code(self: Any, name: str) -> Any:
        if os.path.realpath(self.get_filename(name)) != real:
            return plain(self, name)
        return compile(data, real, "exec", dont_inherit=True)

    loader.get_code = get_code
