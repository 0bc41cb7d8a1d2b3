"""One row per class of evidence: its words, its problems, its strength, its subject.

Everything that differs between the classes is a column here, and other code asks a row instead of
testing classes. The functions at the end combine a list of observations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import msgspec

from flyball.terms.change_verdict import ChangeStrength, FindingKind
from flyball.terms.evidence import (
    ApprovalReport,
    BaseRun,
    CheckKind,
    CheckReport,
    CommandReport,
    ConsoleReport,
    CoverageReport,
    DiffReport,
    Evidence,
    FailedTest,
    FileReport,
    GateReport,
    HttpReport,
    Strength,
    SuiteReport,
    TreeHash,
    VerdictReport,
    VisualReport,
    WeakeningReport,
)

E = TypeVar("E", bound=Evidence)

COMPILES = frozenset({CheckKind.BUILD, CheckKind.TYPES, CheckKind.DIAGNOSTICS})


def _nothing(_: Evidence) -> Strength:
    return Strength.NOTHING


def _never(_: Evidence) -> bool:
    return False


def _no_problems(_: Evidence) -> tuple[str, ...]:
    return ()


class EvidenceRow(msgspec.Struct, Generic[E], frozen=True):
    """The properties of one class of evidence."""

    kind: type[E]
    words: Callable[[E], str]
    """One line for people and drivers."""
    subject: str = ""
    """The field that names what was observed: of two observations of one thing the later counts."""
    weigh: Callable[[E], Strength] = _nothing
    fails: Callable[[E], bool] = _never
    fault: Callable[[E], str] = str
    """How a failing one came out, as a clause; asked only of those that can fail."""
    problems: Callable[[E], tuple[str, ...]] = _no_problems
    """What a failing one complains of, piece by piece."""


def _suite_strength(item: SuiteReport) -> Strength:
    return Strength.GREEN if item.is_green else Strength.NOTHING


def _suite_line(item: SuiteReport) -> str:
    if not item.counted:
        return f"{item.command}: uncounted, exit {item.exit_code}"
    return f"{item.command}: {item.passed} passed, {item.failed} failed"


def _suite_problems(item: SuiteReport) -> tuple[str, ...]:
    return tuple(map(_failure, item.failures)) or ((item.reason,) if item.reason else ())


def _failure(test: FailedTest) -> str:
    message = test.message.strip().split("\n")[-1]
    return f"{test.name} fails: {message}" if message else f"{test.name} fails"


def _check_strength(item: CheckReport) -> Strength:
    if item.exit_code:
        return Strength.NOTHING
    return Strength.CHECKED if item.kind in COMPILES else Strength.PARSES


def _command_strength(item: CommandReport) -> Strength:
    passes = item.exit_code == 0 and item.verification and not item.proves_nothing
    return Strength.CHECKED if passes else Strength.NOTHING


def _exit(item: SuiteReport | CheckReport | CommandReport) -> str:
    return f"`{item.command}` ended with exit code {item.exit_code}"


def _answer(item: HttpReport) -> str:
    return f"{item.url} answered {item.error or item.status}"


def _answers_well(item: HttpReport) -> bool:
    return not item.error and 200 <= item.status < 400


def _console_problems(item: ConsoleReport) -> tuple[str, ...]:
    return (*item.errors, *item.failed_requests)


def _console_line(item: ConsoleReport) -> str:
    found = f"the console of {item.url} has {len(_console_problems(item))} errors"
    return f"{found}{_difference(item)}"


def _picture_line(item: VisualReport) -> str:
    if item.is_unjudged:
        found = item.note or "nothing is plainly wrong"
        return f"a picture of {item.url}: {found} (not judged by a model){_difference(item)}"
    said = f"{item.url} {'shows' if item.ok else 'does not show'} {item.expectation}"
    return f"{said} (judged by {item.judged_by}){_difference(item)}" if item.judged_by else said


def _difference(item: ConsoleReport | VisualReport) -> str:
    return (
        f"; {percent(item.change.share)} of the picture differs from before" if item.change else ""
    )


def percent(share: float) -> str:
    """Return a percentage for people; a small share never reads as zero."""
    return "less than 0.1 %" if 0 < share < 0.001 else f"{share * 100:.3g} %"


def _shown(is_good: bool) -> Strength:
    return Strength.SHOWN if is_good else Strength.NOTHING


_OF_VERDICT = {
    ChangeStrength.UNVERIFIED: Strength.NOTHING,
    ChangeStrength.SHOWN: Strength.SHOWN,
    ChangeStrength.CHECKED: Strength.CHECKED,
    ChangeStrength.EXIT_ZERO: Strength.PARSES,
    ChangeStrength.EXIT_MENDED: Strength.GREEN,
    ChangeStrength.GREEN: Strength.GREEN,
    ChangeStrength.NEW_TESTS: Strength.RED_GREEN,
    ChangeStrength.OLD_TESTS: Strength.RED_GREEN,
}


def _verdict_strength(item: VerdictReport) -> Strength:
    found = _OF_VERDICT[item.verdict.strength]
    # What sends the work back leaves nothing shown, but for the test that was asked for in vain.
    is_against = any(
        each.kind is not FindingKind.NOTHING_FAILED_BEFORE for each in item.verdict.blocking
    )
    return Strength.NOTHING if is_against else found


_ROWS = (
    EvidenceRow(
        SuiteReport,
        _suite_line,
        "command",
        _suite_strength,
        lambda item: item.is_red,
        _exit,
        _suite_problems,
    ),
    EvidenceRow(
        CheckReport,
        lambda item: f"{item.command}: exit {item.exit_code}",
        "command",
        _check_strength,
        lambda item: item.exit_code != 0,
        _exit,
        lambda item: item.problems,
    ),
    EvidenceRow(
        CommandReport,
        lambda item: f"{item.command}: exit {item.exit_code}",
        "command",
        _command_strength,
        # A command that was not run to verify anything may end as it likes.
        lambda item: item.verification and item.exit_code != 0,
        _exit,
    ),
    EvidenceRow(
        HttpReport,
        _answer,
        "url",
        lambda item: _shown(_answers_well(item)),
        lambda item: not _answers_well(item),
        _answer,
    ),
    EvidenceRow(
        ConsoleReport,
        _console_line,
        "url",
        lambda item: _shown(not _console_problems(item)),
        lambda item: bool(_console_problems(item)),
        lambda item: f"{item.url} reports: {_console_problems(item)[0]}",
        _console_problems,
    ),
    EvidenceRow(
        VisualReport,
        _picture_line,
        "url",
        lambda item: _shown(item.ok),
        lambda item: not item.ok,
        lambda item: f"{item.url} does not look as expected",
        lambda item: (item.note,) if item.note else (),
    ),
    EvidenceRow(BaseRun, lambda item: f"on the base tree: {item.outcome} ({item.detail})"),
    EvidenceRow(WeakeningReport, lambda item: f"tests weakened in {len(item.findings)} places"),
    EvidenceRow(DiffReport, lambda item: f"{len(item.files)} files changed"),
    EvidenceRow(
        FileReport, lambda item: f"{item.path} {'is there' if item.exists else 'is not there'}"
    ),
    EvidenceRow(
        CoverageReport,
        lambda item: f"coverage: {item.before:g} % before, {item.after:g} % now",
    ),
    EvidenceRow(
        ApprovalReport,
        lambda item: f"{item.by} {'accepted' if item.granted else 'refused'} {item.what}".rstrip(),
    ),
    EvidenceRow(VerdictReport, lambda item: item.verdict.headline, weigh=_verdict_strength),
    EvidenceRow(GateReport, lambda item: f"not checked for {item.gate}: {item.why}"),
)

EVIDENCE_ROWS: Mapping[type[Evidence], EvidenceRow[Any]] = MappingProxyType(
    {row.kind: row for row in _ROWS}
)


def line_of(item: Evidence) -> str:
    """Return one piece of evidence in a line."""
    return EVIDENCE_ROWS[type(item)].words(item)


def complaint_of(item: Evidence) -> str:
    """Return the first problem in a piece of evidence, or its summary line if it has none."""
    problems = EVIDENCE_ROWS[type(item)].problems(item)
    return problems[0] if problems else line_of(item)


def strength(item: Evidence) -> Strength:
    """Return how much one piece of evidence shows about its tree; failing evidence shows
    nothing."""
    return EVIDENCE_ROWS[type(item)].weigh(item)


def is_failing(item: Evidence) -> bool:
    """Return whether this is a failed verification."""
    return EVIDENCE_ROWS[type(item)].fails(item)


def is_style(item: Evidence) -> bool:
    """Return whether this is only a style check, which counts neither for nor against the work."""
    return isinstance(item, CheckReport) and item.kind is CheckKind.LINT


Key = tuple[type[Evidence], str]


def verification_key(item: Evidence) -> Key:
    """Return the subject of an observation: of two with the same key, the later one counts."""
    kind = type(item)
    subject = EVIDENCE_ROWS[kind].subject
    return kind, getattr(item, subject) if subject else ""


def strongest(evidence: Sequence[Evidence], tree: TreeHash, base: TreeHash = "") -> Strength:
    """Return the strongest evidence for this exact tree; failures that are new since `base` cancel
    it."""
    present = current_evidence(evidence, tree)
    # The verdict was taken on clean checkouts, so it outweighs every look at the worked-in tree.
    for item in present:
        if isinstance(item, VerdictReport):
            return strength(item)
    if _is_contradicted(present, known_red(evidence, base)):
        return Strength.NOTHING
    best = max((strength(item) for item in present), default=Strength.NOTHING)
    was_red = any(isinstance(item, BaseRun) and item.outcome == "red" for item in present)
    return Strength.RED_GREEN if best is Strength.GREEN and was_red else best


def latest_of(evidence: Iterable[Evidence], kind: type[E]) -> E | None:
    """Return the last evidence of one kind."""
    found: E | None = None
    for item in evidence:
        if isinstance(item, kind):
            found = item
    return found


def current_evidence(evidence: Iterable[Evidence], tree: TreeHash) -> tuple[Evidence, ...]:
    """Return the evidence for this exact tree: the last observation of each subject, in order."""
    last: dict[Key, Evidence] = {}
    for item in evidence:
        if item.tree == tree:
            key = verification_key(item)
            # Taken out first, so that a repeated look moves to the end: order is time.
            last.pop(key, None)
            last[key] = item
    return tuple(last.values())


def known_red(evidence: Sequence[Evidence], base: TreeHash) -> frozenset[str]:
    """Return the tests that failed before anything was changed."""
    return frozenset(
        failure.name
        for item in evidence
        if isinstance(item, SuiteReport) and item.tree == base
        for failure in item.failures
    )


def new_failure(present: Sequence[Evidence], known: frozenset[str]) -> SuiteReport | None:
    """Return the last red suite with a failure that the base tree did not have."""
    for item in reversed(present):
        if isinstance(item, SuiteReport) and _is_newly_red(item, known):
            return item
    return None


def _is_newly_red(item: SuiteReport, known: frozenset[str]) -> bool:
    """Return whether a run is newly red; one that names no test may hide any failure, so it
    counts."""
    if not item.is_red:
        return False
    return not item.failures or any(each.name not in known for each in item.failures)


def _is_contradicted(present: Sequence[Evidence], known: frozenset[str]) -> bool:
    """Return whether a suite is red and no later full run passed."""
    red = False
    for item in present:
        if not isinstance(item, SuiteReport):
            continue
        if item.is_green:
            # A green selection says nothing about the tests that it left out.
            red = red and item.selected
        elif _is_newly_red(item, known):
            red = True
    return red
