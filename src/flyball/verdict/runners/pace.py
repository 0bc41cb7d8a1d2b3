"""Durations, progress and time limits of suites and checks."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import msgspec

from flyball.terms.progress import Progress
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.tally import plain

EVERY = 2.0
"""Seconds until progress is told, and between two tellings."""
TIMES_BEFORE = 3
LEAST = 20.0
"""Nothing is stopped earlier for being slower than before: builds and caches make a difference."""
KEPT = 5
MOST_RUNNING = 20


class Steps(NamedTuple):
    """Determine from a runner's output, line by line, which tests have started and ended."""

    done: re.Pattern[str]
    begun: re.Pattern[str] | None = None
    unit: str = "tests"


class Pace(msgspec.Struct, omit_defaults=True):
    """The durations of a suite's last runs, and the number of steps of the latest."""

    seconds: list[float] = []
    done: int = 0

    @property
    def last(self) -> float:
        return self.seconds[-1] if self.seconds else 0.0


class TimeLimit(NamedTuple):
    """The time limit of a start, and the reason for it."""

    seconds: float
    why: str


def limit_for(context: StartContext, pace: Pace, requested: float | None) -> TimeLimit:
    """Return the requested limit, or three times the longest recent run, up to the cap."""
    most = context.limits.seconds
    if requested is not None:
        return TimeLimit(min(requested, most), "the limit that `timeout` set")
    if not pace.seconds:
        return TimeLimit(most, "`limits.suite_seconds`")
    usual = max(LEAST, TIMES_BEFORE * max(pace.seconds))
    if usual >= most:
        return TimeLimit(most, "`limits.suite_seconds`")
    return TimeLimit(usual, "three times what it took before; `timeout` allows more")


class Paces:
    """The durations of suites and checks, in a file that no sandboxed process can write."""

    def __init__(self, state_dir: Path) -> None:
        self._file = state_dir / "suite-times.json"

    def find(self, key: str) -> Pace:
        """Return the pace of one suite; empty if unknown."""
        return self._read().get(key) or Pace()

    def keep(self, key: str, seconds: float, done: int) -> None:
        """Add a completed run."""
        known = self._read()
        before = known.get(key) or Pace()
        known[key] = Pace([*before.seconds, round(seconds, 2)][-KEPT:], done)
        _replace(self._file, msgspec.json.encode(known))

    def _read(self) -> dict[str, Pace]:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, Pace])
        except (OSError, msgspec.MsgspecError):
            return {}


def _replace(file: Path, data: bytes) -> None:
    """Write a whole file; if that fails, ignore it rather than lose a result."""
    fresh = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh.write_bytes(data)
        fresh.replace(file)
    except OSError:
        fresh.unlink(missing_ok=True)


class Course:
    """Reads a runner's output as it arrives: which tests have ended, and which are running."""

    def __init__(self, steps: Steps | None) -> None:
        self.steps = steps
        self.done = 0
        self._open: dict[str, None] = {}
        self._rest = ""

    def at(self, what: str, pace: Pace, elapsed: float) -> Progress:
        """Return the progress after so many seconds, compared with earlier runs."""
        unit = self.steps.unit if self.steps else "tests"
        return Progress(what, elapsed, pace.last, self.done, pace.done, unit)

    def hear(self, text: str) -> None:
        """Process the next piece of output."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._take(plain(line))

    @property
    def running(self) -> tuple[str, ...]:
        """Return the tests that have started and not ended, latest first."""
        begun = self.steps and self.steps.begun
        last = begun.match(plain(self._rest)) if begun else None
        names = dict.fromkeys([*([last[1]] if last else ()), *reversed(self._open)])
        return tuple(names)[:MOST_RUNNING]

    def _take(self, line: str) -> None:
        if self.steps is None:
            return
        if ended := self.steps.done.match(line):
            self.done += 1
            name = next(filter(None, ended.groups()), "")
            if name:
                self._open.pop(name, None)
            else:
                self._open.clear()
        elif self.steps.begun and (begun := self.steps.begun.match(line)):
            self._open[begun[1]] = None


@asynccontextmanager
async def telling(
    tell: Callable[[Progress], None], now: Callable[[float], Progress]
) -> AsyncGenerator[None]:
    """Report progress every two seconds until the operation is over.

    `now` returns the progress after so many seconds.
    """
    task = asyncio.create_task(_tell(tell, now))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _tell(tell: Callable[[Progress], None], now: Callable[[float], Progress]) -> None:
    began = monotonic()
    while True:
        await asyncio.sleep(EVERY)
        tell(now(monotonic() - began))
