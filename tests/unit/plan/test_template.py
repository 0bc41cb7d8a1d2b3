from __future__ import annotations

import msgspec
import pytest

from flyball.plan.flow import FlowSource, check
from flyball.plan.library import LIBRARY, template_for
from flyball.plan.replies import split_answer
from flyball.plan.template import EvidenceSchema, FieldKind, Role, Template, object_to_phases
from flyball.terms.intent import MAY_MUTATE, Intent
from flyball.terms.phase import BUILD, Phase

FORM = EvidenceSchema(
    required=("diff_summary", "commands_run", "score"),
    optional=("tests_passed", "is_safe"),
    criteria_checklist={"c1": "Explained", "c2": "Planned"},
    fields={"score": FieldKind.NUMBER, "is_safe": FieldKind.BOOLEAN},
)
GOOD = {
    "diff_summary": "two lines",
    "commands_run": ["pytest"],
    "score": 3,
    "criteria_checklist": {"c1": True, "c2": False},
}


def test_a_well_filled_form_has_no_errors():
    assert FORM.validate(GOOD | {"tests_passed": 4.5, "is_safe": True}) == ()


@pytest.mark.parametrize(
    ("change", "field", "expected", "found"),
    [
        ({"diff_summary": "  "}, "diff_summary", "text that is not empty", "empty text"),
        ({"diff_summary": 3}, "diff_summary", "text that is not empty", "the number 3"),
        ({"commands_run": "pytest"}, "commands_run", "a list of texts", "the text 'pytest'"),
        ({"commands_run": ["a", 1]}, "commands_run", "a list of texts", "a list of 2"),
        ({"score": True}, "score", "a number", "true"),
        ({"is_safe": "yes"}, "is_safe", "true or false", "the text 'yes'"),
        ({"criteria_checklist": []}, "criteria_checklist", "a map from criterion", "an empty list"),
        (
            {"criteria_checklist": {"c1": True}},
            "criteria_checklist.c2",
            "true or false",
            "nothing",
        ),
        (
            {"criteria_checklist": {"c1": "yes", "c2": True}},
            "criteria_checklist.c1",
            "true or false",
            "the text 'yes'",
        ),
        (
            {"criteria_checklist": {"c1": True, "c2": True, "c9": True}},
            "criteria_checklist.c9",
            "one of c1, c2",
            "true",
        ),
        ({"diff_sumary": "x"}, "diff_sumary", "one of diff_summary", "the text 'x'"),
        ({"zzz": 1}, "zzz", "one of diff_summary", "the number 1"),
    ],
)
def test_each_error_names_field_expectation_and_finding(change, field, expected, found):
    (error,) = FORM.validate(GOOD | change)
    assert error.field == field
    assert error.expected.startswith(expected)
    assert error.found == found
    assert f"`{field}`" in error.message


def test_a_misspelled_field_is_told_the_right_one():
    (error,) = FORM.validate(GOOD | {"diff_sumary": "x"})
    assert error.message.endswith("did you mean `diff_summary`?")


def test_everything_missing_is_reported_at_once():
    fields = [error.field for error in FORM.validate({})]
    assert fields == ["diff_summary", "commands_run", "score", "criteria_checklist"]


def test_a_checklist_named_as_required_is_missed_once():
    form = EvidenceSchema(required=("criteria_checklist",), criteria_checklist={"c1": "x"})
    assert [error.field for error in form.validate({})] == ["criteria_checklist"]
    assert form.validate({"criteria_checklist": {"c1": True}}) == ()


def test_an_empty_form_takes_nothing():
    (error,) = EvidenceSchema().validate({"notes": "x"})
    assert error.expected == "no evidence at all"


