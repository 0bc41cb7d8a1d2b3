"""Read a run's thread: its request, and the results of calls so far."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from flyball.drivers.protocol import Request
from flyball.regex import regex
from flyball.run.thread import STANDING, Speaker, SpokenCall, ThreadLine
from flyball.terms.evidence import SuiteReport
from flyball.terms.evidence_rows import latest_of
from flyball.terms.finding import CandidateSearch, Match, Suspect, SuspectLines, TextMatches

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
        """Return whether the call was made and succeeded."""
        return self.answer.ok

    @property
    def suite(self) -> SuiteReport | None:
        """Return the test run of this call, or None if there was none."""
        return latest_of(self.answer.evidence, SuiteReport)

    @property
    def suspects(self) -> tuple[Suspect, ...]:
        """Return the lines that `localise_faults` suspects."""
        finding = self.answer.finding
        return finding.lines if isinstance(finding, SuspectLines) else ()

    @property
    def search(self) -> CandidateSearch | None:
        """Return the result of `try_candidates`; None if it could not search."""
        finding = self.answer.finding
        return finding if isinstance(finding, CandidateSearch) else None

    @property
    def matches(self) -> tuple[Match, ...]:
        """Return the lines that `grep` matched."""
        finding = self.answer.finding
        return finding.shown if isinstance(finding, TextMatches) else ()


class ThreadFacts(NamedTuple):
    """A thread as this driver understands it."""

    run: str
    request: str
    template: str
    actions: tuple[MadeCall, ...]
    """The calls that were answered; one that was interrupted was never made."""
    heard: tuple[ThreadLine, ...]
    """What the governor said besides answering calls."""
    said: tuple[str, ...]
    """What this driver said."""
    has_rested: bool
    """Whether it had stopped and was resumed."""

    @property
    def runs(self) -> tuple[SuiteReport, ...]:
        """Return the test runs, whichever tool made them."""
        suites = (action.suite for action in self.actions if action.tool in TESTING)
        return tuple(suite for suite in suites if suite is not None)

    @property
    def red_run(self) -> SuiteReport | None:
        """Return the first run with a failing test."""
        return next((run for run in self.runs if run.failed), None)

    @property
    def is_rejected(self) -> bool:
        """Return whether the governor's last message was that the work is not done."""
        return bool(self.heard) and self.heard[-1].kind == "rejection"

    def last(self, tool: str) -> MadeCall | None:
        """Return the last call of a tool."""
        return next((action for action in reversed(self.actions) if action.tool == tool), None)

    def count(self, tool: str) -> int:
        """Return how often a tool was called."""
        return sum(action.tool == tool for action in self.actions)

    def since(self, tool: str) -> tuple[MadeCall, ...]:
        """Return the calls after the last one of a tool; all calls if there was none."""
        for i in range(len(self.actions) - 1, -1, -1):
            if self.actions[i].tool == tool:
                return self.actions[i + 1 :]
        return self.actions


def read_thread(request: Request) -> ThreadFacts:
    """Return the facts of a thread: its request, and what was done so far."""
    lines = request.lines
    return ThreadFacts(
        request.run,
        request.wanted.strip(),
        request.template,
        _calls_with_results(lines),
        tuple(line for line in lines if _is_governor_message(line)),
        tuple(line.text for line in lines if line.speaker is Speaker.DRIVER and line.text),
        _has_rested(lines),
    )


def _is_governor_message(line: ThreadLine) -> bool:
    """Return whether the line is a governor's message rather than a status line."""
    return line.speaker is Speaker.GOVERNOR and bool(line.text) and line.kind != STANDING


def _calls_with_results(lines: Sequence[ThreadLine]) -> tuple[MadeCall, ...]:
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
    """Return whether any test was run to its end."""
    return suite.passed + suite.failed > 0


FAILING = regex(
    r"\b(?:fail\w*|fix\w*|bug\w*|broken?|breaks?|wrong\w*|error\w*|red|repair\w*|mend\w*|crash\w*|"
    r"exception\w*|traceback|regress\w*|debug\w*|incorrect\w*|"
    r"fehl\w*|kaputt\w*|falsch\w*|reparier\w*|behebe?\w*|beheben|"
    r"échou\w*|echou\w*|corrig\w*|répar\w*|erreurs?|cassée?s?|"
    r"fall(?:a|an|ar|o|os|ando)|arregl\w*|corrij\w*|repar\w*|rot[oa]s?|errores|"
    r"falh\w*|consert\w*|quebrad\w*|erros?|"
    r"fallis\w*|rott[oaie]|sbagliat\w*|errori?)\b"
    r"|失败|修复|修正|错误|報錯|报错|失敗|直し|エラー|バグ|壊れ|оши[бк]|почин|исправ|пада[её]т|сломан",
    re.I,
)
"""Words for what does not work, or for making it work."""

SUITE = regex(
    r"\b(?:tests?|specs?|suites?|pruebas?|testes|build)\b.{0,60}?"
    r"\b(?:fail\w*|red|broken?|pass\w*|green|work\w*)\b|\b(?:fail\w*|red|broken) (?:\w+ )?tests?\b",
    re.I | re.S,
)
"""Tests that fail or should pass, whatever else is requested."""

