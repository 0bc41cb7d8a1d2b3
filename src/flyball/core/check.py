"""The checks behind the gates: pure questions to evidence about the present tree.

Each check takes a case and its parameters. Evidence about another tree is stale and counts as none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, TypeVar
from urllib.parse import urlsplit

import msgspec

from flyball.core.evidence import (
    ApprovalReport,
    BaseRun,
    CheckKind,
    CheckReport,
    CommandReport,
    ConsoleReport,
    CoverageReport,
    DiffReport,
    Evidence,
    FileReport,
    HttpReport,
    Strength,
    SuiteReport,
    VisualReport,
    WeakeningReport,
    is_failing,
    proof,
    strength,
)
from flyball.core.glob import matches
from flyball.core.shape import is_map
from flyball.core.template import CHECKLIST, Text
from flyball.core.verdict import Case, Failed, Missing, Passed, Verdict

E = TypeVar("E", bound=Evidence)

Texts = Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]
Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]

WEAKENED = "weakened-tests"
NOTHING_RAN = frozenset({0, 5})
"""How runners exit that found no test to run: most with 0, pytest and unittest with 5."""


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a gate can be told."""


class NoParameters(Parameters, frozen=True):
    """This gate can be told nothing."""


def last(case: Case, kind: type[E], fits: Callable[[E], bool] = lambda _: True) -> E | None:
    """The latest evidence of a kind about the present tree."""
    for item in reversed(case.evidence):
        if isinstance(item, kind) and item.tree == case.tree and fits(item):
            return item
    return None


def missing(case: Case, kinds: type[Evidence] | tuple[type[Evidence], ...], what: str) -> Missing:
    """A sentence that says what to do, and whether an older look exists."""
    if any(isinstance(item, kinds) for item in case.evidence):
        return Missing(f"What is known is about an earlier tree; {what}.")
    return Missing(f"Nothing is known yet; {what}.")


def some(names: Iterable[str], limit: int = 3) -> str:
    """The first few names, and how many more there are."""
    listed = list(names)
    rest = f" and {len(listed) - limit} more" if len(listed) > limit else ""
    return ", ".join(listed[:limit]) + rest


def criteria_checklist_complete(case: Case, _: NoParameters) -> Verdict:
    """The driver says that each criterion is met; Flyball cannot check that itself."""
    criteria = case.schema.criteria_checklist
    claimed = case.submission.get(CHECKLIST)
    answers: Mapping[object, object] = claimed if is_map(claimed) else {}
    open_ones = [f"{key} ({text})" for key, text in criteria.items() if key not in answers]
    if open_ones or not criteria:
        return Missing(f"No answer for {some(open_ones) or CHECKLIST}; submit true or false.")
    unmet = [f"{key} ({text})" for key, text in criteria.items() if answers[key] is not True]
    if unmet:
        return Failed(f"Not met: {some(unmet)}.")
    return Passed(f"All {len(criteria)} criteria are claimed to be met.")


class Names(Parameters, frozen=True):
    """Which submitted fields must be there; without names, all that the form requires."""

    names: tuple[Text, ...] = ()


def evidence_present(case: Case, wanted: Names) -> Verdict:
    """The driver filled in the named fields, in the right form."""
    names = wanted.names or case.schema.required
    absent = [name for name in names if name not in case.submission]
    if absent:
        return Missing(f"Submit {some(absent)}.")
    wrong = [name for name in names if not case.schema.kind(name).admits(case.submission[name])]
    if wrong:
        return Failed(f"{wrong[0]} must be {case.schema.kind(wrong[0]).expected}.")
    return Passed(f"Submitted: {some(names) or 'nothing was asked for'}.")


class SuiteLimits(Parameters, frozen=True):
    """How many tests must pass."""

    at_least: Count = 1


