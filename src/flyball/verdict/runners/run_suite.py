"""Run a suite and read its results."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from flyball.errors import ToolError, ToolUnavailable
from flyball.regex import regex
from flyball.terms.evidence import SuiteReport
from flyball.terms.shape import counted, listed
from flyball.verdict.case import SuiteCase, digest_of
from flyball.verdict.part import TOP
from flyball.verdict.runners.choice import (
    Choice,
    choose,
    fetch_command,
    not_installed,
    require,
    require_allowed,
    set_up_command,
)
from flyball.verdict.runners.launch import exit_code, launch, set_up
from flyball.verdict.runners.layout import look
from flyball.verdict.runners.pace import Course, Pace, Paces, Steps, TimeLimit, limit_for, telling
from flyball.verdict.runners.parts import COMMAND
from flyball.verdict.runners.reports.find_files import FINDERS, with_files
from flyball.verdict.runners.reports.output import RunnerOutput
from flyball.verdict.runners.row import Runner
from flyball.verdict.runners.settled_start import SettledStart, start_settled
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.table import BY_NAME
from flyball.verdict.runners.tally import Tally, tally_of
from flyball.workspace.files.plain import read_within
from flyball.workspace.process.process import Finished

LARGEST = 1 << 25
MISSING = 127
PYTEST_ENDS = {
    3: "pytest had an internal error",
    4: "pytest could not be called like that",
    5: "no test was collected",
}


class SuiteRun(NamedTuple):
    """A report, the exit code, and every test that the runner reported."""

    report: SuiteReport
    finished: Finished
    cases: tuple[SuiteCase, ...] = ()
    running: tuple[str, ...] = ()
    """The tests that were running when the time limit ended it, where its output tells."""


async def run_suite(
    requested: str,
    words: Sequence[str],
    context: StartContext,
    id: str,
    *,
    from_driver: bool = False,
    timeout: float | None = None,
) -> SuiteRun:
    """Run the requested or the default suite in its sandbox, and count the results.

    A driver's arguments are checked against the runner's allow-list; our own are not. Runs are
    stopped after `timeout` seconds, or else after three times the suite's usual duration.
    """
    choice = choose(requested, words, context.root.path, context.settings.commands)
    if from_driver:
        require_allowed(choice)
    timed = Timed(context, choice, timeout, is_bounded=from_driver)
    try:
        finished, tally = await _run(choice, context, timed)
    except ToolUnavailable:
        if requested or not choice.otherwise:
            raise
        choice = choice._replace(name=choice.otherwise)
        timed = Timed(context, choice, timeout, is_bounded=from_driver)
        finished, tally = await _run(choice, context, timed)
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
        reason=_reason(choice, finished, tally, timed),
        part=choice.at,
        counted=tally is not None,
        digest=digest_of(counted.cases),
    )
    running = timed.course.running if finished.timed_out else ()
    return SuiteRun(report, finished, counted.cases, running)


async def run_command(command: str, context: StartContext) -> tuple[Finished, Tally | None]:
    """Run a command in its sandbox; return its tests too, if it starts a runner that is known."""
    choice = Choice(COMMAND, TOP, (), look(context.root.path), command=command)
    return await _run(choice, context, Timed(context, choice, None, is_bounded=False))


class Timed:
    """The time limit of a test run, and its progress."""

    def __init__(
        self, context: StartContext, choice: Choice, requested: float | None, *, is_bounded: bool
    ) -> None:
        # One part may be tested by several runners, and a person may change the command.
        self._key = "\n".join(("test", choice.at, choice.name, choice.command))
        self._paces = Paces(context.workspace.state_dir)
        self._is_whole = not choice.args
        self._tell = context.tell_progress
        self._what = choice.name if choice.at == TOP else f"{choice.name} in {choice.at}"
        self._pace = self._paces.find(self._key)
        self.is_bounded = is_bounded
        """Whether a driver waits for it; a verdict's runs take the time that settings allow."""
        limit = TimeLimit(context.limits.seconds, "")
        self.limit = limit_for(context, self._pace, requested) if is_bounded else limit
        self.course = Course(None)

    async def launch(
        self, argv: Sequence[str], context: StartContext, steps: Steps | None
    ) -> Finished:
        """Start the runner, report its progress, and record how long a whole suite took."""
        self.course = Course(steps)
        pace = self._pace if self._is_whole else Pace()
        async with telling(self._tell, partial(self.course.at, self._what, pace)):
            seconds, hear = self.limit.seconds, self.course.hear
            finished = await launch(argv, context, seconds=seconds, hear=hear)
        if self._is_whole and not finished.over_limit and not finished.signal:
            self._paces.keep(self._key, finished.elapsed, self.course.done)
        return finished


