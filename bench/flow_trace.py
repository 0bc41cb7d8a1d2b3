"""Which functions of Flyball one command enters between two moments, seen by running it.

It runs in a process of its own: `python -c "from bench.flow_trace import trace; trace()" ORDER …`.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

THINK = ("drivers/scripted.py", "ScriptedDriver.think")
COMMIT = ("journal/sqlite.py", "SqliteJournal.commit")


class Watch:
    """Notes functions from the return of one reply to the return of one commit after it.

    What only loads a module does not count: a process that had loaded it before would go the same
    way without it. Without commits to wait for, all is noted until the process exits. Without a
    place for the answer, the process is killed where the last commit begins.
    """

    def __init__(self, root: Path, replies: int, commits: int, answer: str) -> None:
        self.prefix = f"{root}{os.sep}"
        self.replies = replies
        self.commits = commits
        self.answer = answer
        self.way: dict[str, dict[str, None]] = {}
        """The functions of each file, all in the order in which they were first entered."""
        self._loading: dict[int, int] = {}

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if event == "c_call" and arg is os._exit:
            self._tell()
        if event not in ("call", "return"):
            return
        code = frame.f_code
        if not code.co_filename.startswith(self.prefix):
            return
        place = (code.co_filename.removeprefix(self.prefix), code.co_qualname)
        if code.co_name == "<module>":
            thread = threading.get_ident()
            step = 1 if event == "call" else -1
            self._loading[thread] = self._loading.get(thread, 0) + step
        elif event == "call":
            self._enter(*place)
        else:
            self._leave(place, arg)

    def _enter(self, file: str, name: str) -> None:
        if (file, name) == COMMIT and not self.answer and (self.replies, self.commits) == (0, 1):
            os.kill(os.getpid(), signal.SIGKILL)
        # A comprehension and a lambda are part of the function around them.
        is_part = name.endswith(">")
        if not is_part and not self._loading.get(threading.get_ident()) and self.replies <= 0:
            self.way.setdefault(file, {})[name] = None

    def _leave(self, place: tuple[str, str], arg: Any) -> None:
        # A coroutine also returns to its caller where it waits; only the last time with a reply.
        if place == THINK and self.replies > 0 and hasattr(arg, "calls"):
            self.replies -= 1
        elif place == COMMIT and self.replies <= 0:
            self.commits -= 1
            if self.commits == 0:
                self._tell()

    def _tell(self) -> NoReturn:
        """Write what was seen. What the process would do from here on is of no interest."""
        sys.setprofile(None)
        answer = {file: list(names) for file, names in self.way.items()}
        Path(self.answer).write_text(json.dumps(answer))
        os._exit(0)


def trace() -> None:
    """Run a command under the watch that an order describes."""
    order = json.loads(sys.argv[1])
    module = importlib.import_module(order.pop("module"))
    sys.argv = ["flyball", *sys.argv[2:]]
    spec = importlib.util.find_spec("flyball")
    assert spec is not None
    assert spec.origin is not None
    watch = Watch(Path(spec.origin).parent, **order)
    threading.setprofile(watch)
    sys.setprofile(watch)
    module.main()
