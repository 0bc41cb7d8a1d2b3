"""A run's telemetry for any number of readers: one tail of its journal, one list, many cursors.

A reader holds nothing but its place in the list, so one that stalls costs no memory, and all of
them together cost one reading of the journal.
"""

from __future__ import annotations

import asyncio
import json
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, NamedTuple

from flyball.core.machine.machine import advance
from flyball.core.run.state import RunState
from flyball.engine.telemetry import Telemetry, telemetry
from flyball.errors import UsageError
from flyball.journal.protocol import Journal

BEAT = b": beat\n\n"
AT_ONCE = 128
"""How many lines one write may carry: a reader that begins is not sent a whole run at once."""
BATCH = 200
"""How many events are read from the journal before readers are told."""


class Place(NamedTuple):
    """A place in a run's telemetry: after this line of this event."""

    seq: int = 0
    line: int = 0


START = Place()
WHOLE = 1 << 30
"""Behind every line of an event."""


def read_place(text: str) -> Place:
    """The place that a `Last-Event-ID` names: `7` is after event 7, `7.2` after its second line."""
    seq, _, line = text.strip().partition(".")
    if not text.strip():
        return START
    if not (seq.isascii() and seq.isdigit() and len(seq) < 16):
        raise UsageError(f"Last-Event-ID {text[:40]!r} is no place.", "Send back an id as it came.")
    if not line:
        return Place(int(seq), WHOLE)
    if not (line.isascii() and line.isdigit() and len(line) < 9):
        raise UsageError(f"Last-Event-ID {text[:40]!r} is no place.", "Send back an id as it came.")
    return Place(int(seq), int(line))


def framed(value: dict[str, Any], id: str = "") -> bytes:
    """One event of a stream: an id where it has one, and a line of JSON."""
    head = f"id: {id}\n" if id else ""
    # Spaced as the seed writes these lines, and as `--json` prints them.
    line = json.dumps(value, ensure_ascii=False)
    return f"{head}data: {line}\n\n".encode("utf-8", "replace")


def framed_lines(lines: Sequence[Telemetry]) -> Iterable[tuple[Place, bytes]]:
    """The lines of one event; only the last has the bare sequence number as its id.

    Whoever breaks off between two of them goes on with the next, and not with the next event.
    """
    for n, line in enumerate(lines, 1):
        seq = line["seq"]
        if n == len(lines):
            yield Place(seq, WHOLE), framed(line, str(seq))
        else:
            yield Place(seq, n), framed(line, f"{seq}.{n}")


class LiveText(NamedTuple):
    """A reply as far as it has come; the journal gets it when it is whole."""

    turn: int = 0
    """Which reply it is."""
    text: str = ""
    seq: int = 0
    """The last event that was told before this much was said."""

    def since(self, before: LiveText) -> str:
        """What came since this was heard of it."""
        return self.text[len(before.text) :] if before.turn == self.turn else self.text


SILENCE = LiveText()


class GrowingList:
    """Frames in order, with a signal that there are more; read in one event loop."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._frames: list[bytes] = []
        self._grown = asyncio.Event()
        self._is_over = False
        self._spoken = SILENCE

    def __len__(self) -> int:
        return len(self._frames)

    def add(self, found: Sequence[tuple[Place, bytes]]) -> None:
        """Put frames behind the others, and wake whoever waits for them."""
        self._places += [place for place, _ in found]
        self._frames += [frame for _, frame in found]
        self._wake()

    def speak(self, spoken: LiveText) -> None:
        """Let readers hear what is being said; it is no frame, and nobody can come back to it."""
        if spoken != self._spoken:
            self._spoken = spoken
            self._wake()

    def _wake(self) -> None:
        grown, self._grown = self._grown, asyncio.Event()
        grown.set()

    def end(self) -> None:
        """Let every reader come to an end once it has all there is."""
        self._is_over = True
        self._grown.set()

    async def after(self, place: Place, beat: float) -> AsyncIterator[bytes]:
        """Every frame behind a place, until `end`; a comment where nothing came for a while."""
        at = bisect_right(self._places, place)
        heard = SILENCE
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
        """The frames of the next events, in order; empty when there are none."""
        found: list[tuple[Place, bytes]] = []
        for entry in await journal.events(self.run, self.state.seq, BATCH):
            after = advance(self.state, entry.event).state
            found += framed_lines(telemetry(self.state, entry.event, after))
            self.state = after
        return found
