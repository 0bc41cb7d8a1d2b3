"""The page on telemetry says what runs really say."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from tests.simulation.simulate import next_event, start_event, world_of
from tests.simulation.world import PATIENCE

from flyball.engine.telemetry import telemetry
from flyball.run.event import AnyEvent
from flyball.run.machine import advance
from flyball.run.state import RunState

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "telemetry.md"
RUNS = 400
RARE = {"patch", "undone", "note"}
"""What simulated runs do not say: tools change no disk, drivers keep no notes."""


def documented() -> dict[str, set[str]]:
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", PAGE.read_text(), re.MULTILINE)
    return {kind: set(re.findall(r"`(\w+)`", fields)) for kind, fields in rows}


@pytest.fixture(scope="module")
def said() -> dict[str, set[str]]:
    """Every type that simulated runs told of, with all the fields it came with."""
    found: dict[str, set[str]] = {}
    for seed in range(RUNS):
        rng = Random(seed)
        world, state = world_of(rng), RunState()
        event: AnyEvent = start_event(seed, rng)
        for patience in range(PATIENCE * 10, 0, -1):
            after = advance(state, event).state
            for line in telemetry(state, event, after):
                found.setdefault(line["type"], set()).update(line)
            state = after
            if state.has_ended:
                break
            event = next_event(world, state, patience)
    return found


def test_every_line_of_a_run_is_described_with_all_its_fields(said: dict[str, set[str]]) -> None:
    pages = documented()
    for kind, fields in said.items():
        assert fields - {"type", "seq"} == pages[kind], kind


def test_nothing_is_described_that_no_run_says(said: dict[str, set[str]]) -> None:
    assert set(documented()) - set(said) <= RARE