def tests_pass(case: Case, limits: SuiteLimits) -> Verdict:
    """The suite is green on this very tree, and ran something."""
    report = last(case, SuiteReport)
    if report is None:
        return missing(case, SuiteReport, "run `test` on the present tree")
    suites = [item for item in case.evidence if isinstance(item, SuiteReport)]
    if proof(suites, case.tree, case.base) < Strength.GREEN:
        return Failed(why_red(last(case, SuiteReport, is_failing) or report))
    passed = max(item.passed for item in suites if item.tree == case.tree)
    if passed < limits.at_least:
        return Failed(f"Only {passed} tests passed; at least {limits.at_least} must.")
    return Passed(f"{passed} tests pass.")


def why_red(report: SuiteReport) -> str:
    """Why a test run is not green."""
    if report.timed_out:
        return f"`{report.command}` was ended because it took too long."
    if report.failed:
        return f"{report.failed} tests fail, first {report.first_failure}."
    if not report.passed and report.exit_code in NOTHING_RAN:
        return f"`{report.command}` ran no tests, and that is not a pass."
    reason = f": {report.reason}" if report.reason else ""
    return f"`{report.command}` ended with exit code {report.exit_code}{reason}."


def new_test_fails_before(case: Case, _: NoParameters) -> Verdict:
    """The tests that verify the change fail on the tree from before it."""
    run = last(case, BaseRun, lambda item: case.base in ("", item.base))
    if run is None:
        return missing(case, BaseRun, "run the verifying tests on the base tree")
    if run.outcome == "red":
        return Passed("The verifying tests fail without the change.")
    if run.outcome == "green":
        return Failed("The verifying tests pass without the change too, so they prove nothing.")
    return Missing(f"The tests could not be judged on the base tree: {run.detail or run.outcome}.")


def tests_not_weakened(case: Case, _: NoParameters) -> Verdict:
    """No test got easier to pass, or a person accepted that."""
    report = last(case, WeakeningReport, lambda item: case.base in ("", item.base))
    if report is None:
        return missing(case, WeakeningReport, "compare the tests with the base tree")
    if not report.findings:
        return Passed("No test got easier to pass.")
    approval = last(case, ApprovalReport, lambda item: item.what == WEAKENED)
    if approval and approval.granted:
        return Passed(f"{approval.by} accepted the weaker tests.")
    places = [f"{each.path}:{each.line} ({each.kind})" for each in report.findings]
    return Failed(f"Tests got easier to pass: {some(places)}.")


class Command(Parameters, frozen=True):
    """The command that must succeed, as it is to be run."""

    command: Text


def command_succeeds(case: Case, wanted: Command) -> Verdict:
    """This very command ended well on this very tree, and could have failed."""
    kinds = (CommandReport, CheckReport, SuiteReport)
    asked = wanted.command.split()
    for item in reversed(case.evidence):
        if not isinstance(item, kinds) or item.command.split() != asked or item.tree != case.tree:
            continue
        if isinstance(item, CommandReport) and item.proves_nothing:
            return Failed(f"`{wanted.command}` proves nothing: {item.proves_nothing}.")
        if isinstance(item, SuiteReport) and not item.is_green:
            return Failed(why_red(item))
        if item.exit_code:
            return Failed(f"`{wanted.command}` ended with exit code {item.exit_code}.")
        return Passed(f"`{wanted.command}` succeeded.")
    return missing(case, kinds, f"run `{wanted.command}` on the present tree")


class AnyCommand(Parameters, frozen=True):
    """Which command counts; without it, the project's own."""

    command: str = ""


def clean(kind: CheckKind) -> Callable[[Case, AnyCommand], Verdict]:
    """A check that the latest report of one kind has no problems."""

    def check(case: Case, wanted: AnyCommand) -> Verdict:
        def fits(item: CheckReport) -> bool:
            same = not wanted.command or item.command.split() == wanted.command.split()
            return item.kind is kind and same

        report = last(case, CheckReport, fits)
        if report is None:
            return missing(case, CheckReport, f"run `check` for {kind} on the present tree")
        if report.exit_code or report.problems or report.count:
            first = f", first {report.problems[0]}" if report.problems else ""
            count = max(report.count, len(report.problems))
            return Failed(f"`{report.command}` reports {count or 'some'} problems{first}.")
        return Passed(f"`{report.command}` is clean.")

    check.__doc__ = f"The latest {kind} check on this very tree has no problems."
    return check


