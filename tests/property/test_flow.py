"""A flow that is found sound ends; whatever is in a file, checking it ends too."""

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from flyball.app.flowfile.template_file import parse_source
from flyball.plan.escalation import Strictness, Trouble, escalate
from flyball.plan.flow import FlowSource, check, read_flow
from flyball.plan.flowchart import mermaid, outline
from flyball.plan.template import END, SPECIAL_TARGETS, Escalation, OnFail, Template

names = st.sampled_from(["A", "B", "C", "E"])
targets = st.one_of(names, st.sampled_from([END, "ROUTE_TO_PLANNING"]))
ways = st.builds(
    lambda goal, rounds, then: (
        {"next_step_id": goal} | ({"max_rounds": rounds, "then": then} if rounds else {})
    ),
    targets,
    st.integers(0, 3),
    targets,
)
steps = st.builds(
    lambda name, way: {
        "step_id": name,
        "title": name,
        "objective": name,
        "prompt_template": name,
        "on_pass": way,
    },
    names,
    ways,
)

junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["END", "tests_pass", "A", "final", "executor", "text"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*Template.__struct_fields__, "steps", "type", "parameters", "names"])
            | st.text(max_size=3),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(st.lists(steps, min_size=1, max_size=4, unique_by=lambda step: step["step_id"]))
def test_a_sound_flow_that_always_passes_reaches_an_end(value):
    flow, problems = read_flow(FlowSource("f", value, {}))
    if flow is None:
        assert problems
        return
    here, rounds = flow.start, {}
    for _ in range(200):
        if here in SPECIAL_TARGETS:
            break
        way = flow.step(here).on_pass
        rounds[here] = rounds.get(here, 0) + 1
        is_spent = way.max_rounds is not None and rounds[here] > way.max_rounds
        here = way.then if is_spent else way.next_step_id
    assert here in SPECIAL_TARGETS
    assert mermaid(flow).startswith("flowchart TD\n")
    assert all(step.step_id in outline(flow) for step in flow.steps)


@given(junk)
def test_checking_anything_gives_problems_or_a_flow(value):
    flow, problems = read_flow(FlowSource("f", value, {}))
    assert (flow is None) == bool(problems)
    for problem in problems:
        assert problem.code
        assert problem.message.endswith(".")
        assert problem.hint
        assert str(problem).isprintable()


@given(junk)
def test_values_survive_the_file(value):
    try:
        text = json.dumps(value, allow_nan=False)
    except ValueError:
        return
    source = parse_source("f.json", text.encode("utf-8", "surrogatepass"))
    assert source.value == value


@given(
    st.sampled_from(["f.json", "f.toml", "f.yaml"]),
    st.binary(max_size=60) | st.text().map(str.encode),
)
def test_garbage_is_a_problem_or_a_value_and_never_an_error(name, data):
    found = parse_source(name, data)
    if isinstance(found, FlowSource):
        assert isinstance(check(found), tuple)
    else:
        assert found.line >= 0
        assert msgspec.json.encode(found)


@given(
    st.sampled_from(Strictness),
    st.integers(0, 20),
    st.sampled_from(Escalation),
    st.lists(st.sampled_from(Trouble), min_size=30, max_size=30),
)
def test_following_the_escalation_table_always_ends(strictness, retries, policy, troubles):
    on_fail = OnFail(max_retries=retries, escalate_policy=policy)
    diagnosed = False
    endings = {Escalation.PAUSE_FOR_HUMAN, Escalation.ROUTE_TO_PLANNING, Escalation.FAIL_JOB}
    for attempts, trouble in enumerate(troubles, start=1):
        chosen = escalate(trouble, attempts, on_fail, strictness, diagnosed=diagnosed)
        if chosen in endings:
            break
        assert not (chosen is Escalation.DIAGNOSE and diagnosed)
        diagnosed = diagnosed or chosen is Escalation.DIAGNOSE
    assert chosen in endings
    assert attempts <= retries + 2
