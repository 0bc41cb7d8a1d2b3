"""Plans and reports as models write them."""

import json

import pytest

from flyball.plan.message import ExecutionPlan, Issue, NextAction, Severity, Step, Work
from flyball.plan.replies import Unclear, spoken_plan, spoken_report

PLAN = {"goal": "it works", "steps": [{"id": "a", "title": "Do a", "success_criteria": ["green"]}]}


def plan(text):
    return spoken_plan(text, id="p", request_id="r")


def report(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return spoken_report(text, id="v", request_id="r")


def fenced(value, fence="```json"):
    return f"Here it is.\n\n{fence}\n{json.dumps(value)}\n{fence[:3]}\n\nThat is all.\n"


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(PLAN),
        fenced(PLAN),
        fenced(PLAN, "~~~"),
        f"I thought of this: {json.dumps(PLAN)} and of nothing else.",
        fenced({"a": 1}) + fenced(PLAN) + fenced({"b": 2}),
        fenced({"goal": "an older one", "steps": []}) + fenced(PLAN),
    ],
    ids=["bare", "fenced", "tildes", "in prose", "among others", "the last one"],
)
def test_a_plan_is_found_wherever_it_stands(text):
    step = Step(id="a", title="Do a", success_criteria=("green",))
    assert plan(text) == ExecutionPlan(id="p", request_id="r", goal="it works", steps=(step,))


@pytest.mark.parametrize(
    "value",
    [
        {"action": "EMIT_PLAN", "goal": "it works", "tasks": [{"id": "a", "task": "Do a"}]},
        {"EMIT_PLAN": {"goal": "it works", "tasks": [{"id": "a", "title": "Do a"}]}},
        {"EMIT_PLAN": [{"id": "a", "title": "Do a"}], "goal": "it works"},
        {"plan": {"goal": "it works", "steps": [{"id": "a", "title": "Do a"}]}},
    ],
)
def test_a_plan_that_is_emitted_is_a_plan(value):
    for text in (json.dumps(value), f"EMIT_PLAN {json.dumps(value)}\nPROCEED", fenced(value)):
        step = Step(id="a", title="Do a")
        assert plan(text) == ExecutionPlan(id="p", request_id="r", goal="it works", steps=(step,))


def test_a_task_may_be_one_text():
    found = plan(json.dumps({"tasks": ["read it", " mend it "]}))
    assert [(step.id, step.title) for step in found.steps] == [
        ("step-1", "read it"),
        ("step-2", "mend it"),
    ]
    assert isinstance(plan('{"plan": "none"}'), Unclear)
    assert isinstance(plan('{"plan": {"goal": "x"}}'), Unclear)


def test_what_a_step_leaves_out_is_filled_in_by_its_place():
    found = plan(json.dumps({"steps": [{"title": "x"}, {"id": 2, "description": "y"}]}))
    assert [(step.id, step.title) for step in found.steps] == [("step-1", "x"), ("2", "y")]
    assert found.goal == "x; y"


SLOPPY = {
    "a trailing comma": '{"goal": "g", "steps": [{"id": "a", "title": "x",},],}',
    "comments": '{"goal": "g", // the goal\n"steps": [ /* one */ {"id": "a", "title": "x"}]}',
    "a hash": '{"goal": "g", # so\n "steps": [{"id": "a", "title": "x"}]}',
    "a comment after it": '{"goal": "g", "steps": [{"id": "a", "title": "x"}, // last\n]}',
    "one step for a list": '{"goal": "g", "steps": {"id": "a", "title": "x"}}',
    "another name for the id": '{"goal": "g", "steps": [{"step_id": "a", "title": "x"}]}',
    "an unclosed fence": '```json\n{"goal": "g", "steps": [{"id": "a", "title": "x"}]}\n',
    "prose around it": 'So:\n{"goal": "g", "steps": [{"id": "a", "title": "x"}]}\nThat is all.',
}


@pytest.mark.parametrize("text", SLOPPY.values(), ids=SLOPPY.keys())
def test_a_plan_is_read_however_it_is_written(text: str) -> None:
    found = plan(text)
    assert (found.goal, [(step.id, step.title) for step in found.steps]) == ("g", [("a", "x")])


def test_a_bare_list_is_a_plan_whose_goal_is_its_steps() -> None:
    steps = [{"title": "Mend it"}, {"title": "Test it", "depends": "step-1"}]
    found = plan(f"```json\n{json.dumps(steps)}\n```")
    assert found.goal == "Mend it; Test it"
    assert [step.id for step in found.steps] == ["step-1", "step-2"]
    assert found.steps[1].depends_on == ("step-1",)
    assert isinstance(plan("[]"), Unclear)


