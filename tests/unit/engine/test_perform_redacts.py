"""Evidence is journaled without secrets, and otherwise as it was."""

from __future__ import annotations

from flyball.engine.perform import redact_evidence, redact_struct
from flyball.terms.evidence import CheckKind, CheckReport, FailedTest, GateReport, SuiteReport
from flyball.terms.finding import Match, TextMatches
from flyball.workspace.redaction import Redactor

SECRET = "s3cret-value-42"
REDACTOR = Redactor((SECRET,))


def suite(message: str) -> SuiteReport:
    return SuiteReport(
        id=SECRET, tree="t1", runner="pytest", command="pytest", exit_code=1, failed=1, passed=2,
        failures=(FailedTest("test_a", message), FailedTest("test_b")),
    )  # fmt: skip


def test_every_text_is_cleaned_but_names_stay():
    check = CheckReport(
        id="c", tree="t1", kind=CheckKind.TYPES, command="mypy", exit_code=1, problems=(SECRET,)
    )
    gate = GateReport(id="g", tree="t1", gate="http_ok", parameters={"url": SECRET}, why="no")
    cleaned = redact_evidence((suite(f"key {SECRET}"), check, gate), REDACTOR)
    assert [type(item) for item in cleaned] == [SuiteReport, CheckReport, GateReport]
    first = cleaned[0]
    assert isinstance(first, SuiteReport)
    assert first.id == SECRET
    assert (first.passed, first.failures[1]) == (2, FailedTest("test_b"))
    assert first.failures[0].message.startswith("key ")
    assert SECRET not in repr((first.failures, *cleaned[1:]))


def test_what_holds_no_secret_is_the_very_same():
    item = suite("AssertionError: 2 != 6")
    assert redact_evidence((item,), REDACTOR)[0] is item


def test_tool_evidence_is_redacted():
    found = TextMatches(shown=(Match("a.py", 1, f"key = {SECRET}"),))
    assert SECRET not in str(redact_struct(found, REDACTOR))
