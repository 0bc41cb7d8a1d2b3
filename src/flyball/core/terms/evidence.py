"""Evidence is what Flyball itself observed; a claim is what a model said. They are never mixed.

Every piece of evidence is bound to the tree it was observed on. Any later mutation makes it stale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum, StrEnum
from typing import Any, TypeVar

import msgspec

TreeHash = str


class Evidence(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """One observation: what was looked at, on which tree, how long it took."""

    id: str
    tree: TreeHash
    elapsed: float = 0.0


class FailedTest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One failing test and the first lines of why."""

    name: str
    message: str = ""


class SuiteReport(Evidence, frozen=True, kw_only=True, tag="suite-report"):
    """A test run."""

    runner: str
    command: str
    exit_code: int
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: tuple[FailedTest, ...] = ()
    selected: bool = False
    timed_out: bool = False
    reason: str = ""

    @property
    def first_failure(self) -> str:
        return self.failures[0].name if self.failures else "(unnamed)"

    @property
    def is_green(self) -> bool:
        return self.exit_code == 0 and not self.failed and self.passed > 0 and not self.timed_out


class CheckKind(StrEnum):
    """What a check looks at, strongest first."""

    BUILD = "build"
    TYPES = "types"
    DIAGNOSTICS = "diagnostics"
    LINT = "lint"
    SYNTAX = "syntax"


class CheckReport(Evidence, frozen=True, kw_only=True, tag="check-report"):
    """A build, type check, lint or syntax check."""

    kind: CheckKind
    command: str
    exit_code: int
    problems: tuple[str, ...] = ()
    count: int = 0


class CommandReport(Evidence, frozen=True, kw_only=True, tag="command-report"):
    """A command that Flyball ran; `proves_nothing` says why it is no verification."""

    command: str
    exit_code: int
    verification: bool = False
    proves_nothing: str = ""
    timed_out: bool = False


class HttpReport(Evidence, frozen=True, kw_only=True, tag="http-report"):
    """What an address answered."""

    url: str
    status: int
    error: str = ""


class ConsoleReport(Evidence, frozen=True, kw_only=True, tag="console-report"):
    """What a page wrote to its console."""

    url: str
    errors: tuple[str, ...] = ()
    failed_requests: tuple[str, ...] = ()


class VisualReport(Evidence, frozen=True, kw_only=True, tag="visual-report"):
    """What a picture of a page shows, judged against an expectation."""

    url: str
    expectation: str
    ok: bool
    note: str = ""


class BaseRun(Evidence, frozen=True, kw_only=True, tag="base-run"):
    """The same suite on the tree from before the change; `tree` is what it is meant to prove."""

    report: str
    base: TreeHash
    outcome: str
    detail: str = ""


class Weakened(msgspec.Struct, frozen=True, omit_defaults=True):
    """One place where a test got easier to pass."""

    path: str
    line: int
    kind: str
    detail: str = ""


class WeakeningReport(Evidence, frozen=True, kw_only=True, tag="weakening-report"):
    """How the tests changed against the base tree."""

    base: TreeHash
    findings: tuple[Weakened, ...] = ()


class FileChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """One changed file and its size in lines."""

    path: str
    type: str
    added: int = 0
    removed: int = 0


class DiffReport(Evidence, frozen=True, kw_only=True, tag="diff-report"):
    """The whole change against the base tree."""

    base: TreeHash
    files: tuple[FileChange, ...] = ()
    keep_regions_touched: tuple[str, ...] = ()
    secrets_added: tuple[str, ...] = ()


class FileReport(Evidence, frozen=True, kw_only=True, tag="file-report"):
    """Whether a file is there and which of the asked-for texts it holds."""

    path: str
    exists: bool
    asked: tuple[str, ...] = ()
    contains: tuple[str, ...] = ()


class CoverageReport(Evidence, frozen=True, kw_only=True, tag="coverage-report"):
    """Coverage in per cent, before and now."""

    before: float
    after: float


class ApprovalReport(Evidence, frozen=True, kw_only=True, tag="approval-report"):
    """A person's answer about this very tree."""

    by: str
    granted: bool
    what: str = ""


class GateReport(Evidence, frozen=True, kw_only=True, tag="gate-report"):
    """Why Flyball did not look for a gate: it may not, where `refused`, or it cannot."""

    gate: str
    parameters: dict[str, Any] = {}
    why: str
    refused: bool = False


AnyEvidence = (
    SuiteReport
    | CheckReport
    | CommandReport
    | HttpReport
    | ConsoleReport
    | VisualReport
    | BaseRun
    | WeakeningReport
    | DiffReport
    | FileReport
    | CoverageReport
    | ApprovalReport
    | GateReport
)

E = TypeVar("E", bound=Evidence)


def latest(evidence: Iterable[Evidence], kind: type[E]) -> E | None:
    """The last evidence of one kind."""
    found: E | None = None
    for item in evidence:
        if isinstance(item, kind):
            found = item
    return found


