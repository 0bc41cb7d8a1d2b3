"""Which of two assertions about the same thing is the weaker."""

from __future__ import annotations

import ast
import re

from flyball.core.weakening.python.assertion import BROAD, OPPOSITE, Assertion, names_in, number_of
from flyball.regex import regex

STRENGTH = {
    "==": 5,
    "is": 5,
    "approx": 4,
    "isinstance": 3,
    "in": 3,
    "<": 3,
    "<=": 3,
    ">": 3,
    ">=": 3,
    "truth": 2,
    "false": 2,
    "is not": 1,
    "!=": 1,
    "not in": 1,
    "tautology": 0,
}
RELAXED = {("<", "<="), (">", ">=")}


def strength_of(assertion: Assertion) -> int:
    """How much an assertion demands; one of an unknown kind as much as an equality."""
    return STRENGTH.get(assertion.op, 5)


def weaker(before: Assertion, after: Assertion) -> str | None:
    """What kind of weakening the change of one assertion is, if it is one."""
    if before.op == after.op:
        return _weaker_operand(before, after)
    same = before.expected is not None and _dump(before.expected) == _dump(after.expected)
    if OPPOSITE.get(before.op) == after.op and (same or before.expected is None):
        return "changed-expected"
    if (before.op, after.op) in RELAXED:
        return "loosened"
    old, new = STRENGTH.get(before.op, 5), STRENGTH.get(after.op, 5)
    if new < old:
        return "loosened"
    is_same_claim = same and {before.op, after.op} == {"==", "is"}
    stricter = new > old or (after.op, before.op) in RELAXED
    return None if stricter or is_same_claim else "changed-expected"


def _weaker_operand(before: Assertion, after: Assertion) -> str | None:
    old, new = before.expected, after.expected
    if before.op == "raises":
        return _weaker_exception(old, new)
    if _dump(old) == _dump(new):
        earlier = dict(before.tolerance)
        wider = any(value > earlier.get(name, 0.0) for name, value in after.tolerance)
        return "loosened" if wider else None
    low, high = number_of(old), number_of(new)
    if before.op in {"<", "<=", ">", ">="} and low is not None and high is not None:
        looser = high > low if before.op in {"<", "<="} else high < low
        return "loosened" if looser else None
    if before.op == "in" and isinstance(old, COLLECTIONS) and isinstance(new, COLLECTIONS):
        earlier, later = set(map(ast.dump, old.elts)), set(map(ast.dump, new.elts))
        if earlier < later:
            return "loosened"
        if later < earlier:
            return None
    return "changed-expected"


COLLECTIONS = (ast.Tuple, ast.List, ast.Set)


def _weaker_exception(old: ast.expr | None, new: ast.expr | None) -> str | None:
    parts = [node.elts if isinstance(node, ast.Tuple) else [] for node in (old, new)]
    (old_type, *old_match), (new_type, *new_match) = parts
    earlier, later = set(names_in(old_type)), set(names_in(new_type))
    broad = bool(later & {"Exception", "BaseException"}) and not earlier & BROAD
    if earlier != later:
        return "broadened-exception" if broad or earlier < later else "changed-expected"
    if old_match and not new_match:
        return "broadened-exception"
    changed = old_match and ast.dump(old_match[0]) != ast.dump(new_match[0])
    return "changed-expected" if changed else None


def _dump(node: ast.expr | None) -> str:
    return ast.dump(node) if node else ""


CONSTANT = regex(r"Constant\(value=(?:'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|[^)]*)\)")


VARIABLE = regex(r"Name\(id='\w+'")


def skeleton(assertion: Assertion) -> tuple[str, str, str]:
    """An assertion with every constant blanked, to recognise one whose values were changed."""
    return _blanked(assertion, CONSTANT)


def renamed(assertion: Assertion) -> tuple[str, str, str]:
    """An assertion with every variable blanked, to recognise one that says the same of another."""
    return _blanked(assertion, VARIABLE)


def _blanked(assertion: Assertion, pattern: re.Pattern[str]) -> tuple[str, str, str]:
    expected = _dump(assertion.expected)
    return assertion.op, pattern.sub("_", assertion.subject), pattern.sub("_", expected)