@pytest.mark.parametrize(
    ("phases", "role", "objection"),
    [
        ((Phase.FINAL,), Role.RESEARCHER, ""),
        ((Phase.ANALYZE_CODE, Phase.FINAL), Role.VERIFIER, ""),
        ((Phase.ANALYZE_CODE,), Role.EXECUTOR, "must end with final"),
        ((), Role.EXECUTOR, "must end with final"),
        ((Phase.FINAL, Phase.ANALYZE_CODE), Role.EXECUTOR, "in this order"),
        ((Phase.FINAL, Phase.FINAL), Role.EXECUTOR, "each once"),
        ((Phase.PAUSED, Phase.FINAL), Role.EXECUTOR, "must be some of"),
        ((Phase.EXECUTE, Phase.VERIFY, Phase.FINAL), Role.EXECUTOR, "need plan.checkpoint before"),
        ((Phase.CHECKPOINT, Phase.EXECUTE, Phase.FINAL), Role.EXECUTOR, "build.verify after"),
        (
            (Phase.CHECKPOINT, Phase.EXECUTE, Phase.VERIFY, Phase.FINAL),
            Role.REVIEWER,
            "A reviewer only reads",
        ),
    ],
)
def test_phases_can_be_left_out_but_not_misused(phases, role, objection):
    found = object_to_phases(phases, role)
    assert objection in found
    assert bool(found) is bool(objection)


def test_a_template_with_impossible_phases_cannot_be_built():
    fields = {"step_id": "a", "title": "a", "objective": "a", "prompt_template": "a"}
    with pytest.raises(msgspec.ValidationError, match="must end with final"):
        msgspec.convert(fields | {"phases": ["build.verify"]}, Template)
    assert msgspec.convert(fields, Template).may_mutate


def test_unknown_fields_are_refused():
    with pytest.raises(msgspec.ValidationError, match="unknown field `colour`"):
        msgspec.json.decode(
            b'{"step_id":"a","title":"a","objective":"a","prompt_template":"a","colour":1}',
            type=Template,
        )


def test_the_library_holds_what_was_promised():
    assert list(LIBRARY) == [
        "answer",
        "status",
        "diagnose",
        "fix",
        "feature",
        "step",
        "plan",
        "verify",
        "review",
        "refactor",
        "test-first",
        "D1",
    ]


@pytest.mark.parametrize("name", LIBRARY)
def test_each_built_in_template_is_sound_as_a_flow_of_its_own(name):
    value = msgspec.to_builtins(LIBRARY[name])
    assert check(FlowSource(name, value, {})) == ()
    assert msgspec.convert(value, Template) == LIBRARY[name]


@pytest.mark.parametrize("name", ["answer", "status", "diagnose", "plan", "verify", "review", "D1"])
def test_read_only_templates_have_no_way_to_write(name):
    phases = LIBRARY[name].phases
    assert not any(phase.is_in(BUILD) or phase is Phase.CHECKPOINT for phase in phases)


@pytest.mark.parametrize("intent", Intent)
def test_a_template_may_write_only_if_its_intent_may(intent):
    assert template_for(intent).may_mutate is (intent in MAY_MUTATE)


def test_the_diagnosis_of_a_failure_is_the_one_of_the_specification():
    template = msgspec.json.decode(msgspec.json.encode(LIBRARY["D1"]))
    assert template["evidence_schema"] == {
        "required": ["diff_summary", "notes", "devlog_line"],
        "optional": ["commands_run", "artifacts_created"],
        "criteria_checklist": {"c1": "Failure explained", "c2": "Repair plan proposed"},
    }
    assert template["on_fail"]["max_retries"] == 0
    assert template["on_pass"]["next_step_id"] == "ROUTE_TO_PLANNING"
    assert template["human_review"]
    assert template["checkpoint"]


@pytest.mark.parametrize(
    ("text", "fields", "rest"),
    [
        ("So.\n\n```json\n{\"a\": 1}\n```", {"a": 1}, "So."),
        ("So.\n```json\n{\"a\": 1}\n```\nThat is all.", {"a": 1}, "So.\nThat is all."),
        ("```json\n{\"a\": 1}\n```\n```py\nx = 1\n```", {"a": 1}, "```py\nx = 1\n```"),
        ("```\n{\"a\": 1}\n```\n~~~json\n{\"b\": 2}\n~~~", {"b": 2}, "```\n{\"a\": 1}\n```"),
        ("{\"a\": 1}", {"a": 1}, ""),
        ("It is {\"a\": 1}.", {"a": 1}, "It is\n."),
        ("no form", None, "no form"),
        ("{broken", None, "{broken"),
        ("```json\n[1]\n```", None, "```json\n[1]\n```"),
    ],
)  # fmt: skip
def test_the_last_block_is_the_form(text: str, fields: object, rest: str):
    assert split_answer(text) == (fields, rest)
