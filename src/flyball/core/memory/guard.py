"""Doom-loop guards: pure functions over the digests of what a driver did.

A `Memory` is folded from `GuardStep`s and stays small, because it is stored beside every event.
Each guard has a soft level (a nudge, given once when it is newly reached) and a hard level (an
escalation, reported at and beyond it). Outcomes are compared, not only calls: the same call with
a changed outcome is progress.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Literal

import msgspec

Kind = Literal["read", "mutate", "verify", "run", "checkpoint", "note", "refused", "monologue"]
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
    "refused",
    "monologue",
    "time",
)

LONGEST_CYCLE = 5
MARKS_KEPT = 12
TREES_KEPT = 256
EDITS_KEPT = 32


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
    cycle_soft: Count = 3
    cycle_hard: Count = 4
    cycle_max: Annotated[int, msgspec.Meta(ge=1, le=LONGEST_CYCLE)] = LONGEST_CYCLE
    revisited_tree_soft: Count = 1
    revisited_tree_hard: Count = 3
    no_progress_soft: Count = 2
    no_progress_hard: Count = 4
    error_stagnation_soft: Count = 3
    error_stagnation_hard: Count = 5
    reading_on_soft: Count = 12
    reading_on_hard: Count = 24
    failed_edits_soft: Count = 3
    failed_edits_hard: Count = 5
    refused_soft: Count = 3
    refused_hard: Count = 5
    monologue_soft: Count = 2
    monologue_hard: Count = 3
    plan_seconds: Seconds | None = None
    build_seconds: Seconds | None = None
    time_soft: Annotated[float, msgspec.Meta(gt=0)] = 0.8
    time_hard: Annotated[float, msgspec.Meta(gt=0)] = 1.0


class GuardStep(msgspec.Struct, frozen=True):
    """One observed step, reduced to what the guards compare.

    `call` and `outcome` are digests (`outcome` is empty for a refused call); `ok` says of a
    mutation whether it applied; `tree` is the tree hash after the step, `error` the fingerprint
    of a failing outcome, `failing` the digest of a verification's failing tests and diagnostics.
    An unknown value is left empty, and the guards that need it stay silent.
    """

    call: str
    outcome: str
    kind: Kind
    ok: bool = True
    tree: str = ""
    error: str = ""
    failing: str = ""


UNKEPT = (0, 0, 0, 0, 0)


class RecentSteps(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last steps, and for each period from one to five how long they have kept to it."""

    tail: tuple[str, ...] = ()
    kept: tuple[int, int, int, int, int] = UNKEPT


