"""Running a suite and reading what it leaves behind."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.core.suite.case import SuiteCase, digest_of
from flyball.core.terms.evidence import SuiteReport
from flyball.errors import ToolUnavailable
from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.choice import (
    Choice,
    choose,
    not_installed,
    require,
    require_allowed,
)
from flyball.tools.runner.console import from_text
from flyball.tools.runner.launch import exit_code, launch, set_up
from flyball.tools.runner.reports.output import RunnerOutput
from flyball.tools.runner.row import own_reports
from flyball.tools.runner.table import BY_NAME
from flyball.tools.runner.tally import Tally
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
    commands: Mapping[str, str] | None = None,
    from_driver: bool = False,
) -> SuiteRun:
    """Run the wished or the fitting suite in its sandbox, and count what happened.

    What a driver passes on is held against the runner's allow-list; our own words are not.
    """
    choice = choose(wished, words, context.root.path, commands)
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
        command=shlex.join([choice.name, *words]),
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
    runner = BY_NAME.get(choice.name)
    with set_up(context, choice.at) as started:
        if runner is None:
            argv = ["sh", "-c", choice.command]
        else:
            argv = runner.argv(started, choice.land, choice.args)
        require(choice.name, argv, started)
        finished = await launch(argv, started)
        found = (runner.reports if runner else own_reports)(started)
        reports = [data for path in found if (data := _read(path)) is not None]
        text = _read(finished.log)
        place = os.path.realpath(started.workdir)
    said = finished.output if text is None else text.decode("utf-8", "replace")
    if re.search(rf"No module named '?{choice.name}'?$", finished.output, re.M) and not reports:
        raise not_installed(choice.name, f"{argv[0]} cannot import it")
    if runner is None:
        return finished, from_text(said)
    return finished, runner.read(RunnerOutput(said, reports, place, choice.land.files))


def _read(file: Path | None) -> bytes | None:
    """What a runner wrote, unless it is no plain file."""
    if file is None or file.is_symlink() or not file.is_file():
        return None
    with file.open("rb") as stream:
        return stream.read(LARGEST)


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
