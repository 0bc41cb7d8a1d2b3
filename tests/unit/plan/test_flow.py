from pathlib import Path

import pytest

from flyball.app.flowfile.template_file import read_source
from flyball.plan.flow import Flow, FlowSource, Problem, check, problem, read_flow
from flyball.plan.flowchart import mermaid, outline

GOLDEN = Path(__file__).parents[2] / "golden" / "flow"


def step(step_id="S1", next_step_id="END", **more):
    return {
        "step_id": step_id,
        "title": step_id,
        "objective": "o",
        "prompt_template": "p",
        "on_pass": {"next_step_id": next_step_id},
    } | more


def test_an_unsound_flow_is_not_read():
    flow, problems = read_flow(FlowSource("f", [], {}))
    assert flow is None
    assert [each.code for each in problems] == ["empty-flow"]


def codes(value):
    return [each.code for each in check(FlowSource("f", value, {}))]


@pytest.mark.parametrize("path", sorted((GOLDEN / "good").iterdir()), ids=lambda path: path.name)
def test_good_files_are_sound(path):
    source = read_source(str(path))
    assert isinstance(source, FlowSource)
    flow, problems = read_flow(source)
    assert problems == ()
    assert isinstance(flow, Flow)


@pytest.mark.parametrize(
    "path", sorted((GOLDEN / "bad").glob("*.problems")), ids=lambda path: path.stem
)
def test_bad_files_are_reported_line_code_and_fix(path):
    source = read_source(str(path.with_suffix("")))
    problems = (source,) if isinstance(source, Problem) else check(source)
    found = [str(each).replace(f"{path.parent}/", "") for each in problems]
    assert found == path.read_text(encoding="utf-8").splitlines()


def test_every_bad_file_has_its_problems_written_down():
    files = {path.name for path in (GOLDEN / "bad").iterdir() if path.suffix != ".problems"}
    assert {path.stem for path in (GOLDEN / "bad").glob("*.problems")} == files


def test_the_three_forms_of_a_file_give_the_same_steps():
    single, _ = read_flow(FlowSource("f", step(), {}))
    listed, _ = read_flow(FlowSource("f", [step()], {}))
    named, _ = read_flow(FlowSource("f", {"name": "n", "start": "S1", "steps": [step()]}, {}))
    assert single.steps == listed.steps == named.steps
    assert (single.name, named.name) == ("S1", "n")
    assert single.start == named.start == "S1"
    assert single.step("S1") is single.steps[0]
    assert single.step("S9") is None


def test_the_start_may_be_another_step_than_the_first():
    value = {"start": "S2", "steps": [step("S1"), step("S2", "S1")]}
    flow, problems = read_flow(FlowSource("f", value, {}))
    assert problems == ()
    assert flow.start == "S2"


@pytest.mark.parametrize("value", [None, 3, "text", {"steps": 3}, {"steps": None}])
def test_what_is_no_flow_at_all_is_said_once(value):
    assert codes(value) == ["wrong-type"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ([step(next_step_id="S1")], ["unbounded-cycle"]),
        ([step("A", "B"), step("B", "A")], ["unbounded-cycle"]),
        (
            [step("A", "B"), step("B", "A") | {"on_pass": {"next_step_id": "A", "max_rounds": 2}}],
            [],
        ),
        ([step("A"), step("D1", "A")], []),
        ([step("A"), step("B")], ["unreachable-step"]),
        ([step("A", "Z")], ["missing-target"]),
        (
            [step("A") | {"on_pass": {"next_step_id": "A", "max_rounds": 1, "then": "Z"}}],
            ["missing-target"],
        ),
        ([step("A") | {"on_pass": {"next_step_id": 3}}], ["wrong-type"]),
        ([step("A") | {"on_pass": "B"}], ["wrong-type"]),
        ([step("A") | {"step_id": 3}], ["wrong-type"]),
        ([step("A") | {"gates": "tests_pass"}], ["wrong-type"]),
        ([step("A") | {"gates": ["tests_pass"]}], ["wrong-type"]),
        ([step("A") | {"phases": ["final", 3]}], ["wrong-type"]),
        ([step("A") | {"role": "king"}], ["wrong-type"]),
        ([step("A") | {"phases": ["final"], "role": "verifier"}], []),
        ([step("A") | {"evidence_schema": "notes"}], ["wrong-type"]),
        (
            [step("A") | {"evidence_schema": {"required": ["criteria_checklist"]}}],
            ["unknown-evidence"],
        ),
        (
            [
                step("A")
                | {
                    "evidence_schema": {
                        "required": ["criteria_checklist"],
                        "criteria_checklist": {"c1": "x"},
                    }
                }
            ],
            [],
        ),
        (
            [
                step("A")
                | {
                    "evidence_schema": {"optional": ["own_word"]},
                    "gates": [{"type": "evidence_present", "parameters": {"names": ["own_word"]}}],
                }
            ],
            [],
        ),
        (
            [
                step("A")
                | {"gates": [{"type": "evidence_present", "parameters": {"names": ["own_word"]}}]}
            ],
            ["unknown-evidence"],
        ),
        ({"name": "n", "start": 3, "steps": [step("A")]}, ["wrong-type"]),
        ({"start": "A", "steps": [step("A")], 3: 4}, ["unknown-field"]),
    ],
)
def test_soundness(value, expected):
    assert codes(value) == expected


