"""What a run cost, told from its log."""

from __future__ import annotations

from pathlib import Path

from flyball.app.archive import read_export
from flyball.core.record.costs import NOBODY, CostRow, costs, is_spent

STORED = Path(__file__).parents[3] / "golden" / "stored" / "v2"


def rows(name: str) -> tuple[CostRow, ...]:
    return costs(read_export((STORED / f"{name}.jsonl").read_bytes()))


def test_every_turn_and_call_has_its_card_phase_and_role() -> None:
    found = rows("planned")
    seen = {(row.card, row.phase, row.role) for row in found if row.turns}
    assert ("plan.1", "recon", "planner") in seen
    assert ("one", "execute", "executor") in seen
    assert ("one", "verify", "reviewer") in seen
    assert ("verify.1", "recon", "verifier") in seen


def test_the_last_row_is_all_of_it() -> None:
    *parts, whole = rows("fix")
    assert (whole.card, whole.phase) == ("all", "")
    for name in ("turns", "calls", "blocked", "input_tokens", "own_seconds"):
        assert getattr(whole, name) == sum(getattr(row, name) for row in parts)
    assert whole.turns > 3
    assert whole.blocked > 0
    assert whole.own_seconds > 0


def test_what_no_card_did_is_nobodys() -> None:
    first = rows("fix")[0]
    assert (first.card, first.turns) == (NOBODY, 0)


def test_a_log_without_events_costs_nothing() -> None:
    assert costs(()) == ()
    assert not is_spent(CostRow(card="a", phase="recon"))
