"""The governor's first function: how an event changes a run. It is pure and total."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from flyball.errors import IllegalEvent
from flyball.guards.guard import TripLevel, time_trip
from flyball.run import on_run
from flyball.run.effect import AnyEffect, Owed
from flyball.run.event import AnyEvent, CardEvent, Event, name_of
from flyball.run.state import CardState, Clock, RunState, Transition
from flyball.run.table import (
    HISTORY,
    MOVES,
    ROWS,
    RUN_MOVES,
    RUN_ROWS,
    STAY,
    CardRow,
    RunRow,
)
from flyball.run.working_copy import WorkingCopy, drop_owed, number
from flyball.terms.phase import ENDINGS, PARENT, Phase


def advance(state: RunState, event: AnyEvent) -> Transition:
    """Apply one event. An illegal one raises and changes nothing."""
    owed = _still_owed(state, event) if event.effect else state.owed
    run = replace(state, seq=state.seq + 1, at=event.at or state.at, owed=owed)
    if isinstance(event, CardEvent):
        card = run.card(event.card)
        if card is None:
            raise IllegalEvent(f"run {run.run!r} has no card {event.card!r}")
        if run.response is not None:
            raise IllegalEvent(f"run {run.run!r} has ended")
        run, effects = _move(run, card, event)
    else:
        run, effects = _run_event(state, run, event)
    number(run, effects)
    return Transition(run, tuple(effects))


def replay(events: Iterable[AnyEvent], state: RunState | None = None) -> RunState:
    """Fold a journal into the state that it represents."""
    now = state or RunState()
    for event in events:
        now = advance(now, event).state
    return now


class Move(NamedTuple):
    """An event that is legal now; `card` is empty for the run's own events."""

    card: str
    event: str


def moves(state: RunState) -> tuple[Move, ...]:
    """Return the events that are legal now, in a fixed order: the run's first, then each card's."""
    stage = state.stage
    rows = [row for row in RUN_ROWS if stage in row.stages and row.is_due(state)]
    found = [Move("", name_of(row.event)) for row in rows]
    for card in state.cards:
        if state.has_ended or not card.is_live:
            continue
        seen: set[type[Event]] = set()
        for row in ROWS:
            ruling = MOVES.get((card.phase, row.event))
            if ruling is row and row.event not in seen and issubclass(row.event, CardEvent):
                seen.add(row.event)
                found.append(Move(card.id, name_of(row.event)))
    return tuple(found)


def _still_owed(state: RunState, event: Event) -> tuple[Owed, ...]:
    """Return the effects that are still owed once this event has answered its own."""
    kept = [o for o in state.owed if o.n != event.effect]
    if len(kept) == len(state.owed):
        name = name_of(type(event))
        raise IllegalEvent(f"{name} answers effect {event.effect}, which is not owed")
    return tuple(kept)


def _run_event(state: RunState, run: RunState, event: AnyEvent) -> tuple[RunState, list[AnyEffect]]:
    """Apply the matching row to the run, then pass on to the cards what a person said to all."""
    row = RUN_MOVES.get((state.stage, type(event)))
    if row is None:
        raise IllegalEvent(f"{name_of(type(event))}: {state.stage.words}")
    run, effects = row.rule(run, event)
    if row.listens is not None:
        run, more = _let_cards_act(run, event, row)
        effects += more
    if run.stage not in row.targets and run.stage is not state.stage:
        raise IllegalEvent(f"{row.rule_name} ended in {run.stage}, which its row does not allow")
    return run, effects


def _let_cards_act(run: RunState, event: AnyEvent, row: RunRow) -> tuple[RunState, list[AnyEffect]]:
    """Let every card that listens to the event and has a row for it act on it."""
    assert row.listens is not None
    effects: list[AnyEffect] = []
    was_handled = False
    # Cards that the event itself makes do not hear it: the list is the one from before.
    for card in run.cards:
        if card.is_live and row.listens(card, event) and (card.phase, type(event)) in MOVES:
            run, more = _move(run, card, event)
            effects += more
            was_handled = True
    if row.needs_card and not was_handled:
        raise IllegalEvent(f"{name_of(type(event))}: no card of run {run.run!r} waits for it")
    return run, effects


def _move(run: RunState, card: CardState, event: AnyEvent) -> tuple[RunState, list[AnyEffect]]:
    """Apply the matching row to one card."""
    row = MOVES.get((card.phase, type(event)))
    if row is None:
        raise IllegalEvent(f"{name_of(type(event))} is not legal in {card.phase.value}")
    # Rules write into private copies; if one raises, nobody has seen them and nothing has changed.
    d = WorkingCopy(run, _freshened(card, event.at))
    row.rule(d, event)
    _watch_clock(d)
    after = d.card
    if target_taken(row, card.phase, card.was, after.phase) is None:
        raise IllegalEvent(
            f"{row.rule_name} went from {card.phase.value} to {after.phase.value}, "
            "which its row does not allow"
        )
    cards = [after if each is card else each for each in run.cards]
    d.set_run(cards=tuple(cards))
    if after.phase not in ENDINGS:
        return run, d.effects
    # What the rule owed goes with the card: an ended card's effects would answer to nobody.
    drop_owed(run, card.id)
    return on_run.card_ended(run, after)


def target_taken(row: CardRow, before: Phase, was: Phase, after: Phase) -> str | None:
    """Return which of the row's targets a move took; `was` is the phase before a pause."""
    if after is before and STAY in row.targets:
        return STAY
    if before is Phase.PAUSED and after is was and HISTORY in row.targets:
        return HISTORY
    return after.value if after in row.targets else None


def _freshened(card: CardState, at: float) -> CardState:
    """Return a copy without the data of the last event, and with its phase clock advanced."""
    clock = card.clock
    elapsed = at - card.at if at and card.at else 0.0
    if elapsed > 0:
        parent = PARENT[card.phase]
        if parent == "plan":
            clock = Clock(clock.plan + elapsed, clock.build, clock.warned)
        elif parent == "build":
            clock = Clock(clock.plan, clock.build + elapsed, clock.warned)
    return replace(card, said=(), judged=(), tripped=(), clock=clock, at=at or card.at)


def _watch_clock(d: WorkingCopy) -> None:
    """Apply the time guard: nudge once per region, and pause the card when the time is up."""
    card, limits = d.card, d.run.policy.guards
    if limits.plan_seconds is None and limits.build_seconds is None:
        return
    parent = PARENT[card.phase]
    allowed = limits.plan_seconds if parent == "plan" else limits.build_seconds
    if allowed is None or parent not in ("plan", "build"):
        return
    spent = card.clock.plan if parent == "plan" else card.clock.build
    trip = time_trip(parent, spent, limits)
    if trip is None or (trip.level is TripLevel.SOFT and parent in card.clock.warned):
        return
    if trip.level is TripLevel.SOFT:
        d.set(clock=Clock(card.clock.plan, card.clock.build, (*card.clock.warned, parent)))
    if stop := d.record_trips((trip,)):
        d.halt(stop)


def phase_of(state: RunState, card: str = "") -> Phase | None:
    """Return the phase of the named card, or of the last one."""
    found = state.card(card) if card else (state.cards[-1] if state.cards else None)
    return found.phase if found else None
