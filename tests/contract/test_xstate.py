"""The exported machine, run by real XState v5, stands where ours stands after every event."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.simulation.node import MACHINE, run
from tests.simulation.sequences import record

from flyball.record.diagram import as_xstate, state_value
from flyball.terms.phase import Phase

WHOLE = 2_000
# A planner is answered where it stands, so only steps of flows that name these phases enter them.
FLOWS_ONLY = {Phase.RESEARCH, Phase.DESIGN}


@pytest.mark.slow
@pytest.mark.parametrize("sequences", [300, pytest.param(WHOLE, marks=pytest.mark.exhaustive)])
def test_xstate_and_our_machine_agree_on_every_state(sequences: int):
    tries = range(sequences + sequences // 12)
    recorded = [found for seed in tries if (found := record(seed)) is not None]
    assert len(recorded) >= sequences
    lines = [json.dumps(as_xstate()), *(json.dumps(each.to_json()) for each in recorded)]
    answers = [
        json.loads(line) for line in run(MACHINE / "drive.mjs", "\n".join(lines)).splitlines()
    ]
    assert len(answers) == len(recorded)
    for n, (sequence, values) in enumerate(zip(recorded, answers, strict=True)):
        ours = [state_value(phase) for phase in sequence.phases]
        assert ours == values, f"sequence {n} differs: {sequence.steps}"
    seen = {phase for sequence in recorded for phase in sequence.phases}
    # Few sequences come as far as the rarest phase: that all are seen is for the long run.
    assert sequences < WHOLE or seen == set(Phase) - FLOWS_ONLY
    assert sum(len(each.steps) for each in recorded) > 10 * sequences


GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "xstate.md"


@pytest.mark.slow
def test_guide_to_xstate_runs_and_prints_what_it_says(tmp_path: Path):
    text = GUIDE.read_text(encoding="utf-8")
    (script,) = re.findall(r"```js\n(.*?)```", text, re.DOTALL)
    (printed,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    card = tmp_path / "card.json"
    card.write_text(json.dumps(as_xstate()))
    guide = tmp_path / "guide.mjs"
    guide.write_text(script.replace('"card.json"', json.dumps(str(card))))
    assert run(guide, "") == printed