async def _run(
    choice: Choice, context: StartContext, timed: Timed
) -> tuple[Finished, Tally | None]:
    with set_up(context, choice.at) as started:
        argv, runner = _started(choice, started)
        require(choice, argv, started)
        finished = await timed.launch(argv, started, runner.steps)
        found = [_read(path, started) for path in runner.reports(started)]
        reports = [data for data in found if data is not None]
        text = _read(finished.log, started)
        place = os.path.realpath(started.workdir)
    said = finished.output if text is None else text.decode("utf-8", "replace")
    if re.search(rf"No module named '?{choice.name}'?$", finished.output, re.M) and not reports:
        raise not_installed(choice, f"{argv[0]} cannot import it")
    tally = runner.read(RunnerOutput(said, reports, place, choice.land.files))
    if tally is None or not tally.cases or runner.name not in FINDERS:
        return finished, tally
    return finished, tally_of(with_files(runner.name, tally.cases, choice.land), tally.reason)


def _started(choice: Choice, context: StartContext) -> tuple[list[str], Runner | SettledStart]:
    """Return the command for the choice, and the parser of its results."""
    if not choice.command:
        runner = BY_NAME[choice.name]
        return runner.argv(context, choice.land, choice.args), runner
    if not context.workdir.is_dir():
        raise ToolError(
            f"A command is configured for {choice.at}, but this tree has no such directory.",
            "Restore it, or ask the user to remove `test.command` from the settings.",
        )
    start = start_settled(choice.command, context)
    return start.argv, start


def _read(file: Path | None, context: StartContext) -> bytes | None:
    """Return a runner's report, unless it is no plain file or reached through a link."""
    if file is None:
        return None
    tops = (context.root.path, context.shelf, context.project)
    top = next((each for each in tops if file.is_relative_to(each)), file.parent)
    return read_within(top, file.relative_to(top).as_posix(), LARGEST)


def _stopped(timed: Timed, finished: Finished) -> str:
    """Explain when and why a run was stopped, and how far it was."""
    course = timed.course
    unit = course.steps.unit.removesuffix("s") if course.steps else ""
    ended = f"{counted(course.done, unit)} had ended" if unit else ""
    running = f"{', '.join(course.running)} was running" if course.running else ""
    so_far = (
        " and ".join(filter(None, (ended, running))) or "its output does not say how far it was"
    )
    return f"it was stopped after {finished.elapsed:.0f} s ({timed.limit.why}): {so_far}"


_NEEDS_NETWORK = regex(
    r"(?:in|for|using) offline mode|--offline was specified|lookup disabled by GOPROXY=off"
)
"""How Maven, Gradle, Cargo and Go say that something was never fetched."""


_NOT_FOUND = regex(
    r"No module named '(\w+)|Cannot find (?:module|package) '((?:@[\w.-]+/)?\w[\w.-]*)"
)
"""How Python and Node say that what is imported is not installed; a path begins with a dot."""


_CONTAINERS = regex(
    r"\bdocker[ -]compose\b|\b(?:docker|podman) (?:run|exec|build)\b|\bdocker(?: daemon|\.sock)\b"
)
"""What a command that starts containers prints, or is."""


def _not_set_up(choice: Choice, finished: Finished, tally: Tally | None) -> str:
    """Return what is missing here and the project's command that installs it, if that is why."""
    where = "the project" if choice.at == TOP else choice.at
    command = set_up_command(choice.name, choice.land)
    if (
        finished.exit_code
        and not tally
        and _CONTAINERS.search(f"{choice.command}\n{finished.output}")
    ):
        return (
            "it starts containers, which runs may not; a person runs it, or names a command "
            "without them in `test.command`"
        )
    if finished.exit_code == MISSING:
        do = (
            f"a person runs `{command}` in {where}" if command else "install what the project needs"
        )
        return f"a program that it starts is not installed; {do}"
    fetch = fetch_command(choice)
    if fetch and tally is None and _NEEDS_NETWORK.search(finished.output):
        return (
            "it needs what is not on this machine, and runs have no network; "
            f"a person runs `{fetch}` in {where}"
        )
    said = [finished.output] if tally is None else [each.message for each in tally.failures]
    names = {found[1] or found[2] for text in said for found in _NOT_FOUND.finditer(text)}
    ours = {name for path in choice.land.files for name in path.removesuffix(".py").split("/")}
    if finished.exit_code and command and (names := names - ours):
        return (
            f"{listed(sorted(names))} is not installed here: a person runs `{command}` in {where}"
        )
    return ""


def _reason(choice: Choice, finished: Finished, tally: Tally | None, timed: Timed) -> str:
    """Return why a run is not green if no failing test explains it."""
    if finished.timed_out and timed.is_bounded:
        return _stopped(timed, finished)
    if finished.cut_off:
        return finished.cut_off
    if finished.signal:
        return f"it was ended by signal {finished.signal}"
    if tally and tally.reason:
        return tally.reason
    if unready := _not_set_up(choice, finished, tally):
        return unready
    if choice.name == "pytest" and finished.exit_code in PYTEST_ENDS:
        return PYTEST_ENDS[finished.exit_code]
    if tally is None:
        return f"uncounted: exit {finished.exit_code}; it left no report and printed no counts"
    if not tally.passed and not tally.failed:
        return f"{tally.skipped} skipped, and no other test ran" if tally.skipped else "no test ran"
    if finished.exit_code and not tally.failed:
        return f"it ended with exit code {finished.exit_code} although no test failed"
    return ""
