from pathlib import Path

from flyball.app.flowfile.template_file import read_source
from flyball.core.flow.flow import read_flow
from flyball.core.flow.flowchart import mermaid, outline

GOOD = Path(__file__).parents[3] / "golden" / "flow" / "good"


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
