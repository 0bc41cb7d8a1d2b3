"""Figures of an audit."""

from __future__ import annotations

from flyball.app.audit.judging import SessionAudit
from flyball.app.audit.report import AuditTally, week_of
from flyball.core.record.audit.finding import AuditFinding, Degree


def test_a_session_that_several_files_tell_of_is_one():
    tally = AuditTally(())
    tally.add_sessions(
        [
            SessionAudit("s", "claude", "/shop", began=5.0, ended=9.0, calls=2),
            SessionAudit("s", "claude", began=3.0, ended=7.0, calls=3, asked="why?"),
        ]
    )
    (told,) = tally.sessions.values()
    assert (told.began, told.ended, told.calls, told.asked) == (3.0, 9.0, 5, "why?")


def test_the_worst_come_first_and_sums_are_right():
    tally = AuditTally(["codex"])
    tally.add_sessions(
        [
            SessionAudit("a", "claude", "/shop", "one", began=1e9),
            SessionAudit("b", "codex", "/shop", "two", began=1e9),
        ]
    )
    tally.add_bills(
        [("a", "one", 1e9, [10.0, 2.0, 4.0, 1.0]), ("gone", "x", 0.0, [1.0, 1.0, 1.0, 1.0])]
    )
    findings = [
        AuditFinding("loop", "b", 1, 1e9, "k", "ls"),
        AuditFinding("unchecked", "a", 1, 1e9, "l", "Edit", degree=Degree.CAUGHT, is_kept=True),
    ]
    report = tally.report(findings, since=0.0, files=2, read=2, notes=[])
    assert [each.session for each in report.worst] == ["a", "b"]
    assert [(row.name, row.sessions, row.findings, row.caught) for row in report.projects] == [
        ("shop", 2, 2, 1)
    ]
    assert [(row.name, row.tokens, row.money) for row in report.models] == [
        ("one", 10.0, 2.0),
        ("two", 0.0, 0.0),
    ]
    first = report.rules[0]
    assert (first.rule, first.caught, first.kept, first.known) == ("unchecked", 1, 1, 1)
    assert report.advice == ["flyball init --host claude"]
    assert sum(row.prevented for row in report.rules) == 1


def test_weeks_are_numbered_as_people_do():
    assert week_of(1_794_848_400.0) == "2026-W47"
    assert week_of(0.0) == "(unknown)"
