"""Gates: conditions for leaving a card, and the gate before done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from flyball.plan import change_checks as changes
from flyball.plan import suite_checks as checks
from flyball.plan.template import GateUse, Template
from flyball.plan.verdict import Case, Failed, Missing, Passed, Verdict
from flyball.terms.evidence import (
    CheckKind,
    CommandReport,
    Evidence,
    GateReport,
    Strength,
    SuiteReport,
    TreeHash,
)
from flyball.terms.evidence_rows import (
    EVIDENCE_ROWS,
    current_evidence,
    is_failing,
    is_style,
    known_red,
    new_failure,
    strength,
    strongest,
    verification_key,
)
from flyball.terms.shape import Fault, Path, faults, suggest


class Gate(NamedTuple):
    """A check and its parameters.

    Failing a gate with `forbids` is a forbidden change; a gate with `claims` trusts the driver's
    claim; a gate with `looks` runs or reads something, beyond comparing the tree with its base.
    """

    check: Callable[[Case, Any], Verdict]
    parameters: type[checks.Parameters] = checks.NoParameters
    forbids: bool = False
    claims: bool = False
    looks: bool = False

    @property
    def summary(self) -> str:
        return (self.check.__doc__ or "").strip()


GATES: Mapping[str, Gate] = MappingProxyType(
    {
        "criteria_checklist_complete": Gate(checks.criteria_checklist_complete, claims=True),
        "evidence_present": Gate(checks.evidence_present, checks.Names, claims=True),
        "tests_pass": Gate(checks.tests_pass, checks.SuiteLimits, looks=True),
        "new_test_fails_before": Gate(checks.new_test_fails_before, looks=True),
        "tests_not_weakened": Gate(checks.tests_not_weakened, forbids=True),
        "command_succeeds": Gate(checks.command_succeeds, checks.Command, looks=True),
        "build_passes": Gate(checks.check_of(CheckKind.BUILD), checks.AnyCommand, looks=True),
        "lint_clean": Gate(checks.check_of(CheckKind.LINT), checks.AnyCommand, looks=True),
        "types_clean": Gate(checks.check_of(CheckKind.TYPES), checks.AnyCommand, looks=True),
        "diagnostics_clean": Gate(
            checks.check_of(CheckKind.DIAGNOSTICS), checks.AnyCommand, looks=True
        ),
        "diff_within": Gate(changes.diff_within, changes.Paths, forbids=True),
        "diff_size": Gate(changes.diff_size, changes.DiffLimits, forbids=True),
        "forbidden_paths_untouched": Gate(
            changes.forbidden_paths_untouched, changes.Paths, forbids=True
        ),
        "keep_regions_intact": Gate(changes.keep_regions_intact, forbids=True),
        "file_exists": Gate(changes.file_exists, changes.OneFile, looks=True),
        "file_contains": Gate(changes.file_contains, changes.FileText, looks=True),
        "http_ok": Gate(changes.http_ok, changes.HttpExpectation, looks=True),
        "console_clean": Gate(changes.console_clean, changes.Address, looks=True),
        "visual_ok": Gate(changes.visual_ok, changes.PictureExpectation, looks=True),
        "coverage_not_dropped": Gate(
            changes.coverage_not_dropped, changes.CoverageLimits, looks=True
        ),
        "human_approved": Gate(checks.human_approved, checks.Approval),
        "no_secrets_added": Gate(changes.no_secrets_added, forbids=True),
    }
)


OF_VERDICT = frozenset({"tests_pass", "new_test_fails_before", "tests_not_weakened"})
"""Gates that are answered by the verdict on a change, from Flyball's own runs."""


def gate_faults(use: Mapping[str, object], path: Path = ()) -> tuple[Fault, ...]:
    """Return what is wrong with a gate's type or parameters."""
    name = use.get("type")
    gate = GATES.get(name) if isinstance(name, str) else None
    if gate is None:
        if not isinstance(name, str) or not name.strip():
            return ()
        message = f"There is no gate `{name}`."
        return (Fault((*path, "type"), "unknown-gate", message, suggest(name, GATES)),)
    where = (*path, "parameters")
    given = use.get("parameters", {})
    found = faults(given, gate.parameters, where)
    if found:
        return tuple(each._replace(code=_CODES.get(each.code, each.code)) for each in found)
    try:
        msgspec.convert(given, gate.parameters)
    except msgspec.ValidationError as error:
        return (Fault(where, "bad-parameter", f"{error}.", "Add what is missing."),)
    return ()


_CODES = {"missing-field": "bad-parameter", "wrong-type": "bad-parameter"}


