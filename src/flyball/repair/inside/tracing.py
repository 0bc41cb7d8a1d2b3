"""Record the lines that each test runs: the tracer, and tracing a whole suite."""

from __future__ import annotations

import inspect
import opcode
import os
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, cast

from flyball.repair.inside.suites import (
    FAIL,
    PASS,
    SKIP,
    SLOW,
    Orders,
    Suite,
    order_by_nearness,
    run_one,
)
from flyball.repair.inside.workers import Alarm, Children, Job

if TYPE_CHECKING:
    from flyball.repair.inside.workers import Say

    Lines = dict[str, set[int]]


EXPLAINERS = (
    ("_pytest.assertion.rewrite", "_saferepr"),
    ("_pytest.assertion.rewrite", "_call_reprcompare"),
    ("_pytest.assertion.rewrite", "_format_assertmsg"),
    ("unittest.case", "safe_repr"),
    ("unittest.case", "_common_shorten_repr"),
)
"""What runners call only when an assertion has failed."""
MOST_TURNS = 2000
LEAVES = frozenset(
    opcode.opmap[name]
    for name in ("RETURN_VALUE", "YIELD_VALUE", "YIELD_FROM", "RETURN_GENERATOR")
    if name in opcode.opmap
)
"""How a function is left where no exception leaves it."""


class ProjectFiles:
    """The project's files and test files, by the names in code objects."""

    def __init__(self, root: str, tests: set[str]) -> None:
        self._root = os.path.realpath(root) + os.sep
        self._tests = tests
        self._known: dict[str, str] = {}
        self._is_test: dict[str, bool] = {}

    def path(self, filename: str) -> str:
        """Return the path from the root, or an empty string if the file is not traced."""
        if filename not in self._known:
            self._known[filename] = self._find(filename)
        return self._known[filename]

    def is_test(self, filename: str) -> bool:
        """Return whether tests were found in this file."""
        if filename not in self._is_test:
            self._is_test[filename] = os.path.realpath(filename) in self._tests
        return self._is_test[filename]

    def _find(self, filename: str) -> str:
        if not filename.endswith(".py"):
            return ""
        real = os.path.realpath(filename)
        if not real.startswith(self._root) or real in self._tests:
            return ""
        inside = real[len(self._root) :]
        parts = inside.split(os.sep)
        if "site-packages" in parts or any(part.startswith(".") for part in parts):
            return ""
        return inside


class LinesRun:
    """The lines that ran, each with the last turn in which it ran: a line of the test itself begins
    a turn.

    Each can be reported as it is reached, in case the test kills its process.
    """

    def __init__(self, ours: ProjectFiles, say: Say | None) -> None:
        self.is_muted = False
        """Whether the lines that run now are no part of the test."""
        self.turn = 1
        self.turns: dict[str, dict[int, int]] = {}
        self.has_failed = False
        """Whether the code running now only cleans up, or explains a failure."""
        self._ours = ours
        self._say = say

    @property
    def lines(self) -> Lines:
        return {path: set(turns) for path, turns in self.turns.items() if turns}

    @property
    def late(self) -> Lines:
        """Return the lines of the last turn that ran any: the code that failed or did wrong."""
        last = max((turn for turns in self.turns.values() for turn in turns.values()), default=0)
        return {
            path: {line for line, turn in turns.items() if turn == last}
            for path, turns in self.turns.items()
            if last in turns.values()
        }

    def reach(self, path: str, line: int) -> None:
        """Record that a line of the project runs, unless it only explains a failure."""
        if self.is_muted or self.has_failed:
            return
        turns = self.turns.setdefault(path, {})
        if line not in turns and self._say:
            self._say([path, line])
        turns[line] = self.turn

    def go_on(self, frame: FrameType) -> bool:
        """Return whether a line of a test file begins a new turn, so that everything before it
        passed.

        Return False if the project called back, or if an exception is being examined.
        """
        if self.has_failed or self.is_muted or self.turn == MOST_TURNS or sys.exc_info()[0]:
            return False
        # A helper in a test file that the project calls back is part of what the project does.
        if any(self._ours.path(file) for file in _caller_files(frame)):
            return False
        self.turn += 1
        return True

    def fall(self, frame: FrameType) -> None:
        """Handle an exception that leaves a function of a test file; without a caller there, the
        test ends."""
        ours = self._ours
        if not any(ours.is_test(file) or ours.path(file) for file in _caller_files(frame)):
            self.has_failed = True


def _caller_files(frame: FrameType) -> Iterator[str]:
    """Yield the files of the functions on the stack below this one."""
    above = frame.f_back
    while above is not None:
        yield above.f_code.co_filename
        above = above.f_back


