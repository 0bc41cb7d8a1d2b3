"""The inputs of the verdict: test runs on clean checkouts, and what the change touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

from flyball.terms.evidence import ChangedTest
from flyball.verdict.case import BAD, CaseOutcome

NO_ENDS: Mapping[str, CaseOutcome] = MappingProxyType({})
NO_SECONDS: Mapping[str, float] = MappingProxyType({})
NO_MESSAGES: Mapping[str, str] = MappingProxyType({})
NO_ROWS: Mapping[str, int] = MappingProxyType({})


def file_of(name: str) -> str:
    """Return the file of a test, from its name."""
    return name.partition("::")[0]


class TreeRun(NamedTuple):
    """One run of one suite on a clean checkout.

    `ends` names every test function that the runner reported. `trouble` says why this run is no
    evidence, whatever its report says: it did not end as its runner ends, or a test that must fail
    passed.
    """

    command: str
    exit_code: int
    ends: Mapping[str, CaseOutcome] = NO_ENDS
    is_counted: bool = True
    trouble: str = ""
    elapsed: float = 0.0
    whole: int = 0
    """How many tests the suite has, where only some of them ran."""
    counts: tuple[int, int, int] | None = None
    """Passed, failed and skipped as the runner counts them: a function may be many tests."""
    seconds: Mapping[str, float] = NO_SECONDS
    """How long the tests of each file took, if the runner reports it."""
    rows: Mapping[str, int] = NO_ROWS
    """How many tests each function was, without those that were skipped."""
    row_ends: Mapping[str, CaseOutcome] = NO_ENDS
    """The result of each row of parametrised functions, by its whole name."""
    messages: Mapping[str, str] = NO_MESSAGES
    """What each test that failed said of it, in a line."""
    says: tuple[str, ...] = ()
    """The first lines of the runner's own output, if it could not run the tests."""

    def where(self, *wanted: CaseOutcome) -> frozenset[str]:
        """Return the tests that ended in one of these ways."""
        return frozenset([name for name, end in self.ends.items() if end in wanted])

    @property
    def red(self) -> frozenset[str]:
        return self.where(CaseOutcome.FAILED, CaseOutcome.ERROR)

    @property
    def green(self) -> frozenset[str]:
        return self.where(CaseOutcome.PASSED)

    @property
    def reports_no_test(self) -> bool:
        """Return whether the run failed without reporting any test, for example in the build."""
        return not self.is_counted and self.exit_code != 0

    def passed(self, names: Iterable[str]) -> frozenset[str]:
        """Return the tests that passed; one with subtests is only reported when it fails."""
        return frozenset([name for name in names if self._has_passed(name)])

    def _has_passed(self, name: str) -> bool:
        if name in self.ends:
            return self.ends[name] is CaseOutcome.PASSED
        inner = {end for each, end in self.ends.items() if each.startswith(f"{name}::")}
        # What stands for a whole file is told of where it cannot be loaded, and is no test.
        return "::" in name and CaseOutcome.PASSED in inner and inner.isdisjoint(BAD)


class Unsteady(NamedTuple):
    """A test whose result changed when the same tree was run again, and how often it was red."""

    test: str
    red_now: int
    runs_now: int
    red_before: int
    runs_before: int
    by_order: bool = False
    """It fails only without the tests around it, or in another order."""


class Inverted(NamedTuple):
    """A fixed test that ran with one expectation changed, and did not fail."""

    test: str
    before: str
    after: str


class SuiteRuns(NamedTuple):
    """The runs of one suite, named by whose tests ran against whose code; None where none can
    differ."""

    part: str
    suite: str
    old: TreeRun | None
    new: TreeRun | None
    old_tests_new_code: TreeRun | None = None
    new_tests_old_code: TreeRun | None = None
    flaky: frozenset[str] = frozenset()
    """Tests that ended differently on one and the same tree; they count for nothing."""
    is_new: bool = False
    """The base tree had no suite, so there is nothing to compare with."""
    unavailable: str = ""
    """Why it could be started on neither tree: something is not installed."""
    unsteady: tuple[Unsteady, ...] = ()
    """Tests that are always green, or always red, on the old tree and both on the new one."""
    by_shared: frozenset[str] = frozenset()
    """Tests whose result is decided by files that the product reads as well."""
    read: tuple[SharedFile, ...] = ()
    """Changed files of data that the old tests were seen to read, and that no code names."""
    unbuilt_without: tuple[str, ...] = ()
    """Shared files that could not be put back: without their change nothing runs."""
    deceived: tuple[Inverted, ...] = ()
    """Fixed tests that stayed green although what they expect was altered."""
    agreeing: tuple[Inverted, ...] = ()
    """Fixed tests that pass with another value as well as with the expected one."""
    uninverted: frozenset[str] = frozenset()
    """Fixed tests whose expectation could not be altered."""
    missing: frozenset[str] = frozenset()
    """Which grammars are not installed, so that tests in their languages were not altered."""
    elsewhere: Mapping[str, str] = MappingProxyType({})
    """Tests that are red on the old tree in Flyball's run alone, and why that may be."""
    reasons: Mapping[str, str] = MappingProxyType({})
    """What the surroundings may have to do with a test that fails before and after."""

    @property
    def set_aside(self) -> frozenset[str]:
        """Return the tests that are not compared: flaky, or reported separately."""
        return self.flaky | {each.test for each in self.unsteady} | self.elsewhere.keys()


