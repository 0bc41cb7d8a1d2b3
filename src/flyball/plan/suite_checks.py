"""The checks behind the gates: pure questions about evidence on the current tree.

Each check takes a case and its parameters. Evidence about another tree is stale and does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, TypeVar

import msgspec

from flyball.plan.template import CHECKLIST, Text
from flyball.plan.verdict import Case, Failed, Missing, Passed, Verdict
from flyball.terms.change_verdict import ChangeStrength, ChangeVerdict, FindingKind
from flyball.terms.evidence import (
    ApprovalReport,
    BaseRun,
    CheckKind,
    CheckReport,
    CommandReport,
    Evidence,
    Strength,
    SuiteReport,
    VerdictReport,
    WeakeningReport,
)
from flyball.terms.evidence_rows import is_failing, strongest
from flyball.terms.shape import is_map, listed

E = TypeVar("E", bound=Evidence)

Count = Annotated[int, msgspec.Meta(ge=1)]

WEAKENED = "weakened-tests"
NOTHING_FAILED = FindingKind.NOTHING_FAILED_BEFORE
NOTHING_RAN = frozenset({0, 5})
"""Exit codes of runners that found no test to run: mostly 0, for pytest and unittest 5."""


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters of a gate."""


class NoParameters(Parameters, frozen=True):
    """No parameters."""


def latest_here(case: Case, kind: type[E], fits: Callable[[E], bool] = lambda _: True) -> E | None:
    """Return the latest evidence of a kind about the current tree."""
    for item in reversed(case.evidence):
        if isinstance(item, kind) and item.tree == case.tree and fits(item):
            return item
    return None


def unobserved(
    case: Case, kinds: type[Evidence] | tuple[type[Evidence], ...], what: str
) -> Missing:
    """Build the sentence that says what to run, and say whether an older observation exists."""
    if any(isinstance(item, kinds) for item in case.evidence):
        return Missing(f"The results are for an earlier tree; {what}.")
    return Missing(f"Nothing has run yet; {what}.")


def criteria_checklist_complete(case: Case, _: NoParameters) -> Verdict:
    """Accept the driver's claim that each criterion is met; Flyball cannot verify that itself."""
    criteria = case.schema.criteria_checklist
    claimed = case.submission.get(CHECKLIST)
    answers: Mapping[object, object] = claimed if is_map(claimed) else {}
    open_ones = [f"{key} ({text})" for key, text in criteria.items() if key not in answers]
    if open_ones or not criteria:
        return Missing(f"No answer for {listed(open_ones) or CHECKLIST}; submit true or false.")
    unmet = [f"{key} ({text})" for key, text in criteria.items() if answers[key] is not True]
    if unmet:
        return Failed(f"Not met: {listed(unmet)}.")
    return Passed(f"All {len(criteria)} criteria are claimed to be met.")


class Names(Parameters, frozen=True):
    """The submitted fields that are required; by default all that the form requires."""

    names: tuple[Text, ...] = ()


def evidence_present(case: Case, wanted: Names) -> Verdict:
    """Require that the driver filled in the named fields with values of the right type."""
    names = wanted.names or case.schema.required
    absent = [name for name in names if name not in case.submission]
    if absent:
        return Missing(f"Submit {listed(absent)}.")
    wrong = [name for name in names if not case.schema.kind(name).admits(case.submission[name])]
    if wrong:
        return Failed(f"{wrong[0]} must be {case.schema.kind(wrong[0]).expected}.")
    return Passed(f"Submitted: {listed(names) or 'nothing was asked for'}.")


class SuiteLimits(Parameters, frozen=True):
    """The number of tests that must pass."""

    at_least: Count = 1


def tests_pass(case: Case, limits: SuiteLimits) -> Verdict:
    """Require that the whole suite is green on this exact tree, and ran something."""
    if found := latest_here(case, VerdictReport, lambda item: case.base in ("", item.base)):
        return _by_verdict(found.verdict, limits)
    report = latest_here(case, SuiteReport, lambda item: not item.selected or is_failing(item))
    if report is None:
        return unobserved(case, SuiteReport, "run `test` on the current tree")
    # Whoever selects the tests does not decide whether the suite passes.
    suites = [
        item
        for item in case.evidence
        if isinstance(item, SuiteReport) and (not item.selected or is_failing(item))
    ]
    if strongest(suites, case.tree, case.base) < Strength.GREEN:
        return Failed(explain_failures(latest_here(case, SuiteReport, is_failing) or report))
    passed = max(item.passed for item in suites if item.tree == case.tree)
    if passed < limits.at_least:
        return Failed(f"Only {passed} tests passed; at least {limits.at_least} must.")
    return Passed(f"{passed} tests pass.")


def _by_verdict(verdict: ChangeVerdict, limits: SuiteLimits) -> Verdict:
    against = [each for each in verdict.blocking if each.kind is not NOTHING_FAILED]
    if against:
        return Failed(against[0].sentence)
    if not verdict.has_suite:
        return Missing("The project has no tests, so none pass.")
    passed = sum(line.passed for line in verdict.ran if line.run == "after")
    if passed < limits.at_least:
        return Failed(f"Only {passed} tests passed; at least {limits.at_least} must.")
    said = f"{passed} tests pass: {verdict.headline}."
    if verdict.old_failures:
        # They are not blamed on the change, and whoever reads that tests pass must know of them.
        said += f" Not {listed(verdict.old_failures)}: failing before the change, and still."
    return Passed(said)


