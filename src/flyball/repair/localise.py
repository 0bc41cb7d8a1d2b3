"""Find suspicious lines from failing tests, and store the results for a tree."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from flyball.errors import ToolUnavailable
from flyball.regex import regex
from flyball.repair.inside.hot_swap import Edit
from flyball.repair.source import Source
from flyball.repair.spectrum import (
    ENDED_BADLY,
    Sign,
    SuspectLine,
    Traced,
    add_signs,
    error_kinds,
    rank_lines,
)
from flyball.repair.trial import Line, ScratchCopy, run_program
from flyball.terms.test_paths import is_test_path
from flyball.tools.call.protocol import CallContext
from flyball.workspace.files.plain import read_within

Change = tuple[str, tuple[Edit, ...]]
"""A file, and what is changed in it."""


class Once(NamedTuple):
    """One test without a trace: its result, the reason, and its processor time."""

    name: str
    end: str
    why: str
    cpu: float

    @property
    def has_failed(self) -> bool:
        return self.end in ENDED_BADLY

    @property
    def is_slow(self) -> bool:
        """Return whether the run was abandoned, so that its result is unknown."""
        return self.end == "slow"


class Memo(msgspec.Struct, frozen=True, omit_defaults=True):
    """Test results by tree."""

    runner: str
    runs: tuple[Once, ...] = ()
    tests: tuple[Traced, ...] = ()
    count: int = 0
    broken: dict[str, str] = {}
    signs: tuple[Sign, ...] = ()
    """How much more suspicious lines are for what changes there have shown."""
    refuted: tuple[Change, ...] = ()
    """Changes under which tests are known to fail."""

    @property
    def failing(self) -> tuple[str, ...]:
        """Return the tests that ran and failed, by name."""
        return tuple(run.name for run in self.failing_runs)

    @property
    def failing_runs(self) -> tuple[Once, ...]:
        return tuple(run for run in self.runs if run.has_failed)


def _memo_file(context: CallContext) -> Path:
    # By the tree's hash: a changed tree has no memo, so nothing stale is ever recalled.
    return context.workspace.directory / "repair" / f"{context.tree[:40]}.json"


def recall(context: CallContext) -> Memo | None:
    """Return the results for the current tree, or None if they are missing or unreadable."""
    # A memo is worth only the time it saves; one that cannot be read is one that is not there.
    with suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
        return msgspec.json.decode(_memo_file(context).read_bytes(), type=Memo)
    return None


def keep(context: CallContext, memo: Memo) -> None:
    """Store the memo; if it cannot be written, the work is only repeated."""
    file = _memo_file(context)
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(msgspec.json.encode(memo))


SAMPLE = 150
MOST_FILE = 1 << 20
FRAME = regex(r'File "([^"]+)", line (\d+)|^([^\s:]+\.py):(\d+):', re.M)


class _Head(msgspec.Struct, frozen=True):
    """The first line of a report: the number of tests, and what could not be loaded."""

    tests: int
    broken: dict[str, str]


class _Ran(msgspec.Struct, frozen=True):
    """A line of a report: the result of one test in isolation."""

    ran: str
    end: str
    why: str
    cpu: float


T = TypeVar("T")


def _lines_of_kind(lines: Sequence[Line], kind: type[T], key: str) -> list[T]:
    """Return the lines of one kind; drop anything that tests wrote into the report."""
    found: list[T] = []
    for line in lines:
        if key in line:
            with suppress(msgspec.ValidationError):
                found.append(msgspec.convert(line, kind))
    return found


async def trace_tests(stage: ScratchCopy, seconds: float | None) -> Memo | None:
    """Run every test in isolation and some under trace, and store the result.

    Return None if the run is about to pause: half a result would not be reliable.
    """
    orders: dict[str, object] = {
        "task": "trace",
        "failing": [],
        "seconds": seconds,
        "sample": SAMPLE,
    }
    answer = await run_program(stage, orders, _progress)
    # Tests that were not reached would look as if they passed, or did not exist.
    if answer.finished is None:
        return None
    heads = _lines_of_kind(answer.lines, _Head, "tests")
    if not heads:
        raise ToolUnavailable(
            f"The tests could not be loaded:\n{answer.finished.output[-2000:].strip()}",
            "Run `test` to see how they fail.",
        )
    head = heads[0]
    tests = _lines_of_kind(answer.lines, Traced, "name")
    tests += [_unloadable(stage.context.root.path, name, why) for name, why in head.broken.items()]
    runs = [
        Once(it.ran, it.end, it.why, it.cpu) for it in _lines_of_kind(answer.lines, _Ran, "ran")
    ]
    found = Memo(stage.choice.name, tuple(runs), tuple(tests), head.tests, head.broken)
    keep(stage.context, found)
    return found


def _progress(lines: Sequence[Line]) -> str:
    return f"Running {lines[0].get('tests', 0)} tests, each by itself" if lines else ""


def _unloadable(root: Path, name: str, why: str) -> Traced:
    """Return tests that could not be loaded, with the lines of their traceback."""
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
    """Return the files that can be read and changed; tests are excluded."""
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
    """Return the suspicious lines according to a memo."""
    return add_signs(rank_lines(known.tests, sources), known.signs)


def clues_of(known: Memo) -> frozenset[str]:
    """Return hints in the failing tests about the kind of fault."""
    return error_kinds(run.why if run.end != "time" else run.end for run in known.failing_runs)


def files_of_failing(known: Memo) -> set[str]:
    """Return the files whose lines failing tests ran."""
    return {path for test in known.tests if test.has_failed for path in test.lines}
