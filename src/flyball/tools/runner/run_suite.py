"""Running a suite and reading what it leaves behind."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.core.terms.evidence import SuiteReport
from flyball.errors import ToolUnavailable
from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.choice import Choice, choose, not_installed, require
from flyball.tools.runner.launch import exit_code, launch, set_up
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
    """A report and the raw end of it."""

    report: SuiteReport
    finished: Finished


async def run_suite(wished: str, words: Sequence[str], context: CallContext, id: str) -> SuiteRun:
    """Run the wished or the fitting suite in its sandbox, and count what happened."""
    choice = choose(wished, words, context.root.path)
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
        selected=bool(words),
        timed_out=finished.timed_out,
        reason=_reason(choice.name, finished, tally),
    )
    return SuiteRun(report, finished)


async def _run(choice: Choice, context: CallContext) -> tuple[Finished, Tally | None]:
    runner = BY_NAME[choice.name]
    with set_up(context, choice.at) as start:
        argv = runner.argv(start, choice.land, choice.args)
        require(choice.name, argv, start)
        finished = await launch(argv, start)
        report, text = _read(start.report), _read(finished.log)
    said = finished.output if text is None else text.decode("utf-8", "replace")
    if re.search(rf"No module named '?{choice.name}'?$", finished.output, re.M) and not report:
        raise not_installed(choice.name, f"{argv[0]} cannot import it")
    return finished, runner.read(said, report)


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
        return "no test could be counted in what it printed"
    if not tally.passed and not tally.failed:
        return f"all {tally.skipped} tests were skipped" if tally.skipped else "no test ran"
    if finished.exit_code and not tally.failed:
        return f"it ended with exit code {finished.exit_code} although no test failed"
    return ""
