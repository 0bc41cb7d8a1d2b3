"""The progress of a long operation, for those waiting for it."""

from __future__ import annotations

from typing import Any, NamedTuple


class Progress(NamedTuple):
    """What is being done, how far it is, and how long the same took last time."""

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
        """Return it in one line for people."""
        # More than last time says nothing of how many there are by now.
        count = f"{self.done} of {self.of}" if self.of >= self.done else f"{self.done}"
        counted = f" {count} {self.unit}," if self.done or self.of else ""
        before = f" (last time {self.before:.0f} s)" if self.before else ""
        return f"{self.what}:{counted} {self.elapsed:.0f} s{before}"

    def line(self, card: str = "", call: str = "") -> dict[str, Any]:
        """Return its line of telemetry; it is about the present and has no `seq`."""
        told = {"what": self.what, "done": self.done, "of": self.of, "unit": self.unit}
        times = {"elapsed": round(self.elapsed, 1), "before": round(self.before, 1)}
        return {"type": "progress", "card": card, "call": call, **told, **times, "text": self.text}