def _diff(case: Case) -> DiffReport | None:
    return last(case, DiffReport, lambda item: case.base in ("", item.base))


def _no_diff(case: Case) -> Missing:
    return missing(case, DiffReport, "compare the present tree with its base")


class Paths(Parameters, frozen=True):
    """Path patterns; `*` stays inside a folder, `**` crosses folders."""

    paths: Texts


def diff_within(case: Case, wanted: Paths) -> Verdict:
    """Every changed file lies in the named paths."""
    report = _diff(case)
    if report is None:
        return _no_diff(case)
    outside = [each.path for each in report.files if not matches(each.path, wanted.paths)]
    if outside:
        return Failed(f"Changed outside {some(wanted.paths)}: {some(outside)}.")
    return Passed(f"All {len(report.files)} changed files are within {some(wanted.paths)}.")


class DiffLimits(Parameters, frozen=True):
    """How large a change may be: in files, or in added and removed lines."""

    max_files: Count | None = None
    max_lines: Count | None = None

    def __post_init__(self) -> None:
        if self.max_files is None and self.max_lines is None:
            raise ValueError("`diff_size` needs `max_files` or `max_lines`")


def diff_size(case: Case, limits: DiffLimits) -> Verdict:
    """The change is not larger than agreed."""
    report = _diff(case)
    if report is None:
        return _no_diff(case)
    lines = sum(each.added + each.removed for each in report.files)
    if limits.max_files is not None and len(report.files) > limits.max_files:
        return Failed(f"{len(report.files)} files changed; at most {limits.max_files} may.")
    if limits.max_lines is not None and lines > limits.max_lines:
        return Failed(f"{lines} lines changed; at most {limits.max_lines} may.")
    return Passed(f"{len(report.files)} files and {lines} lines changed.")


def forbidden_paths_untouched(case: Case, wanted: Paths) -> Verdict:
    """No changed file lies in the named paths."""
    report = _diff(case)
    if report is None:
        return _no_diff(case)
    touched = [each.path for each in report.files if matches(each.path, wanted.paths)]
    if touched:
        return Failed(f"Forbidden paths were changed: {some(touched)}. Take that back.")
    return Passed(f"Nothing in {some(wanted.paths)} changed.")


def keep_regions_intact(case: Case, _: NoParameters) -> Verdict:
    """No keep region changed."""
    report = _diff(case)
    if report is None:
        return _no_diff(case)
    if report.keep_regions_touched:
        return Failed(f"Keep regions changed: {some(report.keep_regions_touched)}.")
    return Passed("Keep regions are intact.")


def no_secrets_added(case: Case, _: NoParameters) -> Verdict:
    """The change adds nothing that looks like a secret."""
    report = _diff(case)
    if report is None:
        return _no_diff(case)
    if report.secrets_added:
        return Failed(f"Secrets were added: {some(report.secrets_added)}. Take them out.")
    return Passed("No secret was added.")


class OneFile(Parameters, frozen=True):
    """Which file must be there."""

    path: Text


def file_exists(case: Case, wanted: OneFile) -> Verdict:
    """The file is there."""
    report = last(case, FileReport, lambda item: item.path == wanted.path)
    if report is None:
        return missing(case, FileReport, f"look for {wanted.path}")
    if not report.exists:
        return Failed(f"{wanted.path} does not exist.")
    return Passed(f"{wanted.path} exists.")


class FileText(Parameters, frozen=True):
    """Which text a file must hold."""

    path: Text
    text: Text


def file_contains(case: Case, wanted: FileText) -> Verdict:
    """The file is there and holds the text."""

    def looked(item: FileReport) -> bool:
        if item.path != wanted.path:
            return False
        return not item.exists or wanted.text in item.asked or wanted.text in item.contains

    report = last(case, FileReport, looked)
    if report is None:
        return missing(case, FileReport, f"look for {wanted.text!r} in {wanted.path}")
    if not report.exists:
        return Failed(f"{wanted.path} does not exist.")
    if wanted.text not in report.contains:
        return Failed(f"{wanted.path} does not contain {wanted.text!r}.")
    return Passed(f"{wanted.path} contains {wanted.text!r}.")


