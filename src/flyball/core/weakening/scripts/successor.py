"""What took the place of an assertion that is gone, and whether it demands less."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flyball.core.weakening.renames import Renames
from flyball.core.weakening.scripts.gains import ValueIndex
from flyball.core.weakening.styles import Demand, Piece
from flyball.core.weakening.styles.layers import (
    is_literal,
    values_of,
    without_literals,
    without_names,
)
from flyball.core.weakening.styles.strength import EXACT, HOLLOW, is_lower_bound, is_upper_bound
from flyball.regex import regex

Verdict = tuple[Demand | None, str | None]


def judge(
    old: Demand, fresh: Sequence[Demand], pieces: tuple[Piece, Piece], renames: Renames
) -> Verdict:
    """The successor, and in which way it is weaker, or None where it is not."""
    for new in sorted(fresh, key=lambda c: c.op != old.op):
        if new.subject == old.subject and (old.subject or new.op == old.op):
            return new, weaker(old, new)
    for new in fresh:
        if renames.explain(old.plain, new.plain):
            return new, None
    for new in fresh:
        if without_names(new.plain) == without_names(old.plain) and _is_renamed(old, new, pieces):
            return new, None
    for new in fresh:
        if without_literals(new.plain) == without_literals(old.plain):
            return new, "changed-expected"
    for new in fresh:
        if new.strength >= old.strength:
            is_hollow = bool(NAME.fullmatch(new.subject)) and _holds_literal(new.subject, pieces[1])
            return new, "tautology" if is_hollow else "changed-expected"
    hollow = next((new for new in fresh if new.strength == HOLLOW), None)
    if hollow is None and fresh:
        # What failed before succeeds now, or the other way: the opposite, neither more nor less.
        if FAILURE.search(old.op):
            return fresh[0], "changed-expected"
        if failing := next((new for new in fresh if _fails_instead(old, new)), None):
            return failing, "changed-expected"
    return hollow, "tautology"


FAILURE = regex(r"throw|reject|raise|panic", re.IGNORECASE)
FAILED = regex(r"\.is_err\(\)|\bErr\(")


def _fails_instead(old: Demand, new: Demand) -> bool:
    """Whether the same values are given as before, and are an error now."""
    given = {*values_of(old.subject)}
    is_failing = FAILURE.search(new.op) or FAILED.search(new.plain)
    return bool(is_failing and given) and given <= {*values_of(new.plain)}


def weaker(old: Demand, new: Demand) -> str | None:
    """What kind of weakening it is to say `new` instead of `old` about the same thing."""
    if new.strength == HOLLOW:
        return "tautology"
    if new.strength != old.strength:
        return "loosened" if new.strength < old.strength else None
    if new.expected == old.expected:
        return None if new.op == old.op or old.strength == EXACT else "changed-expected"
    if new.op == old.op and _dropped(old.expected, new.expected) and old.strength != EXACT:
        return "loosened"
    if new.op == old.op and _dropped(new.expected, old.expected) and old.strength != EXACT:
        return None
    low, high = _number(old), _number(new)
    if low is not None and high is not None and (is_upper_bound(old.op) or is_lower_bound(old.op)):
        return "loosened" if (high > low) == is_upper_bound(old.op) else None
    return "changed-expected"


def _dropped(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    return len(new) < len(old) and old[: len(new)] == new


def _number(demand: Demand) -> float | None:
    found = [e for e in demand.expected if re.fullmatch(r"-?\d[\d_]*(?:\.\d+)?", e)]
    return float(found[0].replace("_", "")) if len(demand.expected) == 1 and found else None


NAME = regex(r"[A-Za-z_$]\w*")


def _is_renamed(old: Demand, new: Demand, pieces: tuple[Piece, Piece]) -> bool:
    """Another variable is the same demand, unless the new one merely holds the wanted value."""
    was, now = set(NAME.findall(old.plain)), set(NAME.findall(new.plain))
    held = any(_holds_literal(name, pieces[0]) for name in was - now)
    return held or not any(_holds_literal(name, pieces[1]) for name in now - was)


def _holds_literal(name: str, block: Piece) -> bool:
    bound = re.compile(rf"(?<![\w.]){re.escape(name)}(?::[\w<>\[\]]+)?(?::=|=)(?!=)(?P<value>.+)")
    # What counts or collects holds more than what it began with.
    grown = re.compile(
        rf"(?:\+\+|--|&(?:mut )?)\b{re.escape(name)}\b"
        rf"|(?<![\w.]){re.escape(name)}(?:\+\+|--|[-+*|]=|\.(?:push|append|add|extend|insert|set)\b)"
    )
    if grown.search(block.body):
        return False
    values = [m["value"].rstrip(";") for m in map(bound.search, block.statements) if m]
    return bool(values) and all(map(is_literal, values))


def became_rows(demand: Demand, fresh: Sequence[Demand], came: ValueIndex) -> bool:
    """Whether a new row of a table holds all its values, for a new assertion of the same kind."""
    values = {*values_of(demand.plain)}
    holds = any(values <= {*values_of(row)} for row in came.around(demand.plain))
    return holds and any(new.strength >= demand.strength for new in fresh)
