"""Which lines of the project a test runs, by the cheapest means the interpreter has."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from flyball.tools.inside.child import Say

    Lines = dict[str, set[int]]


EXPLAINERS = (
    ("_pytest.assertion.rewrite", "_saferepr"),
    ("_pytest.assertion.rewrite", "_call_reprcompare"),
    ("_pytest.assertion.rewrite", "_format_assertmsg"),
    ("unittest.case", "safe_repr"),
    ("unittest.case", "_common_shorten_repr"),
)
"""What runners call only when an assertion has failed."""


class Ours:
    """Which files are the project's, by the name code has for them."""

    def __init__(self, root: str, left_out: set[str]) -> None:
        self._root = os.path.realpath(root) + os.sep
        self._left_out = left_out
        self._known: dict[str, str] = {}

    def path(self, filename: str) -> str:
        """The path from the root, or nothing where the file is not to be looked at."""
        if filename not in self._known:
            self._known[filename] = self._find(filename)
        return self._known[filename]

    def _find(self, filename: str) -> str:
        if not filename.endswith(".py"):
            return ""
        real = os.path.realpath(filename)
        if not real.startswith(self._root) or real in self._left_out:
            return ""
        inside = real[len(self._root) :]
        parts = inside.split(os.sep)
        if "site-packages" in parts or any(part.startswith(".") for part in parts):
            return ""
        return inside


class Seen:
    """The lines that ran; each may be told as it is reached, for fear of what comes after it."""

    def __init__(self, say: Say | None) -> None:
        self.lines: Lines = {}
        self.is_muted = False
        """Whether the lines that run now are no part of the test."""
        self._say = say

    def note(self, path: str, line: int) -> None:
        if self.is_muted:
            return
        known = self.lines.setdefault(path, set())
        if line not in known:
            known.add(line)
            if self._say:
                self._say([path, line])


def traced(ours: Ours, work: Callable[[], Any], say: Say | None = None) -> tuple[Any, Lines]:
    """Do something, and see which of our lines ran."""
    seen = Seen(say)
    with _unexplained(seen):
        return _watched(ours, seen, work), seen.lines


@contextmanager
def _unexplained(seen: Seen) -> Generator[None]:
    """What a runner calls to explain a failure, such as `__repr__`, has not caused it."""
    found = [(sys.modules[module], name) for module, name in EXPLAINERS if module in sys.modules]
    known = [(module, name, getattr(module, name, None)) for module, name in found]
    for module, name, explain in known:
        if explain is not None:
            setattr(module, name, _muted(seen, explain))
    try:
        yield
    finally:
        for module, name, explain in known:
            if explain is not None:
                setattr(module, name, explain)


def _muted(seen: Seen, explain: Callable[..., Any]) -> Callable[..., Any]:
    def quietly(*args: Any, **named: Any) -> Any:
        was, seen.is_muted = seen.is_muted, True
        try:
            return explain(*args, **named)
        finally:
            seen.is_muted = was

    return quietly


def _watched(ours: Ours, seen: Seen, work: Callable[[], Any]) -> Any:
    if hasattr(sys, "monitoring"):
        return _monitored(ours, seen, work)
    tracer = _tracer(ours, seen)
    threading.settrace(tracer)
    sys.settrace(tracer)
    try:
        return work()
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]


def _monitored(ours: Ours, seen: Seen, work: Callable[[], Any]) -> Any:
    monitoring = cast(Any, getattr(sys, "monitoring", None))
    tool = next((n for n in (3, 4, 1, 0) if monitoring.get_tool(n) is None), None)
    if tool is None:
        return work()

    def on_line(code: CodeType, line: int) -> Any:
        path = ours.path(code.co_filename)
        if path:
            seen.note(path, line)
        return None if seen.is_muted else monitoring.DISABLE

    monitoring.use_tool_id(tool, "flyball")
    monitoring.register_callback(tool, monitoring.events.LINE, on_line)
    monitoring.restart_events()
    monitoring.set_events(tool, monitoring.events.LINE)
    try:
        return work()
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)


def _tracer(ours: Ours, seen: Seen) -> Callable[..., Any]:
    by_code: dict[int, tuple[CodeType, Callable[..., Any] | None]] = {}

    def local(path: str) -> Callable[..., Any]:
        known = seen.lines.setdefault(path, set())

        def on_line(frame: FrameType, _event: str, _arg: Any) -> Any:
            if frame.f_lineno not in known:
                seen.note(path, frame.f_lineno)
            return on_line

        return on_line

    def on_call(frame: FrameType, _event: str, _arg: Any) -> Any:
        code = frame.f_code
        known = by_code.get(id(code))
        if known is None:
            path = ours.path(code.co_filename)
            known = by_code[id(code)] = code, local(path) if path else None
        return known[1]

    return on_call
