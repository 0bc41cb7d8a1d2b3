"""Summarize an audit by rule, week, project and model, with the worst sessions."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import PurePath

import msgspec

from flyball.audit.finding import RULES, AuditFinding, Degree
from flyball.audit.judging import SessionAudit

WORST = 10
STORY = 12
"""Maximum number of findings shown per session."""


class RuleRow(msgspec.Struct):
    """The findings of one rule, how many would have been prevented, and how many were kept."""

    rule: str
    title: str
    caught: int = 0
    suspicious: int = 0
    sessions: int = 0
    kept: int = 0
    """Findings whose work the person kept: the rule may have been wrong there."""
    known: int = 0
    """Findings for which it is known whether the work was kept."""
    prevention: str = ""
    prevented: int = 0
    """Findings in sessions of hosts that have our hooks now."""
    precision: float = 0.0


class SumRow(msgspec.Struct):
    """The totals of one week, project or model."""

    name: str
    sessions: int = 0
    findings: int = 0
    caught: int = 0
    lines: int = 0
    """Lines written, if an Agent Trace says so."""
    tokens: float = 0.0
    money: float = 0.0


class WorstSession(msgspec.Struct):
    """One of the worst sessions, with its findings."""

    session: str
    host: str
    project: str
    model: str
    began: float
    asked: str
    calls: int
    tokens: float
    money: float
    findings: list[AuditFinding]


class AuditReport(msgspec.Struct):
    """The result of an audit."""

    since: float
    files: int
    read: int
    sessions: int
    calls: int
    tokens: float
    money: float
    tokens_after_stop: float
    money_after_stop: float
    seconds_after_stop: float
    rules: list[RuleRow]
    weeks: list[SumRow]
    projects: list[SumRow]
    models: list[SumRow]
    hosts: list[SumRow]
    worst: list[WorstSession]
    findings: list[AuditFinding]
    notes: list[str]
    governed: list[str]
    """Hosts that have our hooks."""
    advice: list[str]
    """Commands that would prevent the rest."""


Sums = Iterable[tuple[str, str, float, list[float]]]


class AuditTally:
    """Adds up sessions, findings and bills."""

    def __init__(self, governed: Iterable[str]) -> None:
        self.sessions: dict[str, SessionAudit] = {}
        self._governed = frozenset(governed)
        self._spent: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0, 0.0])
        self._by: dict[str, dict[str, SumRow]] = defaultdict(dict)

    def add_sessions(self, sessions: Iterable[SessionAudit]) -> None:
        """Add sessions; merge parts of a session that come from several files."""
        for told in sessions:
            known = self.sessions.get(told.session)
            if known is None:
                self.sessions[told.session] = told
                continue
            known.calls += told.calls
            known.edits += told.edits
            known.lines += told.lines
            known.prompts += told.prompts
            known.seconds_after_stop += told.seconds_after_stop
            known.began = min(filter(None, (known.began, told.began)), default=0.0)
            known.ended = max(known.ended, told.ended)
            known.asked = known.asked or told.asked
            known.project = known.project or told.project
        for session in self.sessions.values():
            for kind, name in self._names(session, session.began):
                row = self._row(kind, name)
                row.sessions += 1
                row.lines += session.lines

    def add_bills(self, sums: Sums) -> None:
        for session, model, at, amounts in sums:
            self._spent[session] = [
                old + new for old, new in zip(self._spent[session], amounts, strict=True)
            ]
            known = self.sessions.get(session)
            if known is None:
                continue
            for kind, name in self._names(known, at or known.began, model):
                row = self._row(kind, name)
                row.tokens += amounts[0]
                row.money += amounts[1]

    def _names(
        self, session: SessionAudit, at: float, model: str = ""
    ) -> Iterable[tuple[str, str]]:
        yield "weeks", week_of(at)
        yield "projects", PurePath(session.project).name or "(unknown)"
        yield "models", model or session.model or "(unknown)"
        yield "hosts", session.host

    def _row(self, kind: str, name: str) -> SumRow:
        return self._by[kind].setdefault(name, SumRow(name))

    def report(
        self, findings: list[AuditFinding], *, since: float, files: int, read: int, notes: list[str]
    ) -> AuditReport:
        """Return the report, sorted for display."""
        for found in findings:
            session = self.sessions[found.session]
            for kind, name in self._names(session, found.at or session.began):
                row = self._row(kind, name)
                row.findings += 1
                row.caught += found.degree is Degree.CAUGHT
        spent = [sum(each) for each in zip(*self._spent.values(), strict=True)] or [0.0] * 4
        hosts = Counter(self.sessions[found.session].agent for found in findings)
        advice = [
            f"flyball init --host {host}"
            for host, _ in hosts.most_common()
            if host in INSTALLABLE and host not in self._governed
        ]
        return AuditReport(
            since=since,
            files=files,
            read=read,
            sessions=len(self.sessions),
            calls=sum(each.calls for each in self.sessions.values()),
            tokens=spent[0],
            money=spent[1],
            tokens_after_stop=spent[2],
            money_after_stop=spent[3],
            seconds_after_stop=sum(each.seconds_after_stop for each in self.sessions.values()),
            rules=self._rules(findings),
            weeks=sorted(self._by["weeks"].values(), key=lambda row: row.name),
            projects=_largest(self._by["projects"]),
            models=_largest(self._by["models"]),
            hosts=_largest(self._by["hosts"]),
            worst=self._worst(findings),
            findings=findings,
            notes=notes,
            governed=sorted(self._governed),
            advice=advice,
        )

    def _rules(self, findings: list[AuditFinding]) -> list[RuleRow]:
        by_rule: dict[str, list[AuditFinding]] = defaultdict(list)
        for found in findings:
            by_rule[found.rule].append(found)
        rows: list[RuleRow] = []
        for name, rule in RULES.items():
            found = by_rule[name]
            hosts = [self.sessions[each.session].agent for each in found]
            rows.append(
                RuleRow(
                    name,
                    rule.title,
                    caught=sum(each.degree is Degree.CAUGHT for each in found),
                    suspicious=sum(each.degree is Degree.SUSPICIOUS for each in found),
                    sessions=len({each.session for each in found}),
                    kept=sum(each.is_kept is True for each in found),
                    known=sum(each.is_kept is not None for each in found),
                    prevention=rule.prevention,
                    prevented=sum(host in self._governed for host in hosts),
                    precision=rule.precision,
                )
            )
        return sorted(rows, key=lambda row: (row.caught, row.suspicious), reverse=True)

    def _worst(self, findings: list[AuditFinding]) -> list[WorstSession]:
        by_session: dict[str, list[AuditFinding]] = defaultdict(list)
        for found in findings:
            by_session[found.session].append(found)
        ranked = sorted(by_session.items(), key=lambda pair: _weight(pair[1]), reverse=True)
        return [self._told(id, found) for id, found in ranked[:WORST]]

    def _told(self, id: str, found: list[AuditFinding]) -> WorstSession:
        session, spent = self.sessions[id], self._spent[id]
        return WorstSession(
            session=id,
            host=session.host,
            project=session.project,
            model=session.model,
            began=session.began,
            asked=session.asked,
            calls=session.calls,
            tokens=spent[0],
            money=spent[1],
            findings=found[:STORY],
        )


INSTALLABLE = frozenset({"claude", "codex", "gemini", "opencode"})


def _weight(findings: list[AuditFinding]) -> tuple[int, int]:
    caught = sum(each.degree is Degree.CAUGHT for each in findings)
    return len({each.rule for each in findings}) + 2 * caught, len(findings)


def _largest(rows: dict[str, SumRow]) -> list[SumRow]:
    return sorted(rows.values(), key=lambda row: (-row.findings, -row.sessions, row.name))


def week_of(at: float) -> str:
    """Return the ISO week of a time; empty if the time is unknown."""
    return time.strftime("%G-W%V", time.gmtime(at)) if at > 0 else "(unknown)"


def shared(report: AuditReport) -> AuditReport:
    """Return the same report without code, paths, prompts or names."""
    names: dict[str, str] = {}

    def plain(found: AuditFinding) -> AuditFinding:
        id = names.setdefault(found.session, f"session {len(names) + 1}")
        return msgspec.structs.replace(
            found, session=id, key="", quote="", detail="", paths=(), traces=()
        )

    findings = [plain(found) for found in report.findings]
    projects = [
        msgspec.structs.replace(row, name=f"project {number}")
        for number, row in enumerate(report.projects, 1)
    ]
    worst = [
        msgspec.structs.replace(
            each,
            session=names.setdefault(each.session, f"session {len(names) + 1}"),
            project="",
            asked="",
            findings=[plain(found) for found in each.findings],
        )
        for each in report.worst
    ]
    return msgspec.structs.replace(
        report, findings=findings, projects=projects, worst=worst, notes=[]
    )
