"""The identity of one test, and its outcome."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from enum import StrEnum

import msgspec


class CaseOutcome(StrEnum):
    """The outcome of a test; an error is a problem around the test rather than in its assertion."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    ERROR = "error"


BAD = frozenset({CaseOutcome.FAILED, CaseOutcome.ERROR})


class SuiteCase(msgspec.Struct, frozen=True, omit_defaults=True):
    """One test: its file, name, outcome and duration.

    Part and runner are those of its run. What a runner does not report stays empty.
    """

    name: str
    outcome: CaseOutcome
    file: str = ""
    suite: tuple[str, ...] = ()
    parameters: str = ""
    seconds: float = 0.0
    message: str = ""
    spelling: str = ""
    """The name by which the runner itself would start this test again, where it has one."""

    @property
    def function(self) -> str:
        """Return the name compared between two trees; parameters are left out, as they may hold
        times and paths."""
        return "::".join(filter(None, (self.file, *self.suite, self.name)))

    @property
    def label(self) -> str:
        """Return the whole name, as shown to people and in reports."""
        own = f"{self.name}[{self.parameters}]" if self.parameters else self.name
        return self.spelling or " > ".join(filter(None, (self.file, *self.suite, own)))

    @property
    def is_bad(self) -> bool:
        return self.outcome in BAD


def merged(cases: Iterable[SuiteCase]) -> tuple[SuiteCase, ...]:
    """Return each test once: of several reports of one test, the worst counts."""
    found: dict[str, SuiteCase] = {}
    for case in cases:
        before = found.get(case.label)
        found[case.label] = case if before is None else _worse(before, case)
    return tuple(found.values())


def number_duplicates(cases: Iterable[SuiteCase]) -> tuple[SuiteCase, ...]:
    """Return every test; those with the same full name are numbered in the order they ran."""
    seen: dict[str, int] = {}
    found: list[SuiteCase] = []
    for case in cases:
        n = seen[case.label] = seen.get(case.label, 0) + 1
        if n > 1:
            spelling = f"{case.spelling} #{n}" if case.spelling else ""
            case = msgspec.structs.replace(case, name=f"{case.name} #{n}", spelling=spelling)
        found.append(case)
    return tuple(found)


def digest_of(cases: Iterable[SuiteCase]) -> str:
    """Return a short hash of the tests and their outcomes, independent of order."""
    lines = sorted(f"{case.label}\0{case.outcome}" for case in cases)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] if lines else ""


_ORDER = (CaseOutcome.PASSED, CaseOutcome.SKIPPED, CaseOutcome.ERROR, CaseOutcome.FAILED)


def _worse(one: SuiteCase, other: SuiteCase) -> SuiteCase:
    worst = max(one, other, key=lambda case: _ORDER.index(case.outcome))
    said = [case.message for case in (one, other) if case.is_bad and case.message]
    return msgspec.structs.replace(
        worst, message="\n".join(said), seconds=one.seconds + other.seconds
    )