def judge(use: GateUse, case: Case) -> Verdict:
    """Judge a case by one gate; a gate that is itself invalid never passes."""
    gate = GATES.get(use.type)
    if gate is not None:
        try:
            found = gate.check(case, msgspec.convert(use.parameters, gate.parameters))
            return _explained(use, case) or found if isinstance(found, Missing) else found
        except msgspec.ValidationError as error:
            return Failed(f"The parameters of `{use.type}` are wrong: {error}.")
    return Failed(f"There is no gate `{use.type}`. {suggest(use.type, GATES)}")


def _explained(use: GateUse, case: Case) -> Verdict | None:
    """Explain why Flyball could not make the observation that a gate needs."""

    def fits(item: GateReport) -> bool:
        return item.gate == use.type and item.parameters == use.parameters

    report = checks.latest_here(case, GateReport, fits)
    if report is None:
        return None
    return Failed(report.why) if report.refused else Missing(report.why, is_trouble=True)


def judge_all(template: Template, case: Case) -> tuple[tuple[GateUse, Verdict], ...]:
    """Return the verdict of every gate of a template, in the template's order."""
    full = case._replace(schema=template.evidence_schema)
    return tuple((use, judge(use, full)) for use in template.gates)


def judge_done(
    evidence: Sequence[Evidence], tree: TreeHash, base: TreeHash = "", *, has_suite: bool
) -> Verdict:
    """Judge the gate before done: fresh, passing verification of this exact tree.

    Where the project has tests, a green run satisfies it, or an observation of what the change
    shows. Where it has none, a build or type check does. Parsing or linting alone never does.
    """
    counted = [item for item in evidence if not _ran_nothing(item)]
    present = current_evidence(counted, tree)
    if not present:
        return Missing(_what_to_run(evidence, tree, has_suite))
    best = strongest(counted, tree, base)
    if best >= Strength.GREEN:
        return Passed(f"Verified on the current tree: {best.label}.")
    if red := new_failure(present, known_red(counted, base)):
        return Failed(f"{checks.explain_failures(red)} Fix that and run `{red.command}` again.")
    wanted = {Strength.SHOWN} if has_suite else {Strength.SHOWN, Strength.CHECKED}
    enough = {strength(item) for item in present} & wanted
    broken = _new_trouble(present, counted, base)
    if broken and (enough or not has_suite):
        return Failed(f"{EVIDENCE_ROWS[type(broken)].fault(broken)}. Fix that and check again.")
    if enough:
        return Passed(f"Verified on the current tree: {max(enough).label}.")
    return Missing(_what_to_run(evidence, tree, has_suite))


def _ran_nothing(item: Evidence) -> bool:
    """Return whether a test run selected nothing, so that it neither passes nor fails."""
    if not isinstance(item, SuiteReport) or item.timed_out or item.failures:
        return False
    return not item.passed and not item.failed and item.exit_code in checks.NOTHING_RAN


def _new_trouble(
    present: Sequence[Evidence], evidence: Sequence[Evidence], base: TreeHash
) -> Evidence | None:
    """Return the last failing check that did not fail on the base tree; style checks do not
    count."""
    before = {
        verification_key(item) for item in current_evidence(evidence, base) if is_failing(item)
    }
    for item in reversed(present):
        if isinstance(item, SuiteReport) or is_style(item) or verification_key(item) in before:
            continue
        if is_failing(item):
            return item
    return None


def _what_to_run(evidence: Sequence[Evidence], tree: TreeHash, has_suite: bool) -> str:
    """Say exactly what would satisfy the gate, and why the current evidence does not."""
    suites = [item for item in evidence if isinstance(item, SuiteReport)]
    if not has_suite and not suites:
        return (
            "Nothing verifies the current tree, and the project has no tests. Run `check` for "
            "build or types, or open what it serves."
        )
    run = f"Run `test` (`{suites[-1].command}`)" if suites else "Run `test`"
    fresh = [item for item in evidence if item.tree == tree]
    if ran := [item for item in suites if item.tree == tree]:
        if all(map(_ran_nothing, ran)):
            return f"{checks.explain_failures(ran[-1])} Run `test` so that tests run."
        return (
            "The suite fails only where it failed before. Run `test` on the tests for this "
            "change alone, to show that they pass."
        )
    if empty := [item for item in fresh if isinstance(item, CommandReport) and item.proves_nothing]:
        return f"`{empty[-1].command}` proves nothing: {empty[-1].proves_nothing}. {run}."
    if any(strength(item) > Strength.NOTHING for item in fresh):
        return f"What was checked does not show that it works. {run} on the current tree."
    if any(strength(item) > Strength.NOTHING or is_failing(item) for item in evidence):
        return f"The tree changed since it was last verified. {run} again."
    return f"Nothing verifies the current tree. {run}."
