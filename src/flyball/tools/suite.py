"""`test`: run the project's tests and count what happened."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.core.call import Access
from flyball.core.evidence import SuiteReport
from flyball.errors import ToolError
from flyball.tools.protocol import Desk, Facts, Form, Result, Tool, bounded
from flyball.tools.runner.table import BY_NAME, Setting, runners_of
from flyball.tools.runner.tally import Tally
from flyball.workspace.confinement import Sandbox
from flyball.workspace.process import Finished, Limits, run
from flyball.workspace.sandbox import explain

SHOWN_FAILURES = 5
NO_PYTEST = "No module named pytest"


class SuiteForm(Form, frozen=True, kw_only=True):
    """Which runner, and what to pass on to it; both may be left out."""

    runner: str = ""
    args: tuple[str, ...] | str = ()
    confirm: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(shlex.split(self.args)) if isinstance(self.args, str) else self.args


class Ground(NamedTuple):
    """Where a suite runs and under what limits."""

    root: Path
    project: Path
    sandbox: Sandbox
    env: Mapping[str, str]
    limits: Limits
    tree: str
    log: Path | None
    on_output: Callable[[str], None] | None


class Ran(NamedTuple):
    """A report and the raw end of it."""

    report: SuiteReport
    finished: Finished


def facts(_form: SuiteForm, _desk: Desk) -> Facts:
    return Facts(access=Access.VERIFY)


async def perform(form: SuiteForm, desk: Desk) -> Result:
    runner = choose(form.runner, desk.root.path)
    desk.artifacts.mkdir(parents=True, exist_ok=True)
    ground = Ground(
        root=desk.root.path,
        project=desk.workspace.project,
        sandbox=desk.sandbox,
        env=desk.env,
        limits=desk.settings.suite_limits,
        tree=desk.tree,
        log=desk.artifacts / f"{desk.card}.{desk.call}.log",
        on_output=desk.on_output,
    )
    ran = await run_suite(runner, form.words, ground, desk.evidence_id())
    return _result(ran, desk)


def choose(wished: str, root: Path) -> str:
    """The runner to use, or a sentence about why there is none."""
    if wished:
        if wished not in BY_NAME:
            known = ", ".join(BY_NAME)
            raise ToolError(f"There is no test runner {wished!r}.", f"Known are {known}.")
        return wished
    found = runners_of(root)
    if not found:
        raise ToolError(
            "This project has no tests that a known runner would find.",
            "Use `check` for what can be checked, or add tests.",
        )
    return found[0]


async def run_suite(name: str, args: Sequence[str], ground: Ground, id: str) -> Ran:
    """Run a suite in its sandbox and read what it leaves behind."""
    runner = BY_NAME[name]
    shelf = Path(tempfile.mkdtemp(prefix="flyball-suite-"))
    setting = Setting(ground.root, ground.project, ground.env, shelf / "report")
    sandbox = ground.sandbox
    try:
        finished = await run(
            runner.argv(setting, args),
            cwd=ground.root,
            env=_env(ground),
            sandbox=_reaching(sandbox, shelf, ground.project),
            limits=ground.limits,
            log=ground.log,
            on_output=ground.on_output,
        )
        report = setting.report.read_bytes() if setting.report.is_file() else None
    finally:
        shutil.rmtree(shelf, ignore_errors=True)
    if name == "pytest" and NO_PYTEST in finished.output:
        return await run_suite("unittest", (), ground, id)
    tally = runner.read(finished.output, report)
    return Ran(_report(name, args, ground, id, finished, tally), finished)


def _reaching(sandbox: Sandbox, shelf: Path, project: Path) -> Sandbox:
    """The same sandbox, with the report's shelf and the project's installed tools in reach."""
    return msgspec.structs.replace(
        sandbox,
        writable=(*sandbox.writable, shelf),
        readable=(*sandbox.readable, project),
    )


def _env(ground: Ground) -> dict[str, str]:
    """The tree's own code comes first, whatever is installed in the project's environment."""
    places = [ground.root / "src", ground.root]
    path = os.pathsep.join(os.fspath(place) for place in places if place.is_dir())
    return {**ground.env, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


def _report(
    name: str,
    args: Sequence[str],
    ground: Ground,
    id: str,
    finished: Finished,
    tally: Tally | None,
) -> SuiteReport:
    code = finished.exit_code if finished.exit_code is not None else -(finished.signal or 1)
    reason = ""
    if finished.over_limit:
        reason = f"it ran past its limit ({finished.over_limit})"
    elif tally is None:
        reason = "no test could be counted in what it printed"
    counted = tally or Tally()
    return SuiteReport(
        id=id,
        tree=ground.tree,
        elapsed=round(finished.elapsed, 3),
        runner=name,
        command=shlex.join([name, *args]),
        exit_code=code,
        passed=counted.passed,
        failed=counted.failed,
        skipped=counted.skipped,
        failures=counted.failures,
        selected=bool(args),
        timed_out=finished.timed_out,
        reason=reason or counted.reason,
    )


def _result(ran: Ran, desk: Desk) -> Result:
    report, finished = ran
    head = f"{report.command}: {report.passed} passed, {report.failed} failed"
    head += f", {report.skipped} skipped" if report.skipped else ""
    head += f" (exit {report.exit_code}, {report.elapsed:.1f} s)"
    lines = [head]
    if report.reason:
        lines.append(f"Note: {report.reason}.")
    lines += [f"Sandbox: {line}" for line in explain(finished)]
    for each in report.failures[:SHOWN_FAILURES]:
        lines.append(f"FAILED {each.name}\n{each.message}")
    if len(report.failures) > SHOWN_FAILURES:
        lines.append(f"and {len(report.failures) - SHOWN_FAILURES} more failures")
    if not report.failures and not report.is_green:
        lines.append(finished.output)
    log = os.fspath(finished.log) if finished.log else ""
    text, cut = bounded("\n".join(lines), desk.settings.max_text, f"The whole log is {log}.")
    same = [report.passed, report.failed, report.exit_code, sorted(f.name for f in report.failures)]
    return Result(
        ok=report.is_green,
        text=text,
        data={"passed": report.passed, "failed": report.failed, "skipped": report.skipped},
        evidence=(report,),
        same=same,
        artifact=log,
        cut=cut + finished.cut_bytes,
    )


TEST = Tool(
    "test",
    "Run the project's tests (pytest, unittest, npm, pnpm, yarn, vitest, jest, go, cargo, make; "
    "found by itself unless `runner` says). `args` go to the runner, such as a file or a test's name.",
    SuiteForm,
    facts,
    perform,
)