def trace_lines(
    ours: ProjectFiles, work: Callable[[], Any], say: Say | None = None
) -> tuple[Any, LinesRun]:
    """Run a function and record which of the project's lines run."""
    seen = LinesRun(ours, say)
    with _mute_explainers(seen):
        return _watch(ours, seen, work), seen


@contextmanager
def _mute_explainers(seen: LinesRun) -> Generator[None]:
    """Ignore code that a runner calls to explain a failure, such as `__repr__`: it is not the
    cause."""
    found = [(sys.modules[module], name) for module, name in EXPLAINERS if module in sys.modules]
    known = [(module, name, getattr(module, name, None)) for module, name in found]
    for module, name, explain in known:
        if explain is not None:
            setattr(module, name, _mute(seen, explain))
    try:
        yield
    finally:
        for module, name, explain in known:
            if explain is not None:
                setattr(module, name, explain)


def _mute(seen: LinesRun, explain: Callable[..., Any]) -> Callable[..., Any]:
    def quietly(*args: Any, **named: Any) -> Any:
        was, seen.is_muted = seen.is_muted, True
        try:
            return explain(*args, **named)
        finally:
            seen.is_muted = was

    return quietly


def _watch(ours: ProjectFiles, seen: LinesRun, work: Callable[[], Any]) -> Any:
    # From 3.12 on a line that was seen can be switched off, so a loop costs one event; before that
    # every line of every turn calls us.
    if hasattr(sys, "monitoring"):
        return _watch_by_monitoring(ours, seen, work)
    tracer = _tracer(ours, seen)
    threading.settrace(tracer)
    sys.settrace(tracer)
    try:
        return work()
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]


def _watch_by_monitoring(ours: ProjectFiles, seen: LinesRun, work: Callable[[], Any]) -> Any:
    monitoring = cast(Any, getattr(sys, "monitoring", None))
    # The ids that are free for anybody first; those of debuggers and coverage only if nobody has
    # them.
    tool = next((n for n in (3, 4, 1, 0) if monitoring.get_tool(n) is None), None)
    if tool is None:
        return work()

    def on_line(code: CodeType, line: int) -> Any:
        path = ours.path(code.co_filename)
        if path:
            seen.reach(path, line)
        elif ours.is_test(code.co_filename):
            if seen.go_on(_event_frame()):
                monitoring.restart_events()
            return None
        return None if seen.is_muted else monitoring.DISABLE

    def on_unwind(code: CodeType, _offset: int, _raised: BaseException) -> None:
        if ours.is_test(code.co_filename):
            seen.fall(_event_frame())

    # Lines are switched off in one test's run and must be heard again in the next, hence the
    # restarts.
    events = monitoring.events
    monitoring.use_tool_id(tool, "flyball")
    monitoring.register_callback(tool, events.LINE, on_line)
    monitoring.register_callback(tool, events.PY_UNWIND, on_unwind)
    monitoring.restart_events()
    monitoring.set_events(tool, events.LINE | events.PY_UNWIND)
    try:
        return work()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)


def _event_frame() -> FrameType:
    """Return the frame of an event, from inside its handler."""
    mine = inspect.currentframe()
    assert mine is not None
    assert mine.f_back is not None
    assert mine.f_back.f_back is not None
    return mine.f_back.f_back


def _tracer(ours: ProjectFiles, seen: LinesRun) -> Callable[..., Any]:
    # Keyed by identity, because comparing code objects compares all their bytecode; the object is
    # kept beside it so that its id is not given to another.
    by_code: dict[int, tuple[CodeType, Callable[..., Any] | None]] = {}

    def in_project(path: str) -> Callable[..., Any]:
        turns = seen.turns.setdefault(path, {})

        def on_line(frame: FrameType, _event: str, _arg: Any) -> Any:
            if turns.get(frame.f_lineno) != seen.turn:
                seen.reach(path, frame.f_lineno)
            return on_line

        return on_line

    def in_test(frame: FrameType, event: str, _arg: Any) -> Any:
        if event == "line":
            seen.go_on(frame)
        elif event == "return" and frame.f_code.co_code[frame.f_lasti] not in LEAVES:
            seen.fall(frame)
        return in_test

    def local(code: CodeType) -> Callable[..., Any] | None:
        path = ours.path(code.co_filename)
        if path:
            return in_project(path)
        return in_test if ours.is_test(code.co_filename) else None

    def on_call(frame: FrameType, _event: str, _arg: Any) -> Any:
        code = frame.f_code
        known = by_code.get(id(code))
        if known is None:
            known = by_code[id(code)] = code, local(code)
        return known[1]

    return on_call


if TYPE_CHECKING:
    from flyball.repair.inside.workers import Say

    One = Callable[[str, str, Say], str]

