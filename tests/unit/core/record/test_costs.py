"""What a run cost, told from its log."""

from __future__ import annotations

from pathlib import Path

from tests.unit.core.stories import Story

from flyball.app.archive import read_export
from flyball.core.record.costs import NOBODY, CostRow, CostTally, costs, is_spent
from flyball.core.run.event import CallReturned
from flyball.core.terms.budget import Usage
from flyball.core.terms.call import Outcome
from flyball.core.terms.evidence import AnyEvidence, HttpReport, VisualReport

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


def seen(n: int, **more: object) -> VisualReport:
    fields = {"url": "u", "expectation": "a hat", "ok": True, **more}
    return VisualReport(id=str(n), tree="t0", **fields)  # type: ignore[arg-type]


def test_a_model_that_saw_a_picture_is_a_reply_of_its_card_and_counts_in_the_budget() -> None:
    story = Story().asks("visual_qa")
    before = story.state
    found: tuple[AnyEvidence, ...] = (
        seen(1, judged_by="m", usage=Usage(900, 10, 0.5, 100)),
        seen(2),
        HttpReport(id="3", tree="t0", url="u", status=200),
    )
    id = story.card.in_flight[0].id
    event = CallReturned(
        card=story.card.id, call=id, outcome=Outcome(ok=True), tree="t0", evidence=found
    )
    story.answers(event)
    spend = story.state.spend
    assert (spend.input_tokens, spend.output_tokens, spend.money) == (900, 10, 0.5)
    tally = CostTally()
    tally.add(before, event, story.state)
    whole = tally.rows()[-1]
    assert (whole.turns, whole.input_tokens, whole.cached_tokens) == (1, 900, 100)
    assert (whole.output_tokens, whole.money) == (10, 0.5)
