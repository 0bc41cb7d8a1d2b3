"""Stream a run's telemetry to any number of readers: one journal tail, one list, many cursors.

A reader holds only its position in the list, so a stalled reader costs no memory, and all readers
together cost one pass over the journal.
"""

from __future__ import annotations

import asyncio
import json
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, NamedTuple

from flyball.engine.telemetry import Telemetry, telemetry
from flyball.errors import UsageError
from flyball.journal.protocol import Journal
from flyball.run.machine import advance
from flyball.run.state import RunState

BEAT = b": beat\n\n"
AT_ONCE = 128
"""Maximum lines per write, so that a new reader is not sent a whole run at once."""
BATCH = 200
"""Number of events read from the journal before readers are notified."""


class Place(NamedTuple):
    """A position in a run's telemetry: after this line of this event."""

    seq: int = 0
    line: int = 0


START = Place()
WHOLE = 1 << 30
"""The position after every line of an event."""


def read_place(text: str) -> Place:
    """Parse a `Last-Event-ID`: `7` is after event 7, `7.2` after its second line."""
    seq, _, line = text.strip().partition(".")
    if not text.strip():
        return START
    if not (seq.isascii() and seq.isdigit() and len(seq) < 16):
        raise UsageError(
            f"Last-Event-ID {text[:40]!r} is not a valid event ID.",
            "Send back an ID exactly as you received it.",
        )
    if not line:
        return Place(int(seq), WHOLE)
    if not (line.isascii() and line.isdigit() and len(line) < 9):
        raise UsageError(
            f"Last-Event-ID {text[:40]!r} is not a valid event ID.",
            "Send back an ID exactly as you received it.",
        )
    return Place(int(seq), int(line))


def framed(value: dict[str, Any], id: str = "") -> bytes:
    """Return one event of a stream: an optional id and a line of JSON."""
    head = f"id: {id}\n" if id else ""
    # With the same spacing as the seed's lines and `--json` output.
    line = json.dumps(value, ensure_ascii=False)
    return f"{head}data: {line}\n\n".encode("utf-8", "replace")


def framed_lines(lines: Sequence[Telemetry]) -> Iterable[tuple[Place, bytes]]:
    """Return the lines of one event; only the last has the bare sequence number as its id.

    A reader that disconnects between two lines resumes with the next line, not the next event.
    """
    for n, line in enumerate(lines, 1):
        seq = line["seq"]
        if n == len(lines):
            yield Place(seq, WHOLE), framed(line, str(seq))
        else:
            yield Place(seq, n), framed(line, f"{seq}.{n}")


class LiveText(NamedTuple):
    """The part of a reply received so far; the journal gets the reply when it is complete."""

    turn: int = 0
    """The number of the reply."""
    text: str = ""
    seq: int = 0
    """The last event sent before this text."""

    def since(self, before: LiveText) -> str:
        """Return the text added since `before`."""
        return self.text[len(before.text) :] if before.turn == self.turn else self.text


SILENCE = LiveText()


class GrowingList:
    """An ordered list of frames that signals additions; used within one event loop."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._frames: list[bytes] = []
        self._grown = asyncio.Event()
        self._is_over = False
        self._spoken = SILENCE
        self._progress: Telemetry | None = None

    def __len__(self) -> int:
        return len(self._frames)

    def add(self, found: Sequence[tuple[Place, bytes]]) -> None:
        """Append frames and wake waiting readers."""
        self._places += [place for place, _ in found]
        self._frames += [frame for _, frame in found]
        self._wake()

    def speak(self, spoken: LiveText) -> None:
        """Send streamed text to current readers; it is not stored as a frame and is not
        replayed."""
        if spoken != self._spoken:
            self._spoken = spoken
            self._wake()

    def tell(self, progress: Telemetry | None) -> None:
        """Send the run's progress to current readers; it is not stored as a frame either."""
        if progress != self._progress:
            self._progress = progress
            self._wake()

    def _wake(self) -> None:
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()

    def end(self) -> None:
        """Let every reader finish once it has read all frames."""
        self._is_over = True
        self._grown.set()

    async def after(self, place: Place, beat: float) -> AsyncIterator[bytes]:
        """Yield every frame after a position until `end`; send a comment as keepalive."""
        at = bisect_right(self._places, place)
        heard, progress = SILENCE, None
        yield b": open\n\n"
        while True:
            grown = self._grown
            if at < len(self._frames):
                part = self._frames[at : at + AT_ONCE]
                at += len(part)
                yield b"".join(part)
                continue
            if self._is_over:
                return
            if heard != self._spoken:
                heard, before = self._spoken, heard
                if delta := heard.since(before):
                    yield framed({"type": "text", "delta": delta})
                continue
            if progress != self._progress:
                progress = self._progress
                if progress is not None:
                    yield framed(progress)
                continue
            try:
                async with asyncio.timeout(beat):
                    await grown.wait()
            except TimeoutError:
                yield BEAT


class RunTail:
    """Folds one run's log as it grows, and projects each event once."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.state = RunState()

    async def read(self, journal: Journal) -> list[tuple[Place, bytes]]:
        """Return the frames of the next events, in order; empty when there are none."""
        found: list[tuple[Place, bytes]] = []
        for entry in await journal.events(self.run, self.state.seq, BATCH):
            after = advance(self.state, entry.event).state
            found += framed_lines(telemetry(self.state, entry.event, after))
            self.state = after
        return found
