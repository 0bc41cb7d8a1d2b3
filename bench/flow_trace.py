"""Which files of Flyball one command enters between two moments, seen by running it.

It runs in a process of its own, under whichever checkout `PYTHONPATH` leads to:
`python -c "from bench.flow_trace import trace; trace()" ORDER COMMAND…`.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

THINK = ("drivers/scripted.py", "think")
COMMIT = ("journal/sqlite.py", "commit")


class Watch:
    """Counts from the return of one reply to the return of one commit after it.

    A file counts once a function in it is called, a switch is a call into another file than the
    one that the thread of control was in. What only loads a module does not count: a process that
    had loaded it before would go the same way without it. Without a place for the answer, the
    process is killed where that commit begins.
    """

    def __init__(self, root: Path, replies: int, commits: int, answer: str) -> None:
        self.prefix = f"{root}{os.sep}"
        self.replies = replies
        self.commits = commits
        self.answer = answer
        self.files: dict[str, Counter[str]] = {}
        self.switches: Counter[str] = Counter()
        self._stacks: dict[int, list[str]] = {}
        self._current: str | None = None

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if not code.co_filename.startswith(self.prefix):
            return
        place = (code.co_filename.removeprefix(self.prefix), code.co_name)
        stack = self._stacks.setdefault(threading.get_ident(), [])
        if event == "call":
            self._enter(stack, *place)
        else:
            self._leave(stack, *place, arg)

    def _enter(self, stack: list[str], file: str, name: str) -> None:
        is_loading = name == "<module>" or stack[-1:] == [""]
        stack.append("" if is_loading else file)
        if (file, name) == COMMIT and not self.answer and (self.replies, self.commits) == (0, 1):
            os.kill(os.getpid(), signal.SIGKILL)
        if is_loading or self.replies > 0:
            return
        self.files.setdefault(file, Counter())[name] += 1
        if self._current not in (None, file):
            self.switches[f"{self._current} -> {file}:{name}"] += 1
        self._current = file

    def _leave(self, stack: list[str], file: str, name: str, arg: Any) -> None:
        if stack:
            stack.pop()
        if self.replies <= 0 and stack and stack[-1]:
            self._current = stack[-1]
        # A coroutine also returns to its caller where it waits; only the last time with a reply.
        if (file, name) == THINK and self.replies > 0 and hasattr(arg, "calls"):
            self.replies -= 1
        elif (file, name) == COMMIT and self.replies <= 0:
            self.commits -= 1
            if self.commits == 0:
                self._tell()

    def _tell(self) -> NoReturn:
        """Write what was seen. What the run would do from here on is of no interest."""
        found = {"files": self.files, "switches": self.switches}
        Path(self.answer).write_text(json.dumps(found))
        os._exit(0)


def trace() -> None:
    """Run a command under the watch that an order describes."""
    order = json.loads(sys.argv[1])
    sys.argv = ["flyball", *sys.argv[2:]]
    spec = importlib.util.find_spec("flyball")
    assert spec is not None
    assert spec.origin is not None
    watch = Watch(Path(spec.origin).parent, **order)
    main = importlib.import_module("flyball.surfaces.cli").main
    threading.setprofile(watch)
    sys.setprofile(watch)
    main()
