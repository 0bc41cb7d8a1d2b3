"""From traced tests to suspicious lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from flyball.core.terms.test_paths import is_test_path
from flyball.errors import ToolUnavailable
from flyball.regex import regex
from flyball.tools.repair.code.source import Source
from flyball.tools.repair.locate import memo
from flyball.tools.repair.locate.clues import error_kinds
from flyball.tools.repair.locate.memo import Memo, Once
from flyball.tools.repair.locate.spectrum import SuspectLine, Traced, add_signs, rank_lines
from flyball.tools.repair.outside.progress import Line
from flyball.tools.repair.outside.trial import ScratchCopy, run_program
from flyball.workspace.files.plain import read_within

SAMPLE = 150
MOST_FILE = 1 << 20
FRAME = regex(r'File "([^"]+)", line (\d+)|^([^\s:]+\.py):(\d+):', re.M)


class _Head(msgspec.Struct, frozen=True):
    """The first line of a report: how many tests there are, and what could not be loaded."""

    tests: int
    broken: dict[str, str]


class _Ran(msgspec.Struct, frozen=True):
    """A line of a report: how one test ended by itself."""

    ran: str
    end: str
    why: str
    cpu: float


T = TypeVar("T")


def _lines_of_kind(lines: Sequence[Line], kind: type[T], key: str) -> list[T]:
    """The lines of one kind; what tests have written into the report is let go."""
    found: list[T] = []
    for line in lines:
        if key in line:
            with suppress(msgspec.ValidationError):
                found.append(msgspec.convert(line, kind))
    return found


async def trace_tests(stage: ScratchCopy, seconds: float | None) -> Memo | None:
    """Run every test by itself and some under trace, and remember what was seen.

    None where the run is to rest: half of it would say nothing certain.
    """
    orders: dict[str, object] = {
        "task": "trace",
        "failing": [],
        "seconds": seconds,
        "sample": SAMPLE,
    }
    told = await run_program(stage, orders, _progress)
    # Tests that were not reached would look as if they passed, or did not exist.
    if told.finished is None:
        return None
    heads = _lines_of_kind(told.lines, _Head, "tests")
    if not heads:
        raise ToolUnavailable(
            f"The tests could not be loaded:\n{told.finished.output[-2000:].strip()}",
            "Run `test` to see how they fail.",
        )
    head = heads[0]
    tests = _lines_of_kind(told.lines, Traced, "name")
    tests += [_unloadable(stage.context.root.path, name, why) for name, why in head.broken.items()]
    runs = [Once(it.ran, it.end, it.why, it.cpu) for it in _lines_of_kind(told.lines, _Ran, "ran")]
    found = Memo(stage.choice.name, tuple(runs), tuple(tests), head.tests, head.broken)
    memo.keep(stage.context, found)
    return found


def _progress(lines: Sequence[Line]) -> str:
    return f"Running {lines[0].get('tests', 0)} tests, each by itself" if lines else ""


def _unloadable(root: Path, name: str, why: str) -> Traced:
    """Tests that could not be loaded ran the lines of their traceback."""
    found = [(file or other, int(a or b)) for file, a, other, b in FRAME.findall(why)]
    frames: list[tuple[str, int]] = []
    for file, line in found:
        # There is no trace of a file that could not be imported; its traceback is all there is to
        # go by.
        path = Path(os.path.realpath(root / file))
        if path.is_relative_to(root) and path.suffix == ".py":
            frames.append((os.fspath(path.relative_to(root)), line))
    lines: dict[str, tuple[int, ...]] = {}
    for path, line in frames:
        lines[path] = (*lines.get(path, ()), line)
    return Traced(name, "fail", tuple(frames), lines)


def sources_of(root: Path, paths: Iterable[str]) -> dict[str, Source]:
    """The files that can be read and changed; tests are not among them."""
    found: dict[str, Source] = {}
    for path in paths:
        # The tests are the judge: a search that may change them would find the shortest way to
        # green.
        if is_test_path(path) or path.endswith("conftest.py"):
            continue
        # A link may lead out of the copy, and nobody repairs a generated file of a megabyte.
        data = read_within(root, path, MOST_FILE + 1)
        if data is None or len(data) > MOST_FILE:
            continue
        with suppress(SyntaxError, ValueError, RecursionError):
            found[path] = Source(path, data)
    return found


def suspect_lines(known: Memo, sources: dict[str, Source]) -> list[SuspectLine]:
    """The suspicious lines that a memo leads to."""
    return add_signs(rank_lines(known.tests, sources), known.signs)


def clues_of(known: Memo) -> frozenset[str]:
    """What the failing tests say about the kind of fault."""
    return error_kinds(run.why if run.end != "time" else run.end for run in known.failing_runs)


def files_of_failing(known: Memo) -> set[str]:
    """The files that failing tests ran."""
    return {path for test in known.tests if test.has_failed for path in test.lines}