class Memory(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the guards remember of one attempt; a new attempt starts with an empty one."""

    work: RecentSteps = RecentSteps()
    notes: RecentSteps = RecentSteps()
    trees: tuple[str, ...] = ()
    revisits: int = 0
    check: str = ""
    unchanged: int = 0
    error: str = ""
    error_call: str = ""
    edits: tuple[str, ...] = ()
    edited: bool = False
    stagnant: int = 0
    reads: int = 0
    failed_edits: int = 0
    refused: int = 0
    monologues: int = 0
    moved: tuple[str, ...] = ()


def remember(memory: Memory, step: GuardStep) -> Memory:
    """Fold one step into the memory."""
    if step.kind == "monologue":
        count = memory.monologues + 1
        return msgspec.structs.replace(memory, monologues=count, moved=("monologue",))
    work, notes = _rows(memory, step)
    trees, revisits = _trees(memory, step)
    check, unchanged = _check(memory, step)
    error, error_call, edits, edited, stagnant = _stagnation(memory, step)
    now = Memory(
        work=work,
        notes=notes,
        trees=trees,
        revisits=revisits,
        check=check,
        unchanged=unchanged,
        error=error,
        error_call=error_call,
        edits=edits,
        edited=edited,
        stagnant=stagnant,
        reads=_reads(memory, step),
        failed_edits=_failed_edits(memory, step),
        refused=_refused(memory, step),
    )
    moved = tuple(_moved(memory, now, step))
    return msgspec.structs.replace(now, moved=moved) if moved else now


def _moved(was: Memory, now: Memory, step: GuardStep) -> Iterator[str]:
    """The guards that this very step brought nearer to a trip, in the order of the table."""
    row = now.notes if step.kind == "note" else now.work
    if row.kept != UNKEPT:
        yield "repetition"
        yield "cycle"
    if now.revisits > was.revisits:
        yield "revisited-tree"
    if step.kind == "verify" and now.unchanged:
        yield "no-progress"
    if now.stagnant and was.edited and not now.edited:
        yield "error-stagnation"
    if now.reads > was.reads:
        yield "reading-on"
    if now.failed_edits > was.failed_edits:
        yield "failed-edits"
    if now.refused > was.refused:
        yield "refused"


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


def _rows(memory: Memory, step: GuardStep) -> tuple[RecentSteps, RecentSteps]:
    """Notes do not break a row of work, so that a loop cannot hide behind them."""
    mark = f"{step.call} {step.outcome}"
    if step.kind == "note":
        return memory.work, _follow(memory.notes, mark)
    return _follow(memory.work, mark), RecentSteps()


def _follow(row: RecentSteps, mark: str) -> RecentSteps:
    tail, kept = row.tail, row.kept
    longer = (*tail[-(MARKS_KEPT - 1) :], mark)
    if mark not in tail:
        return RecentSteps(longer)
    length = len(tail)
    return RecentSteps(
        longer,
        (
            kept[0] + 1 if length > 0 and tail[-1] == mark else 0,
            kept[1] + 1 if length > 1 and tail[-2] == mark else 0,
            kept[2] + 1 if length > 2 and tail[-3] == mark else 0,
            kept[3] + 1 if length > 3 and tail[-4] == mark else 0,
            kept[4] + 1 if length > 4 and tail[-5] == mark else 0,
        ),
    )


def _trees(memory: Memory, step: GuardStep) -> tuple[tuple[str, ...], int]:
    """The newest tree is last, hashes are shortened, and an unchanged tree is no return."""
    trees = memory.trees
    tree = step.tree if len(step.tree) <= 12 else step.tree[:6] + step.tree[-6:]
    if not tree or (trees and trees[-1] == tree):
        return trees, memory.revisits
    seen = tree in trees
    rest = tuple([t for t in trees if t != tree]) if seen else trees[-(TREES_KEPT - 1) :]
    return (*rest, tree), memory.revisits + (seen and step.kind == "mutate")


def _check(memory: Memory, step: GuardStep) -> tuple[str, int]:
    if step.kind != "verify":
        return memory.check, memory.unchanged
    if not (step.failing and step.tree):
        return "", 0
    check = f"{step.failing} {step.tree}"
    return check, memory.unchanged + 1 if check == memory.check else 1


def _stagnation(memory: Memory, step: GuardStep) -> tuple[str, str, tuple[str, ...], bool, int]:
    """Count after how many different edits the same error came back.

    A passing check clears the error only when it is the check that had failed: a green lint run
    says nothing about the test that stays red.
    """
    m = memory
    if step.error:
        if step.error == m.error:
            return m.error, step.call, m.edits, False, m.stagnant + m.edited
        return step.error, step.call, m.edits[-1:] if m.edited else (), False, int(m.edited)
    if step.kind == "mutate" and step.ok and step.call not in m.edits:
        return m.error, m.error_call, (*m.edits[-(EDITS_KEPT - 1) :], step.call), True, m.stagnant
    if step.kind == "verify" and step.call == m.error_call:
        return "", "", (), False, 0
    return m.error, m.error_call, m.edits, m.edited, m.stagnant


def _reads(memory: Memory, step: GuardStep) -> int:
    """Reading the same thing again and finding it changed is waiting, not reading on."""
    if step.kind == "read":
        return memory.reads if _is_poll(memory.work.tail, step) else memory.reads + 1
    if step.kind == "note":
        return memory.reads + 1
    return memory.reads if step.kind == "refused" else 0


def _is_poll(tail: tuple[str, ...], step: GuardStep) -> bool:
    for mark in reversed(tail):
        call, _, outcome = mark.rpartition(" ")
        if call == step.call:
            return outcome != step.outcome
    return False


def _failed_edits(memory: Memory, step: GuardStep) -> int:
    if step.kind == "mutate":
        return 0 if step.ok else memory.failed_edits + 1
    return 0 if step.kind == "checkpoint" else memory.failed_edits


def _refused(memory: Memory, step: GuardStep) -> int:
    if step.kind == "refused":
        return memory.refused + 1
    return memory.refused if step.kind == "note" else 0


REASONS = {
    "repetition": "the same call gave the same outcome {} times in a row",
    "revisited-tree": "edits have returned to an earlier state of the tree {} times",
    "no-progress": "{} verifications in a row found the same failures on the same tree",
    "error-stagnation": "the same error came back after {} different edits",
    "reading-on": "{} read-only calls in a row without a checkpoint",
    "failed-edits": "{} edits in a row could not be applied",
    "refused": "{} calls in a row were denied or malformed",
    "monologue": "{} replies in a row had neither a call nor a stop",
}


COUNTERS = {
    "revisited-tree": "revisits",
    "no-progress": "unchanged",
    "error-stagnation": "stagnant",
    "reading-on": "reads",
    "failed-edits": "failed_edits",
    "refused": "refused",
    "monologue": "monologues",
}
"""Where the memory counts what a guard looks at; rows are counted otherwise."""

LEVELS = {guard: guard.replace("-", "_") for guard in GUARDS}


def _trip(memory: Memory, limits: GuardLimits, guard: str) -> Trip | None:
    row = memory.notes if memory.notes.tail else memory.work
    if guard == "cycle":
        return _cycle(row, limits)
    count = row.kept[0] + 1 if guard == "repetition" else getattr(memory, COUNTERS[guard])
    hard = getattr(limits, f"{LEVELS[guard]}_hard")
    if hard and count >= hard:
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
