"""The guards' memory: a small value folded from the steps of one attempt, and its alarms.

Replies count, not calls. A driver that requests five things at once had no answer in between, so
one reply moves a counter once, whatever the results of its calls; only a call repeated exactly
counts again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from flyball.guards.guard import GUARDS, GuardLimits, Trip, TripLevel
from flyball.terms.call import digest

Kind = Literal["read", "mutate", "verify", "run", "checkpoint", "note", "refused", "monologue"]

MARKS_KEPT = 12
TREES_KEPT = 256
EDITS_KEPT = 32


class GuardStep(msgspec.Struct, frozen=True):
    """One observed step, reduced to what the guards compare.

    `call` and `outcome` are digests (`outcome` is empty for a refused call); `ok` says of a
    mutation whether it applied; `tree` is the tree hash after the step, `error` the fingerprint
    of a failing outcome with its exit status, `failing` the digest of a verification's failing
    tests and diagnostics. `reply` is the number of the reply that asked for it; a step without one
    stands for a reply of its own. An unknown value is left empty, and the guards that need it stay
    silent.
    """

    call: str
    outcome: str
    kind: Kind
    ok: bool = True
    tree: str = ""
    error: str = ""
    failing: str = ""
    reply: int = 0

    @property
    def has_failed(self) -> bool:
        """Return whether the step failed: refused, not applied, or a check that did not pass."""
        return self.kind == "refused" or not self.ok or bool(self.error)


UNKEPT = (0, 0, 0, 0, 0)


class RecentSteps(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last steps, and how long they have repeated with each period from one to five."""

    tail: tuple[str, ...] = ()
    kept: tuple[int, int, int, int, int] = UNKEPT


class Memory(msgspec.Struct, frozen=True, omit_defaults=True):
    """The guards' memory of one attempt; a new attempt starts with an empty one."""

    work: RecentSteps = RecentSteps()
    """One mark for each reply; the calls of a reply are one mark together."""
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
    reply: int = 0
    """The current reply, and what is known about it alone."""
    before: RecentSteps = RecentSteps()
    last: str = ""
    repeats: int = 0
    """How often the last call was made in a row, and how often of that in this reply."""
    repeats_now: int = 0
    raised: tuple[str, ...] = ()
    """The counters that this reply has moved already."""
    edit: str = ""
    same_edits: int = 0
    failing: int = 0
    unrun: int = 0


def remember(memory: Memory, step: GuardStep) -> Memory:
    """Fold one step into the memory."""
    if step.kind == "monologue":
        count = memory.monologues + 1
        return msgspec.structs.replace(memory, monologues=count, moved=("monologue",), reply=0)
    was = memory if step.reply and step.reply == memory.reply else _next_reply(memory, step)
    trees, revisits = _trees(was, step)
    check, unchanged = _check(was, step)
    error, error_call, edits, edited, stagnant = _stagnation(was, step)
    now = Memory(
        **_rows(was, step),
        trees=trees,
        revisits=_raised(was, "revisits", revisits),
        check=check,
        unchanged=_raised(was, "unchanged", unchanged),
        error=error,
        error_call=error_call,
        edits=edits,
        edited=edited,
        stagnant=stagnant,
        reads=_raised(was, "reads", _reads(was, step)),
        failed_edits=_raised(was, "failed_edits", _failed_edits(was, step)),
        refused=_raised(was, "refused", _refused(was, step)),
        reply=was.reply,
        edit=step.call if step.kind == "mutate" else was.edit,
        same_edits=_raised(was, "same_edits", _same_edits(was, step)),
        failing=_raised(was, "failing", _failing(was, step)),
        unrun=_raised(was, "unrun", _unrun(was, step)),
    )
    raised = [name for name in RAISED if getattr(now, name) > getattr(was, name)]
    moved = tuple(_moved(was, now, step))
    return msgspec.structs.replace(now, moved=moved, raised=(*was.raised, *raised))


RAISED = (
    "revisits",
    "unchanged",
    "reads",
    "failed_edits",
    "refused",
    "same_edits",
    "failing",
    "unrun",
)
"""The counters that a reply moves at most once."""


def _next_reply(memory: Memory, step: GuardStep) -> Memory:
    return msgspec.structs.replace(
        memory, reply=step.reply, before=memory.work, raised=(), repeats_now=0, last=memory.last
    )


def _raised(was: Memory, name: str, count: int) -> int:
    """Return a counter after a step; each reply counts once."""
    return min(count, getattr(was, name)) if name in was.raised else count


