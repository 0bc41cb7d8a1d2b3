"""Judge files in parallel reader processes, one file at a time each.

Judging is CPU-bound, and one interpreter uses one core only. A reader runs this module, started by
the one spawner; it reads requests and writes replies one line at a time, and exits when its input
ends. Each reader holds the result of a single file in memory.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from queue import Queue
from threading import Thread

import msgspec

from flyball.app.audit.formats import LineNotes, read_transcripts
from flyball.app.audit.journals import JOURNAL, judge_journal
from flyball.app.audit.judging import FileAudit, judge_transcripts
from flyball.core.memory.guard import GuardLimits
from flyball.errors import FlyballError, ToolUnavailable
from flyball.workspace.process.spawn import Companion

WORTH_A_CREW = 24 << 20
"""Minimum total bytes at which starting reader processes pays off."""
MOST_READERS = 3
"""Maximum number of readers; each takes about 70 MB, and all of them must stay below 300 MB."""


def judge_file(file: Path, limits: GuardLimits) -> FileAudit:
    """Return the findings of one file; an unreadable file yields a note."""
    notes = LineNotes()
    try:
        if file.name == JOURNAL:
            found = judge_journal(file)
        else:
            found = judge_transcripts(read_transcripts(file, notes.tell), limits)
    except FlyballError as error:
        found = FileAudit([], [], [])
        notes.tell(f"It was passed over: {error.message}")
    except OSError as error:
        found = FileAudit([], [], [])
        notes.tell(f"It cannot be read: {error.strerror}.")
    found.notes = notes.notes
    return found


class ReadingOrder(msgspec.Struct):
    """A request to judge one file."""

    path: str
    limits: GuardLimits


def judge_files(
    files: Sequence[Path], size: int, limits: GuardLimits, environ: Mapping[str, str]
) -> Iterator[tuple[Path, FileAudit]]:
    """Yield each file with its result, in order of completion."""
    readers = min(_cores(), MOST_READERS, len(files))
    if readers < 2 or size < WORTH_A_CREW:
        yield from ((file, judge_file(file, limits)) for file in files)
        return
    # Limit unread results, so that a slow index slows the readers down.
    told: Queue[tuple[Path, FileAudit]] = Queue(readers)
    left = iter([*files])
    threads = [
        Thread(target=_ask, args=(left, limits, environ, told), daemon=True) for _ in range(readers)
    ]
    for thread in threads:
        thread.start()
    for _ in files:
        yield told.get()
    for thread in threads:
        thread.join()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _ask(
    left: Iterator[Path],
    limits: GuardLimits,
    environ: Mapping[str, str],
    told: Queue[tuple[Path, FileAudit]],
) -> None:
    """Have one reader judge the remaining files; a reader that never replies is dropped."""
    argv = (sys.executable, "-P", "-m", "flyball.app.audit.workers")
    reader: Companion | None = None
    has_answered, is_of_use = False, True
    try:
        # `next` on a list's iterator is a single interpreter step: no file is taken twice.
        for file in left:
            if not is_of_use:
                told.put((file, judge_file(file, limits)))
                continue
            try:
                reader = reader or Companion(argv, cwd=Path.cwd(), env=environ)
                order = ReadingOrder(os.fspath(file.absolute()), limits)
                found = msgspec.json.decode(reader.ask(msgspec.json.encode(order)), type=FileAudit)
                has_answered = True
            except (ToolUnavailable, msgspec.DecodeError):
                reader = _closed(reader)
                # A reader that never replied cannot be started here; otherwise this file caused the
                # failure.
                is_of_use = has_answered
                found = LOST if is_of_use else judge_file(file, limits)
            told.put((file, found))
    finally:
        _closed(reader)


LOST = FileAudit(
    [],
    [],
    [],
    notes=("Its reader ended before it was through; the next audit tries again.",),
    is_lost=True,
)


def _closed(reader: Companion | None) -> None:
    if reader:
        reader.close()


def main() -> int:
    """Read requests from standard input and answer each with the file's result."""
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=ReadingOrder)
        answer = msgspec.json.encode(judge_file(Path(order.path), order.limits))
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
