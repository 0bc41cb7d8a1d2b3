"""Check which files a change touches, how large it is, and whether it keeps its promises."""

from __future__ import annotations

from typing import Annotated

import msgspec

from flyball.plan.suite_checks import (
    Count,
    NoParameters,
    Parameters,
    latest_here,
    unobserved,
)
from flyball.plan.template import Text
from flyball.plan.verdict import Case, Failed, Missing, Passed, Verdict
from flyball.regex import regex
from flyball.terms.evidence import (
    ConsoleReport,
    CoverageReport,
    DiffReport,
    FileReport,
    HttpReport,
    VisualReport,
)
from flyball.terms.glob import matches
from flyball.terms.shape import listed

Texts = Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]


def _diff(case: Case) -> DiffReport | None:
    return latest_here(case, DiffReport, lambda item: case.base in ("", item.base))


def _no_diff(case: Case) -> Missing:
    return unobserved(case, DiffReport, "compare the current tree with its base")


class Paths(Parameters, frozen=True):
    """Path patterns; `*` stays inside a folder, `**` crosses folders."""

    paths: Texts


def diff_within(case: Case, wanted: Paths) -> Verdict:
    """Require that every changed file is in the named paths."""
    report = _diff(case)
    if report is None:
        return _no_diff(case)
    outside = [each.path for each in report.files if not matches(each.path, wanted.paths)]
    if outside:
        return Failed(f"Changed outside {listed(wanted.paths)}: {listed(outside)}.")
    return Passed(f"All {len(report.files)} changed files are within {listed(wanted.paths)}.")


class DiffLimits(Parameters, frozen=True):
    """The maximum size of a change: in files, or in added and removed lines."""

    max_files: Count | None = None
    max_lines: Count | None = None

    def __post_init__(self) -> None:
        if self.max_files is None and self.max_lines is None:
            raise ValueError("`diff_size` needs `max_files` or `max_lines`")


def diff_size(case: Case, limits: DiffLimits) -> Verdict:
    """Require that the change is not larger than agreed."""
    report = _diff(case)
    if report is None:
        return _no_diff(case)
    lines = sum(each.added + each.removed for each in report.files)
    if limits.max_files is not None and len(report.files) > limits.max_files:
        return Failed(f"{len(report.files)} files changed; at most {limits.max_files} may.")
    if limits.max_lines is not None and lines > limits.max_lines:
        return Failed(f"{lines} lines changed; at most {limits.max_lines} may.")
    return Passed(f"The change has {lines} lines in all.")


def forbidden_paths_untouched(case: Case, wanted: Paths) -> Verdict:
    """Require that no changed file is in the named paths."""
    report = _diff(case)
    if report is None:
        return _no_diff(case)
    touched = [each.path for each in report.files if matches(each.path, wanted.paths)]
    if touched:
        return Failed(f"Forbidden paths were changed: {listed(touched)}. Revert that.")
    return Passed(f"Nothing in {listed(wanted.paths)} changed.")


def keep_regions_intact(case: Case, _: NoParameters) -> Verdict:
    """Require that no keep region changed."""
    report = _diff(case)
    if report is None:
        return _no_diff(case)
    if report.keep_regions_touched:
        return Failed(f"Keep regions changed: {listed(report.keep_regions_touched)}.")
    return Passed("Keep regions are intact.")


def no_secrets_added(case: Case, _: NoParameters) -> Verdict:
    """Require that the change adds nothing that looks like a secret."""
    report = _diff(case)
    if report is None:
        return _no_diff(case)
    if report.secrets_added:
        return Failed(f"Secrets were added: {listed(report.secrets_added)}. Remove them.")
    return Passed("No secret was added.")


class OneFile(Parameters, frozen=True):
    """The file that must exist."""

    path: Text


def file_exists(case: Case, wanted: OneFile) -> Verdict:
    """Require that the file exists."""
    report = latest_here(case, FileReport, lambda item: item.path == wanted.path)
    if report is None:
        return unobserved(case, FileReport, f"look for {wanted.path}")
    if not report.exists:
        return Failed(f"{wanted.path} does not exist.")
    return Passed(f"{wanted.path} exists.")


class FileText(Parameters, frozen=True):
    """The text a file must contain."""

    path: Text
    text: Text


