"""Find the successor of a removed assertion, and decide whether it demands less."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from flyball.regex import regex
from flyball.verdict.tests._model import Assertion, TestCase
from flyball.verdict.tests._renames import Renames
from flyball.verdict.tests._text import (
    is_values,
    is_within,
    values_of,
    without_literals,
    without_names,
)
from flyball.verdict.tests._words import (
    BROAD,
    EXACT,
    HOLLOW,
    OPPOSITE,
    is_lower_bound,
    is_upper_bound,
)

RELAXED = {("<", "<="), (">", ">=")}
NAME = regex(r"[A-Za-z_$][\w$]*")
FAILED = regex(r"\.is_err\(\)|\bErr\(")


def judge(
    old: Assertion, fresh: Sequence[Assertion], new: TestCase, was: TestCase, renames: Renames
) -> tuple[Assertion | None, str | None]:
    """Return the successor, and how it is weaker; None if it is not."""
    for other in sorted(fresh, key=lambda o: o.op != old.op):
        if other.subject == old.subject and (old.subject or other.op == old.op):
            return other, weaker(old, other)
    for other in fresh:
        if renames.explain(old.plain, other.plain):
            return other, None
    for other in fresh:
        is_alike = without_names(other.plain) == without_names(old.plain)
        if is_alike and _is_renamed(old, other, new, was):
            return other, None
    for other in fresh:
        if without_literals(other.plain) == without_literals(old.plain):
            return other, "changed-expected"
    for other in fresh:
        is_helper = old.form == other.form == "helper" and old.op == other.op
        is_less = len(values_of(other.plain)) < len(values_of(old.plain))
        if is_helper and is_less and is_within(other.plain, old.plain):
            return other, "loosened"
    for other in fresh:
        if other.strength >= old.strength:
            is_hollow = bool(NAME.fullmatch(other.subject)) and _holds_literal(other.subject, new)
            return other, "tautology" if is_hollow else "changed-expected"
    hollow = next((other for other in fresh if other.strength == HOLLOW), None)
    if hollow is None and fresh:
        # What failed before succeeds now, or the other way: the opposite, neither more nor less.
        if re.search(r"throw|reject|raise|panic", old.op, re.IGNORECASE):
            return fresh[0], "changed-expected"
        if failing := next((other for other in fresh if _fails_instead(old, other)), None):
            return failing, "changed-expected"
    return hollow, "tautology"


def _fails_instead(old: Assertion, new: Assertion) -> bool:
    """Return whether the same values are used as before, but now lead to an error."""
    given = {*values_of(old.subject)}
    is_failing = new.op == "raises" or FAILED.search(new.plain)
    return bool(is_failing and given) and given <= {*values_of(new.plain)}


def weaker(old: Assertion, new: Assertion) -> str | None:
    """Return the kind of weakening if `new` is asserted instead of `old` about the same value."""
    if new.strength == HOLLOW:
        return "tautology"
    if old.op == new.op == "raises":
        return _weaker_exception(old.expected, new.expected)
    if OPPOSITE.get(old.op) == new.op and old.expected == new.expected:
        return "changed-expected"
    if (old.op, new.op) in RELAXED:
        return "loosened"
    if (new.op, old.op) in RELAXED and old.expected == new.expected:
        return None
    if new.strength != old.strength:
        return "loosened" if new.strength < old.strength else None
    if new.expected == old.expected:
        if new.tolerance is not None or old.tolerance is not None:
            return "loosened" if (new.tolerance or 0.0) > (old.tolerance or 0.0) else None
        return None if new.op == old.op or old.strength == EXACT else "changed-expected"
    if new.op == old.op and old.op == "in" and (kind := _weaker_choice(old, new)) != "other":
        return kind
    return _weaker_values(old, new)


def _weaker_values(old: Assertion, new: Assertion) -> str | None:
    if new.op == old.op and _dropped(old.expected, new.expected) and old.strength != EXACT:
        return "loosened"
    if new.op == old.op and _dropped(new.expected, old.expected) and old.strength != EXACT:
        return None
    low, high = _number(old), _number(new)
    if low is not None and high is not None and (is_upper_bound(old.op) or is_lower_bound(old.op)):
        return "loosened" if (high > low) == is_upper_bound(old.op) else None
    return "changed-expected"


def _weaker_choice(old: Assertion, new: Assertion) -> str | None:
    """Compare two lists of allowed values: a longer one allows more."""
    was, now = ({*values_of("".join(one.expected))} for one in (old, new))
    is_listed = all("".join(one.expected)[:1] in "([{" for one in (old, new))
    if not is_listed or was == now:
        return "other"
    return "loosened" if was < now else None if now < was else "other"


def _weaker_exception(old: tuple[str, ...], new: tuple[str, ...]) -> str | None:
    (was, *asked), (now, *asks) = old or ("",), new or ("",)
    earlier, later = ({*re.findall(r"\w+", said.rpartition(".")[2])} for said in (was, now))
    broad = bool(later & BROAD) and not earlier & BROAD
    if was != now:
        is_wider = broad or (earlier < later and now[:1] == "(") or (was and not now)
        return "broadened-exception" if is_wider else None if not was else "changed-expected"
    if asked and not asks:
        return "broadened-exception"
    return "changed-expected" if asked and asked != asks else None


def _dropped(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    return len(new) < len(old) and old[: len(new)] == new


def _number(one: Assertion) -> float | None:
    found = [e for e in one.expected if re.fullmatch(r"-?\d[\d_]*(?:\.\d+)?", e)]
    return float(found[0].replace("_", "")) if len(one.expected) == 1 and found else None


def _is_renamed(old: Assertion, other: Assertion, new: TestCase, was: TestCase) -> bool:
    """Return whether only a variable was renamed, other than the one with the expected value."""
    had, has = set(NAME.findall(old.plain)), set(NAME.findall(other.plain))
    held = any(_holds_literal(name, was) for name in had - has)
    return held or not any(_holds_literal(name, new) for name in has - had)


def _holds_literal(name: str, case: TestCase) -> bool:
    named = re.escape(name)
    bound = re.compile(rf"(?<![\w.]){named}(?::[\w<>\[\]]+)?(?::=|=)(?!=)(?P<value>.+)")
    # What counts or collects holds more than what it began with.
    grown = re.compile(
        rf"(?:\+\+|--|&(?:mut )?)\b{named}\b"
        rf"|(?<![\w.]){named}(?:\+\+|--|[-+*|]=|\.(?:push|append|add|extend|insert|set)\b)"
    )
    if any(map(grown.search, case.steps)):
        return False
    values = [m["value"].rstrip(";") for m in map(bound.search, case.steps) if m]
    return bool(values) and all(map(is_values, values))


def became_rows(one: Assertion, fresh: Sequence[Assertion], around: Sequence[str]) -> bool:
    """Return whether a new row contains all its values, for a new assertion of the same kind."""
    values = {*values_of(one.plain)}
    holds = any(values <= {*values_of(row)} for row in around)
    return holds and any(new.strength >= one.strength for new in fresh)


T = TypeVar("T")
Features = Counter[Hashable]
CANDIDATES = 20


def pair_up(
    old: Sequence[T],
    new: Sequence[T],
    keys: Sequence[Callable[[T], Hashable]],
    features: Callable[[T], Features],
    is_alike: Callable[[T, T], bool],
) -> dict[int, int]:
    """Return each old item's successor: by the first matching key, else by similarity.

    A key of None matches nothing. Only items that share most features are compared for similarity,
    since comparing all pairs takes minutes when a large file was moved and edited.
    """
    found: dict[int, int] = {}
    for key in keys:
        free: defaultdict[Hashable, list[int]] = defaultdict(list)
        taken = set(found.values())
        for number in reversed(range(len(new))):
            if number not in taken:
                free[key(new[number])].append(number)
        for number, one in enumerate(old):
            wanted = key(one) if number not in found else None
            if wanted is not None and free[wanted]:
                found[number] = free[wanted].pop()
    _by_likeness(old, new, found, features, is_alike)
    return found


def _by_likeness(
    old: Sequence[T],
    new: Sequence[T],
    found: dict[int, int],
    features: Callable[[T], Features],
    is_alike: Callable[[T, T], bool],
) -> None:
    taken = set(found.values())
    owners: defaultdict[Hashable, list[int]] = defaultdict(list)
    for number in range(len(new)):
        if number not in taken:
            for feature in features(new[number]):
                owners[feature].append(number)
    for number, one in enumerate(old):
        if number in found or not owners:
            continue
        shared = Counter(other for feature in features(one) for other in owners.get(feature, ()))
        for other, _ in shared.most_common(CANDIDATES):
            if other not in taken and is_alike(one, new[other]):
                found[number] = other
                taken.add(other)
                break
