"""Evidence is what Flyball itself observed; a claim is what a model said. They are never mixed.

Every piece of evidence is bound to the tree it was observed on. Any later mutation makes it stale.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

import msgspec

from flyball.terms.budget import Usage
from flyball.terms.change_verdict import ChangeVerdict

TreeHash = str


class Evidence(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """One observation: what was observed, on which tree, how long it took."""

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
    part: str = "."
    counted: bool = True
    """Whether single tests were identified; if not, there is only the exit code."""
    digest: str = ""
    """A digest of every test and its outcome, to compare two runs without their lists."""

    @property
    def first_failure(self) -> str:
        return self.failures[0].name if self.failures else "(unnamed)"

    @property
    def is_green(self) -> bool:
        return self.exit_code == 0 and not self.failed and self.passed > 0 and not self.timed_out

    @property
    def is_red(self) -> bool:
        """Return whether the run counts against the tree; an uncounted run with exit 0 counts for
        nothing."""
        is_open = not self.counted and self.exit_code == 0 and not self.timed_out
        return not self.is_green and not is_open


class CheckKind(StrEnum):
    """Kinds of checks, strongest first."""

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
    is_of_change: bool = False
    """Whether it reports only what the change introduced, as language servers are asked to."""


class CommandReport(Evidence, frozen=True, kw_only=True, tag="command-report"):
    """A command that Flyball ran; `proves_nothing` says why it does not verify anything."""

    command: str
    exit_code: int
    verification: bool = False
    proves_nothing: str = ""
    timed_out: bool = False


class HttpReport(Evidence, frozen=True, kw_only=True, tag="http-report"):
    """The response of an address."""

    url: str
    status: int
    error: str = ""
    own: bool = False
    """Whether it is a server that Flyball started from this exact tree."""


class PictureChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """The difference between a picture and the first one of the same page, from another tree."""

    before: str
    """Where that one is, from the project's top."""
    share: float
    """Which part of the pixels differs, from 0 to 1."""
    picture: str = ""
    """Where a picture of the difference is."""


class ConsoleReport(Evidence, frozen=True, kw_only=True, tag="console-report"):
    """The console output of a page."""

    url: str
    errors: tuple[str, ...] = ()
    failed_requests: tuple[str, ...] = ()
    own: bool = False
    """Whether it came from a server that Flyball started from this very tree."""
    picture: str = ""
    """Where a picture of the page is, from the project's top."""
    change: PictureChange | None = None


class VisualReport(Evidence, frozen=True, kw_only=True, tag="visual-report"):
    """The contents of a page's picture, judged against an expectation."""

    url: str
    expectation: str
    ok: bool
    note: str = ""
    own: bool = False
    """Whether it came from a server that Flyball started from this exact tree."""
    picture: str = ""
    """Where the picture is, from the project's top."""
    judged_by: str = ""
    """The model that judged it; without one only what is plainly wrong was looked for."""
    opinion: str = ""
    """A model's opinion of it."""
    usage: Usage = Usage()
    """What that cost."""
    change: PictureChange | None = None

    @property
    def is_unjudged(self) -> bool:
        """Return whether no model judged the picture against the expectation."""
        return self.own and not self.judged_by


class BaseRun(Evidence, frozen=True, kw_only=True, tag="base-run"):
    """The same suite on the tree before the change; `tree` is the one it is evidence for."""

    report: str
    base: TreeHash
    outcome: str
    detail: str = ""


class Weakened(msgspec.Struct, frozen=True, omit_defaults=True):
    """One place where a test became easier to pass."""

    path: str
    line: int
    kind: str
    detail: str = ""


class WeakeningReport(Evidence, frozen=True, kw_only=True, tag="weakening-report"):
    """The changes of the tests against the base tree."""

    base: TreeHash
    findings: tuple[Weakened, ...] = ()


class VerdictReport(Evidence, frozen=True, kw_only=True, tag="verdict-report"):
    """Flyball's verdict on the whole change from `base` to `tree`, from its own runs."""

    base: TreeHash
    verdict: ChangeVerdict


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
    """The existence of a file, and which of the requested texts it contains."""

    path: str
    exists: bool
    asked: tuple[str, ...] = ()
    contains: tuple[str, ...] = ()


class CoverageReport(Evidence, frozen=True, kw_only=True, tag="coverage-report"):
    """Coverage in per cent, before and now."""

    before: float
    after: float


class ApprovalReport(Evidence, frozen=True, kw_only=True, tag="approval-report"):
    """A person's answer about this exact tree."""

    by: str
    granted: bool
    what: str = ""


class GateReport(Evidence, frozen=True, kw_only=True, tag="gate-report"):
    """Why a gate was not observed: not permitted (`refused`), or not possible."""

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
    | VerdictReport
)


class Strength(IntEnum):
    """The strength of a piece of evidence."""

    NOTHING = 0
    PARSES = 1
    SHOWN = 2
    CHECKED = 3
    GREEN = 4
    RED_GREEN = 5

    @property
    def label(self) -> str:
        return STRENGTH_LABELS[self]


STRENGTH_LABELS = {
    Strength.NOTHING: "unverified",
    Strength.PARSES: "unverified (it parses)",
    Strength.SHOWN: "it answers",
    Strength.CHECKED: "it builds or type-checks",
    Strength.GREEN: "tests are green",
    Strength.RED_GREEN: "tests went from red to green",
}


class Comparison(StrEnum):
    """How a test's assertions changed, from harmless to severe."""

    SAME = "same"
    ADDED = "added"
    STRONGER = "stronger"
    OTHER_EXPECTATION = "other-expectation"
    """As strong as before, about another value."""
    NOT_UNDERSTOOD = "not-understood"
    """It changed, and no known style of assertion explains how."""
    WEAKER = "weaker"
    SKIPPED = "skipped"
    GONE = "gone"


class ChangedTest(NamedTuple):
    """One test whose text changed, with both texts; `became` is its name where it moved."""

    path: str
    function: str
    comparison: Comparison
    sentence: str
    before: str = ""
    after: str = ""
    suite: tuple[str, ...] = ()
    became: str = ""

    @property
    def name(self) -> str:
        """Return the test as reports name it: file, suites, function; else the file."""
        return "::".join(each for each in (self.path, *self.suite, self.function) if each)
