"""What a thread tells: which calls were made, and what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flyball.core.run.thread import STANDING, Speaker, SpokenCall, ThreadLine
from flyball.core.terms.evidence import SuiteReport
from flyball.core.terms.evidence_rows import latest_of
from flyball.core.terms.finding import CandidateSearch, Match, Suspect, SuspectLines, TextMatches
from flyball.drivers.protocol import Request

TESTING = frozenset({"localise_faults", "test"})
"""The tools that run the project's tests."""


class MadeCall(NamedTuple):
    """A call and the line that answered it."""

    tool: str
    args: dict[str, object]
    answer: ThreadLine

    @property
    def text(self) -> str:
        return self.answer.text

    @property
    def ok(self) -> bool:
        """Whether the call was made and did what it should."""
        return self.answer.ok

    @property
    def suite(self) -> SuiteReport | None:
        """The run of the tests that this call made, or None where none took place."""
        return latest_of(self.answer.evidence, SuiteReport)

    @property
    def suspects(self) -> tuple[Suspect, ...]:
        """The lines that `localise_faults` suspects."""
        finding = self.answer.finding
        return finding.lines if isinstance(finding, SuspectLines) else ()

    @property
    def search(self) -> CandidateSearch | None:
        """What `try_candidates` found; None where it could not search."""
        finding = self.answer.finding
        return finding if isinstance(finding, CandidateSearch) else None

    @property
    def matches(self) -> tuple[Match, ...]:
        """The lines that `grep` matched."""
        finding = self.answer.finding
        return finding.shown if isinstance(finding, TextMatches) else ()


class ThreadFacts(NamedTuple):
    """A thread as this driver understands it."""

    run: str
    request: str
    template: str
    deeds: tuple[MadeCall, ...]
    """The calls that were answered; one that was interrupted was never made."""
    heard: tuple[ThreadLine, ...]
    """What the governor said besides answering calls."""
    said: tuple[str, ...]
    """What this driver said."""
    has_rested: bool
    """Whether it had stopped, and somebody let it go on."""

    @property
    def runs(self) -> tuple[SuiteReport, ...]:
        """The runs of the tests, whichever tool made them."""
        suites = (deed.suite for deed in self.deeds if deed.tool in TESTING)
        return tuple(suite for suite in suites if suite is not None)

    @property
    def red_run(self) -> SuiteReport | None:
        """The first run that saw a test fail."""
        return next((run for run in self.runs if run.failed), None)

    @property
    def is_rejected(self) -> bool:
        """Whether the governor's last word was that the work is not done."""
        return bool(self.heard) and self.heard[-1].kind == "rejection"

    def last(self, tool: str) -> MadeCall | None:
        """The last call of a tool."""
        return next((deed for deed in reversed(self.deeds) if deed.tool == tool), None)

    def count(self, tool: str) -> int:
        """How often a tool was called."""
        return sum(deed.tool == tool for deed in self.deeds)

    def since(self, tool: str) -> tuple[MadeCall, ...]:
        """The calls after the last one of a tool; all of them where it was never called."""
        for i in range(len(self.deeds) - 1, -1, -1):
            if self.deeds[i].tool == tool:
                return self.deeds[i + 1 :]
        return self.deeds


def read_thread(request: Request) -> ThreadFacts:
    """What a request wants, and what was done about it so far."""
    lines = request.lines
    return ThreadFacts(
        request.run,
        request.wanted.strip(),
        request.template,
        _made_calls(lines),
        tuple(line for line in lines if _is_told(line)),
        tuple(line.text for line in lines if line.speaker is Speaker.DRIVER and line.text),
        _has_rested(lines),
    )


def _is_told(line: ThreadLine) -> bool:
    """Whether the governor says something there; where a card stands is no news."""
    return line.speaker is Speaker.GOVERNOR and bool(line.text) and line.kind != STANDING


def _made_calls(lines: Sequence[ThreadLine]) -> tuple[MadeCall, ...]:
    answers = {line.call: line for line in lines if line.speaker is Speaker.TOOL}
    asked: list[SpokenCall] = [call for line in lines for call in line.calls]
    return tuple(
        MadeCall(call.tool, call.args, answers[call.id])
        for call in asked
        if call.id in answers and not answers[call.id].is_interrupted
    )


def _has_rested(lines: Sequence[ThreadLine]) -> bool:
    own = [line for line in lines if line.speaker is Speaker.DRIVER]
    return bool(own) and not own[-1].calls


def has_run(suite: SuiteReport) -> bool:
    """Whether any test was run to its end."""
    return suite.passed + suite.failed > 0
