"""Doom-loop guards: which ones exist, when each one trips, and its message.

Each guard has a soft level (a nudge, given once when it is newly reached) and a hard level (an
escalation, reported at and beyond it). Outcomes are compared, not only calls: the same call with a
changed outcome is progress.

A single reply never trips the hard level: the driver must have received an answer and ignored it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]

LONGEST_CYCLE = 5

GUARDS = (
    "repetition",
    "cycle",
    "revisited-tree",
    "no-progress",
    "error-stagnation",
    "reading-on",
    "failed-edits",
    "same-edit",
    "failing-steps",
    "unrun-edits",
    "refused",
    "monologue",
    "time",
)


class TripLevel(StrEnum):
    """How serious a trip is."""

    SOFT = "soft"
    HARD = "hard"


class Trip(msgspec.Struct, frozen=True):
    """A guard's alarm: which guard, how severe, and the reason as a clause."""

    guard: str
    level: TripLevel
    reason: str

    @property
    def sentence(self) -> str:
        return f"{self.guard}: {self.reason}."


class GuardLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Thresholds at which each guard nudges and escalates; zero switches a level off."""

    repetition_soft: Count = 3
    repetition_hard: Count = 5
    cycle_soft: Count = 2
    cycle_hard: Count = 3
    cycle_max: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_CYCLE)] = LONGEST_CYCLE
    revisited_tree_soft: Count = 1
    revisited_tree_hard: Count = 3
    no_progress_soft: Count = 2
    no_progress_hard: Count = 4
    error_stagnation_soft: Count = 3
    error_stagnation_hard: Count = 5
    reading_on_soft: Count = 12
    reading_on_hard: Count = 28
    failed_edits_soft: Count = 3
    failed_edits_hard: Count = 12
    same_edit_soft: Count = 3
    same_edit_hard: Count = 6
    failing_steps_soft: Count = 6
    failing_steps_hard: Count = 12
    unrun_edits_soft: Count = 6
    unrun_edits_hard: Count = 12
    refused_soft: Count = 3
    refused_hard: Count = 5
    monologue_soft: Count = 2
    monologue_hard: Count = 0
    plan_seconds: Seconds | None = None
    build_seconds: Seconds | None = None
    time_soft: Annotated[float, msgspec.Meta(gt=0)] = 0.8
    time_hard: Annotated[float, msgspec.Meta(gt=0)] = 1.0


def time_trip(parent: str, elapsed: float, limits: GuardLimits) -> Trip | None:
    """Return whether `plan` or `build` has used up its wall clock, or nearly so."""
    allowed = {"plan": limits.plan_seconds, "build": limits.build_seconds}.get(parent)
    if allowed is None:
        return None
    reason = f"{parent} has used {elapsed:.0f} of its {allowed:.0f} seconds"
    if elapsed >= allowed * limits.time_hard:
        return Trip("time", TripLevel.HARD, reason)
    if elapsed >= allowed * limits.time_soft:
        return Trip("time", TripLevel.SOFT, reason)
    return None
