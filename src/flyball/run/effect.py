"""Effects: actions that the pure core requests and the shell performs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from flyball.plan.message import AnyMessage
from flyball.plan.template import GateUse
from flyball.terms.call import Access, Call
from flyball.terms.evidence import TreeHash
from flyball.terms.phase import Phase


class Effect(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", omit_defaults=True):
    """An owed action; performing it yields the event named in its description."""


class CardEffect(Effect, frozen=True, kw_only=True):
    """An effect that belongs to one card."""

    card: str


class Classify(Effect, frozen=True, kw_only=True, tag="classify"):
    """Read the request's intent. Answered by `intent-read`."""


class OpenWorkspace(Effect, frozen=True, kw_only=True, tag="open-workspace"):
    """Give the run its own tree and survey it. Answered by `workspace-ready`."""


class RollBack(Effect, frozen=True, kw_only=True, tag="roll-back"):
    """Undo what these cards did since a tree. Answered by `rolled-back`."""

    tree: TreeHash
    cards: tuple[str, ...] = ()


class Publish(Effect, frozen=True, kw_only=True, tag="publish"):
    """Put a message on the bus. Answered by `messaged`."""

    message: AnyMessage


class Think(CardEffect, frozen=True, kw_only=True, tag="think"):
    """Ask the driver. Answered by `driver-replied` or `driver-failed`."""

    role: str
    phase: Phase
    text_only: bool = False
    wait: float = 0.0


class Perform(CardEffect, frozen=True, kw_only=True, tag="perform"):
    """Make a call.

    Answered by `call-returned`, or `checkpoint-stated`, `noted`, `appealed` for those tools, or
    `call-interrupted` when the process died before the call finished.
    """

    call: Call
    phase: Phase


class Inspect(CardEffect, frozen=True, kw_only=True, tag="inspect"):
    """Inspect the whole change against its base. Answered by `evidence-taken`.

    Each of `gates` needs something to be run or read that has not been inspected yet. `wants_red`
    asks the verdict for a test that fails without the change.
    """

    base: TreeHash
    tree: TreeHash
    gates: tuple[GateUse, ...] = ()
    wants_red: bool = False


class ResetThread(CardEffect, frozen=True, kw_only=True, tag="reset-thread"):
    """Write a hand-over and start a new thread. Answered by `thread-reset`.

    `words` is what a person said that the new thread must know.
    """

    reason: str
    words: str = ""


class CloseCard(CardEffect, frozen=True, kw_only=True, tag="close-card"):
    """Commit the card's work and write its artifacts. Answered by `card-closed`."""

    ending: str
    proof: str


AnyEffect = (
    Classify
    | OpenWorkspace
    | RollBack
    | Publish
    | Think
    | Perform
    | Inspect
    | ResetThread
    | CloseCard
)

EFFECTS: tuple[type[Effect], ...] = AnyEffect.__args__


class Owed(msgspec.Struct, frozen=True):
    """An effect and its number in the run."""

    n: int
    effect: AnyEffect


RUN = ""
"""The lane of what is owed to the run itself and to none of its cards."""
SIDE_BY_SIDE = 8


def card_of(owed: Owed) -> str:
    """Return the card that an effect is owed to, or the run itself."""
    return owed.effect.card if isinstance(owed.effect, CardEffect) else RUN


def startable(due: Sequence[Owed], under_way: Sequence[Owed]) -> Sequence[Sequence[Owed]]:
    """Return the batches that may start now, in the order owed.

    An effect of the run waits for all before it, and all after wait for it. Closing a card writes
    the tree that all cards share, so only one does so at a time.
    """
    batches: dict[str, list[Owed]] = {}
    taken = {card_of(each) for each in under_way}
    is_closing = any(isinstance(each.effect, CloseCard) for each in under_way)
    room = SIDE_BY_SIDE - len(under_way)
    for place, owed in enumerate(due):
        lane = card_of(owed)
        if lane == RUN:
            return [[owed]] if place == 0 and RUN not in taken else list(batches.values())
        if lane in taken:
            continue
        if not _only_looks(owed):
            # Looks of one card go side by side, but never beside or past its actions.
            taken.add(lane)
            is_close = isinstance(owed.effect, CloseCard)
            if lane in batches or (is_close and is_closing):
                continue
            is_closing = is_closing or is_close
        if room < 1:
            break
        batches.setdefault(lane, []).append(owed)
        room -= 1
    return list(batches.values())


def _only_looks(owed: Owed) -> bool:
    effect = owed.effect
    return isinstance(effect, Perform) and effect.call.access is Access.READ
