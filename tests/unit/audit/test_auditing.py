"""Whole audits: of the real hosts' sessions, of what is new, of copies; and their figures."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.unit.audit.recorded import HOSTS, SINS, lay_out, session_names

from flyball.audit.auditing import (
    WORTH_SEVERAL_READERS,
    AuditOptions,
    AuditProgress,
    audit,
    judge_file,
    judge_files,
    seconds_of,
)
from flyball.audit.finding import RULES, AuditFinding, Degree
from flyball.audit.formats import transcripts
from flyball.audit.judging import SessionAudit
from flyball.audit.report import AuditReport, AuditTally, week_of
from flyball.errors import NotFound, UsageError
from flyball.guards.guard import GuardLimits


def audited(home: Path, *hosts: str, since: str = "", paths: tuple[Path, ...] = ()) -> AuditReport:
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", "FLYBALL_STATE_DIR": f"{home}/state"}
    return audit(AuditOptions(paths, hosts, since), environ, GuardLimits(), clock=lambda: 1.795e9)


@pytest.mark.parametrize("host", HOSTS)
def test_every_planted_sin_is_found_and_no_clean_session_accused(host: str, tmp_path: Path):
    lay_out(tmp_path, host)
    report = audited(tmp_path)
    names = session_names(host)
    assert report.sessions == len(names) == 17
    found = {(names[each.session], each.rule) for each in report.findings}
    assert found == set(SINS.items())
    assert report.notes == []


def test_what_is_said_of_precision_is_what_planted_sins_and_labels_show(tmp_path: Path):
    lay_out(tmp_path, *HOSTS)
    rows = {row.rule: row for row in audited(tmp_path).rules}
    labels = Counter((each["rule"], each["right"]) for each in labelled())
    assert labels.total() >= 100
    for name, rule in RULES.items():
        planted = rows[name].caught + rows[name].suspicious
        told = (planted + labels[name, True], labels[name, False])
        assert (rule.right, rule.wrong) == told, name


def labelled() -> list[dict[str, Any]]:
    """Alarms on public recordings, each read and judged by its session."""
    file = Path(__file__).parents[2] / "golden" / "labels" / "findings.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_rule_that_is_often_wrong_never_says_that_somebody_was_caught():
    sure = {name for name, rule in RULES.items() if rule.may_be_caught}
    assert sure == {"unchecked", "blind-write", "question-edited", "outside-edit"}


@pytest.mark.exhaustive
def test_readers_side_by_side_tell_what_one_alone_does(tmp_path: Path):
    lay_out(tmp_path, "claude", "codex")
    files = [*transcripts([tmp_path])]
    alone = dict(judge_files(files, 0, GuardLimits(), os.environ))
    beside = dict(judge_files(files, WORTH_SEVERAL_READERS, GuardLimits(), os.environ))
    assert beside == alone
    assert len(alone) == 34


@pytest.mark.exhaustive
def test_where_no_reader_can_be_started_the_files_are_read_all_the_same(tmp_path: Path):
    lay_out(tmp_path, "claude")
    files = [*transcripts([tmp_path])]
    broken = {**os.environ, "PYTHONHOME": "/nowhere"}
    told = dict(judge_files(files, WORTH_SEVERAL_READERS, GuardLimits(), broken))
    assert told == {file: judge_file(file, GuardLimits()) for file in files}


def test_a_second_audit_reads_only_what_is_new(tmp_path: Path):
    lay_out(tmp_path, "claude")
    first = audited(tmp_path)
    second = audited(tmp_path)
    assert (first.read, second.read) == (17, 0)
    assert second.findings == first.findings
    file = next((tmp_path / ".claude/projects").rglob("clean-fix.jsonl"))
    file.write_text(file.read_text() + "\n")
    assert audited(tmp_path).read == 1


def test_a_resumed_session_repeats_what_was_said_and_nothing_counts_twice(tmp_path: Path):
    lay_out(tmp_path, "claude")
    first = audited(tmp_path)
    file = next((tmp_path / ".claude/projects").rglob("done-unchecked.jsonl"))
    text = file.read_text()
    session = json.loads(text.splitlines()[0])["sessionId"]
    file.with_name("resumed.jsonl").write_text(text.replace(session, "another"))
    again = audited(tmp_path)
    assert again.sessions == first.sessions + 1
    assert (again.tokens, again.money) == (first.tokens, first.money)
    assert [each.key for each in again.findings] == [each.key for each in first.findings]


def test_money_is_counted_once_for_a_reply_that_stands_in_two_lines(tmp_path: Path):
    lay_out(tmp_path, "claude")
    file = next((tmp_path / ".claude/projects").rglob("clean-fix.jsonl"))
    report = audited(tmp_path, paths=(file,))
    assert report.tokens == 4 * 120
    assert report.money == pytest.approx(4 * (100 * 3 + 20 * 15) / 1e6)


def test_only_the_host_that_is_asked_for(tmp_path: Path):
    lay_out(tmp_path, "claude", "codex")
    assert [row.name for row in audited(tmp_path, "codex").hosts] == ["codex"]


def test_a_link_that_leads_nowhere_is_no_transcript(tmp_path: Path):
    lay_out(tmp_path, "codex")
    (tmp_path / ".codex/sessions/gone.jsonl").symlink_to(tmp_path / "missing")
    assert audited(tmp_path).files == 17


def test_only_what_is_young_enough(tmp_path: Path):
    lay_out(tmp_path, "codex")
    assert audited(tmp_path, since="8w").sessions == 17
    assert audited(tmp_path, since="1h").sessions == 0


def test_what_was_done_is_caught_while_its_effect_can_be_seen(tmp_path: Path):
    shop = tmp_path / "shop"
    shop.mkdir()
    lay_out(tmp_path, "claude")
    file = next((tmp_path / ".claude/projects").rglob("done-unchecked.jsonl"))
    file.write_text(file.read_text().replace("/home/dev/shop", str(shop)))
    (shop / "cart.py").write_text("        result += price\n")
    assert [each.degree for each in audited(tmp_path, paths=(file,)).findings] == [
        Degree.SUSPICIOUS
    ]
    (shop / "cart.py").write_text("        result += price * quantity\n")
    (found,) = audited(tmp_path, paths=(file,)).findings
    assert (found.degree, found.is_kept) == (Degree.CAUGHT, True)


def test_what_was_committed_is_caught_in_the_history(tmp_path: Path):
    shop = tmp_path / "shop"
    shop.mkdir()
    lay_out(tmp_path, "claude")
    file = next((tmp_path / ".claude/projects").rglob("done-unchecked.jsonl"))
    file.write_text(file.read_text().replace("/home/dev/shop", str(shop)))
    cart = shop / "cart.py"
    who = ["-c", "user.name=dev", "-c", "user.email=dev@localhost"]

    def git(*words: str) -> None:
        env = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
            "GIT_COMMITTER_DATE": "@1794900000 +0000",
        }
        subprocess.run(["git", *who, *words], cwd=shop, env=env, check=True, capture_output=True)

    git("init", "-q")
    for text in ("result += price * quantity\n", "result = 0\n"):
        cart.write_text(text)
        git("add", "-A")
        git("commit", "-qm", "x")
    (found,) = audited(tmp_path, paths=(file,)).findings
    assert found.degree is Degree.CAUGHT


def test_progress_is_reported(tmp_path: Path):
    lay_out(tmp_path, "gemini")
    seen: list[AuditProgress] = []
    environ = {"HOME": str(tmp_path), "FLYBALL_STATE_DIR": f"{tmp_path}/state"}
    audit(AuditOptions(), environ, GuardLimits(), watch=seen.append)
    assert (seen[0].files, seen[-1].files, seen[-1].bytes) == (0, 17, seen[-1].of_bytes)


def test_a_damaged_index_is_rebuilt(tmp_path: Path):
    lay_out(tmp_path, "codex")
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "audit.sqlite").write_bytes(b"no data base" * 1000)
    assert audited(tmp_path).sessions == 17


@pytest.mark.parametrize(("span", "seconds"), [("12h", 43200), ("30d", 2592000), ("2w", 1209600)])
def test_a_span_is_read(span: str, seconds: float):
    assert seconds_of(span) == seconds


def test_what_is_no_span_is_said():
    with pytest.raises(UsageError, match="is not a time span"):
        seconds_of("soon")


def test_nothing_to_audit_is_said(tmp_path: Path):
    with pytest.raises(NotFound):
        audited(tmp_path)
    with pytest.raises(NotFound):
        audited(tmp_path, paths=(tmp_path / "missing.jsonl",))


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