class NamedEnd(StrEnum):
    """The result of a check that was named as verification."""

    GREEN = "green"
    RED = "red"
    NOT_RUN = "not run"


class Named(NamedTuple):
    """A check that `verify_with` or the request names, and its result on the new tree."""

    what: str
    end: NamedEnd
    detail: str = ""


class RunnerReach(NamedTuple):
    """A place in the change that reaches into the runner or the tests' environment."""

    sentence: str
    in_product: bool


class SharedFile(NamedTuple):
    """A changed file that tests and the product both read, before and after."""

    path: str
    before: str = ""
    after: str = ""


class ChangeFacts(NamedTuple):
    """The facts of the change itself, apart from any run."""

    files: tuple[str, ...]
    tests: tuple[ChangedTest, ...] = ()
    """How each changed test compares with what it was."""
    testing_side: frozenset[str] = frozenset()
    """The changed files that decide about tests: tests, fixtures, configuration."""
    shared: tuple[SharedFile, ...] = ()
    """The changed files that tests and the product both read."""
    renamed: Mapping[str, str] = MappingProxyType({})
    """Test files that were moved: the old path and the new one."""
    compiled: tuple[str, ...] = ()
    """Compiled files in the change, which cannot be reviewed."""
    documents: bool = False
    """Only documents were changed, and no test reads them."""
    reaches: tuple[RunnerReach, ...] = ()
    unkept: Mapping[str, str] = NO_MESSAGES
    """Files that could not be stored, and why: what was tested is not what is committed."""
    installation: str = ""
    """A file of what the project has installed that was changed while the agent was at work."""
    silenced: tuple[str, ...] = ()
    """Where new lines silence a type checker, each in a sentence."""
    by_chance: bool = False
    """Whether new lines of code name chance or a clock: what passes once may fail the next time."""
    shared_literals: tuple[str, ...] = ()
    left_behind: tuple[str, ...] = ()
    submodules: Mapping[str, str] = NO_MESSAGES
    """Submodules without files that another commit was named for: which one, and which now."""
    runs_examples: bool = False
    """Whether the tests, what configures them or the changed code themselves run examples."""
    tests_apart: frozenset[str] = frozenset()
    """Test files that use nothing of what changed, so that a failure in them may be another's."""

    @property
    def shown_files(self) -> tuple[str, ...]:
        """Return the changed files as shown to people, with the commits of submodules."""
        return (*self.files, *(f"{path} ({moved})" for path, moved in self.submodules.items()))

    @property
    def put_back(self) -> frozenset[str]:
        """Return what the old tests run with: the testing side, and the files that they share."""
        return self.testing_side | {each.path for each in self.shared}


class AskedFor(NamedTuple):
    """The parts of the request and the stated plan that matter for the verdict."""

    named: tuple[Named, ...] = ()
    announced: tuple[str, ...] = ()
    """The text of the checkpoint and the request, to be searched for names of tests."""
    request: str = ""
    """The request alone, which no driver can write."""
    decided: tuple[str, ...] = ()
    """Files of tests that a person decided against, where they contradicted the request."""
    must_mend: tuple[str, ...] = ()
    """Tests that the request is about: as old failures they are not excused."""
    mends_all: bool = False
    """The request is to make the failing tests pass, whichever they are."""
    repairs: bool = False
    """The request is to repair something, so a related test that stays red counts against it."""
    adds: bool = False
    """The request is for something new, so some test should show it."""
    keeps_behaviour: bool = True
    """A fix or a refactoring: another expectation is never expected."""
    wants_red: bool = True
    """A test that fails without the change is wanted, and was not already asked for in vain."""
    is_run: bool = False
    """A driver can be sent back; otherwise a person is asked."""
    is_refactoring: bool = False
    """Behaviour should not change, so no test that was red is owed."""
    checks_types: bool = False
    """A type check is part of the proof: it was named, was seen red, or is the only check."""
    checked: bool = False
    """Something was built or type-checked on the new tree, for parts without a suite."""
    shown: bool = False
    """A gate of the flow inspected this tree and passed, for parts without a suite."""
    not_run: tuple[str, ...] = ()
