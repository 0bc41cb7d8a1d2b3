"""Parse the JSON documents that runners write once, when they finish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec

from flyball.bounds import is_nested_too_deeply
from flyball.verdict.case import CaseOutcome, SuiteCase, merged, number_duplicates
from flyball.verdict.runners.reports.output import RunnerOutput
from flyball.verdict.runners.tally import plain

T = TypeVar("T")

OUTCOMES = {
    "passed": CaseOutcome.PASSED,
    "failed": CaseOutcome.FAILED,
    "error": CaseOutcome.ERROR,
}
"""Whatever else a runner calls it (pending, todo, skipped, disabled), the test did not run."""


def _decoded(data: bytes, type: type[T]) -> T | None:
    if is_nested_too_deeply(data):
        return None
    try:
        return msgspec.json.decode(data, type=type)
    except msgspec.DecodeError:
        return None


def _outcome(word: str) -> CaseOutcome:
    return OUTCOMES.get(word, CaseOutcome.SKIPPED)


class _JestCase(msgspec.Struct):
    status: str = ""
    title: str = ""
    fullName: str = ""  # noqa: N815
    ancestorTitles: list[str] = []  # noqa: N815
    failureMessages: list[str] = []  # noqa: N815
    duration: float | None = None


class _JestFile(msgspec.Struct):
    name: str = ""
    status: str = ""
    message: str = ""
    assertionResults: list[_JestCase] = []  # noqa: N815


class _JestReport(msgspec.Struct):
    testResults: list[_JestFile]  # noqa: N815


def from_jest(data: bytes, said: RunnerOutput) -> Sequence[SuiteCase] | None:
    """Parse the JSON of jest and vitest; a file that does not load is an error of its own."""
    report = _decoded(data, _JestReport)
    if report is None:
        return None
    cases: list[SuiteCase] = []
    for file in report.testResults:
        path = said.from_place(file.name)
        found = [_jest_case(case, path) for case in file.assertionResults]
        if file.status == "failed" and not any(case.is_bad for case in found):
            found.append(SuiteCase("(file)", CaseOutcome.ERROR, path, message=plain(file.message)))
        cases += found
    return number_duplicates(cases)


def _jest_case(case: _JestCase, file: str) -> SuiteCase:
    return SuiteCase(
        case.title or case.fullName,
        _outcome(case.status),
        file,
        tuple(title for title in case.ancestorTitles if title),
        seconds=round((case.duration or 0) / 1000, 6),
        message=plain("\n".join(case.failureMessages)),
    )


class _OwnCase(msgspec.Struct):
    """One document of our own reporters, for a single test."""

    name: str
    outcome: str
    file: str = ""
    suite: list[str] = []
    seconds: float = 0.0
    message: str = ""
    spelling: str = ""
    parameters: str = ""


def from_own(data: bytes, said: RunnerOutput) -> Sequence[SuiteCase] | None:
    """Parse the output of our own reporters: one JSON document per line."""
    cases: list[SuiteCase] = []
    for line in data.split(b"\n"):
        if line.strip():
            found = _decoded(line, _OwnCase)
            if found is None:
                return None
            cases.append(
                SuiteCase(
                    found.name,
                    _outcome(found.outcome),
                    said.from_place(found.file),
                    tuple(found.suite),
                    found.parameters,
                    round(found.seconds, 6),
                    plain(found.message),
                    found.spelling,
                )
            )
    return merged(cases) if any(case.spelling for case in cases) else number_duplicates(cases)


class _RspecCase(msgspec.Struct):
    description: str = ""
    full_description: str = ""
    status: str = ""
    file_path: str = ""
    run_time: float = 0.0
    exception: dict[str, Any] = {}


class _RspecReport(msgspec.Struct):
    examples: list[_RspecCase]
    summary: dict[str, Any] = {}
    messages: list[str] = []


def from_rspec(data: bytes, said: RunnerOutput) -> Sequence[SuiteCase] | None:
    """Parse RSpec's JSON; an error outside the examples is an error of its own."""
    report = _decoded(data, _RspecReport)
    if report is None:
        return None
    cases = [_rspec_case(each, said) for each in report.examples]
    if report.summary.get("errors_outside_of_examples_count"):
        message = plain("\n".join(report.messages))
        cases.append(SuiteCase("(loading)", CaseOutcome.ERROR, message=message))
    return number_duplicates(cases)


def _rspec_case(case: _RspecCase, said: RunnerOutput) -> SuiteCase:
    around = case.full_description.removesuffix(case.description).strip()
    words = [str(case.exception.get(key, "")).strip() for key in ("class", "message")]
    return SuiteCase(
        case.description or case.full_description,
        _outcome(case.status),
        said.from_place(case.file_path),
        (around,) if around else (),
        seconds=case.run_time,
        message=": ".join(filter(None, words)),
    )
