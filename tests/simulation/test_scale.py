"""The model of scale obeys what every system of queues obeys."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.scale import FLEETS, LOADS, Assumed, curves, draw, lengths, measure

CALM = Assumed(deaths=0.0)


@pytest.mark.parametrize("runs", [100, 2_000])
def test_littles_law_holds(runs: int):
    found = measure(runs, 2, given=CALM, sample=10)
    assert found.per_second * found.cycle == pytest.approx(runs, rel=0.08)


def test_no_run_is_lost_and_none_is_made():
    found = measure(500, 2, sample=10)
    assert found.inside == found.runs == found.begun - found.ended
    assert found.ended > 0


def test_more_runs_wait_longer_and_no_throughput_passes_the_cores():
    found = [measure(runs, 1, given=CALM, sample=10) for runs in (50, 400, 800, 1_600)]
    waits = [each.wait for each in found]
    assert waits == sorted(waits)
    assert waits[-1] > 5
    assert all(each.per_second <= 2 / CALM.own * 1.02 for each in found)


def test_the_same_seed_tells_the_same_and_another_something_else():
    assert measure(100, 1, 3, sample=10) == measure(100, 1, 3, sample=10)
    assert measure(100, 1, 3, sample=10) != measure(100, 1, 4, sample=10)


def test_a_dead_worker_costs_time():
    often = CALM._replace(deaths=0.01)
    calm, rough = (measure(100, 1, given=each, sample=10) for each in (CALM, often))
    assert rough.wait > calm.wait + 0.3
    assert rough.per_second < calm.per_second


def test_the_lengths_of_runs_come_from_the_core():
    found = lengths(10, 0)
    assert len(found) == 10
    assert min(found) >= 1
    assert len(set(found)) > 1


@pytest.mark.exhaustive
def test_the_picture_in_the_documents_is_what_the_model_says():
    kept = Path(__file__).parents[2] / "docs" / "pictures" / "scale.svg"
    assert kept.read_text() == draw(curves(LOADS, FLEETS, 0))
