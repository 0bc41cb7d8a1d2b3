"""The table of what a run cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from flyball.app.archive import read_export
from flyball.app.runs.description import cost_rows, recount
from flyball.core.record.costs import costs
from flyball.journal.protocol import JournalEntry
from flyball.surfaces.cli.terminal.show import print_costs

STORED = Path(__file__).parents[3] / "golden" / "stored" / "v2" / "planned.jsonl"


def test_the_cost_of_a_run_is_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    events = read_export(STORED.read_bytes())
    rows = cost_rows(JournalEntry(n, event) for n, event in enumerate(events, 1))
    assert rows[-1]["card"] == "all"
    assert rows[-1]["turns"] == sum(row["turns"] for row in rows[:-1])
    print_costs(rows)
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == [
        "card", "phase", "role", "turns", "calls", "blocked", "in", "cached", "out", "money",
        "driver", "s", "flyball", "s",
    ]  # fmt: skip
    assert any(line.split()[:4] == ["plan.1", "recon", "planner", "1"] for line in lines)
    assert lines[-1].split()[0] == "all"


def test_who_recounts_a_run_knows_its_costs_without_folding_it_again() -> None:
    events = read_export(STORED.read_bytes())
    assert recount(events).costs == costs(events) != ()
