"""Running a suite and reading what it leaves behind."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.core.suite.case import SuiteCase, digest_of
from flyball.core.terms.evidence import SuiteReport
from flyball.errors import ToolError, ToolUnavailable
from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.choice import (
    Choice,
    choose,
    not_installed,
    require,
    require_allowed,
)
from flyball.tools.runner.launch import exit_code, launch, set_up
from flyball.tools.runner.reports.find_files import FINDERS, with_files
from flyball.tools.runner.reports.output import RunnerOutput
from flyball.tools.runner.row import Runner
from flyball.tools.runner.settled_start import SettledStart, start_settled
from flyball.tools.runner.table import BY_NAME
from flyball.tools.runner.tally import Tally, tally_of
from flyball.workspace.files.plain import read_within
from flyball.workspace.process.process import Finished

LARGEST = 1 << 26
MISSING = 127
PYTEST_ENDS = {
    3: "pytest had an internal error",
    4: "pytest could not be called like that",
    5: "no test was collected",
}


class SuiteRun(NamedTuple):
    """A report, the raw end of it, and every test that the runner told of."""

    report: SuiteReport
    finished: Finished
    cases: tuple[SuiteCase, ...] = ()


async def run_suite(
    wished: str,
    words: Sequence[str],
    context: CallContext,
    id: str,
    *,
    from_driver: bool = False,
) -> SuiteRun:
    """Run the wished or the fitting suite in its sandbox, and count what happened.

    What a driver passes on is held against the runner's allow-list; our own words are not.
    """
    choice = choose(wished, words, context.root.path, context.settings.commands)
    if from_driver:
        require_allowed(choice)
    try:
        finished, tally = await _run(choice, context)
    except ToolUnavailable:
        if wished or not choice.otherwise:
            raise
        choice = choice._replace(name=choice.otherwise)
        finished, tally = await _run(choice, context)
    counted = tally or Tally()
    report = SuiteReport(
        id=id,
        tree=context.tree,
        elapsed=round(finished.elapsed, 3),
        runner=choice.name,
        command=choice.command or shlex.join([choice.name, *words]),
        exit_code=exit_code(finished),
        passed=counted.passed,
        failed=counted.failed,
        skipped=counted.skipped,
        failures=counted.failures,
        selected=bool(choice.args),
        timed_out=finished.timed_out,
        reason=_reason(choice.name, finished, tally),
        part=choice.at,
        counted=tally is not None,
        digest=digest_of(counted.cases),
    )
    return SuiteRun(report, finished, counted.cases)


async def _run(choice: Choice, context: CallContext) -> tuple[Finished, Tally | None]:
    with set_up(context, choice.at) as started:
        argv, runner = _started(choice, started)
        require(choice.name, argv, started)
        finished = await launch(argv, started)
        found = [_read(path, started) for path in runner.reports(started)]
        reports = [data for data in found if data is not None]
        text = _read(finished.log, started)
        place = os.path.realpath(started.workdir)
    said = finished.output if text is None else text.decode("utf-8", "replace")
    if re.search(rf"No module named '?{choice.name}'?$", finished.output, re.M) and not reports:
        raise not_installed(choice.name, f"{argv[0]} cannot import it")
    tally = runner.read(RunnerOutput(said, reports, place, choice.land.files))
    if tally is None or not tally.cases or runner.name not in FINDERS:
        return finished, tally
    return finished, tally_of(with_files(runner.name, tally.cases, choice.land), tally.reason)


def _started(choice: Choice, context: CallContext) -> tuple[list[str], Runner | SettledStart]:
    """The words that start what was chosen, and what reads its end."""
    if not choice.command:
        runner = BY_NAME[choice.name]
        return runner.argv(context, choice.land, choice.args), runner
    if not context.workdir.is_dir():
        raise ToolError(
            f"A command is settled for {choice.at}, and this tree has no such directory.",
            "Put it back, or let whoever settled `test.command` take it out.",
        )
    start = start_settled(choice.command, context)
    return start.argv, start


def _read(file: Path | None, context: CallContext) -> bytes | None:
    """What a runner wrote, unless it is no plain file or a link leads to it."""
    if file is None:
        return None
    tops = (context.root.path, context.shelf, context.project)
    top = next((each for each in tops if file.is_relative_to(each)), file.parent)
    return read_within(top, file.relative_to(top).as_posix(), LARGEST)


def _reason(name: str, finished: Finished, tally: Tally | None) -> str:
    """Why a run that is not green is not, where no failing test says it."""
    if finished.over_limit:
        return f"it ran past its limit ({finished.over_limit})"
    if finished.signal:
        return f"it was ended by signal {finished.signal}"
    if tally and tally.reason:
        return tally.reason
    if finished.exit_code == MISSING:
        return "a program that it starts is not installed; install the project's dependencies"
    if name == "pytest" and finished.exit_code in PYTEST_ENDS:
        return PYTEST_ENDS[finished.exit_code]
    if tally is None:
        return f"uncounted: exit {finished.exit_code}; it left no report and printed no counts"
    if not tally.passed and not tally.failed:
        return f"all {tally.skipped} tests were skipped" if tally.skipped else "no test ran"
    if finished.exit_code and not tally.failed:
        return f"it ended with exit code {finished.exit_code} although no test failed"
    return ""
