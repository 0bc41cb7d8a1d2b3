import msgspec
import pytest

from flyball.plan.message import (
    MESSAGES,
    AnyMessage,
    ExecutionPlan,
    Issue,
    Severity,
    Step,
    Work,
    name_of,
)
from flyball.plan.plan import plan_issues, ready_steps, rolls_back


def step(id, *depends_on, **more):
    fields = {"title": "t", "success_criteria": ("works",)} | more
    return Step(id=id, depends_on=depends_on, **fields)


def plan(*steps, goal="g"):
    return ExecutionPlan(id="p", request_id="r", goal=goal, steps=steps)


def test_a_good_plan_has_no_issues():
    assert plan_issues(plan(step("a"), step("b"), step("c", "a", "b"))) == ()


@pytest.mark.parametrize(
    ("bad", "step_id", "words"),
    [
        (plan(), "plan", "has no steps; give it 1 to 8"),
        (plan(*(step(f"s{i}") for i in range(9))), "plan", "has 9 steps; 8 is the most"),
        (plan(step("a"), goal=" "), "plan", "has no goal"),
        (plan(step("a"), step("a")), "a", "have this id"),
        (plan(step("a", "z")), "a", "depends on z, which the plan lacks"),
        (plan(step("a", "a")), "a", "wait for each other: a"),
        (plan(step("x"), step("a", "b"), step("b", "a")), "a", "wait for each other: a, b"),
        (plan(step("a", title=" ")), "a", "no title"),
        (plan(step("a", success_criteria=(" ",))), "a", "no success criteria"),
        (plan(step("../a")), "../a", "up to 40 letters, digits, - or _"),
        (plan(step("a.2")), "a.2", "up to 40 letters, digits, - or _"),
        (plan(step("x" * 41)), "x" * 20 + " … " + "x" * 20, "up to 40 letters"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_says_why(bad, step_id, words):
    (issue,) = plan_issues(bad)
    assert issue.step_id == step_id
    assert words in issue.issue
    assert str(issue).startswith("[critical]")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tets-first", "There is no template tets-first; did you mean test-first?"),
        ("quux", "There is no template quux; there are fix, test-first"),
    ],
)
def test_a_template_that_is_not_there_is_named(name, words):
    known = ("fix", "test-first")
    (issue,) = plan_issues(plan(step("a", template=name)), known)
    assert issue.issue == words
    assert plan_issues(plan(step("a", template="fix")), known) == ()
    assert plan_issues(plan(step("a", template=name))) == ()


def test_ready_steps_are_those_whose_dependencies_are_done():
    shape = plan(step("a"), step("b"), step("c", "a"), step("d", "b", "c"))
    assert [each.id for each in ready_steps(shape, ())] == ["a", "b"]
    assert [each.id for each in ready_steps(shape, {"a"})] == ["b", "c"]
    assert [each.id for each in ready_steps(shape, {"a", "b", "c"})] == ["d"]
    assert ready_steps(shape, {"a", "b", "c", "d"}) == ()


def test_a_plan_rolls_back_if_one_of_its_steps_says_so():
    assert not rolls_back(plan(step("a")))
    assert rolls_back(plan(step("a"), step("b", work=Work.ROLLBACK)))


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
