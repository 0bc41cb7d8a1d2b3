"""Which lines of the project a test runs, by the cheapest means the interpreter has."""

from __future__ import annotations

import inspect
import opcode
import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from flyball.tools.repair.inside.workers import Say

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
    """Which files are the project's, and which its tests, by the name code has for them."""

    def __init__(self, root: str, tests: set[str]) -> None:
        self._root = os.path.realpath(root) + os.sep
        self._tests = tests
        self._known: dict[str, str] = {}
        self._is_test: dict[str, bool] = {}

    def path(self, filename: str) -> str:
        """The path from the root, or nothing where the file is not to be looked at."""
        if filename not in self._known:
            self._known[filename] = self._find(filename)
        return self._known[filename]

    def is_test(self, filename: str) -> bool:
        """Whether tests were found in this file."""
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
    """The lines that ran, each with the turn it last ran in: a line of the test itself begins one.

    Each may be told as it is reached, for fear of what comes after it.
    """

    def __init__(self, ours: ProjectFiles, say: Say | None) -> None:
        self.is_muted = False
        """Whether the lines that run now are no part of the test."""
        self.turn = 1
        self.turns: dict[str, dict[int, int]] = {}
        self.has_failed = False
        """Whether what runs now only cleans up, or tells why."""
        self._ours = ours
        self._say = say

    @property
    def lines(self) -> Lines:
        return {path: set(turns) for path, turns in self.turns.items() if turns}

    @property
    def late(self) -> Lines:
        """What ran in the last turn of all that ran anything: it has failed, or did wrong."""
        last = max((turn for turns in self.turns.values() for turn in turns.values()), default=0)
        return {
            path: {line for line, turn in turns.items() if turn == last}
            for path, turns in self.turns.items()
            if last in turns.values()
        }

    def reach(self, path: str, line: int) -> None:
        """Note that a line of the project runs, unless it only tells of a failure."""
        if self.is_muted or self.has_failed:
            return
        turns = self.turns.setdefault(path, {})
        if line not in turns and self._say:
            self._say([path, line])
        turns[line] = self.turn

    def go_on(self, frame: FrameType) -> bool:
        """A line of a test file runs; does a turn begin, with all before it well?

        Not where the project has called back, nor where an exception is being looked at.
        """
        if self.has_failed or self.is_muted or self.turn == MOST_TURNS or sys.exc_info()[0]:
            return False
        # A helper in a test file that the project calls back is part of what the project does.
        if any(self._ours.path(file) for file in _caller_files(frame)):
            return False
        self.turn += 1
        return True

    def fall(self, frame: FrameType) -> None:
        """An exception leaves a function of a test file: if no other called it, that was all."""
        ours = self._ours
        if not any(ours.is_test(file) or ours.path(file) for file in _caller_files(frame)):
            self.has_failed = True


def _caller_files(frame: FrameType) -> Iterator[str]:
    """The files of the functions that wait for this one."""
    above = frame.f_back
    while above is not None:
        yield above.f_code.co_filename
        above = above.f_back


def trace_lines(
    ours: ProjectFiles, work: Callable[[], Any], say: Say | None = None
) -> tuple[Any, LinesRun]:
    """Do something, and see which of our lines ran."""
    seen = LinesRun(ours, say)
    with _mute_explainers(seen):
        return _watch(ours, seen, work), seen


@contextmanager
def _mute_explainers(seen: LinesRun) -> Generator[None]:
    """What a runner calls to explain a failure, such as `__repr__`, has not caused it."""
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
    """The frame that an event is about, from within what hears of it."""
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
