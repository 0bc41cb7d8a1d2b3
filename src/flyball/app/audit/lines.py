"""Files of any size, line by line, in bounded memory; what cannot be read is told in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import msgspec

LONGEST_LINE = 32 << 20
NOTES_KEPT = 5

Tell = Callable[[str], None]


class LineNotes:
    """Sentences about one file; the first few, and how many more there were."""

    def __init__(self) -> None:
        self._notes: list[str] = []
        self._more = 0

    def tell(self, note: str) -> None:
        if len(self._notes) < NOTES_KEPT:
            self._notes.append(note)
        else:
            self._more += 1

    @property
    def notes(self) -> tuple[str, ...]:
        rest = (f"and {self._more} more of that kind.",) if self._more else ()
        return (*self._notes, *rest)


class LineFilter:
    """Which lines are worth decoding; all of them, until somebody knows better."""

    needed: tuple[bytes, ...] = ()
    """A line without any of these says nothing that matters."""


def read_lines(file: Path, tell: Tell, only: LineFilter | None = None) -> Iterator[dict[str, Any]]:
    """The objects of a file of JSON lines, one after the other."""
    only = only or LineFilter()
    with file.open("rb") as stream:
        number = 0
        while line := stream.readline(LONGEST_LINE):
            number += 1
            if len(line) >= LONGEST_LINE and not line.endswith(b"\n"):
                _skip(stream.readline)
                tell(f"Line {number} is longer than {LONGEST_LINE >> 20} MB and was passed over.")
                continue
            if not line.strip() or (only.needed and not any(map(line.__contains__, only.needed))):
                continue
            value = _decode(line, number, line.endswith(b"\n"), tell)
            if isinstance(value, dict):
                yield cast("dict[str, Any]", value)


def _skip(readline: Callable[[int], bytes]) -> None:
    while (rest := readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
        continue


def _decode(line: bytes, number: int, is_whole: bool, tell: Tell) -> object:
    try:
        return msgspec.json.decode(line)
    except RecursionError:
        tell(f"Line {number} is nested beyond measure and was passed over.")
    except (msgspec.DecodeError, UnicodeDecodeError):
        if is_whole:
            tell(f"Line {number} is not JSON and was passed over.")
        else:
            tell(f"Line {number}, the last one, is cut off and was passed over.")
    return None
