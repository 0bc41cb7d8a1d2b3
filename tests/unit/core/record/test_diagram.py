"""The pictures are drawn from the table and miss nothing."""

from __future__ import annotations

import json

from flyball.core.machine.table import ROWS, RUN_ROWS, STAY, row_for
from flyball.core.record.diagram import as_json, as_mermaid, as_xstate, run_as_mermaid, state_value
from flyball.core.run.event import name_of
from flyball.core.terms.phase import ENDINGS, Phase


def test_json_has_every_phase_and_row():
    drawn = json.loads(json.dumps(as_json()))
    assert [each["phase"] for each in drawn["phases"]] == [phase.value for phase in Phase]
    assert len(drawn["rows"]) == len(ROWS)
    assert {each["phase"] for each in drawn["phases"] if each["final"]} == set(ENDINGS)


def test_the_run_is_drawn_from_its_rows_too():
    drawn = as_json()["run"]
    assert [each["event"] for each in drawn["rows"]] == [name_of(row.event) for row in RUN_ROWS]
    assert {each["event"] for each in drawn["rows"] if each["cards"]} == {
        "answered", "extended", "pause-asked", "resumed", "cancelled",
    }  # fmt: skip
    picture = run_as_mermaid()
    assert "    opening --> working: workspace-ready\n" in picture
    assert "    working --> ended: messaged, cancelled\n" in picture
    assert picture.endswith("    ended --> [*]\n")


def test_mermaid_names_every_move_that_leads_elsewhere():
    drawn = as_mermaid()
    assert drawn.startswith("stateDiagram-v2\n")
    for row in ROWS:
        for target in row.targets:
            if target not in (STAY, "history"):
                source, name = row.region.rpartition(".")[2], target.rpartition(".")[2]
                line = next(
                    x for x in drawn.split("\n") if x.strip().startswith(f"{source} --> {name}:")
                )
                assert name_of(row.event) in line


def test_xstate_has_a_node_for_every_phase_and_ends_are_final():
    config = as_xstate()
    for phase in Phase:
        node, value = config, state_value(phase)
        while value:
            name = value if isinstance(value, str) else next(iter(value))
            node = node["states"][name]
            value = "" if isinstance(value, str) else value[name]
        assert (node.get("type") == "final") == (phase in ENDINGS)
    assert config["states"]["live"]["states"]["history"] == {"type": "history", "history": "deep"}


def test_inner_rows_win_over_outer_ones():
    for phase in Phase:
        for row in ROWS:
            ruling = row_for(phase, row.event)
            if ruling is not None:
                assert phase.is_in(ruling.region)
    assert row_for(Phase.SUCCEEDED, ROWS[0].event) is None
