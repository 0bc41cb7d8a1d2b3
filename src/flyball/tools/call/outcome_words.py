"""Outcomes worth their tokens: what is new to the driver, by short paths, without the runner's own.

Evidence keeps every word. Only what a driver is told of it is made shorter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from flyball.core.terms.evidence import FailedTest
from flyball.regex import regex
from flyball.workspace.files.paths import relative_paths

SHOWN_FAILURES = 5
NAMED_FAILURES = 20
LONGEST_LINE = 400
HEAD, TAIL = 12, 24
MOST_LINES = HEAD + TAIL + 1
"""How many lines of one long failure are told from its beginning and from its end."""
_CASE = regex(r"\[.*\]$|#\d+$", re.DOTALL)
_RUNNER_LINE = regex(
    r"=== (?:RUN|PAUSE|CONT|NAME)\b|\s*--- FAIL: |Traceback \(most recent call last\):$|(?:_ ){9}"
)
_FRAME = regex(r'\s*File "([^"]+)", line \d+')
_SCRIPT_FRAME = regex(r"\s+at .*?\(?((?:node:|file://)?[^()\s]+):\d+:\d+\)?$")
_RUNNERS = regex(
    r"(?:^|/)(?:_pytest|pluggy|pytest|unittest|nose2?|runpy\.py|importlib)(?:[/.]|$)"
    r"|^node:|<frozen |/node_modules/(?:[@\w.-]*/)?(?:vitest|jest|mocha|chai|tinypool|ava|tap)"
)
_GO_FRAME = regex(r"^\S.*\n\t/\S*/src/(?:testing|runtime)/\S+\.go:\d+[^\n]*\n?", re.MULTILINE)
_TELLING = regex(r"\s*(?:E\s|>\s|assert|\w*(?:Error|Exception|Failed)\b|[-+] |expected|actual)")


def without_runner_frames(text: str) -> str:
    """A traceback without the frames of the runner, which say nothing about the project."""
    kept: list[str] = []
    is_skipping = False
    for line in _GO_FRAME.sub("", text).split("\n"):
        frame = _FRAME.match(line) or _SCRIPT_FRAME.match(line)
        if frame:
            is_skipping = bool(_RUNNERS.search(frame[1]))
        elif not line.startswith("    "):
            # What belongs to a frame, its source and the marks below that, is indented deeper.
            is_skipping = False
        if not is_skipping:
            kept.append(line)
    return "\n".join(kept)


def told_failures(failures: Sequence[FailedTest], root: Path, log: str = "") -> Iterator[str]:
    """The first failure of each test in full; of a later one only the lines that are new.

    Where lines were cut, the last line says that all of them are in the log.
    """
    seen: set[str] = set()
    is_cut = False
    told, others = _worth_telling(failures)
    for failure in told:
        lines = list(_plain_lines(failure.message, root))
        fresh = [line for line in lines if line.strip() not in seen]
        yield f"FAILED {failure.name}"
        if len(lines) - len(fresh) > len(fresh):
            yield from (line for line in fresh if _TELLING.match(line) or len(fresh) <= 3)
            yield "(the rest as above)"
        else:
            yield from _head_and_tail(lines)
            is_cut |= len(lines) > MOST_LINES or any(len(line) > LONGEST_LINE for line in lines)
        seen |= {line.strip() for line in lines}
    if others:
        yield "Also failing:"
        yield from (f"  {each}" for each in _grouped(others)[:NAMED_FAILURES])
    if len(_grouped(others)) > NAMED_FAILURES:
        yield f"  and {len(_grouped(others)) - NAMED_FAILURES} more"
    if is_cut and log:
        yield f"The whole output can be read as {log}."


def _worth_telling(
    failures: Sequence[FailedTest],
) -> tuple[list[FailedTest], list[FailedTest]]:
    """One failure of every test, as far as they go, then further cases of the same; the others."""
    first: dict[str, FailedTest] = {}
    for failure in failures:
        first.setdefault(_function(failure.name), failure)
    wanted = [*first.values(), *(each for each in failures if each not in first.values())]
    chosen = wanted[:SHOWN_FAILURES]
    return (
        [each for each in failures if each in chosen],
        [each for each in failures if each not in chosen],
    )


def _function(name: str) -> str:
    """The name of a test without the case of it that ran."""
    return _CASE.sub("", name)


def _grouped(failures: Sequence[FailedTest]) -> list[str]:
    """Names on one line each, the cases of one test together."""
    cases: dict[str, list[str]] = {}
    for failure in failures:
        function = _function(failure.name)
        cases.setdefault(function, []).append(failure.name.removeprefix(function))
    return [f"{function}{', '.join(each)}" for function, each in cases.items()]


def _plain_lines(message: str, root: Path) -> list[str]:
    """A failure's lines without blank ones, the runner's own, and what is said a second time."""
    text = without_runner_frames(relative_paths(message, root)).replace("file://", "")
    lines = [line for line in text.split("\n") if line.strip()]
    # Pytest's reports begin with the words that stand below the source again, behind an E.
    marked = {line[1:].strip() for line in lines if line.startswith("E ")}
    return [line for line in lines if line.strip() not in marked and not _RUNNER_LINE.match(line)]


def _head_and_tail(lines: Sequence[str]) -> Iterator[str]:
    """The lines of one failure; of a long one those at both ends, where cause and error stand."""
    short = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines]
    if len(lines) <= MOST_LINES:
        yield from short
        return
    yield from short[:HEAD]
    yield f"[… {len(lines) - HEAD - TAIL} lines …]"
    yield from short[-TAIL:]
