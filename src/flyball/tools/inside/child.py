"""Work in forked children: whatever it does, hang or crash, the parent goes on."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

CHUNK = 1 << 16
MOST_MEMORY = 2 << 30
POLL = 0.25


class OutOfTime(BaseException):
    """A test used up its time."""


class Alarm:
    """Ends a test that uses too much processor time; slow machines do not make it ring."""

    def __init__(self) -> None:
        self.has_rung = False
        signal.signal(signal.SIGPROF, self._ring)

    def set(self, seconds: float) -> None:
        self.has_rung = False
        signal.setitimer(signal.ITIMER_PROF, seconds, 0.05)

    def clear(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _ring(self, _number: int, _frame: Any) -> None:
        self.has_rung = True
        raise OutOfTime


class Job(NamedTuple):
    """Something to do in a child, and how long it may take by the clock on the wall."""

    key: Any
    work: Callable[[], Any]
    seconds: float


class _Child(NamedTuple):
    key: Any
    pid: int
    pipe: int
    until: float
    heard: list[bytes]


class Children:
    """Runs jobs side by side and hands over what each one answers; nothing means it died."""

    def __init__(self, width: int, answer: Callable[[Any, Any], None]) -> None:
        self._width = width
        self._answer = answer
        self._running: dict[int, _Child] = {}

    def run(self, jobs: Iterable[Job], until: Callable[[], bool]) -> None:
        """Start jobs as there is room for them, until `until` says that it is enough."""
        queue = iter(jobs)
        waiting: deque[Job] = deque()
        is_open = True
        while True:
            while is_open and not until() and len(self._running) < self._width:
                job = next(queue, None)
                if job is None:
                    is_open = False
                else:
                    waiting.append(job)
                    self._start(waiting.popleft())
            if not self._running:
                return
            self._listen()
            if until():
                is_open = False
                self._end_all()

    def _start(self, job: Job) -> None:
        hear, speak = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if not pid:
            os.close(hear)
            _be_child(job.work, speak)
        os.close(speak)
        self._running[hear] = _Child(job.key, pid, hear, time.monotonic() + job.seconds, [])

    def _listen(self) -> None:
        ready = select.select(list(self._running), [], [], POLL)[0]
        for pipe in ready:
            piece = os.read(pipe, CHUNK)
            if piece:
                self._running[pipe].heard.append(piece)
            else:
                self._finish(self._running.pop(pipe))
        for child in list(self._running.values()):
            if time.monotonic() > child.until:
                _kill(child.pid)
                self._finish(self._running.pop(child.pipe))

    def _finish(self, child: _Child) -> None:
        os.close(child.pipe)
        _kill(child.pid)
        os.waitpid(child.pid, 0)
        try:
            said = json.loads(b"".join(child.heard).decode("utf-8"))
        except ValueError:
            said = None
        self._answer(child.key, said)

    def _end_all(self) -> None:
        for child in list(self._running.values()):
            _kill(child.pid)
            os.close(child.pipe)
            os.waitpid(child.pid, 0)
        self._running.clear()


def _kill(pid: int) -> None:
    """End a child and whatever it started."""
    for end in (os.killpg, os.kill):
        try:
            end(pid, signal.SIGKILL)
        except OSError:
            continue


def _be_child(work: Callable[[], Any], speak: int) -> None:
    """Never returns."""
    try:
        os.setpgid(0, 0)
        _limit_memory()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        said = json.dumps(work()).encode("utf-8")
        while said:
            said = said[os.write(speak, said) :]
    finally:
        os._exit(0)


def _limit_memory() -> None:
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
