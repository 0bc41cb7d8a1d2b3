"""Recorded moves of simulated cards, for machines that are to behave like ours."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

from tests.simulation.simulate import next_event, start_event, world_of

from flyball.record.diagram import guard_name, state_value
from flyball.run.event import AnyEvent, CardEvent, name_of
from flyball.run.machine import advance, target_taken
from flyball.run.state import RunState
from flyball.run.table import MOVES, ROWS
from flyball.terms.phase import Phase

LEGAL = sorted({row.event for row in ROWS}, key=name_of)


class Sequence(NamedTuple):
    """Where a card began, what happened to it, and where it stood after each event."""

    start: Phase
    steps: list[tuple[str, str]]
    phases: list[Phase]

    def to_json(self) -> dict[str, object]:
        return {"start": state_value(self.start), "steps": self.steps}


def record(seed: int, longest: int = 400) -> Sequence | None:
    """One simulated run's card, with some events mixed in that are illegal where they come."""
    rng = Random(seed)
    world = world_of(rng)
    state, patience = RunState(), 12
    event: AnyEvent = start_event(seed, rng)
    found: Sequence | None = None
    left = Phase.ANALYZE_CODE
    for _ in range(longest):
        before, state = state, advance(state, event).state
        found = _note(found, before, event, state, left)
        if before.cards and not before.paused:
            left = before.cards[0].phase
        if found is not None:
            _provoke(found, state.cards[0].phase, rng)
        if state.has_ended:
            break
        event = next_event(world, state, patience)
        patience -= not state.due
    return found


def _note(
    found: Sequence | None, before: RunState, event: AnyEvent, after: RunState, left: Phase
) -> Sequence | None:
    """`left` is the phase a pause was entered from: what a history state remembers."""
    if not after.cards:
        return None
    card, previous = after.cards[0], before.card(after.cards[0].id)
    if previous is None:
        return Sequence(card.phase, [], [])
    row = MOVES.get((previous.phase, type(event)))
    touched = not isinstance(event, CardEvent) or event.card == card.id
    if found is None or row is None or card is previous or not touched:
        return found
    target = target_taken(row, previous.phase, left, card.phase)
    assert target is not None
    found.steps.append((name_of(type(event)), guard_name(row, target)))
    found.phases.append(card.phase)
    return found


def _provoke(found: Sequence, phase: Phase, rng: Random) -> None:
    """Add an event that has no row here: it must leave every machine where it is."""
    if rng.random() > 0.2:
        return
    illegal = [kind for kind in LEGAL if (phase, kind) not in MOVES]
    if illegal:
        found.steps.append((name_of(rng.choice(illegal)), "nothing"))
        found.phases.append(phase)
