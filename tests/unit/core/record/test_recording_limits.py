"""Other limits than those that a run was held to."""

from __future__ import annotations

from pathlib import Path

from flyball.core.memory.guard import GuardLimits
from flyball.core.record.recording import judge_recording

STORED = Path(__file__).parents[3] / "golden" / "stored" / "v2" / "guard.jsonl"


def test_a_journal_is_judged_by_its_own_limits_unless_others_are_meant_for_it() -> None:
    data = STORED.read_bytes()
    assert judge_recording(data).stopped_at == 5
    strict = GuardLimits(repetition_hard=4)
    assert judge_recording(data, strict).stopped_at == 5
    assert judge_recording(data, strict, for_journals=True).stopped_at == 4