QUICK_CPU = 0.6
"""A test that computes longer may be endless; a few of them are run again."""
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
"""So many tests are traced even when time runs out: without a trace there is nothing to search."""
MOST_TRACED = 40
"""The most failing tests to trace: more of them add little."""
MOST_ALONE = 100
WALL = 40.0
STUCK_WALL = 3.0
"""How long an endlessly waiting test may take to reach the place where it waits."""
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
    """Runs tests under trace, each in its own process.

    Code that runs once per process then runs for every test.
    """

    def __init__(self, orders: Orders, suite: Suite, ends: dict[str, dict[str, Any]]) -> None:
        self._orders = orders
        self._suite = suite
        self._ours = ProjectFiles(orders.root, suite.files)
        self._endless = [name for name, end in ends.items() if end["end"] == "time"]
        self._stuck = [name for name in self._endless if ends[name]["why"] == OUT_OF_TIME]

    def failing(self, names: list[str]) -> dict[str, dict[str, Any]]:
        """Trace failing tests; stop endless ones, and report how far they got."""
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
        late_ends = _run_batches(orders, dead, self.loud, 1, LATE)
        stuck = self._stuck[:ENDLESS_TRACED]
        late_ends.update(_run_batches(orders, stuck, self.loud, 1, LATE, STUCK_WALL))
        for name, end in late_ends.items():
            seen[name] = {
                **end,
                "lines": _reported_lines(end["heard"]),
                "frames": end["heard"][-1:],
            }
        return seen

    def one(self, name: str, following: str, say: Say) -> str:
        found = _trace_test(self._suite, self._ours, name, following, self._cpu(name))
        say(found)
        return found["end"]

    def loud(self, name: str, _following: str, say: Say) -> str:
        """Run a test that reports every line as it is reached, in case it kills its process."""
        _trace_test(self._suite, self._ours, name, "", self._cpu(name), say)
        return FAIL

    def _cpu(self, name: str) -> float:
        return ENDLESS_CPU if name in self._endless else TRACED_CPU


def _run_all(orders: Orders, suite: Suite, names: list[str]) -> dict[str, dict[str, Any]]:
    """Return how each test ended, a failing one in isolation; one that seems endless gets more
    time."""

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

    def extend_deadline(cpu: float) -> None:
        endless = [name for name, end in ends.items() if end["end"] == "time"]
        again = run(endless[:LOOKED_AT_AGAIN], cpu, 1, AGAIN)
        ends.update(again)
        if any(end["end"] != "time" for end in again.values()):
            ends.update(run(endless[LOOKED_AT_AGAIN:], cpu, 1, AGAIN))

    # A loop without end and a slow test look alike. One of them is given more time first: only if
    # that one ends are the others worth waiting for.
    extend_deadline(SLOW_CPU)
    if not _fails_for_certain(suite, ends):
        extend_deadline(PATIENT_CPU)
    found = {name: ends[name] for name in names if name in ends}
    # Where others fail for certain, a test that did not end in time is no evidence of anything.
    return _mark_slow(found) if _fails_for_certain(suite, found) else found


def _fails_for_certain(suite: Suite, ends: dict[str, dict[str, Any]]) -> bool:
    return bool(suite.broken) or any(end["end"] in (FAIL, "crash") for end in ends.values())


def _mark_slow(ends: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Mark tests that did not get enough time as possibly just slow."""
    return {
        name: {**end, "end": SLOW} if end["end"] == "time" else end for name, end in ends.items()
    }


def _run_batches(
    orders: Orders, names: list[str], one: One, most: int, part: float = 1.0, wall: float = WALL
) -> dict[str, dict[str, Any]]:
    """Run a job for each test, many in one child; after an interruption, continue with the next."""
    ends: dict[str, dict[str, Any]] = {}
    size = max(1, min(most, len(names) // (3 * orders.width)))
    waiting = deque(names[i : i + size] for i in range(0, len(names), size))

    def following() -> Job | None:
        if not waiting:
            return None
        batch = waiting.popleft()
        return Job(batch, partial(_run_batch, batch, one), orders.wall(wall))

    def answer(batch: list[str], answers: list[Any], is_late: bool) -> None:
        whole: list[dict[str, Any]] = [each for each in answers if isinstance(each, dict)]
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
            ends[rest.pop(0)] = {**end, "lines": {}, "late": {}, "heard": answers}
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
    """Run a test under trace; with `say`, report every line as it is reached."""
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


def _reported_lines(heard: list[Any]) -> dict[str, list[int]]:
    """Return the lines that a test reported before it killed its process."""
    lines: dict[str, list[int]] = {}
    for path, line in heard:
        lines.setdefault(path, []).append(line)
    return lines
