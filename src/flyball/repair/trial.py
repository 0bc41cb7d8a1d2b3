"""Start the program in `inside` on the tests, and follow it."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import shutil
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flyball.errors import ToolUnavailable
from flyball.regex import regex
from flyball.repair import inside
from flyball.terms.call import INTERRUPTED
from flyball.tools.call.protocol import CallContext, Result
from flyball.verdict.runners.choice import Choice, choose, require
from flyball.verdict.runners.launch import launch, set_up
from flyball.verdict.runners.start_env import python_of
from flyball.verdict.runners.table import BY_NAME
from flyball.workspace.files.paths import Root
from flyball.workspace.files.plain import read_from
from flyball.workspace.process.process import Finished

Line = dict[str, Any]
Words = Callable[[Sequence[Line]], str]
"""How far the program is, from what it has reported."""
BEAT = 0.5
MOST_AT_ONCE = 1 << 24
"""More than a program writes between two looks."""


class ProgressReport:
    """The report that the program writes as it runs; only whole lines count, as the last may be cut
    off."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._at = 0
        self.lines: list[Line] = []

    def read_more(self) -> None:
        """Read what was added since the last call; an incomplete line waits."""
        # The tests run with the same rights as the program and may put a link there.
        whole, end, _ = read_from(self._file, self._at, MOST_AT_ONCE).rpartition(b"\n")
        self._at += len(whole) + len(end)
        for line in whole.split(b"\n"):
            # A test may write to the report, too; what is not ours is let go.
            with suppress(msgspec.DecodeError):
                self.lines.append(msgspec.json.decode(line, type=Line))


def interrupted_result(tool: str) -> Result:
    """Return the result of a call that was ended without a result; a driver may repeat it."""
    text = f"`{tool}` was interrupted: the run is to rest."
    return Result(False, text, error=INTERRUPTED)


async def follow(
    work: Coroutine[Any, Any, Finished], report: ProgressReport, context: CallContext, words: Words
) -> Finished | None:
    """Report progress until it is over; return None if it was ended because the run is to pause."""
    task = asyncio.ensure_future(work)
    last = ""
    try:
        while not task.done() and not context.is_to_rest():
            await asyncio.wait({task}, timeout=BEAT)
            report.read_more()
            if (now := words(report.lines)) != last:
                context.on_output(f"{now}\n")
                last = now
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    report.read_more()
    return None if task.cancelled() else task.result()


PACKAGE = "flyball/repair/inside"
GRACE = 30.0
"""Beyond its own limit the program may need this long to start and to load the tests."""

# The shelf is on the path only while our own modules are imported: a project that has a package
# called flyball, or that counts what is loaded, must find its own world.
BOOT = """
import os, sys
shelf = sys.argv[1]
sys.path.insert(0, shelf)
from flyball.repair.inside.program import main
sys.path.remove(shelf)
for name in [each for each in sys.modules if each.partition(".")[0] == "flyball"]:
    del sys.modules[name]
sys.path.insert(0, os.getcwd())
main(sys.argv[2])
"""


PYTHON = ("pytest", "unittest")
SCRIPTS = ("node", "vitest", "jest", "mocha", "ava", "tape", "tap")


class ScratchCopy(NamedTuple):
    """A scratch copy of the tree, and how its tests are run."""

    context: CallContext
    choice: Choice

    @property
    def is_script(self) -> bool:
        """Return whether the tests are written in JavaScript or TypeScript."""
        return self.choice.name in SCRIPTS


class TrialReport(NamedTuple):
    """The program's report, and how it ended."""

    lines: tuple[Line, ...]
    finished: Finished | None
    """None if it was ended because the run is to pause."""


@contextmanager
def scratch_copy(context: CallContext) -> Generator[ScratchCopy]:
    """Yield a context with a temporary copy of the tree to try candidates in."""
    root = context.workspace.checkout_scratch(context.tree)
    try:
        choice = _looked_into(choose("", (), root, context.settings.commands))
        if choice.name not in (*PYTHON, *SCRIPTS):
            raise ToolUnavailable(
                "Only Python and JavaScript suites can be looked into, and this project is tested "
                f"by {choice.command or choice.name}.",
                "Read the failing tests and the code they call.",
            )
        # The scratch copy is all that may be written: whatever a candidate or a test does, the
        # workspace is not touched.
        yield ScratchCopy(context.on_tree(Root(root, protected=()), context.tree), choice)
    finally:
        context.workspace.discard_scratch(root)


def _looked_into(choice: Choice) -> Choice:
    """Return the Python suite that a configured command starts, or the choice unchanged.

    The user chose this command to test the project, so no other suite is run in its place.
    """
    words = shlex.split(choice.command, comments=True)
    while words and _STARTS.fullmatch(words[0]):
        words = words[1:]
    if words and words[0] in ("pytest", "py.test"):
        return choice._replace(name="pytest", args=tuple(words[1:]), command="")
    if words in (["unittest"], ["unittest", "discover"]):
        return choice._replace(name="unittest", args=(), command="")
    return choice


_STARTS = regex(r"(?:.*/)?python[\d.]*|-m|uv|poetry|pdm|hatch|run")


async def run_program(stage: ScratchCopy, orders: Mapping[str, Any], words: Words) -> TrialReport:
    """Return the program's report for these orders, including lines written before it died."""
    context, choice = stage.context, stage.choice
    limits = context.settings.suite_limits
    if orders["seconds"] is not None:
        limits = msgspec.structs.replace(limits, seconds=float(orders["seconds"]) + GRACE)
    with set_up(context._replace(limits=limits, is_shown=False), choice.at) as start:
        shelf = start.shelf
        _put_program(shelf)
        file = shelf / "found.jsonl"
        last = {
            **orders,
            "runner": choice.name,
            "args": _runner_arguments(choice, start),
            "root": os.fspath(start.root.path),
            "width": min(4, os.cpu_count() or 1),
            "report": os.fspath(file),
        }
        (shelf / "orders.json").write_text(json.dumps(last), "utf-8")
        python = python_of(start)
        require(choice, [python], start)
        argv = [python, "-c", BOOT, os.fspath(shelf), os.fspath(shelf / "orders.json")]
        report = ProgressReport(file)
        finished = await follow(launch(argv, start), report, context, words)
        return TrialReport(tuple(report.lines), finished)


def _put_program(shelf: Path) -> None:
    """Copy the program to where the sandbox can read it."""
    place = shelf / PACKAGE
    place.mkdir(parents=True)
    for package in list(place.parents)[:3]:
        (package / "__init__.py").touch()
    # Copied, because the sandbox does not show Flyball's own installation to a project's
    # interpreter.
    for file in Path(inside.__path__[0]).glob("*.py"):
        shutil.copyfile(file, place / file.name)


def _runner_arguments(choice: Choice, start: CallContext) -> Sequence[Any]:
    if choice.name == "pytest":
        return ["-o", f"cache_dir={start.shelf / 'cache'}", *choice.args]
    argv = BY_NAME["unittest"].argv(start, choice.land, ())
    tops = argv[-1]
    if not tops.startswith("["):
        raise ToolUnavailable("The tests of a Django project cannot be traced one by one.")
    return json.loads(tops)
