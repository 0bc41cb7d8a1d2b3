"""`check`: build, type-check, lint or parse the project with its own tools."""

from __future__ import annotations

import os
import shutil
from functools import partial

from flyball.errors import ToolError, ToolUnavailable
from flyball.guards.fingerprint import without_volatile_parts
from flyball.terms.call import Access
from flyball.terms.evidence import CheckKind, CheckReport
from flyball.tools.call.protocol import (
    CallContext,
    CallFacts,
    Form,
    Result,
    Text,
    Timeout,
    Tool,
    bounded,
)
from flyball.tools.diagnose.servers import server_checks
from flyball.verdict.part import TOP
from flyball.verdict.runners.checker import BY_NAME, CHECKS, Check, settled_checks
from flyball.verdict.runners.launch import exit_code, launch, set_up
from flyball.verdict.runners.layout import FileIndex, look
from flyball.verdict.runners.pace import Course, Paces, limit_for, telling
from flyball.verdict.runners.tally import plain
from flyball.verdict.settled import NOTHING_SETTLED, ProjectCommands
from flyball.workspace.process.levels import explain
from flyball.workspace.process.process import Finished

KEPT_PROBLEMS = 50


class CheckForm(Form, frozen=True, kw_only=True):
    """Which check by name or kind; by default all that the project is set up for."""

    name: Text = ""
    timeout: Timeout | None = None
    """Seconds after which each check is stopped."""


def facts(_form: CheckForm, _context: CallContext) -> CallFacts:
    return CallFacts(access=Access.VERIFY)


async def perform(form: CheckForm, context: CallContext) -> Result:
    land = look(context.root.path)
    reports: list[CheckReport] = []
    texts: list[str] = []
    chosen = choose(form.name, land, context.settings.commands, server_checks(context))
    for n, check in enumerate(chosen, 1):
        finished = await _run(check, land, context, form.timeout)
        if finished is None:
            texts.append(f"{check.name} ({check.kind.value}): not installed, so not run")
            continue
        if check.is_of_change and finished.exit_code not in (0, 1):
            texts.append(
                f"{check.name} ({check.kind.value}): it gave no result, so it shows nothing"
            )
            continue
        report = _report(check, finished, context, n)
        reports.append(report)
        texts.append(_describe(check, report, finished))
    if not reports:
        raise ToolUnavailable("None of the project's checks can be run here.", ". ".join(texts))
    see = "Run one check at a time with `name`."
    text, cut = bounded("\n".join(texts), context.settings.max_text, see)
    bad = [report for report in reports if report.exit_code]
    return Result(
        ok=not bad,
        text=text,
        data={"checks": {report.command: report.exit_code for report in reports}},
        error="\n".join(problem for report in bad for problem in report.problems[:5]),
        evidence=tuple(reports),
        same=[
            [r.command, r.exit_code, list(map(without_volatile_parts, r.problems))] for r in reports
        ],
        cut=cut,
    )


def choose(
    requested: str,
    land: FileIndex,
    settled: ProjectCommands = NOTHING_SETTLED,
    servers: tuple[Check, ...] = (),
) -> tuple[Check, ...]:
    """Return the checks to run, or a sentence about why there are none.

    A configured check is selected by its command or directory; others by their name; all by kind.
    """
    here = (*settled_checks(land, settled.checks), *servers)
    if not requested:
        if not here:
            raise ToolError("Nothing in this project can be checked by a tool we know.")
        return here
    if wanted := tuple(check for check in here if requested in _names(check)):
        return wanted
    if requested in BY_NAME and requested not in set(CheckKind):
        return (BY_NAME[requested],)
    if requested == CheckKind.DIAGNOSTICS:
        raise ToolError(
            "No language server that is installed knows a file of this change.",
            "`flyball doctor` names those that can be installed.",
        )
    known = ", ".join(check.name for check in here or CHECKS)
    raise ToolError(f"This project has no check {requested!r}.", f"It has: {known}.")


def _names(check: Check) -> tuple[str, ...]:
    kind = check.kind.value
    if check.is_of_change:
        return (CheckKind.DIAGNOSTICS.value, check.name)
    return (kind,) if check.name in BY_NAME else (kind, check.name, check.at, f"{check.at}/")


async def _run(
    check: Check, land: FileIndex, context: CallContext, timeout: float | None
) -> Finished | None:
    """Run a check and return its result; None if it is not installed."""
    with set_up(context, check.at) as start:
        if not start.workdir.is_dir():
            raise ToolError(
                f"A check is configured for {check.at}, but this tree has no such directory.",
                "Restore it, or ask the user to remove `check.command` from the settings.",
            )
        argv = check.argv(start, land)
        if not shutil.which(argv[0], path=start.env.get("PATH", "")):
            return None
        compiled = {"PYTHONPYCACHEPREFIX": os.fspath(start.shelf / "pycache")}
        paces, key = Paces(context.workspace.state_dir), f"check\n{check.at}\n{check.name}"
        pace = paces.find(key)
        seconds = limit_for(context, pace, timeout).seconds
        async with telling(context.tell_progress, partial(Course(None).at, check.name, pace)):
            finished = await launch(argv, start, compiled, seconds=seconds)
        if not finished.over_limit:
            paces.keep(key, finished.elapsed, 0)
        return finished


def _report(check: Check, finished: Finished, context: CallContext, n: int) -> CheckReport:
    problems = [line for line in plain(finished.output).split("\n") if line.strip()]
    code = exit_code(finished)
    if finished.cut_off:
        problems.insert(0, finished.cut_off)
    return CheckReport(
        id=context.evidence_id(n),
        tree=context.tree,
        elapsed=round(finished.elapsed, 3),
        kind=check.kind,
        command=check.name,
        exit_code=code,
        problems=tuple(problems[:KEPT_PROBLEMS]) if code else (),
        count=len(problems) if code else 0,
        is_of_change=check.is_of_change,
    )


def _describe(check: Check, report: CheckReport, finished: Finished) -> str:
    state = "clean" if report.exit_code == 0 else f"exit {report.exit_code}"
    where = "" if check.at == TOP else f" in {check.at}"
    new = ", by this change only" if check.is_of_change else ""
    lines = [f"{check.name}{where} ({check.kind.value}{new}): {state}"]
    lines += [f"Sandbox: {line}" for line in explain(finished)]
    if report.exit_code:
        lines.append(plain(finished.output).rstrip())
    return "\n".join(lines)


CHECK = Tool(
    "check",
    "Build, type-check, lint or parse the project; `name` picks a tool or a kind (build, types, "
    "lint, syntax, or diagnostics: what language servers say of the change alone).",
    CheckForm,
    facts,
    perform,
    example={"name": "types"},
)
