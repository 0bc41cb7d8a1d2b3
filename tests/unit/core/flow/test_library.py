import msgspec
import pytest

from flyball.core.flow.flow import FlowSource, check
from flyball.core.flow.library import LIBRARY, template_for
from flyball.core.flow.template import Template
from flyball.core.terms.intent import MAY_MUTATE, Intent
from flyball.core.terms.phase import BUILD, Phase


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
