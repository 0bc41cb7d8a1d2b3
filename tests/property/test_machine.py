"""Promises 1 to 5, over random runs, over every driver of the fleet, and over illegal events."""

from __future__ import annotations

from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.simulation.exhaust import STORIES, Story, walk
from tests.simulation.fleet import FLEET, NAMES
from tests.simulation.promises import broken
from tests.simulation.simulate import next_event, play, start_event, world_of
from tests.simulation.world import Driver, World

from flyball.errors import IllegalEvent
from flyball.run.event import EVENTS, AnyEvent, CardEvent, Event, name_of
from flyball.run.machine import advance, moves, replay
from flyball.run.state import RunState

SEEDS = st.integers(min_value=0, max_value=2**40)


def story(seed: int, driver: Driver | None = None, longest: int = 400) -> list[AnyEvent]:
    """The events of one simulated run."""
    rng = Random(seed)
    world = world_of(rng)
    if driver is not None:
        world = World(rng, driver, world.has_suite, world.red_chance)
    state, events, patience = RunState(), list[AnyEvent](), 12
    event: AnyEvent = start_event(seed, rng)
    while len(events) < longest:
        state = advance(state, event).state
        events.append(event)
        if state.has_ended:
            break
        event = next_event(world, state, patience)
        patience -= not state.due
    return events


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(SEEDS)
def test_every_run_keeps_every_promise_and_folds_to_its_live_state(seed: int):
    assert play(seed, again=True).broken == ()


@pytest.mark.parametrize("driver", FLEET, ids=lambda driver: NAMES[driver])
@settings(deadline=None, max_examples=12)
@given(seed=SEEDS)
def test_no_driver_breaks_a_promise(driver: Driver, seed: int):
    state = RunState()
    for event in story(seed, driver):
        after, effects = advance(state, event)
        assert list(broken(state, after, effects)) == []
        state = after


@settings(deadline=None, max_examples=40)
@given(SEEDS, st.integers(min_value=0, max_value=200))
def test_replay_of_a_prefix_then_the_rest_is_replay_of_the_whole(seed: int, cut: int):
    events = story(seed)
    first = replay(events[:cut])
    assert replay(events[cut:], first) == replay(events)


def encoded(state: RunState) -> bytes:
    return msgspec.json.encode(state)


@settings(deadline=None, max_examples=60)
@given(SEEDS, st.randoms(use_true_random=False))
def test_an_illegal_event_raises_and_changes_nothing(seed: int, rng: Random):
    events = story(seed)
    state = replay(events[: rng.randrange(1, len(events) + 1)])
    legal = {(move.card, move.event) for move in moves(state)}
    before = encoded(state)
    for kind in EVENTS:
        event = sample(kind, state)
        card = event.card if isinstance(event, CardEvent) else ""
        if (card, name_of(kind)) in legal:
            continue
        with pytest.raises(IllegalEvent):
            advance(state, event)
        assert encoded(state) == before


PLAN = {"type": "execution_plan", "request_id": "r", "id": "p", "goal": "g", "steps": []}


def sample(kind: type[Event], state: RunState) -> AnyEvent:
    """An event of a kind, with fields filled in by shape alone."""
    fields: dict[str, object] = {"type": name_of(kind)}
    known: dict[str, object] = {
        "run": "r", "request": "x", "intent": "small_fix", "budget": 3, "tree": "t", "error": "e",
        "message": PLAN,
        "card": state.cards[0].id if state.cards else "none", "call": "nothing",
        "outcome": {"ok": True}, "goal": "g", "findings": "f", "proposed_action": "p",
        "files": ["a"], "verify_with": ["t"], "about": "x", "reason": "r", "evidence": [],
        "fields": {}, "question": "none", "granted": True, "by": "p", "calls": 1, "why": "w",
        "text": "t", "fault": "f",
    }  # fmt: skip
    for name in kind.__struct_fields__:
        if name in known and not (kind.__name__ == "DriverReplied" and name == "calls"):
            fields[name] = known[name]
    return msgspec.convert(fields, kind)  # type: ignore[return-value]


@settings(deadline=None, max_examples=40)
@given(SEEDS)
def test_every_event_that_happened_was_among_the_moves(seed: int):
    state = RunState()
    for event in story(seed):
        card = event.card if isinstance(event, CardEvent) else ""
        assert (card, name_of(type(event))) in set(moves(state))
        state = advance(state, event).state


@settings(deadline=None, max_examples=30)
@given(SEEDS)
def test_a_state_survives_its_own_encoding(seed: int):
    state = RunState()
    for event in story(seed, longest=60):
        state = advance(state, event).state
        assert msgspec.json.decode(encoded(state), type=RunState) == state


LONG = frozenset(
    {
        "fix with trouble",
        "fix with every verdict",
        "fix without tests",
        "diagnose",
        "feature",
        "fix with drift, doom and nonsense",
        "fix with crashes and pauses",
        "a flow",
        "one step after another",
        "two steps at once",
    }
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "told",
    [
        pytest.param(told, id=told.name, marks=[pytest.mark.exhaustive] * (told.name in LONG))
        for told in STORIES
    ],
)
def test_every_reachable_state_keeps_the_promises(told: Story):
    found = walk(told, 100_000)
    assert found.is_complete
    assert found.faults == ()
    assert found.dead_ends == ()
