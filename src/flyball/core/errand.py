"""An errand: one step of a plan on its way through the cards that carry it out."""

from __future__ import annotations

import msgspec

from flyball.core.message import Step


class Errand(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step that was handed out, and the card that works on it now."""

    plan_id: str
    step: Step
    card: str
    is_over: bool = False
