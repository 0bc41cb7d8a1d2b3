"""Following the program at work: how far it is, and whether it is to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from flyball.core.terms.call import INTERRUPTED
from flyball.tools.call.protocol import CallContext, Result
from flyball.workspace.files.plain import read_from
from flyball.workspace.process.process import Finished

Line = dict[str, Any]
Words = Callable[[Sequence[Line]], str]
"""How far the program is, from what it has reported."""
BEAT = 0.5
MOST_AT_ONCE = 1 << 24
"""More than a program writes between two looks."""


class ProgressReport:
    """What the program writes down as it goes; whole lines only, the last may be cut off."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._at = 0
        self.lines: list[Line] = []

    def look(self) -> None:
        """Read what was added since the last look; a line that is still being written waits."""
        # The tests run with the same rights as the program and may put a link there.
        whole, end, _ = read_from(self._file, self._at, MOST_AT_ONCE).rpartition(b"\n")
        self._at += len(whole) + len(end)
        for line in whole.split(b"\n"):
            # A test may write to the report, too; what is not ours is let go.
            with suppress(msgspec.DecodeError):
                self.lines.append(msgspec.json.decode(line, type=Line))


def interrupted_result(tool: str) -> Result:
    """The result of a call that was ended with nothing to show; a driver may make it again."""
    text = f"`{tool}` was interrupted: the run is to rest."
    return Result(False, text, error=INTERRUPTED)


async def follow(
    work: Coroutine[Any, Any, Finished], report: ProgressReport, context: CallContext, words: Words
) -> Finished | None:
    """Tell how far it is until it is over; None where the run is to rest and it was ended."""
    task = asyncio.ensure_future(work)
    told = ""
    try:
        while not task.done() and not context.is_to_rest():
            await asyncio.wait({task}, timeout=BEAT)
            report.look()
            if (now := words(report.lines)) != told:
                context.on_output(f"{now}\n")
                told = now
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    report.look()
    return None if task.cancelled() else task.result()
