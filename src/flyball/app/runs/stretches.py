"""Where a run spent its time: stretches of a phase, how each ended, and what was refused in it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from flyball.core.run.event import AnyEvent, CardEvent
from flyball.core.run.state import CardState, RunState
from flyball.core.terms.phase import Phase

MOST = 160
"""More stretches than this are drawn together: a page has no room for them."""
DENIED = "deny"
GOOD, BAD, WAITED = "good", "bad", "waited"
WORST_FIRST = (BAD, WAITED, GOOD, "")


class Stretch(msgspec.Struct):
    """A time in which a run was in one phase."""

    phase: str
    label: str
    card: str
    begun: float
    seconds: float = 0.0
    outcome: str = ""
    """`good`, `bad`, `waited`, or empty where nothing was decided."""
    refused: list[float] = msgspec.field(default_factory=list[float])
    """When calls were refused."""


class StretchTally:
    """The stretches of a run so far, computed while its log is folded."""

    def __init__(self) -> None:
        self._found: list[Stretch] = []

    def add(self, before: RunState, event: AnyEvent, after: RunState) -> None:
        """Take in one event, with the states around it."""
        if self._found and event.at:
            last = self._found[-1]
            last.seconds = max(event.at - last.begun, last.seconds)
        card = _card_of(before, event, after)
        if card is None:
            return
        if event.at and (not self._found or self._is_other(card)):
            self._close(card)
            if not card.phase.is_in("ended"):
                name, label = card.phase.name_for_people, card.phase.label
                self._found.append(Stretch(name, label, card.id, event.at))
        if self._found and card is not before.card(card.id):
            denied = sum(each.answer == DENIED for each in card.judged)
            self._found[-1].refused += [event.at] * denied

    def _is_other(self, card: CardState) -> bool:
        last = self._found[-1]
        return (last.phase, last.card) != (card.phase.name_for_people, card.id)

    def _close(self, card: CardState) -> None:
        """Say how the last stretch ended, by what came after it."""
        if self._found and self._found[-1].card == card.id:
            last = self._found[-1]
            last.outcome = last.outcome or _outcome(last.phase, card.phase)

    def rows(self) -> tuple[Stretch, ...]:
        """Return the stretches in order, few enough to be drawn."""
        size = math.ceil(len(self._found) / MOST)
        if size <= 1:
            return tuple(self._found)
        starts = range(0, len(self._found), size)
        return tuple(_together(self._found[n : n + size]) for n in starts)


def _card_of(before: RunState, event: AnyEvent, after: RunState) -> CardState | None:
    """Return the card that an event moved."""
    if isinstance(event, CardEvent):
        return after.card(event.card)
    moved = [card for card in after.cards if card is not before.card(card.id)]
    return moved[-1] if moved else None


def _outcome(phase: str, to: Phase) -> str:
    if phase == Phase.PAUSED.name_for_people:
        return WAITED
    if to in (Phase.FAILED, Phase.CANCELLED):
        return BAD
    if phase == Phase.VERIFY.name_for_people:
        return (
            GOOD if to in (Phase.FINAL, Phase.SUCCEEDED) else BAD if to is not Phase.PAUSED else ""
        )
    return GOOD if to is Phase.SUCCEEDED else ""


def _together(found: Sequence[Stretch]) -> Stretch:
    """Return neighbours as one: the phase of the longest, the worst outcome, all refusals."""
    longest = max(found, key=lambda each: each.seconds)
    return Stretch(
        longest.phase,
        longest.label,
        longest.card,
        found[0].begun,
        sum(each.seconds for each in found),
        min((each.outcome for each in found), key=WORST_FIRST.index),
        [at for each in found for at in each.refused],
    )
