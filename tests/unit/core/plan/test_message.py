import msgspec
import pytest

from flyball.core.plan.message import MESSAGES, AnyMessage, Issue, Severity, name_of

FIELDS = {
    "plan_request": "request_id user_request context iteration previous_plan previous_issues",
    "execution_plan": "request_id id goal steps",
    "execute_task": "request_id plan_id step",
    "execution_results": "request_id plan_id step_results all_success",
    "verify_request": "request_id plan_id goal results",
    "verification_report": "request_id id goal_achieved issues next_actions",
    "user_response": "request_id status iterations goal_achieved message issues next_actions",
}


def test_messages_have_exactly_the_names_and_fields_of_the_contract():
    found = {name_of(kind): set(kind.__struct_fields__) for kind in MESSAGES}
    assert found == {name: set(fields.split()) for name, fields in FIELDS.items()}


def test_issues_become_strings_in_one_form():
    issue = Issue(
        step_id="step-4", issue="Tests failed with compilation error", severity=Severity.CRITICAL
    )
    assert str(issue) == "[critical] Step step-4: Tests failed with compilation error"


def test_a_report_from_the_wire_is_read_strictly():
    wire = {
        "type": "verification_report",
        "id": "verify-002",
        "request_id": "req-1",
        "goal_achieved": False,
        "issues": [{"step_id": "step-3", "issue": "Tests failed", "severity": "critical"}],
        "next_actions": [{"type": "fix", "description": "Fix tests", "priority": "high"}],
    }
    report = msgspec.convert(wire, AnyMessage)
    assert msgspec.to_builtins(report) == msgspec.to_builtins(msgspec.convert(wire, AnyMessage))
    assert report.issues[0].severity is Severity.CRITICAL
    with pytest.raises(msgspec.ValidationError, match="unknown field `mood`"):
        msgspec.convert(wire | {"mood": "good"}, AnyMessage)
    with pytest.raises(msgspec.ValidationError, match="length >= 1"):
        msgspec.convert(wire | {"request_id": ""}, AnyMessage)
