"""`test`: run the project's tests and count the results."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from flyball.guards.fingerprint import without_volatile_parts
from flyball.regex import regex
from flyball.terms.call import Access
from flyball.terms.evidence import FailedTest, SuiteReport
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
from flyball.workspace.files.paths import relative_paths
from flyball.workspace.process.levels import explain


class SuiteForm(Form, frozen=True, kw_only=True):
    """The runner and its arguments, both optional."""

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
    """Seconds after which it is stopped; results so far are reported, and never count as a pass."""
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
    lines += failure_texts(report.failures, context.root.path, context.log_name)
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
        same=[*ends, without_volatile_parts(finished.output)] if is_unexplained else ends,
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


# Results worth their tokens: what is new to the driver, with short paths, without the runner's own
# frames.
#
# Evidence keeps the whole text. Only the driver's version is shortened.

SHOWN_FAILURES = 5
NAMED_FAILURES = 20
LONGEST_LINE = 400
HEAD, TAIL = 12, 24
MOST_LINES = HEAD + TAIL + 1
"""Number of lines shown from the beginning and from the end of a long failure."""
_CASE = regex(r"\[.*\]$|#\d+$", re.DOTALL)
_RUNNER_LINE = regex(
    r"=== (?:RUN|PAUSE|CONT|NAME)\b|\s*--- FAIL: |Traceback \(most recent call last\):$|(?:_ ){9}"
)
_FRAME = regex(r'\s*File "([^"]+)", line \d+')
_SCRIPT_FRAME = regex(r"\s+at .*?\(?((?:node:|file://)?[^()\s]+):\d+:\d+\)?$")
_RUNNERS = regex(
    r"(?:^|/)(?:_pytest|pluggy|pytest|unittest|nose2?|runpy\.py|importlib)(?:[/.]|$)"
    r"|^node:|<frozen |/node_modules/(?:[@\w.-]*/)?(?:vitest|jest|mocha|chai|tinypool|ava|tap)"
)
_GO_FRAME = regex(r"^\S.*\n\t/\S*/src/(?:testing|runtime)/\S+\.go:\d+[^\n]*\n?", re.MULTILINE)
_TELLING = regex(r"\s*(?:E\s|>\s|assert|\w*(?:Error|Exception|Failed)\b|[-+] |expected|actual)")


def without_runner_frames(text: str) -> str:
    """Return a traceback without the runner's frames, which are not about the project."""
    kept: list[str] = []
    is_skipping = False
    for line in _GO_FRAME.sub("", text).split("\n"):
        frame = _FRAME.match(line) or _SCRIPT_FRAME.match(line)
        if frame:
            is_skipping = bool(_RUNNERS.search(frame[1]))
        elif not line.startswith("    "):
            # The parts of a frame, its source and the marks below, are indented deeper.
            is_skipping = False
        if not is_skipping:
            kept.append(line)
    return "\n".join(kept)


def failure_texts(failures: Sequence[FailedTest], root: Path, log: str = "") -> Iterator[str]:
    """Yield the first failure of each test in full, and only the new lines of later ones.

    If lines were cut, the last line says that all of them are in the log.
    """
    seen: set[str] = set()
    is_cut = False
    told, others = _is_informative(failures)
    for failure in told:
        lines = list(_plain_lines(failure.message, root))
        fresh = [line for line in lines if line.strip() not in seen]
        yield f"FAILED {failure.name}"
        if len(lines) - len(fresh) > len(fresh):
            yield from (line for line in fresh if _TELLING.match(line) or len(fresh) <= 3)
            yield "(the rest as above)"
        else:
            yield from _head_and_tail(lines)
            is_cut |= len(lines) > MOST_LINES or any(len(line) > LONGEST_LINE for line in lines)
        seen |= {line.strip() for line in lines}
    if others:
        yield "Also failing:"
        yield from (f"  {each}" for each in _grouped(others)[:NAMED_FAILURES])
    if len(_grouped(others)) > NAMED_FAILURES:
        yield f"  and {len(_grouped(others)) - NAMED_FAILURES} more"
    if is_cut and log:
        yield f"The whole output can be read as {log}."


def _is_informative(
    failures: Sequence[FailedTest],
) -> tuple[list[FailedTest], list[FailedTest]]:
    """Select one failure of every test, then more cases while there is space, and the rest."""
    first: dict[str, FailedTest] = {}
    for failure in failures:
        first.setdefault(_function(failure.name), failure)
    wanted = [*first.values(), *(each for each in failures if each not in first.values())]
    chosen = wanted[:SHOWN_FAILURES]
    return (
        [each for each in failures if each in chosen],
        [each for each in failures if each not in chosen],
    )


def _function(name: str) -> str:
    """Return the name of a test without its parameters."""
    return _CASE.sub("", name)


def _grouped(failures: Sequence[FailedTest]) -> list[str]:
    """Return names on one line each, with the cases of one test together."""
    cases: dict[str, list[str]] = {}
    for failure in failures:
        function = _function(failure.name)
        cases.setdefault(function, []).append(failure.name.removeprefix(function))
    return [f"{function}{', '.join(each)}" for function, each in cases.items()]


def _plain_lines(message: str, root: Path) -> list[str]:
    """Return a failure's lines without blank ones, the runner's own, and repetitions."""
    text = without_runner_frames(relative_paths(message, root)).replace("file://", "")
    lines = [line for line in text.split("\n") if line.strip()]
    # Pytest's reports begin with the message that is repeated below the source, after an E.
    marked = {line[1:].strip() for line in lines if line.startswith("E ")}
    return [line for line in lines if line.strip() not in marked and not _RUNNER_LINE.match(line)]


def _head_and_tail(lines: Sequence[str]) -> Iterator[str]:
    """Yield a failure's lines; of a long one, the first and last, which have cause and error."""
    short = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines]
    if len(lines) <= MOST_LINES:
        yield from short
        return
    yield from short[:HEAD]
    yield f"[… {len(lines) - HEAD - TAIL} lines …]"
    yield from short[-TAIL:]
