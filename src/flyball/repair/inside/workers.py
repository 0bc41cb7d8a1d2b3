"""Run work in forked children: whatever it does, hang or crash, the parent continues."""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    Say = Callable[[Any], None]
    Answer = Callable[[Any, list[Any], bool], None]

CHUNK = 1 << 16
MOST_MEMORY = 2 << 30
POLL = 0.25
SILENCE = 2.0
RING_AGAIN = 0.05


class OutOfTime(BaseException):
    """Raised when a test has used up its time."""


class Alarm:
    """Ends a test that uses too much processor time; load on the machine does not trigger it.

    If the test does not return from native code, the whole process ends.
    """

    def __init__(self, computed: Callable[[], float] = time.process_time) -> None:
        self.has_rung = False
        self._computed = computed
        self._until = 0.0
        signal.signal(signal.SIGPROF, self._ring)

    def set(self, seconds: float) -> None:
        """Set the alarm for so many seconds of processor time from now."""
        self.has_rung = False
        self._until = self._computed() + seconds
        # It rings again and again: a test that catches everything may swallow the first.
        signal.setitimer(signal.ITIMER_PROF, seconds, RING_AGAIN)
        # Never handled, so the kernel ends the process: for tests that are stuck in C code, where
        # no Python handler runs.
        signal.setitimer(signal.ITIMER_VIRTUAL, 3 * seconds + 0.3)

    def clear(self) -> None:
        """Cancel the alarm."""
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def _ring(self, _number: int, _frame: Any) -> None:
        # The kernel's timers count ticks, and on a busy machine they run ahead of what was really
        # computed: by half and more.
        if self._computed() < self._until:
            return
        self.has_rung = True
        raise OutOfTime


class Job(NamedTuple):
    """A job for a child, and its limit of wall time."""

    key: Any
    work: Callable[[Say], None]
    seconds: float


class _Child(NamedTuple):
    key: Any
    pid: int
    pipe: int
    until: float
    heard: list[bytes]
    heard_at: list[float]


class Children:
    """Runs jobs in parallel; delivers whatever a child reported before it ended or crashed.

    The listener receives the job's key, the report, and whether time ran out.
    """

    def __init__(self, width: int, answer: Answer) -> None:
        self._width = width
        self._answer = answer
        self._running: dict[int, _Child] = {}

    def run(self, following: Callable[[], Job | None], is_over: Callable[[], bool]) -> None:
        """Start jobs as capacity allows, until none are left or the run is over."""
        # Frozen objects are not visited by the collector, so their pages stay shared with the
        # children.
        gc.collect()
        gc.freeze()
        while not is_over():
            while len(self._running) < self._width:
                job = following()
                if job is None:
                    break
                self._start(job)
            if not self._running:
                return
            self._listen()
        self._end_all()

    def run_all(self, jobs: Iterable[Job], is_over: Callable[[], bool]) -> None:
        """Run a fixed list of jobs."""
        queue = iter(jobs)
        self.run(lambda: next(queue, None), is_over)

    def _start(self, job: Job) -> None:
        hear, speak = os.pipe()
        # What is buffered would be written by the child a second time.
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if not pid:
            os.close(hear)
            _become_child(job.work, speak)
        os.close(speak)
        now = time.monotonic()
        self._running[hear] = _Child(job.key, pid, hear, now + job.seconds, [], [now])

    def _listen(self) -> None:
        for pipe in select.select(list(self._running), [], [], POLL)[0]:
            piece = os.read(pipe, CHUNK)
            if piece:
                self._running[pipe].heard.append(piece)
                self._running[pipe].heard_at[0] = time.monotonic()
            else:
                self._finish(self._running.pop(pipe))
        for child in list(self._running.values()):
            if time.monotonic() > child.until:
                self._finish(self._running.pop(child.pipe), is_late=True)

    def _finish(self, child: _Child, is_late: bool = False) -> None:
        is_late = _end_child(child) or is_late
        whole = b"".join(child.heard).split(b"\n")[:-1]
        self._answer(child.key, [json.loads(line.decode("utf-8")) for line in whole], is_late)

    def _end_all(self) -> None:
        """End every child; one that was silent for long counts as late, the others as unknown."""
        for pipe, child in list(self._running.items()):
            del self._running[pipe]
            if time.monotonic() > child.heard_at[0] + SILENCE:
                self._finish(child, is_late=True)
            else:
                _end_child(child)


def _end_child(child: _Child) -> bool:
    """End a child and its processes; return whether its alarm had ended it."""
    # The group, and then the child itself: it may not have made its group yet.
    for kill in (os.killpg, os.kill):
        try:
            kill(child.pid, signal.SIGKILL)
        except OSError:
            continue
    os.close(child.pipe)
    status = os.waitpid(child.pid, 0)[1]
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGVTALRM


def _become_child(work: Callable[[Say], None], speak: int) -> None:
    """Do the work in this forked process, report through `say`, and exit; never return."""

    def say(said: Any) -> None:
        line = json.dumps(said).encode("utf-8") + b"\n"
        while line:
            line = line[os.write(speak, line) :]

    try:
        # A child lives for a moment; collecting would only touch the pages it shares.
        gc.disable()
        # A group of its own, so that what a test starts can be ended with it.
        os.setpgid(0, 0)
        _limit_memory()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        work(say)
    finally:
        # Not sys.exit: the parent's exit handlers and buffers are here, too, and must not run
        # twice.
        os._exit(0)


def _limit_memory() -> None:
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