def file_contains(case: Case, wanted: FileText) -> Verdict:
    """Require that the file exists and contains the text."""

    def looked(item: FileReport) -> bool:
        if item.path != wanted.path:
            return False
        return not item.exists or wanted.text in item.asked or wanted.text in item.contains

    report = latest_here(case, FileReport, looked)
    if report is None:
        return unobserved(case, FileReport, f"look for {wanted.text!r} in {wanted.path}")
    if not report.exists:
        return Failed(f"{wanted.path} does not exist.")
    if wanted.text not in report.contains:
        return Failed(f"{wanted.path} does not contain {wanted.text!r}.")
    return Passed(f"{wanted.path} contains {wanted.text!r}.")


class CoverageLimits(Parameters, frozen=True):
    """Limits on coverage, in percent: the largest drop and the minimum."""

    tolerance: Percent = 0.0
    minimum: Percent = 0.0


def coverage_not_dropped(case: Case, limits: CoverageLimits) -> Verdict:
    """Require that coverage is not lower than before."""
    report = latest_here(case, CoverageReport)
    if report is None:
        return unobserved(case, CoverageReport, "measure coverage on the current tree")
    if report.after < report.before - limits.tolerance:
        return Failed(f"Coverage dropped from {report.before:g} % to {report.after:g} %.")
    if report.after < limits.minimum:
        return Failed(f"Coverage is {report.after:g} %; at least {limits.minimum:g} % is wanted.")
    return Passed(f"Coverage went from {report.before:g} % to {report.after:g} %.")


_ORIGIN = regex(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


class Address(Parameters, frozen=True):
    """The address that counts, in full or as a path that begins with `/`; default: any."""

    url: str = ""

    def names(self, url: str) -> bool:
        if self.url.startswith("/"):
            return (_ORIGIN.sub("", url).partition("?")[0].partition("#")[0] or "/") == self.url
        return self.url in ("", url)


class HttpExpectation(Address, frozen=True):
    """The address that must answer, and how; without a status, any success."""

    status: Annotated[int, msgspec.Meta(ge=100, le=599)] | None = None


def http_ok(case: Case, wanted: HttpExpectation) -> Verdict:
    """Require that the address answers as expected."""
    report = latest_here(case, HttpReport, lambda item: wanted.names(item.url))
    if report is None:
        return unobserved(case, HttpReport, f"no request was made to {wanted.url or 'its address'}")
    if report.error:
        return Failed(f"{report.url} did not answer: {report.error}.")
    good = report.status == wanted.status if wanted.status else 200 <= report.status < 400
    if not good:
        expected = f", not {wanted.status}" if wanted.status else ""
        return Failed(f"{report.url} answered {report.status}{expected}.")
    return Passed(f"{report.url} answered {report.status}.")


def console_clean(case: Case, wanted: Address) -> Verdict:
    """Require that the page wrote no error to its console and that every request succeeded."""
    report = latest_here(case, ConsoleReport, lambda item: wanted.names(item.url))
    if report is None:
        return unobserved(case, ConsoleReport, f"no browser has opened {wanted.url or 'the page'}")
    troubles = (*report.errors, *report.failed_requests)
    if troubles:
        return Failed(f"{report.url} reports {len(troubles)} errors: {listed(troubles, 1)}.")
    return Passed(f"The console of {report.url} is clean.")


class PictureExpectation(Address, frozen=True):
    """The page that must look as expected; without an expectation, any judged page counts."""

    expectation: str = ""


def visual_ok(case: Case, wanted: PictureExpectation) -> Verdict:
    """Require that the page looks as expected."""

    def fits(item: VisualReport) -> bool:
        return wanted.names(item.url) and wanted.expectation in ("", item.expectation)

    report = latest_here(case, VisualReport, fits)
    if report is None:
        return unobserved(case, VisualReport, f"no picture was taken of {wanted.url or 'the page'}")
    if not report.ok:
        note = f": {report.note}" if report.note else ""
        return Failed(f"{report.url} does not look as expected{note}.")
    if report.is_unjudged:
        return Passed(
            f"Nothing is obviously wrong with {report.url}; no model judged its appearance."
        )
    judge = f", says {report.judged_by}" if report.judged_by else ""
    return Passed(f"{report.url} looks as expected{judge}.")
