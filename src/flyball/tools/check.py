"""`check`: build, type-check, lint or parse the project with what it has."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msgspec

from flyball.core.call import Access
from flyball.core.evidence import CheckReport
from flyball.errors import ToolError, ToolUnavailable
from flyball.tools.checker import BY_NAME, CHECKS, Check, checks_of
from flyball.tools.protocol import Desk, Facts, Form, Result, Tool, bounded
from flyball.tools.runner.table import Setting
from flyball.workspace.process import Finished, run
from flyball.workspace.sandbox import explain

KEPT_PROBLEMS = 50


class CheckForm(Form, frozen=True, kw_only=True):
    """Which check by name or kind; without one, all that the project is set up for."""

    name: str = ""


def facts(_form: CheckForm, _desk: Desk) -> Facts:
    return Facts(access=Access.VERIFY)


async def perform(form: CheckForm, desk: Desk) -> Result:
    chosen = choose(form.name, desk.root.path)
    reports: list[CheckReport] = []
    texts: list[str] = []
    for n, check in enumerate(chosen, 1):
        try:
            finished = await _run(check, desk)
        except ToolUnavailable as error:
            texts.append(f"{check.name}: not available ({error.message})")
            continue
        if _is_not_installed(finished, check):
            texts.append(f"{check.name}: not installed")
            continue
        report = _report(check, finished, desk, n)
        reports.append(report)
        texts.append(_describe(check, report, finished))
    if not reports:
        raise ToolUnavailable("None of the project's checks can be run here.", " ".join(texts))
    text, cut = bounded("\n".join(texts), desk.settings.max_text)
    return Result(
        ok=all(report.exit_code == 0 for report in reports),
        text=text,
        data={"checks": [report.command for report in reports]},
        evidence=tuple(reports),
        same=[(r.command, r.exit_code, r.problems) for r in reports],
        cut=cut,
    )


def choose(wished: str, root: Path) -> tuple[Check, ...]:
    """The checks to run, or a sentence about why there are none."""
    here = checks_of(root)
    if not wished:
        if not here:
            raise ToolError("Nothing in this project can be checked by a tool we know.")
        return here
    if wished in BY_NAME:
        return (BY_NAME[wished],)
    of_kind = tuple(check for check in here if check.kind.value == wished)
    if not of_kind:
        known = ", ".join(check.name for check in here or CHECKS)
        raise ToolError(f"This project has no check {wished!r}.", f"It has: {known}.")
    return of_kind


async def _run(check: Check, desk: Desk) -> Finished:
    with tempfile.TemporaryDirectory(prefix="flyball-check-") as shelf:
        setting = Setting(desk.root.path, desk.workspace.project, desk.env, Path(shelf) / "report")
        env = {**desk.env, "PYTHONPYCACHEPREFIX": shelf}
        return await run(
            check.argv(setting),
            cwd=desk.root.path,
            env=env,
            sandbox=msgspec.structs.replace(
                desk.sandbox,
                writable=(*desk.sandbox.writable, Path(shelf)),
                readable=(*desk.sandbox.readable, desk.workspace.project),
            ),
            limits=desk.settings.suite_limits,
            on_output=desk.on_output,
        )


def _is_not_installed(finished: Finished, check: Check) -> bool:
    return finished.exit_code != 0 and f"No module named {check.name}" in finished.output


def _report(check: Check, finished: Finished, desk: Desk, n: int) -> CheckReport:
    problems = [line for line in finished.output.split("\n") if line.strip()]
    code = finished.exit_code if finished.exit_code is not None else -(finished.signal or 1)
    if finished.over_limit:
        code, problems = code or 1, [f"it ran past its limit ({finished.over_limit})", *problems]
    return CheckReport(
        id=desk.evidence_id(n),
        tree=desk.tree,
        elapsed=round(finished.elapsed, 3),
        kind=check.kind,
        command=check.name,
        exit_code=code,
        problems=tuple(problems[:KEPT_PROBLEMS]) if code else (),
        count=len(problems) if code else 0,
    )


def _describe(check: Check, report: CheckReport, finished: Finished) -> str:
    state = "clean" if report.exit_code == 0 else f"exit {report.exit_code}"
    lines = [f"{check.name} ({check.kind.value}): {state}"]
    lines += [f"Sandbox: {line}" for line in explain(finished)]
    if report.exit_code:
        lines.append(finished.output.rstrip())
    return "\n".join(lines)


CHECK = Tool(
    "check",
    "Build, type-check, lint or parse the project with the tools it is set up for. `name` picks "
    "one (ruff, pyright, mypy, tsc, eslint, cargo, go-vet, compileall) or a kind (build, types).",
    CheckForm,
    facts,
    perform,
)
