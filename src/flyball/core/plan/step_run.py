"""An errand: one step of a plan on its way through the cards that carry it out."""

from __future__ import annotations

import msgspec

from flyball.core.plan.message import Step


class Errand(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step that was handed out, and the card that works on it now."""

    plan_id: str
    step: Step
    card: str
    cards: tuple[str, ...] = ()
    """Every card that worked on it so far, the present one last."""
    at: str = ""
    """Where it stands in the run's flow, if it goes through one."""
    rounds: dict[str, int] = {}
    """How often each bounded way back was taken."""
    failed: str = ""
    """The card that the present one diagnoses."""
    diagnosed: tuple[str, ...] = ()
    """The steps of the flow that were diagnosed; none is diagnosed twice."""
    is_over: bool = False
