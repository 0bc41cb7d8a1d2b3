"""Outcomes worth their tokens: what is new to the driver, by short paths, without the runner's own.

Evidence keeps every word. Only what a driver is told of it is made shorter.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from flyball.core.terms.evidence import FailedTest

SHOWN_FAILURES = 5
_FRAME = re.compile(r'\s*File "([^"]+)", line \d+')
_SCRIPT_FRAME = re.compile(r"\s+at .*?\(?((?:node:|file://)?[^()\s]+):\d+:\d+\)?$")
_RUNNERS = re.compile(
    r"(?:^|/)(?:_pytest|pluggy|pytest|unittest|nose2?|runpy\.py|importlib)(?:[/.]|$)"
    r"|^node:|<frozen |/node_modules/(?:[@\w.-]*/)?(?:vitest|jest|mocha|chai|tinypool|ava|tap)"
)
_TELLING = re.compile(
    r"\s*(?:E\s|>\s|assert|\w*(?:Error|Exception|Failed)\b|[-+] |expected|actual)"
)


def relative_paths(text: str, root: Path) -> str:
    """A text in which files of the workspace go by their path in it."""
    for place in {os.fspath(root), os.path.realpath(root)}:
        text = text.replace(f"{place}/", "")
    return text


def without_runner_frames(text: str) -> str:
    """A traceback without the frames of the runner, which say nothing about the project."""
    kept: list[str] = []
    is_skipping = False
    for line in text.split("\n"):
        frame = _FRAME.match(line) or _SCRIPT_FRAME.match(line)
        if frame:
            is_skipping = bool(_RUNNERS.search(frame[1]))
        elif not line.startswith("    "):
            # What belongs to a frame, its source and the marks below that, is indented deeper.
            is_skipping = False
        if not is_skipping:
            kept.append(line)
    return "\n".join(kept)


def told_failures(failures: Sequence[FailedTest], root: Path) -> Iterator[str]:
    """The first failures in full; of a later one only the lines that no earlier one has."""
    seen: set[str] = set()
    for failure in failures[:SHOWN_FAILURES]:
        lines = without_runner_frames(relative_paths(failure.message, root)).strip().split("\n")
        fresh = [line for line in lines if line.strip() and line.strip() not in seen]
        repeated = sum(1 for line in lines if line.strip()) - len(fresh)
        yield f"FAILED {failure.name}"
        if repeated > len(fresh):
            yield from (line for line in fresh if _TELLING.match(line) or len(fresh) <= 3)
            yield "(the rest as above)"
        else:
            yield from lines
        seen |= {line.strip() for line in lines}
    if others := failures[SHOWN_FAILURES:]:
        yield "Also failing:"
        yield from (f"  {each.name}" for each in others)
