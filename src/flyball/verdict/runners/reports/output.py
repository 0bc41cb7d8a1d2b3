"""Everything that a test run left to be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, cast
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from flyball.bounds import DEEPEST
from flyball.verdict.case import SuiteCase
from flyball.verdict.runners.tally import Tally, plain, tally_of


class RunnerOutput(NamedTuple):
    """A runner's output, its reports, and the directory it was started in."""

    text: str = ""
    reports: Sequence[bytes] = ()
    place: str = ""
    files: Sequence[str] = ()
    """The files of that directory, for runners that only hint at their files."""

    @property
    def tidy(self) -> str:
        """Return the output without colours, and with uniform line endings."""
        return plain(self.text)

    def from_place(self, path: str) -> str:
        """Return a file relative to the start directory, so that it is the same in every
        checkout."""
        path = path.removeprefix("file://")
        if self.place and path.startswith("/"):
            path = os.path.relpath(path, self.place)
        return os.path.normpath(path) if path else ""


MOST_PARTS = 1_000_000
"""Tags and attributes of a report that are read; 100,000 tests have about 700,000."""

_PIECE = 1 << 16
"""Bytes that are parsed before it is asked how deep they lead."""

ReadOne = Callable[[bytes, RunnerOutput], Sequence[SuiteCase] | None]
ReadText = Callable[[str], Tally | None]


def reported(read: ReadOne, otherwise: ReadText) -> Callable[[RunnerOutput], Tally | None]:
    """Read every valid report; without one, the printed output."""

    def either(said: RunnerOutput) -> Tally | None:
        found = [cases for data in said.reports if (cases := read(data, said)) is not None]
        if not found:
            return otherwise(said.tidy)
        return tally_of([case for cases in found for case in cases])

    return either


def xml_of(data: bytes) -> Element | None:
    """Return the root of an XML report; None if it is malformed, or crafted to exhaust memory."""
    # A tag of ten bytes takes hundreds in memory, and so does an attribute.
    if sum(map(data.count, (b"<", b'="', b"='"))) > MOST_PARTS:
        return None
    parser: ElementTree.XMLPullParser[Element] = ElementTree.XMLPullParser(("start", "end"))
    root: Element | None = None
    depth = 0
    try:
        for at in range(0, len(data), _PIECE):
            parser.feed(data[at : at + _PIECE])
            for event, element in cast("Iterator[tuple[str, Element]]", parser.read_events()):
                root = element if root is None else root
                depth += 1 if event == "start" else -1
                if depth > DEEPEST:
                    return None
        parser.close()
        return root
    except (ElementTree.ParseError, ValueError):
        return None


def printed(read: ReadText) -> Callable[[RunnerOutput], Tally | None]:
    """Read only the printed output."""
    return lambda said: read(said.tidy)
