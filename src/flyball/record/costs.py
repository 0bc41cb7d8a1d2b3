"""Costs of a run by card and phase: turns, calls, tokens, money, and time by cause."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from flyball.run.event import (
    AnyEvent,
    CallReturned,
    CardEvent,
    DriverFailed,
    DriverReplied,
    EvidenceTaken,
)
from flyball.run.machine import advance
from flyball.run.state import RunState
from flyball.terms.budget import Usage
from flyball.terms.evidence import VisualReport

NOBODY = "(run)"
"""The card of what belongs to no card: opening the workspace, passing messages on."""


class CostRow(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of one phase of one card, by role.

    Times are in seconds: waiting for the driver, and everything else, which is Flyball's own time
    including calls.
    """

    card: str
    phase: str
    role: str = ""
    turns: int = 0
    calls: int = 0
    blocked: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    money: float = 0.0
    driver_seconds: float = 0.0
    own_seconds: float = 0.0


class CostTally(msgspec.Struct):
    """The cost of a run so far, computed while its log is folded."""

    found: dict[tuple[str, str, str], CostRow] = msgspec.field(
        default_factory=dict[tuple[str, str, str], CostRow]
    )
    """A row for each card, phase and role, in the order in which they began."""

    def add(self, before: RunState, event: AnyEvent, after: RunState) -> None:
        """Add the costs of one event, given the states before and after it."""
        row = _row(before, event, after)
        key = (row.card, row.phase, row.role)
        self.found[key] = _together(self.found.get(key), row)

    def rows(self) -> tuple[CostRow, ...]:
        """Return the rows in the order in which they began, followed by their total."""
        found = tuple(self.found.values())
        whole: CostRow | None = None
        for row in found:
            whole = _together(whole, replace(row, card="all", phase="", role=""))
        return (*found, *((whole,) if whole else ()))


def costs(events: Iterable[AnyEvent]) -> tuple[CostRow, ...]:
    """Return the rows of a run's log, followed by their total."""
    state, tally = RunState(), CostTally()
    for event in events:
        after = advance(state, event).state
        tally.add(state, event, after)
        state = after
    return tally.rows()


def _row(before: RunState, event: AnyEvent, after: RunState) -> CostRow:
    """Return what one event adds; time spent waiting for a person costs nothing."""
    card = before.card(event.card) if isinstance(event, CardEvent) else None
    since = card.at if card is not None else before.at
    passed = max(event.at - since, 0.0) if event.effect and event.at and since else 0.0
    is_drivers = isinstance(event, DriverReplied | DriverFailed)
    replies = _replies(event)
    return CostRow(
        card=card.id if card else NOBODY,
        phase=card.phase.name_for_people if card else "",
        role=card.role if card else "",
        turns=len(replies),
        calls=after.spend.calls - before.spend.calls,
        blocked=after.spend.blocked - before.spend.blocked,
        input_tokens=sum(each.input_tokens for each in replies),
        cached_tokens=sum(each.cached_tokens for each in replies),
        output_tokens=sum(each.output_tokens for each in replies),
        money=sum(each.money for each in replies),
        driver_seconds=passed if is_drivers else 0.0,
        own_seconds=0.0 if is_drivers else passed,
    )


def _replies(event: AnyEvent) -> tuple[Usage, ...]:
    """Return the cost of each reply in an event: the driver's, or a judge of pictures'."""
    match event:
        case DriverReplied():
            return (event.usage,)
        case CallReturned() | EvidenceTaken():
            seen = [item for item in event.evidence if isinstance(item, VisualReport)]
            return tuple(item.usage for item in seen if item.usage != Usage())
        case _:
            return ()


SUMS = (
    "turns",
    "calls",
    "blocked",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
    "money",
    "driver_seconds",
    "own_seconds",
)


def _together(known: CostRow | None, row: CostRow) -> CostRow:
    if known is None:
        return row
    return replace(row, **{name: getattr(known, name) + getattr(row, name) for name in SUMS})


def is_spent(row: CostRow) -> bool:
    """Return whether a row contains any cost."""
    return any(getattr(row, name) for name in SUMS)