class Strength(IntEnum):
    """How much a piece of evidence proves."""

    NOTHING = 0
    PARSES = 1
    SHOWN = 2
    CHECKED = 3
    GREEN = 4
    RED_GREEN = 5

    @property
    def label(self) -> str:
        return PROOF_LABELS[self]


PROOF_LABELS = {
    Strength.NOTHING: "unverified",
    Strength.PARSES: "unverified (it parses)",
    Strength.SHOWN: "it answers",
    Strength.CHECKED: "it builds or type-checks",
    Strength.GREEN: "tests are green",
    Strength.RED_GREEN: "tests went from red to green",
}


def strength(item: Evidence) -> Strength:
    """What one piece of evidence proves about its tree; a failing one proves nothing."""
    weigh = _WEIGHTS.get(type(item))
    return weigh(item) if weigh else Strength.NOTHING


def _of_suite(item: SuiteReport) -> Strength:
    return Strength.GREEN if item.is_green else Strength.NOTHING


def _of_check(item: CheckReport) -> Strength:
    if item.exit_code:
        return Strength.NOTHING
    return Strength.CHECKED if item.kind in COMPILES else Strength.PARSES


def _of_command(item: CommandReport) -> Strength:
    passes = item.exit_code == 0 and item.verification and not item.proves_nothing
    return Strength.CHECKED if passes else Strength.NOTHING


def _of_answer(item: HttpReport) -> Strength:
    answers = not item.error and 200 <= item.status < 400
    return Strength.SHOWN if answers else Strength.NOTHING


def _of_console(item: ConsoleReport) -> Strength:
    return Strength.NOTHING if item.errors or item.failed_requests else Strength.SHOWN


def _of_picture(item: VisualReport) -> Strength:
    return Strength.SHOWN if item.ok else Strength.NOTHING


COMPILES = frozenset({CheckKind.BUILD, CheckKind.TYPES, CheckKind.DIAGNOSTICS})

_WEIGHTS: dict[type[Evidence], Callable[[Any], Strength]] = {
    SuiteReport: _of_suite,
    CheckReport: _of_check,
    CommandReport: _of_command,
    HttpReport: _of_answer,
    ConsoleReport: _of_console,
    VisualReport: _of_picture,
}


def is_failing(item: Evidence) -> bool:
    """Whether this is a verification that came out badly."""
    match item:
        case SuiteReport():
            return not item.is_green
        case CheckReport():
            return item.exit_code != 0
        case CommandReport(verification=True):
            return item.exit_code != 0
        case HttpReport() | ConsoleReport() | VisualReport():
            return strength(item) is Strength.NOTHING
        case _:
            return False


def proof(evidence: Sequence[Evidence], tree: TreeHash, base: TreeHash = "") -> Strength:
    """The strongest proof for this very tree; failures that `base` did not have take it away."""
    present = standing(evidence, tree)
    if _is_contradicted(present, known_red(evidence, base)):
        return Strength.NOTHING
    best = max((strength(item) for item in present), default=Strength.NOTHING)
    was_red = any(isinstance(item, BaseRun) and item.outcome == "red" for item in present)
    return Strength.RED_GREEN if best is Strength.GREEN and was_red else best


def standing(evidence: Iterable[Evidence], tree: TreeHash) -> tuple[Evidence, ...]:
    """What is known of this very tree: of each thing the last observation, in the order taken."""
    last: dict[Key, Evidence] = {}
    for item in evidence:
        if item.tree == tree:
            key = verification_key(item)
            last.pop(key, None)
            last[key] = item
    return tuple(last.values())


def known_red(evidence: Sequence[Evidence], base: TreeHash) -> frozenset[str]:
    """The tests that failed before anything was changed."""
    return frozenset(
        failure.name
        for item in evidence
        if isinstance(item, SuiteReport) and item.tree == base
        for failure in item.failures
    )


def _is_contradicted(standing: Sequence[Evidence], known_red: frozenset[str]) -> bool:
    """Whether a suite is red in a way that no later full run has answered."""
    red = False
    for item in standing:
        if not isinstance(item, SuiteReport):
            continue
        if item.is_green:
            red = red and item.selected
        elif not item.failures or any(each.name not in known_red for each in item.failures):
            red = True
    return red


Key = tuple[type[Evidence], str]


_SUBJECTS: dict[type[Evidence], str] = {
    SuiteReport: "command",
    CheckReport: "command",
    CommandReport: "command",
    HttpReport: "url",
    ConsoleReport: "url",
    VisualReport: "url",
}


def verification_key(item: Evidence) -> Key:
    """Two observations with one key speak of the same thing: the later one counts."""
    kind = type(item)
    subject = _SUBJECTS.get(kind)
    return kind, getattr(item, subject) if subject else ""