def explain_failures(report: SuiteReport) -> str:
    """Explain why a test run is not green."""
    if report.timed_out:
        return f"`{report.command}` was ended because it took too long."
    if report.failed:
        return f"{report.failed} tests fail, first {report.first_failure}."
    if not report.passed and report.exit_code in NOTHING_RAN:
        return f"`{report.command}` ran no tests, and that is not a pass."
    reason = f": {report.reason}" if report.reason else ""
    return f"`{report.command}` ended with exit code {report.exit_code}{reason}."


def new_test_fails_before(case: Case, _: NoParameters) -> Verdict:
    """Require that the tests that verify the change fail on the tree before it."""
    if found := latest_here(case, VerdictReport, lambda item: case.base in ("", item.base)):
        if found.verdict.strength >= ChangeStrength.NEW_TESTS:
            return Passed(f"They failed before: {listed(found.verdict.mended)}.")
        return Failed("Every test passes without the change too, so none proves anything.")
    run = latest_here(case, BaseRun, lambda item: case.base in ("", item.base))
    if run is None:
        return unobserved(case, BaseRun, "run the verifying tests on the base tree")
    if run.outcome == "red":
        return Passed("The verifying tests fail without the change.")
    if run.outcome == "green":
        return Failed("The verifying tests pass without the change too, so they prove nothing.")
    return Missing(f"The tests could not be judged on the base tree: {run.detail or run.outcome}.")


def tests_not_weakened(case: Case, _: NoParameters) -> Verdict:
    """Require that no test became easier to pass, unless a person accepted it."""
    if found := latest_here(case, VerdictReport, lambda item: case.base in ("", item.base)):
        if found.verdict.questions:
            return Failed(listed([each.sentence for each in found.verdict.questions]))
        return Passed("No test got easier to pass unasked.")
    report = latest_here(case, WeakeningReport, lambda item: case.base in ("", item.base))
    if report is None:
        return unobserved(case, WeakeningReport, "compare the tests with the base tree")
    if not report.findings:
        return Passed("No test got easier to pass.")
    approval = latest_here(case, ApprovalReport, lambda item: item.what == WEAKENED)
    if approval and approval.granted:
        return Passed(f"{approval.by} accepted the weaker tests.")
    places = [f"{each.path}:{each.line} ({each.kind})" for each in report.findings]
    return Failed(f"Tests got easier to pass: {listed(places)}.")


class Command(Parameters, frozen=True):
    """The command that must succeed, exactly as it is run."""

    command: Text


def command_succeeds(case: Case, wanted: Command) -> Verdict:
    """Require that this exact command succeeded on this exact tree, and could have failed."""
    kinds = (CommandReport, CheckReport, SuiteReport)
    asked = wanted.command.split()
    for item in reversed(case.evidence):
        if not isinstance(item, kinds) or item.command.split() != asked or item.tree != case.tree:
            continue
        if isinstance(item, CommandReport) and item.proves_nothing:
            return Failed(f"`{wanted.command}` proves nothing: {item.proves_nothing}.")
        if isinstance(item, SuiteReport) and not item.is_green:
            return Failed(explain_failures(item))
        if isinstance(item, CommandReport) and item.timed_out:
            slow = f"`{wanted.command}` was ended because it took too long."
            return Failed(slow, is_trouble=True)
        if item.exit_code:
            return Failed(f"`{wanted.command}` ended with exit code {item.exit_code}.")
        return Passed(f"`{wanted.command}` succeeded.")
    return unobserved(case, kinds, f"run `{wanted.command}` on the current tree")


class AnyCommand(Parameters, frozen=True):
    """The command that counts; default: the project's own."""

    command: str = ""


def check_of(kind: CheckKind) -> Callable[[Case, AnyCommand], Verdict]:
    """Return a check that passes if the latest report of one kind has no problems."""

    def check(case: Case, wanted: AnyCommand) -> Verdict:
        def fits(item: CheckReport) -> bool:
            same = not wanted.command or item.command.split() == wanted.command.split()
            is_told = kind is CheckKind.DIAGNOSTICS and item.is_of_change
            return (item.kind is kind or is_told) and same

        present = [item for item in case.evidence if item.tree == case.tree]
        checks = [item for item in present if isinstance(item, CheckReport) and fits(item)]
        reports = {item.command: item for item in checks}
        if not reports:
            return unobserved(case, CheckReport, f"run `check` for {kind} on the current tree")
        for report in reports.values():
            if report.exit_code or report.problems or report.count:
                first = f", first {report.problems[0]}" if report.problems else ""
                count = max(report.count, len(report.problems))
                return Failed(f"`{report.command}` reports {count or 'some'} problems{first}.")
        names = listed(f"`{command}`" for command in reports)
        return Passed(f"{names} {'is' if len(reports) == 1 else 'are'} clean.")

    check.__doc__ = f"Every {kind} check on this exact tree has no problems."
    return check


class Approval(Parameters, frozen=True):
    """The approval a gate requires; by default, any approval of this tree."""

    what: str = ""


def human_approved(case: Case, wanted: Approval) -> Verdict:
    """Require that a person accepted this exact tree."""
    report = latest_here(case, ApprovalReport, lambda item: wanted.what in ("", item.what))
    if report is None:
        return unobserved(case, ApprovalReport, f"ask a person to accept {wanted.what or 'this'}")
    if not report.granted:
        return Failed(f"{report.by} did not accept it.")
    return Passed(f"{report.by} accepted it.")
