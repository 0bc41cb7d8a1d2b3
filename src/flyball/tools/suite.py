"""`test`: run the project's tests and count what happened."""

from __future__ import annotations

import shlex
from typing import Literal

from flyball.core.memory.fingerprint import without_passing_things
from flyball.core.terms.call import Access
from flyball.core.terms.evidence import SuiteReport
from flyball.tools.call.outcome_words import told_failures
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
from flyball.verdict.runners.run_suite import SuiteRun, run_suite
from flyball.workspace.process.levels import explain


class SuiteForm(Form, frozen=True, kw_only=True):
    """Which runner, and what to pass on to it; both may be left out."""

    runner: (
        Literal[
            "pytest",
            "unittest",
            "vitest",
            "jest",
            "mocha",
            "ava",
            "tape",
            "tap",
            "node",
            "npm",
            "pnpm",
            "yarn",
            "go",
            "cargo",
            "maven",
            "gradle",
            "dotnet",
            "ctest",
            "rspec",
            "rake",
            "phpunit",
            "mix",
            "deno",
            "bats",
            "make",
            "just",
            "command",
        ]
        | None
    ) = None
    args: tuple[Text, ...] | str = ()
    timeout: Timeout | None = None
    """Seconds after which it is stopped; what had ended by then is told, and is never a pass."""
    confirm: bool = False

    def __post_init__(self) -> None:
        try:
            shlex.split(self.args if isinstance(self.args, str) else "")
        except ValueError as error:
            raise ValueError(f"`args` cannot be split into words: {error}") from error

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(shlex.split(self.args)) if isinstance(self.args, str) else self.args


def facts(_form: SuiteForm, _context: CallContext) -> CallFacts:
    return CallFacts(access=Access.VERIFY)


async def perform(form: SuiteForm, context: CallContext) -> Result:
    ran = await run_suite(
        form.runner or "",
        form.words,
        context,
        context.evidence_id(),
        from_driver=True,
        timeout=form.timeout,
    )
    return _result(ran, context)


def _result(ran: SuiteRun, context: CallContext) -> Result:
    report, finished = ran.report, ran.finished
    lines = [_head(report), *(f"Sandbox: {line}" for line in explain(finished))]
    lines += told_failures(report.failures, context.root.path, context.log_name)
    is_unexplained = not report.failures and not report.is_green
    lines += [finished.output] if is_unexplained else []
    see = f"Run fewer tests with `args`, or read {context.log_name}."
    text, cut = bounded("\n".join(lines), context.settings.max_text, see)
    names = [each.name for each in report.failures]
    ends = [report.passed, report.failed, report.skipped, report.exit_code, sorted(names)]
    return Result(
        ok=not report.is_red,
        text=text,
        data={
            "runner": report.runner,
            "part": report.part,
            "counted": report.counted,
            "passed": report.passed,
            "failed": report.failed,
            "skipped": report.skipped,
            "failures": names,
            **({"timed_out": True, "running": [*ran.running]} if report.timed_out else {}),
        },
        error=_why(report) if report.is_red else "",
        evidence=(report,),
        same=[*ends, without_passing_things(finished.output)] if is_unexplained else ends,
        artifact=str(finished.log or ""),
        cut=cut + finished.cut_bytes,
    )


def _head(report: SuiteReport) -> str:
    skipped = f", {report.skipped} skipped" if report.skipped else ""
    end = f"(exit {report.exit_code}, {report.elapsed:.1f} s)"
    counts = f"{report.passed} passed, {report.failed} failed{skipped}"
    where = "" if report.part == "." else f" in {report.part}"
    head = f"{report.command}{where}: {counts if report.counted else 'uncounted'} {end}"
    return f"{head}\nNote: {report.reason}." if report.reason else head


def _why(report: SuiteReport) -> str:
    first = report.failures[0] if report.failures else None
    return f"{first.name}\n{first.message}" if first else report.reason or "the tests are not green"


TEST = Tool(
    "test",
    "Run the project's tests: all, or what `args` name (a file, a test; of several parts first "
    "one's directory).",
    SuiteForm,
    facts,
    perform,
    example={"args": ["tests/cart"]},
)
