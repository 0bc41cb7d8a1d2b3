"""Flyball's verdict on a whole change: its strength, the objections, what ran.

Only values. `verdict/judge.py` decides them, `verdict/words.py` puts them into words.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

import msgspec

from flyball.terms.shape import listed


class ChangeStrength(IntEnum):
    """The strength of a verdict, weakest first; the value orders, the label is for people."""

    UNVERIFIED = 0
    SHOWN = 1
    CHECKED = 2
    EXIT_ZERO = 3
    EXIT_MENDED = 4
    GREEN = 5
    NEW_TESTS = 6
    OLD_TESTS = 7

    @property
    def label(self) -> str:
        return STRENGTH_LABELS[self]


STRENGTH_LABELS = {
    ChangeStrength.UNVERIFIED: "unverified",
    ChangeStrength.SHOWN: "it answers",
    ChangeStrength.CHECKED: "it builds or type-checks",
    ChangeStrength.EXIT_ZERO: "uncounted: exit 0",
    ChangeStrength.EXIT_MENDED: "uncounted: now exit 0, before not",
    ChangeStrength.GREEN: "green; nothing shown to fail before",
    ChangeStrength.NEW_TESTS: "red → green (new tests)",
    ChangeStrength.OLD_TESTS: "red → green (tests that were there)",
}


class Weight(StrEnum):
    """The consequence of a finding."""

    BLOCKS = "blocks"
    """The work goes back: no answer of a person makes it evidence."""
    ASKS = "asks"
    """A person decides."""
    NOTES = "notes"
    """Shown, and nothing else."""


class VerdictStatus(StrEnum):
    """The overall result of a verdict."""

    SHOWN = "shown"
    QUESTION = "a question"
    NOT_SHOWN = "not shown"


class FindingKind(StrEnum):
    """The kinds of findings, in the order in which they are checked."""

    NOT_EVIDENCE = "not-evidence"
    HIDDEN_RED = "hidden-red"
    REGRESSION = "regression"
    PROMISE_CHANGED = "promise-changed"
    FEWER_TESTS = "fewer-tests"
    REACHES_RUNNER = "reaches-runner"
    TYPES_LOOSENED = "types-loosened"
    NAMED_NOT_GREEN = "named-not-green"
    NOTHING_FAILED_BEFORE = "nothing-failed-before"
    OLD_FAILURE = "old-failure"
    CONTRADICTION = "contradiction"

    @property
    def in_words(self) -> str:
        """Return a few words for people; the finding's sentence has the details."""
        return _KINDS_IN_WORDS[self]


_KINDS_IN_WORDS = {
    FindingKind.NOT_EVIDENCE: "the test runs are no evidence",
    FindingKind.HIDDEN_RED: "a failing test was hidden",
    FindingKind.REGRESSION: "a test fails that passed before",
    FindingKind.PROMISE_CHANGED: "a test promises less",
    FindingKind.FEWER_TESTS: "fewer tests ran",
    FindingKind.REACHES_RUNNER: "the change reaches the test runner",
    FindingKind.TYPES_LOOSENED: "types are checked less strictly",
    FindingKind.NAMED_NOT_GREEN: "a test that should pass does not",
    FindingKind.NOTHING_FAILED_BEFORE: "no test failed before the change",
    FindingKind.OLD_FAILURE: "a test failed before and still does",
    FindingKind.CONTRADICTION: "what is asked for contradicts itself",
}


class ChangeFinding(msgspec.Struct, frozen=True, omit_defaults=True):
    """A reason for or against "succeeded"; the texts are a test before and after."""

    kind: FindingKind
    weight: Weight
    sentence: str
    part: str = "."
    tests: tuple[str, ...] = ()
    before: str = ""
    after: str = ""


class SuiteLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """One run of one suite, as shown to people."""

    run: str
    part: str
    command: str
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    elapsed: float = 0.0
    of: int = 0
    """The size of the whole suite, if only some of its tests ran."""
    trouble: str = ""
    exit_code: int | None = None
    """How it ended, if it reported no test."""


class MutantCount(msgspec.Struct, frozen=True, omit_defaults=True):
    """The number of mutants of the new lines, and how many of them a test detected."""

    tried: int
    noticed: int
    unnoticed: tuple[str, ...] = ()
    """A few that no test noticed, each with its place."""


class ChangeVerdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """The complete verdict on one change: every surface shows these facts and no others."""

    strength: ChangeStrength = ChangeStrength.UNVERIFIED
    findings: tuple[ChangeFinding, ...] = ()
    ran: tuple[SuiteLine, ...] = ()
    not_run: tuple[str, ...] = ()
    mended: tuple[str, ...] = ()
    """Tests that went from red to green."""
    old_failures: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    shared_literals: tuple[str, ...] = ()
    """Values that occur both in the tests and in the new code."""
    mutants: MutantCount | None = None
    left_behind: tuple[str, ...] = ()
    """Files that only commands made; they are not part of the change."""
    has_suite: bool = True
    is_refactoring: bool = False
    """Nothing was to behave otherwise, and every test passes before and after."""
    uninverted: bool = False
    """Of some fixed test it could not be shown that it can still fail."""
    accepted_by: str = ""
    is_unchanged: bool = False
    """There is no change to judge: `old_failures` are the tests that fail without one."""

    @property
    def headline(self) -> str:
        """Return the label with its counts: "12 of 1,994 tests: red → green (new tests)".

        An objection to the change is returned in its place.
        """
        if self.is_unchanged:
            return f"nothing changed{self._still_red}"
        after = [line for line in self.ran if line.run == "after"]
        ran = sum(line.passed + line.failed for line in after)
        whole = sum(line.of for line in after)
        label = self._open or self._label
        if whole:
            return f"{ran:,} of {whole:,} tests: {label}"
        count = f"{ran:,} {'test' if ran == 1 else 'tests'}"
        if not self._open and (failed := sum(line.failed for line in after)):
            count = f"{ran - failed:,} of {count} pass"
        return f"{label} ({count})" if ran else label

    @property
    def _label(self) -> str:
        if self.is_refactoring:
            return "refactoring: green before and after, no promise changed"
        return f"{self.strength.label}, uninverted" if self.uninverted else self.strength.label

    @property
    def _still_red(self) -> str:
        count = len(self.old_failures)
        if not count:
            return ""
        what = "1 test still fails" if count == 1 else f"{count} tests still fail"
        return f"; {what}: {listed(self.old_failures)}"

    @property
    def _open(self) -> str:
        """Return the first finding that prevents "succeeded", in a few words."""
        # A missing red test is said by the label itself.
        sorts = (self.faults, VerdictStatus.NOT_SHOWN), (self.questions, VerdictStatus.QUESTION)
        for found, word in sorts:
            if found:
                return f"{word}: {found[0].kind.in_words}"
        return ""

    @property
    def missing_reason(self) -> str:
        """Explain why nothing is shown if no finding does."""
        is_said = any(each.kind is FindingKind.NOT_EVIDENCE for each in self.findings)
        if self.is_strong or self.is_unchanged or self.blocking or is_said:
            return ""
        if self.has_suite and self.questions:
            return ""
        if self.has_suite:
            return "No test that passes now counts for anything, so none shows what changed."
        where = listed(self.changed, 3) or "what changed"
        return (
            f"No test suite, build or type check was found for {where}, so nothing could be run. "
            "Add tests, or name the command that runs them as `test.command` in the settings."
        )

    @property
    def blocking(self) -> tuple[ChangeFinding, ...]:
        """Return the findings that send the work back."""
        return tuple([each for each in self.findings if each.weight is Weight.BLOCKS])

    @property
    def faults(self) -> tuple[ChangeFinding, ...]:
        """Return the findings about the change itself, whether or not it needs a test."""
        red = FindingKind.NOTHING_FAILED_BEFORE
        return tuple([each for each in self.blocking if each.kind is not red])

    @property
    def questions(self) -> tuple[ChangeFinding, ...]:
        """Return the questions that a person has not decided yet."""
        if self.accepted_by:
            return ()
        return tuple([each for each in self.findings if each.weight is Weight.ASKS])

    @property
    def is_strong(self) -> bool:
        """Return whether the evidence is strong enough: tests, or other evidence where there are
        none."""
        least = ChangeStrength.EXIT_MENDED if self.has_suite else ChangeStrength.SHOWN
        return self.strength >= least

    @property
    def is_shown(self) -> bool:
        """Return whether "succeeded" is justified: the evidence is strong enough, and no objection
        is open."""
        return self.is_strong and not self.blocking and not self.questions

    @property
    def status(self) -> VerdictStatus:
        """Return the status: shown, a question if that is all that is missing, or not shown."""
        if self.is_shown:
            return VerdictStatus.SHOWN
        is_open = self.blocking or not self.questions
        return VerdictStatus.NOT_SHOWN if is_open else VerdictStatus.QUESTION