def test_the_nearest_known_line_is_reported():
    source = FlowSource("f", [], {(): 2, ("steps",): 5})
    assert source.line(("steps", 3, "title")) == 5
    assert source.line(("other",)) == 2
    assert FlowSource("f", [], {}).line(("x",)) == 1


def test_a_problem_stays_on_one_line_whatever_the_file_says():
    text = str(problem("a\nb", 3, "wrong-type", "\x1b[31m red", "mend\udc80"))
    assert text == "a\\nb:3: wrong-type: \\x1b[31m red mend\\udc80"
    assert str(problem("a", 0, "not-found", "No.", "")) == "a: not-found: No."


GOOD = Path(__file__).parents[2] / "golden" / "flow" / "good"


def flow(name):
    found, _ = read_flow(read_source(str(GOOD / name)))
    return found


def test_mermaid_has_every_step_every_way_and_every_failure():
    text = mermaid(flow("release.yaml"))
    assert text.splitlines()[:3] == [
        "flowchart TD",
        '  s0["S1: Study the request"]',
        '  s1["S2: Write the test"]',
    ]
    assert "  begin([start]) --> s0" in text
    assert '  s3 -->|"at most 2×"| s2' in text
    assert '  s3 -->|"then"| s4' in text
    assert "  s4 --> end_([END])" in text
    assert '  s2 -.->|"fails 4×"| route_to_planning_([ROUTE_TO_PLANNING])' in text


def test_a_flows_own_diagnosis_is_where_failures_lead():
    text = mermaid(flow("fix.toml"))
    assert '  s0 -.->|"fails 2×"| s1' in text
    assert '  s1 -.->|"fails 3×"| pause_for_human_([PAUSE_FOR_HUMAN])' in text


def test_the_outline_walks_the_flow():
    lines = outline(flow("release.yaml")).splitlines()
    assert lines[0] == "release (5 steps)"
    steps = [line for line in lines if line.startswith("├─")]
    assert [line.split()[1] for line in steps] == ["S1:", "S2:", "S3:", "S4:", "S5:"]
    assert "│    submits  findings, files_read (optional), effort (optional)" in lines
    assert "│    gate     diff_within (paths=['tests/**'])" in lines
    assert "│    pauses   human_review" in lines
    assert "│    passes   → S3 (at most 2×)" in lines
    assert "│    fails    → 3 retries, then ROUTE_TO_PLANNING" in lines


def test_the_outline_ends_with_what_only_failures_reach():
    lines = outline(flow("fix.toml")).splitlines()
    assert lines[-1] == "│    fails    → 2 retries, then PAUSE_FOR_HUMAN"
    assert "│    answers  c1: Failure explained" in lines
    assert outline(flow("d1.json")).startswith("Diagnose failure (1 step)\n")