class Address(Parameters, frozen=True):
    """Which address counts, in full or as a path that begins with `/`; without it, any."""

    url: str = ""

    def names(self, url: str) -> bool:
        if self.url.startswith("/"):
            return (urlsplit(url).path or "/") == self.url
        return self.url in ("", url)


class Answer(Address, frozen=True):
    """Which address must answer, and how; without a status, any success."""

    status: Annotated[int, msgspec.Meta(ge=100, le=599)] | None = None


def http_ok(case: Case, wanted: Answer) -> Verdict:
    """The address answers well."""
    report = last(case, HttpReport, lambda item: wanted.names(item.url))
    if report is None:
        return missing(case, HttpReport, f"probe {wanted.url or 'the address'} with `http_probe`")
    if report.error:
        return Failed(f"{report.url} did not answer: {report.error}.")
    good = report.status == wanted.status if wanted.status else 200 <= report.status < 400
    if not good:
        expected = f", not {wanted.status}" if wanted.status else ""
        return Failed(f"{report.url} answered {report.status}{expected}.")
    return Passed(f"{report.url} answered {report.status}.")


def console_clean(case: Case, wanted: Address) -> Verdict:
    """The page wrote no error to its console and every request succeeded."""
    report = last(case, ConsoleReport, lambda item: wanted.names(item.url))
    if report is None:
        page = wanted.url or "the page"
        return missing(case, ConsoleReport, f"open {page} with `browser_console`")
    troubles = (*report.errors, *report.failed_requests)
    if troubles:
        return Failed(f"{report.url} reports {len(troubles)} errors: {some(troubles, 1)}.")
    return Passed(f"The console of {report.url} is clean.")


class Picture(Address, frozen=True):
    """Which page must look as expected; without an expectation, any judged one."""

    expectation: str = ""


def visual_ok(case: Case, wanted: Picture) -> Verdict:
    """The page looks as expected."""

    def fits(item: VisualReport) -> bool:
        return wanted.names(item.url) and wanted.expectation in ("", item.expectation)

    report = last(case, VisualReport, fits)
    if report is None:
        page = wanted.url or "the page"
        return missing(case, VisualReport, f"look at {page} with `visual_qa`")
    if strength(report) is Strength.NOTHING:
        note = f": {report.note}" if report.note else ""
        return Failed(f"{report.url} does not look as expected{note}.")
    return Passed(f"{report.url} looks as expected.")


class CoverageLimits(Parameters, frozen=True):
    """How far coverage may drop, and how low it may be, in per cent."""

    tolerance: Percent = 0.0
    minimum: Percent = 0.0


def coverage_not_dropped(case: Case, limits: CoverageLimits) -> Verdict:
    """Coverage is not lower than before."""
    report = last(case, CoverageReport)
    if report is None:
        return missing(case, CoverageReport, "measure coverage on the present tree")
    if report.after < report.before - limits.tolerance:
        return Failed(f"Coverage dropped from {report.before:g} % to {report.after:g} %.")
    if report.after < limits.minimum:
        return Failed(f"Coverage is {report.after:g} %; at least {limits.minimum:g} % is wanted.")
    return Passed(f"Coverage went from {report.before:g} % to {report.after:g} %.")


class Approval(Parameters, frozen=True):
    """What a person must have accepted; without it, anything about this tree."""

    what: str = ""


def human_approved(case: Case, wanted: Approval) -> Verdict:
    """A person accepted this very tree."""
    report = last(case, ApprovalReport, lambda item: wanted.what in ("", item.what))
    if report is None:
        return missing(case, ApprovalReport, f"ask a person to accept {wanted.what or 'this'}")
    if not report.granted:
        return Failed(f"{report.by} did not accept it.")
    return Passed(f"{report.by} accepted it.")
