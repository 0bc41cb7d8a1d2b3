"""Doom-loop guards: pure functions over the digests of what a driver did.

Each guard has a soft level (a nudge, given once when it is newly reached) and a hard level (an
escalation, reported at and beyond it). Outcomes are compared, not only calls: the same call with
a changed outcome is progress.

Nobody is stopped by what a single reply did: an answer must have been heard and ignored.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from flyball.core.memory.guard_memory import LONGEST_CYCLE, Memory, RecentSteps

Count = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(gt=0)]

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
    """What a guard noticed: which one, how grave it is, and the reason as a clause."""

    guard: str
    level: TripLevel
    reason: str

    @property
    def sentence(self) -> str:
        return f"{self.guard}: {self.reason}."


class GuardLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When each guard nudges and when it escalates; zero switches that level off."""

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


def trips(memory: Memory, limits: GuardLimits) -> tuple[Trip, ...]:
    """What the last step tripped: each guard at most once, in the order of `GUARDS`."""
    found = [_trip(memory, limits, guard) for guard in memory.moved]
    return tuple([trip for trip in found if trip])


def time_trip(parent: str, elapsed: float, limits: GuardLimits) -> Trip | None:
    """Whether `plan` or `build` has used up its wall clock, or nearly so."""
    allowed = {"plan": limits.plan_seconds, "build": limits.build_seconds}.get(parent)
    if allowed is None:
        return None
    reason = f"{parent} has used {elapsed:.0f} of its {allowed:.0f} seconds"
    if elapsed >= allowed * limits.time_hard:
        return Trip("time", TripLevel.HARD, reason)
    if elapsed >= allowed * limits.time_soft:
        return Trip("time", TripLevel.SOFT, reason)
    return None


REASONS = {
    "repetition": "the same call gave the same outcome {} times in a row",
    "revisited-tree": "edits have returned to an earlier state of the tree {} times",
    "no-progress": "{} verifications in a row found the same failures on the same tree",
    "error-stagnation": "the same error came back after {} different edits",
    "reading-on": "{} read-only calls in a row without a checkpoint",
    "failed-edits": "{} edits in a row could not be applied",
    "same-edit": "the same edit was made {} times in a row",
    "failing-steps": "{} steps in a row failed or were refused",
    "unrun-edits": "{} edits were applied and nothing was run",
    "refused": "{} calls in a row were denied or malformed",
    "monologue": "{} replies in a row had neither a call nor a stop",
}


COUNTERS = {
    "revisited-tree": "revisits",
    "no-progress": "unchanged",
    "error-stagnation": "stagnant",
    "reading-on": "reads",
    "failed-edits": "failed_edits",
    "same-edit": "same_edits",
    "failing-steps": "failing",
    "unrun-edits": "unrun",
    "refused": "refused",
    "monologue": "monologues",
}
"""Where the memory counts what a guard looks at; rows are counted otherwise."""

LEVELS = {guard: guard.replace("-", "_") for guard in GUARDS}


def _trip(memory: Memory, limits: GuardLimits, guard: str) -> Trip | None:
    row = memory.notes if memory.notes.tail else memory.work
    if guard == "cycle":
        return _cycle(row, limits)
    if guard == "repetition":
        count = max(row.kept[0] + 1, 0 if memory.notes.tail else memory.repeats)
        is_heard = row.kept[0] > 0 or memory.repeats > memory.repeats_now
    else:
        count, is_heard = getattr(memory, COUNTERS[guard]), True
    hard = getattr(limits, f"{LEVELS[guard]}_hard")
    if hard and count >= hard and is_heard:
        return Trip(guard, TripLevel.HARD, REASONS[guard].format(count))
    if count == getattr(limits, f"{LEVELS[guard]}_soft"):
        return Trip(guard, TripLevel.SOFT, REASONS[guard].format(count))
    return None


def _cycle(row: RecentSteps, limits: GuardLimits) -> Trip | None:
    """The shortest period that has lasted long enough; a row of equal steps is repetition."""
    stretch = [kept + period for period, kept in enumerate(row.kept, 1)]
    soft: Trip | None = None
    for period in range(2, limits.cycle_max + 1):
        length = stretch[period - 1]
        if any(length <= stretch[d - 1] for d in range(1, period) if period % d == 0):
            continue
        reason = f"a cycle of {period} calls and outcomes has gone round {length // period} times"
        if limits.cycle_hard and length >= limits.cycle_hard * period:
            return Trip("cycle", TripLevel.HARD, reason)
        if soft is None and length == limits.cycle_soft * period:
            soft = Trip("cycle", TripLevel.SOFT, reason)
    return soft
