"""The progress of a long operation, for those waiting for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from flyball.terms.shape import counted


class Progress(NamedTuple):
    """The current activity, its progress, and how long it took last time."""

    what: str
    elapsed: float
    before: float = 0.0
    """Seconds that it took last time; 0 where that is not known."""
    done: int = 0
    of: int = 0
    """How many there were last time; 0 where that is not known."""
    unit: str = "tests"

    @property
    def text(self) -> str:
        """Return the progress as one line for people."""
        # More than last time says nothing of how many there are by now.
        count = f"{self.done} of {self.of} {self.unit}"
        if self.of < self.done:
            count = counted(self.done, self.unit.removesuffix("s"))
        told = f" {count}," if self.done or self.of else ""
        before = f" (last time {self.before:.0f} s)" if self.before else ""
        return f"{self.what}:{told} {self.elapsed:.0f} s{before}"

    @classmethod
    def of_line(cls, line: Mapping[str, Any]) -> Progress:
        """Parse the progress in a line of telemetry."""
        return cls(*(line[name] for name in cls._fields))

    def line(self, card: str = "", call: str = "") -> dict[str, Any]:
        """Return the line of telemetry; it is about the present and has no `seq`."""
        told = {"what": self.what, "done": self.done, "of": self.of, "unit": self.unit}
        times = {"elapsed": round(self.elapsed, 1), "before": round(self.before, 1)}
        return {"type": "progress", "card": card, "call": call, **told, **times, "text": self.text}


def unwatched(_now: Progress) -> None:
    """Ignore the progress."""


class Stage:
    """The current step of an operation of a few steps; one thread sets it, another reads it."""

    def __init__(self, what: str, of: int, before: float = 0.0) -> None:
        self._now = Progress(what, 0.0, before, 0, of, "steps")
        self._what = what

    def next(self, what: str) -> None:
        """Begin the next step."""
        self._now = self._now._replace(what=f"{self._what}: {what}", done=self._now.done + 1)

    def at(self, elapsed: float) -> Progress:
        """Return the progress after so many seconds."""
        return self._now._replace(elapsed=elapsed)


SILENT = 5.0
"""A part that has reported nothing for so many seconds has ended."""


class Parts:
    """The parallel parts of one operation, as one report."""

    def __init__(self, what: str, before: float = 0.0) -> None:
        self._what = what
        self._before = before
        self._last: dict[str, tuple[float, Progress]] = {}
        """Part → the last report of it, and when it came."""

    def note(self, now: Progress, elapsed: float) -> None:
        """Keep the report of one part, received after so many seconds."""
        self._last[now.what] = elapsed, now

    def at(self, elapsed: float) -> Progress:
        """Return the progress of the whole after so many seconds."""
        latest = max((noted for noted, _ in self._last.values()), default=0.0)
        since = min(latest, elapsed - SILENT)
        parts = [now for noted, now in self._last.values() if noted >= since]
        what = ": ".join(filter(None, (self._what, " and ".join(each.what for each in parts))))
        told = Progress(what, elapsed, self._before)
        if len({each.unit for each in parts}) != 1:
            return told
        # If one part is not counted, the total is unknown.
        whole = sum(each.of for each in parts) if all(each.of for each in parts) else 0
        return told._replace(done=sum(each.done for each in parts), of=whole, unit=parts[0].unit)
