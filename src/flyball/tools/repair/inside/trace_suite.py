"""Running every test, then some under trace: what fails, and which lines it runs."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from flyball.tools.repair.inside.job import Orders, order_by_nearness, run_one
from flyball.tools.repair.inside.suites import FAIL, PASS, SKIP, SLOW, Suite
from flyball.tools.repair.inside.tracing import ProjectFiles, trace_lines
from flyball.tools.repair.inside.workers import Alarm, Children, Job

if TYPE_CHECKING:
    from flyball.tools.repair.inside.workers import Say

    One = Callable[[str, str, Say], str]

QUICK_CPU = 0.6
"""A test that computes longer may be endless; a few of them are looked at again."""
SLOW_CPU = 2.0
PATIENT_CPU = 6.0
"""How long one is waited for where nothing fails for certain."""
LOOKED_AT_AGAIN = 1
RUNNING, AGAIN, REPRODUCING = 0.5, 0.6, 0.85
"""Which part of the time may be gone when tests were run, run again, and traced where they fail."""
TRACED_CPU = 5.0
ENDLESS_CPU = 0.8
ENDLESS_TRACED = 3
ALWAYS_TRACED, LATE = 2, 1.5
"""Without a trace there is nothing to go by: so many get it even when time is running out."""
MOST_TRACED = 40
"""Failing tests under trace: more of them say little more."""
MOST_ALONE = 100
WALL = 40.0
STUCK_WALL = 3.0
"""A test that waits for ever gets this long to come to where it waits."""
OUT_OF_TIME = "it ran out of time"
MOST_TOGETHER = 60
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in |^([^\s:]+\.py):(\d+): ', re.M)


def trace_suite(orders: Orders, suite: Suite) -> None:
    """Run all tests, then trace the failing ones and those nearest to them."""
    names = list(suite.names)
    orders.say(tests=len(names), broken=suite.broken)
    ends = _run_all(orders, suite, names)
    for name, end in ends.items():
        orders.say(ran=name, end=end["end"], why=end["why"][-1500:], cpu=end["cpu"])
    failing = [name for name, end in ends.items() if end["end"] not in (PASS, SKIP, SLOW)]
    if not failing:
        return
    passing = [
        name for name in order_by_nearness(names, failing) if ends.get(name, {}).get("end") == PASS
    ]
    tracing = _Tracing(orders, suite, ends)
    seen = tracing.failing(failing)
    seen.update(_run_batches(orders, passing[: orders.sample], tracing.one, 1))
    for name, end in seen.items():
        orders.say(name=name, **{key: end[key] for key in ("end", "frames", "lines", "late")})


class _Tracing:
    """Tests under trace, each in a process of its own.

    What is done only once in a process is then run by all tests alike.
    """

    def __init__(self, orders: Orders, suite: Suite, ends: dict[str, dict[str, Any]]) -> None:
        self._orders = orders
        self._suite = suite
        self._ours = ProjectFiles(orders.root, suite.files)
        self._endless = [name for name, end in ends.items() if end["end"] == "time"]
        self._stuck = [name for name in self._endless if ends[name]["why"] == OUT_OF_TIME]

    def failing(self, names: list[str]) -> dict[str, dict[str, Any]]:
        """Those that do not end are ended, and tell before how far they came."""
        orders = self._orders
        left_out = {*self._endless[ENDLESS_TRACED:], *self._stuck}
        wanted = [name for name in names if name not in left_out]
        # Each traced in a process of its own, failing and passing alike: what a process does only
        # once, such as lazy initialisation, would otherwise seem to be run by failing tests alone.
        seen = _run_batches(orders, wanted[:ALWAYS_TRACED], self.one, 1, LATE)
        seen.update(
            _run_batches(orders, wanted[ALWAYS_TRACED:MOST_TRACED], self.one, 1, REPRODUCING)
        )
        # A test that takes its process with it leaves no trace, so it is run again and tells every
        # line as it goes. That is slow, hence not for all.
        dead = [name for name, end in seen.items() if "heard" in end]
        told = _run_batches(orders, dead, self.loud, 1, LATE)
        stuck = self._stuck[:ENDLESS_TRACED]
        told.update(_run_batches(orders, stuck, self.loud, 1, LATE, STUCK_WALL))
        for name, end in told.items():
            seen[name] = {**end, "lines": _lines_told(end["heard"]), "frames": end["heard"][-1:]}
        return seen

    def one(self, name: str, following: str, say: Say) -> str:
        found = _trace_test(self._suite, self._ours, name, following, self._cpu(name))
        say(found)
        return found["end"]

    def loud(self, name: str, _following: str, say: Say) -> str:
        """Every line is told as it is reached, for fear of what comes after it."""
        _trace_test(self._suite, self._ours, name, "", self._cpu(name), say)
        return FAIL

    def _cpu(self, name: str) -> float:
        return ENDLESS_CPU if name in self._endless else TRACED_CPU


def _run_all(orders: Orders, suite: Suite, names: list[str]) -> dict[str, dict[str, Any]]:
    """How each test ended, a failing one by itself; one that seems endless gets more time."""

    def run(names: list[str], cpu: float, most: int, part: float) -> dict[str, dict[str, Any]]:
        def one(name: str, following: str, say: Say) -> str:
            end = run_one(suite, name, cpu, following)
            say(end)
            return end["end"]

        return _run_batches(orders, names, one, most, part)

    # All together first, which is fast; then those that failed each alone, because a test may fail
    # only for what another left behind in the process.
    ends = run(names, QUICK_CPU, MOST_TOGETHER, RUNNING)
    failing = [name for name, end in ends.items() if end["end"] == FAIL]
    ends.update(run(failing[:MOST_ALONE], QUICK_CPU, 1, AGAIN))

    def look_longer(cpu: float) -> None:
        endless = [name for name, end in ends.items() if end["end"] == "time"]
        again = run(endless[:LOOKED_AT_AGAIN], cpu, 1, AGAIN)
        ends.update(again)
        if any(end["end"] != "time" for end in again.values()):
            ends.update(run(endless[LOOKED_AT_AGAIN:], cpu, 1, AGAIN))

    # A loop without end and a slow test look alike. One of them is given more time first: only if
    # that one ends are the others worth waiting for.
    look_longer(SLOW_CPU)
    if not _fails_for_certain(suite, ends):
        look_longer(PATIENT_CPU)
    found = {name: ends[name] for name in names if name in ends}
    # Where others fail for certain, a test that did not end in time is no evidence of anything.
    return _mark_slow(found) if _fails_for_certain(suite, found) else found


def _fails_for_certain(suite: Suite, ends: dict[str, dict[str, Any]]) -> bool:
    return bool(suite.broken) or any(end["end"] in (FAIL, "crash") for end in ends.values())


def _mark_slow(ends: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Those that were not waited for long enough may be just slow."""
    return {
        name: {**end, "end": SLOW} if end["end"] == "time" else end for name, end in ends.items()
    }