def test_names_that_can_only_mean_one_field_are_taken() -> None:
    one = {"name": "Count all the pieces", "acceptanceCriteria": "green", "dependsOn": ["b"]}
    two = {"name": "b", "title": "x", "done_when": ["green"], "needs": 1}
    first, second = plan(json.dumps({"goal": "g", "steps": [one, two]})).steps
    assert (first.id, first.title) == ("step-1", "Count all the pieces")
    assert (first.success_criteria, first.depends_on) == (("green",), ("b",))
    assert (second.id, second.depends_on) == ("b", ("1",))
    odd = plan(json.dumps({"goal": "g", "steps": [{"id": "a b", "title": "x"}]}))
    assert odd.steps[0].id == "a b"


def test_text_that_looks_like_a_comment_stays() -> None:
    found = plan('{"goal": "see http://a.b/c // d, ]", "steps": [{"id": "a", "title": "#1",}]}')
    assert (found.goal, found.steps[0].title) == ("see http://a.b/c // d, ]", "#1")


def test_a_fault_is_named_by_line_and_column() -> None:
    found = plan('Here:\n```json\n{"goal": "g",\n "steps": [{"id" "a"}]}\n```')
    assert "line 2, column 18" in found.why
    assert '`"steps": [{"id" "a"}]}`' in found.why


def test_one_text_stands_for_a_list_of_one():
    steps = [{"title": "x", "success_criteria": " green ", "depends_on": None}]
    steps += [{"title": "y", "success_criteria": "", "depends_on": [1]}]
    first, second = plan(json.dumps({"steps": steps})).steps
    assert (first.success_criteria, first.depends_on) == (("green",), ())
    assert (second.success_criteria, second.depends_on) == ((), ("1",))


def test_work_can_be_said_for_a_step_or_for_the_whole_plan():
    whole = plan(json.dumps({**PLAN, "work": "Rollback"}))
    assert whole.steps[0].work is Work.ROLLBACK
    one = plan(json.dumps({"steps": [{"title": "x", "work": "rollback"}]}))
    assert one.steps[0].work is Work.ROLLBACK
    assert plan(json.dumps({"goal": "g", "steps": [], "work": "rollback"})).steps == ()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("I would begin with the cart.", "contains no plan"),
        ("{broken", "cannot be read: line 1, column 2"),
        ("[" * 100_000, "too large or it is nested"),
        ({"goal": "g"}, "contains no plan"),
        ({"steps": "a, b"}, "`steps` must be a list, not the text 'a, b'"),
        ({"steps": ["a"]}, "Step 1 must be an object"),
        ({"steps": [{"title": 7}]}, "the title of step 1` must be text, not the number 7"),
        ({"steps": [{"title": "x", "depends_on": {"a": 1}}]}, "depends_on of step 1"),
        ({"steps": [{"title": "x", "work": "undo"}]}, "`work of step 1` must be one of keep"),
        ({"steps": [], "work": "undo"}, "`work` must be one of keep, rollback"),
        ({"steps": [], "goal": 1}, "`goal` must be text"),
    ],
)
def test_what_cannot_be_understood_is_said_back(value, words):
    found = plan(value if isinstance(value, str) else json.dumps(value))
    assert isinstance(found, Unclear)
    assert words in found.why


def test_a_report_with_issues_and_next_actions():
    found = report(
        {
            "goal_achieved": False,
            "issues": [
                {"step_id": "a", "issue": "red", "severity": "Critical"},
                {"issue": "no docs"},
            ],
            "next_actions": [{"description": "mend a"}, {"type": "ask", "priority": "high"}],
        }
    )
    assert found.issues == (
        Issue(step_id="a", issue="red", severity=Severity.CRITICAL),
        Issue(step_id="plan", issue="no docs", severity=Severity.HIGH),
    )
    assert found.next_actions == (
        NextAction(type="fix", description="mend a", priority="medium"),
        NextAction(type="ask", description="", priority="high"),
    )
    assert report({"goal_achieved": True, "issues": None}).issues == ()


FAULTY_REPORTS = [
    ("All is well.", "contains no report"),
    ({"goal_achieved": "maybe"}, "must be true or false, not the text 'maybe'"),
    ("{'goal_achieved' true}", "The report in your answer cannot be read: line 1"),
    ({"goal_achieved": True, "issues": "none"}, "`issues` must be a list"),
    ({"goal_achieved": True, "issues": ["red"]}, "Each of `issues` must be an object"),
    ({"goal_achieved": True, "issues": [{"step_id": "a"}]}, "An issue has no `issue`"),
    ({"goal_achieved": True, "issues": [{"issue": "x", "severity": "bad"}]}, "severity"),
]


def test_a_report_is_read_however_it_says_yes() -> None:
    assert report({"goal_achieved": "Yes"}).goal_achieved
    said = report({"goal_achieved": "false", "issues": [{"step": "a", "description": "red"}]})
    assert [(each.step_id, each.issue) for each in said.issues] == [("a", "red")]


@pytest.mark.parametrize(
    ("value", "words"),
    FAULTY_REPORTS,
)
def test_a_report_that_cannot_be_understood(value, words):
    found = report(value)
    assert isinstance(found, Unclear)
    assert words in found.why
