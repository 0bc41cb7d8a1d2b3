"""The result of a test run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from flyball.regex import regex
from flyball.terms.evidence import FailedTest
from flyball.verdict.case import CaseOutcome, SuiteCase

KEPT_FAILURES = 50
KEPT_MESSAGE = 2_000

_ANSI = regex(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


class Tally(NamedTuple):
    """Counts and failures; `reason` says why tests could not run.

    `cases` holds every test if the runner reports each, and is empty if it only counts.
    """

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: tuple[FailedTest, ...] = ()
    reason: str = ""
    cases: tuple[SuiteCase, ...] = ()


def tally(
    passed: int, skipped: int, bad: Iterable[tuple[str, str]], failed: int = 0, reason: str = ""
) -> Tally:
    """Return a tally with each failing test once, however often it failed."""
    said: dict[str, list[str]] = {}
    for name, message in bad:
        said.setdefault(name.strip() or "(unnamed)", []).append(message.strip())
    failures = [_failure(name, "\n".join(filter(None, each))) for name, each in said.items()]
    return Tally(
        passed, max(failed, len(failures)), skipped, tuple(failures[:KEPT_FAILURES]), reason
    )


def tally_of(cases: Sequence[SuiteCase], reason: str = "") -> Tally:
    """Return a tally in which every test is known."""
    bad = [case for case in cases if case.is_bad]
    skipped = sum(case.outcome is CaseOutcome.SKIPPED for case in cases)
    short = tuple(
        msgspec.structs.replace(case, message=_shortened(case.message.strip())) for case in cases
    )
    return Tally(
        len(cases) - len(bad) - skipped,
        len(bad),
        skipped,
        tuple(_failure(case.label, case.message.strip()) for case in bad[:KEPT_FAILURES]),
        reason,
        short,
    )


def _failure(name: str, text: str) -> FailedTest:
    return FailedTest(name, _shortened(text))


def _shortened(text: str) -> str:
    """Return the beginning and the end of a reason; most runners put the main point at the end."""
    if len(text) > KEPT_MESSAGE:
        return f"{text[: KEPT_MESSAGE // 4]}\n…\n{text[-3 * KEPT_MESSAGE // 4 :]}"
    return text


def plain(output: str) -> str:
    """Return output without colours, and with uniform line endings."""
    return _ANSI.sub("", output).replace("\r\n", "\n")