def _run_batches(
    orders: Orders, names: list[str], one: One, most: int, part: float = 1.0, wall: float = WALL
) -> dict[str, dict[str, Any]]:
    """Do one thing for each test, many in one child, until something stops it; then go on."""
    ends: dict[str, dict[str, Any]] = {}
    size = max(1, min(most, len(names) // (3 * orders.width)))
    waiting = deque(names[i : i + size] for i in range(0, len(names), size))

    def following() -> Job | None:
        if not waiting:
            return None
        batch = waiting.popleft()
        return Job(batch, partial(_run_batch, batch, one), orders.wall(wall))

    def answer(batch: list[str], said: list[Any], is_late: bool) -> None:
        whole: list[dict[str, Any]] = [each for each in said if isinstance(each, dict)]
        ends.update(zip(batch, whole))  # noqa: B905
        rest = batch[len(whole) :]
        # After a test that ran out of time the batch stops by itself; otherwise the first that is
        # missing is the one that ended the child.
        if rest and not (whole and whole[-1]["end"] == "time"):
            why = OUT_OF_TIME if is_late else "the process died"
            end: dict[str, Any] = {
                "end": "time" if is_late else "crash",
                "why": why,
                "cpu": 0.0,
                "frames": [],
            }
            ends[rest.pop(0)] = {**end, "lines": {}, "late": {}, "heard": said}
        if rest:
            waiting.appendleft(rest)

    Children(orders.width, answer).run(following, lambda: orders.is_past(part))
    return ends


def _run_batch(batch: list[str], one: One, say: Say) -> None:
    for name, following in zip(batch, [*batch[1:], ""]):  # noqa: B905
        if one(name, following, say) == "time":
            return


def _trace_test(
    suite: Suite, ours: ProjectFiles, name: str, following: str, cpu: float, say: Say | None = None
) -> dict[str, Any]:
    """Run a test under trace; with `say`, every line is told as it is reached."""
    alarm = Alarm()

    def work() -> Any:
        alarm.set(cpu)
        try:
            return suite.run(name, following)
        finally:
            alarm.clear()

    end, seen = trace_lines(ours, work, say)
    found = [(a or b, int(m or n)) for a, m, b, n in _FRAME.findall(end.why)]
    frames = [(ours.path(file), line) for file, line in found]
    return {
        "end": "time" if alarm.has_rung and end.kind == FAIL else end.kind,
        "frames": [frame for frame in frames if frame[0]],
        "lines": {path: sorted(each) for path, each in seen.lines.items()},
        "late": {path: sorted(each) for path, each in seen.late.items() if end.kind == FAIL},
    }


def _lines_told(heard: list[Any]) -> dict[str, list[int]]:
    """The lines that a test told before it took its process with it."""
    lines: dict[str, list[int]] = {}
    for path, line in heard:
        lines.setdefault(path, []).append(line)
    return lines
