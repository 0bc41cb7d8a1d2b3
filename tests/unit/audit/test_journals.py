"""Our own journals in an audit."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from flyball.audit.auditing import AuditOptions, audit
from flyball.audit.report import AuditReport
from flyball.errors import NotFound
from flyball.guards.guard import GuardLimits
from flyball.journal.sqlite import SqliteJournal


def audited(state: Path) -> AuditReport:
    environ = {"HOME": str(state / "home"), "FLYBALL_STATE_DIR": str(state)}
    return audit(AuditOptions((), ("flyball",)), environ, GuardLimits())


def test_where_nothing_was_observed_there_is_nothing_to_tell(tmp_path: Path):
    with pytest.raises(NotFound):
        audited(tmp_path)
    (tmp_path / "projects/shop").mkdir(parents=True)
    asyncio.run(SqliteJournal(tmp_path / "projects/shop/journal.sqlite").close())
    report = audited(tmp_path)
    assert (report.files, report.sessions, report.notes) == (1, 0, [])


def test_a_journal_that_is_none_is_named_and_passed_over(tmp_path: Path):
    file = tmp_path / "projects/shop/journal.sqlite"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no data base" * 100)
    (note,) = audited(tmp_path).notes
    assert note.startswith(f"{file}: It was skipped:")