def _moved(was: Memory, now: Memory, step: GuardStep) -> Iterator[str]:
    """Yield the guards that this step moved closer to a trip, in table order."""
    row = now.notes if step.kind == "note" else now.work
    if row.kept != UNKEPT or (step.kind != "note" and now.repeats > 1):
        yield "repetition"
    if row.kept != UNKEPT:
        yield "cycle"
    if now.revisits > was.revisits:
        yield "revisited-tree"
    if step.kind == "verify" and now.unchanged > was.unchanged:
        yield "no-progress"
    if now.stagnant and was.edited and not now.edited:
        yield "error-stagnation"
    yield from (guard for guard, name in COUNTED if getattr(now, name) > getattr(was, name))


COUNTED = (
    ("reading-on", "reads"),
    ("failed-edits", "failed_edits"),
    ("same-edit", "same_edits"),
    ("failing-steps", "failing"),
    ("unrun-edits", "unrun"),
    ("refused", "refused"),
)
"""Guards that consider nothing but a counter."""


def _rows(was: Memory, step: GuardStep) -> dict[str, Any]:
    """Update the sequences of equal steps; notes do not break one, so a loop cannot hide behind
    them.

    A second call of the same reply changes the reply's mark, so the sequence is recomputed from its
    state before that reply.
    """
    mark = f"{step.call} {step.outcome}"
    if step.kind == "note":
        kept = {name: getattr(was, name) for name in ("work", *OF_ROWS)}
        return {**kept, "notes": _follow(was.notes, mark)}
    is_repeated = mark == was.last
    is_first = was.repeats_now == 0
    repeats = was.repeats + 1 if is_repeated else 1
    repeats_now = was.repeats_now + 1 if is_repeated else 1
    work = was.work
    if is_first:
        work = _follow(was.before if step.reply else was.work, mark)
    elif not is_repeated:
        work = _follow(was.before, f"{_short_mark(was.work.tail[-1])}+{_short_mark(mark)}")
    return {
        "work": work,
        "notes": RecentSteps(),
        "before": was.before,
        "last": mark,
        "repeats": repeats,
        "repeats_now": repeats_now,
    }


OF_ROWS = ("before", "last", "repeats", "repeats_now")


def _short_mark(mark: str) -> str:
    """Return a mark that stays short, however many calls a reply holds."""
    return mark if len(mark) <= 40 else digest(mark)


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
    """Append the newest tree; an unchanged tree does not count as a return."""
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
    """Count how many different edits left the same check failing in the same way.

    Only the check that failed can clear the error by passing: a green lint run says nothing about
    the test that stays red. Reading a file or making an edit is not a check.
    """
    m = memory
    if step.error and step.kind in ("verify", "run"):
        if (step.error, step.call) == (m.error, m.error_call):
            return m.error, m.error_call, m.edits, False, m.stagnant + m.edited
        return step.error, step.call, m.edits[-1:] if m.edited else (), False, int(m.edited)
    if step.kind == "mutate" and step.ok and step.call not in m.edits:
        return m.error, m.error_call, (*m.edits[-(EDITS_KEPT - 1) :], step.call), True, m.stagnant
    if step.kind == "verify" and step.call == m.error_call:
        return "", "", (), False, 0
    return m.error, m.error_call, m.edits, m.edited, m.stagnant


def _reads(memory: Memory, step: GuardStep) -> int:
    """Count repeated reads; reading the same thing and finding it changed is waiting."""
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


def _same_edits(memory: Memory, step: GuardStep) -> int:
    """Count equal edits by what they ask for; reads in between change nothing."""
    if step.kind != "mutate":
        return memory.same_edits
    return memory.same_edits + 1 if step.call == memory.edit else 1


def _failing(memory: Memory, step: GuardStep) -> int:
    if step.kind == "note":
        return memory.failing
    return memory.failing + 1 if step.has_failed else 0


def _unrun(memory: Memory, step: GuardStep) -> int:
    if step.kind in ("verify", "run"):
        return 0
    return memory.unrun + 1 if step.kind == "mutate" and step.ok else memory.unrun


def trips(memory: Memory, limits: GuardLimits) -> tuple[Trip, ...]:
    """Return what the last step tripped: each guard at most once, in the order of `GUARDS`."""
    found = [_trip(memory, limits, guard) for guard in memory.moved]
    return tuple([trip for trip in found if trip])


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
"""The field in which the memory counts for each guard; rows are counted differently."""

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
    """Return a trip for the shortest period that lasted long enough; equal steps are repetition."""
    stretch = [kept + period for period, kept in enumerate(row.kept, 1)]
    soft: Trip | None = None
    for period in range(2, limits.cycle_max + 1):
        length = stretch[period - 1]
        if any(length <= stretch[d - 1] for d in range(1, period) if period % d == 0):
            continue
        reason = f"a cycle of {period} calls and outcomes was repeated {length // period} times"
        if limits.cycle_hard and length >= limits.cycle_hard * period:
            return Trip("cycle", TripLevel.HARD, reason)
        if soft is None and length == limits.cycle_soft * period:
            soft = Trip("cycle", TripLevel.SOFT, reason)
    return soft