ORDER = regex(
    r"^\W*(?:(?:please|could you|can you|would you|will you|let'?s|just|now|then|bitte)[ ,]+)*"
    r"(?:add|build|create|implement|write|rename|change|remove|delete|update|set|move|bump|"
    r"document|refactor|extract|inline|convert|migrate|replace|port|wire|upgrade|install|"
    r"translate|format|clean|split|merge|generate|design|introduce|support)\b"
    r"|\b(?:typos?|spelling|wording|colou?rs?|docstrings?|readme)\b",
    re.I,
)
"""Work that no failing test describes."""

QUESTION = regex(
    r"[?？]|^\W*(?:why|what|how|when|who|which|where|is|are|does|do|did|explain|tell me|show|"
    r"warum|wieso|was|wie|wo|pourquoi|comment|quoi|por qu[eé]|qu[eé]|c[oó]mo|perch[eé])\b"
    r"|为什么|怎么|なぜ|почему",
    re.I,
)
"""Requests for an answer, and not a change."""

WHERE = regex(
    r"\b(?:where|who (?:uses|calls)|usages?|uses of|defined?|definition|callers?|wo|où|d[oó]nde|"
    r"onde)\b(?!.*\b(?:fail\w*|bugs?|broken?|wrong|crash\w*|red)\b)",
    re.I | re.S,
)
"""Questions for a place in the code, and not for a fault."""

CHANGES = regex(
    r"\b(?:changed?|changes|commits?|committed|history|lately|recent\w*|last week|yesterday|"
    r"geändert|änderungen|changé|modifi\w*|cambi\w*|mudou|mudanças|diff)\b|最近|変更|изменил",
    re.I,
)
SERVERS = regex(r"\b(?:running|servers?|preview|ports?|logs?|läuft|serveur|servidor)\b", re.I)
THANKS = regex(
    r"\b(?:thanks?|thx|cheers|ty|danke|merci|gracias|obrigad[oa]|grazie|great|nice|perfect|cool)\b"
    r"|谢谢|ありがとう|спасибо",
    re.I,
)
GREETING = regex(
    r"\b(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|hallo|moin|bonjour|salut|hola|"
    r"ol[aá]|ciao)\b|你好|こんにちは|привет",
    re.I,
)

_QUOTED = regex(r"`([^`\n]+)`|[\"'“‘«]([A-Za-z_][\w.]*)(?:\(\))?[\"'”’»]")
_CODELIKE = regex(r"\b([A-Za-z]+_\w+|[A-Z][a-z0-9]+[A-Z]\w*|[a-z]+[A-Z]\w+|[A-Za-z_]\w*(?=\(\)))")
_SOUGHT = regex(
    r"\b(?:where(?: is| are|'s| do we (?:use|call|define)| does)?|(?:who|what) (?:uses|calls)|"
    r"which \w+ (?:use|uses|call|calls)|usages? of|uses of|calls? to|callers? of|definition of|"
    r"defines?|find|wo (?:ist|wird)|où est|dónde está|onde está|dov'è)\s+"
    r"(?:(?:the|a|an|all|every|function|class|method|variable|constant|module|name|symbol|usages?|"
    r"uses|calls|definition|of|to|die|der|das|la|le|el|o|défini\w*|utilis\w*|defini\w*|usad\w*|"
    r"verwendet)\s+)*([A-Za-z_][\w.]*)",
    re.I,
)
_AMONG = regex(r"(?<![A-Za-z_])([A-Za-z_]\w{2,})(?![A-Za-z_])", re.A)
"""An identifier in a text of another script."""
_PLAIN = regex(
    r"it|this|that|these|those|there|they|them|errors?|bugs?|problem|fault|issue|tests?|suite|"
    r"build|cause|reason|failure|failing|wrong|why|code|project",
    re.I,
)


def is_about_failure(request: str) -> bool:
    """Return whether a request is about something that does not work."""
    return bool(FAILING.search(request))


def may_ask_for_repair(request: str) -> bool:
    """Return whether failing tests may show what a request wants: if in doubt, yes."""
    return bool(SUITE.search(request)) or not ORDER.search(request)


def clearly_asks_for_repair(request: str) -> bool:
    """Return whether a request clearly asks for a repair, even if it is classified as larger than a
    fix."""
    return bool(SUITE.search(request)) or (is_about_failure(request) and not ORDER.search(request))


def is_mere_question(request: str) -> bool:
    """Return whether a request only asks, without reporting what should be different."""
    return bool(QUESTION.search(request))


def name_asked_about(request: str) -> str:
    """Return the name that a question is about, unless it asks why something fails."""
    if is_about_failure(request) and not WHERE.search(request):
        return ""
    return symbol_in(request)


def symbol_in(request: str) -> str:
    """Return the name in the code that a question is about, if there is one."""
    for pattern in (_QUOTED, _CODELIKE):
        for found in pattern.finditer(request):
            name = next(filter(None, found.groups()), "").strip().removesuffix("()")
            name = name.rpartition(".")[2] if re.fullmatch(r"[\w.]+", name) else ""
            if name and not name[0].isdigit():
                return name
    for found in _SOUGHT.finditer(request):
        name = found[1].rpartition(".")[2]
        if name and not _PLAIN.fullmatch(name):
            return name
    others = sum(ch.isalpha() and not ch.isascii() for ch in request)
    among = _AMONG.findall(request) if others * 2 > len(request.split()) * 3 else []
    return next((name for name in among if not _PLAIN.fullmatch(name)), "")
