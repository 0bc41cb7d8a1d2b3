"""What became of the assertions and rows of one Python test."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from flyball.core.terms.evidence import Weakened
from flyball.core.weakening.python.assertion import Assertion, is_literal
from flyball.core.weakening.python.elsewhere import is_elsewhere
from flyball.core.weakening.python.gains import ModuleComparing, asserted, row_texts
from flyball.core.weakening.python.routine import Module, Routine
from flyball.core.weakening.python.strength import renamed, skeleton, strength_of, weaker
from flyball.core.weakening.python.tables import expanded
from flyball.core.weakening.reach import LOWERED, Reach
from flyball.core.weakening.renames import STRING, Renames
from flyball.regex import regex

NEAR = 60
"""How many candidates are looked at: a test may have thousands of assertions."""


def losses(old: Routine, new: Routine, now: Module, change: ModuleComparing) -> Iterator[Weakened]:
    if new.is_empty and not old.is_empty:
        yield Weakened(new.path, new.node.lineno, "emptied-test", f"{new.name} does nothing now")
        return
    yield from _skips(old, new)
    yield from _cases(old, new, change)
    yield from _locals(old, new)
    says = "changed-expected" if _asks_as_much(old, new) else "removed-assertion"
    for found in _assertions(old, new, now, change):
        is_removed = found.kind == "removed-assertion"
        yield found if not is_removed else Weakened(found.path, found.line, says, found.detail)
    yield from _not_understood(old, new)


def _asks_as_much(old: Routine, new: Routine) -> bool:
    """Whether a test that was written anew compares as many values as strictly as it did."""
    return _mass(new) >= _mass(old)


def _mass(routine: Routine) -> int:
    return sum(
        strength_of(assertion) * (1 + _values_in(assertion.expected))
        for assertion in routine.assertions
        if assertion.reach >= Reach.CONDITIONAL
    )


def _values_in(node: ast.expr | None) -> int:
    return sum(isinstance(part, ast.Constant) for part in ast.walk(node)) if node else 0


def _skips(old: Routine, new: Routine) -> Iterator[Weakened]:
    """Reasons not to run it that came; one in place of another is another condition."""
    had, has = (Counter(skip.text for skip in routine.skips) for routine in (old, new))
    lost = Counter(text.partition("(")[0] for text in (had - has).elements())
    lines = {skip.text: skip.line for skip in new.skips}
    for text in (has - had).elements():
        kind = text.partition("(")[0]
        is_other = lost[kind] > 0 and not ALWAYS.search(text)
        lost[kind] -= is_other
        is_other |= is_elsewhere(text)
        yield Weakened(new.path, lines[text], "changed-expected" if is_other else "new-skip", text)


ALWAYS = regex(r"\((?:True|1|not False|'.*')\)|\w+$")


def _cases(old: Routine, new: Routine, change: ModuleComparing) -> Iterator[Weakened]:
    """Rows of a table that are gone, or hold other values; a row that gained values is the same."""
    earlier, later = Counter(map(row_texts, old.cases)), Counter(map(row_texts, new.cases))
    fresh = list((later - earlier).elements())
    gone: list[tuple[str, ...]] = []
    for row in (earlier - later).elements():
        grown = next((f for f in fresh if _is_within(row, f, change.renames)), None)
        if grown is not None:
            fresh.remove(grown)
        else:
            gone.append(row)
    line = new.node.lineno
    for number, row in enumerate(gone):
        is_other = number < len(fresh) or row in change.rows
        kind = "changed-expected" if is_other else "removed-case"
        if is_other or not _is_asserted(row, old, new, change):
            yield Weakened(new.path, line, kind, f"{new.name}: case {', '.join(row)}")


def _is_within(row: tuple[str, ...], other: tuple[str, ...], renames: Renames) -> bool:
    values = iter(other)
    if len(row) > 1 and all(value in values for value in row):
        return True
    return renames.explain(", ".join(row), ", ".join(other))


def _is_asserted(row: tuple[str, ...], old: Routine, new: Routine, change: ModuleComparing) -> bool:
    """Whether what a row meant is now asserted on its own."""
    said = asserted(new)
    keys = [
        key
        for table in old.tables
        for node in table.rows
        if row_texts(node) == row
        for assertion in old.assertions
        for key in expanded(assertion, [table._replace(rows=(node,))])
    ]
    return bool(keys) and all(change.pool[key] > 0 or key in said for key in keys)


def _locals(old: Routine, new: Routine) -> Iterator[Weakened]:
    """Literals under a name that an unchanged assertion compares with."""
    kept = {a.key for a in old.assertions} & {a.key for a in new.assertions}
    used = {name for a in new.assertions if a.key in kept for name in names_of(a.expected)}
    earlier, later = _assigned(old, used), _assigned(new, used)
    for name, values in later.items():
        was = earlier.get(name, [])
        for (before, _), (after, line) in zip(was, values, strict=False):
            if before != after:
                detail = f"{name}: {before} became {after}"
                yield Weakened(new.path, line, "changed-expected", detail)


def _assigned(routine: Routine, names: set[str]) -> dict[str, list[tuple[str, int]]]:
    found: dict[str, list[tuple[str, int]]] = {}
    for node in ast.walk(routine.node):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                name in names and is_literal(value)
            ):
                found.setdefault(name, []).append((ast.unparse(value), node.lineno))
            case _:
                continue
    return found


def names_of(node: ast.expr | None) -> Iterator[str]:
    for part in ast.walk(node) if node else ():
        if isinstance(part, ast.Name):
            yield part.id


def _assertions(
    old: Routine, new: Routine, module: Module, change: ModuleComparing
) -> Iterator[Weakened]:
    free: defaultdict[tuple[object, ...], list[Assertion]] = defaultdict(list)
    for assertion in sorted(new.assertions, key=lambda a: a.reach):
        free[assertion.key].append(assertion)
    gone: list[Assertion] = []
    for assertion in sorted(old.assertions, key=lambda a: -a.reach):
        if not free[assertion.key]:
            gone.append(assertion)
            continue
        best = free[assertion.key].pop()
        if (old.path, old.name) != (new.path, new.name):
            change.pool[best.key] -= 1
        if best.reach < assertion.reach:
            kind, says = LOWERED[best.reach]
            yield Weakened(new.path, best.line, kind, f"`{best.text}` {says}")
    fresh = sorted((a for left in free.values() for a in left), key=lambda a: a.line)
    able = [a for a in fresh if a.reach >= Reach.CONDITIONAL]
    # Over a table an assertion stands for as many as there are rows.
    able += [a for a in able for _ in range(_further_rows(a, old, new))]
    # First those with a successor about the same thing, or another would take it from them.
    subjects = {a.subject for a in able}
    gone.sort(key=lambda a: (a.subject not in subjects, a.line))
    rows = {key for a in able for key in expanded(a, new.tables)}
    for assertion in gone:
        if assertion.reach < Reach.CONDITIONAL or assertion.op == "tautology":
            continue
        if change.pool[assertion.key] > 0:
            change.pool[assertion.key] -= 1
        elif assertion.key not in rows and not _is_spelled_out(assertion, old, new):
            yield from _changed(assertion, able, new, module, change)


def _further_rows(assertion: Assertion, old: Routine, new: Routine) -> int:
    """How many rows came beside the first, of a table that an assertion takes values from."""
    named = {*names_of(assertion.expected), *re.findall(r"Name\(id='(\w+)'", assertion.subject)}
    rows = sum(len(table.rows) for table in new.tables if not named.isdisjoint(table.names))
    return min(NEAR, rows - 1 - sum(len(table.rows) for table in old.tables))


def _is_spelled_out(assertion: Assertion, old: Routine, new: Routine) -> bool:
    """Whether what it says for each row is asserted one by one now."""
    keys = set(expanded(assertion, old.tables))
    return bool(keys) and keys <= asserted(new).keys()


def _changed(
    old: Assertion, fresh: list[Assertion], new: Routine, module: Module, change: ModuleComparing
) -> Iterator[Weakened]:
    """What became of an assertion that is not there any more; takes its successor off the list."""
    if renamed(old) in change.helped:
        return
    near = [a for a in fresh if a.subject == old.subject][:NEAR] or fresh[:NEAR]
    successor, kind = _successor(old, near, new, change.renames)
    if successor is not None:
        fresh.remove(successor)
        if kind:
            detail = f"`{old.text}` became `{successor.text}`"
            yield Weakened(new.path, successor.line, kind, detail)
        return
    kind = "changed-expected" if _is_part_of(old, new) else "removed-assertion"
    if _is_commented(old, module.text):
        kind = "commented-out"
    yield Weakened(new.path, new.node.lineno, kind, f"{new.name}: `{old.text}`")


def _is_part_of(old: Assertion, new: Routine) -> bool:
    """Whether the text that it wanted is part of a longer one that the test wants now."""
    wanted = _texts_in(old.text)
    # What an error must say may be asked of the block that raises it.
    alike = {old.op, "raises"}
    longer = [text for a in new.assertions if a.op in alike for text in _texts_in(a.text)]
    return bool(wanted) and all(any(text in other for other in longer) for text in wanted)


def _texts_in(code: str) -> list[str]:
    """The strings in some code that are long enough to be told from others."""
    found = (match[0].strip("'\"").strip() for match in STRING.finditer(code))
    return [text for text in found if len(text) >= MIN_TEXT]


MIN_TEXT = 4


def _successor(
    old: Assertion, fresh: Sequence[Assertion], new: Routine, renames: Renames
) -> tuple[Assertion | None, str | None]:
    """The assertion that stands in for another one, and in which way it is weaker."""
    about = [other for other in fresh if other.subject == old.subject]
    for other in sorted(about, key=lambda o: o.op != old.op):
        return other, weaker(old, other)
    for other in fresh:
        if renames.explain(old.text, other.text) or _is_renamed(old, other, new):
            return other, None
    for other in fresh:
        if skeleton(other) == skeleton(old):
            return other, "changed-expected"
    for other in fresh:
        if strength_of(other) >= strength_of(old):
            return other, "changed-expected"
    hollow = next((other for other in fresh if other.op == "tautology"), None)
    if old.op == "raises" and hollow is None and fresh:
        # What was an error before is a result now: the opposite, which is neither more nor less.
        return fresh[0], "changed-expected"
    return hollow, "tautology"


def _is_renamed(old: Assertion, other: Assertion, new: Routine) -> bool:
    """Another variable is the same claim, unless the new one merely holds the wanted value."""
    if renamed(other) != renamed(old):
        return False
    came = set(re.findall(r"Name\(id='(\w+)'", other.subject)) - set(
        re.findall(r"Name\(id='(\w+)'", old.subject)
    )
    return not _assigned(new, came)


def _not_understood(old: Routine, new: Routine) -> Iterator[Weakened]:
    """A test without a known assertion that lost or changed something."""
    if not old.is_collected or old.assertions or old.cases:
        return
    lost = Counter(old.steps) - Counter(new.steps)
    shapes = {re.sub(r"Constant\([^()]*\)", "_", step) for step in new.steps}
    literal = any(re.sub(r"Constant\([^()]*\)", "_", step) in shapes for step in lost)
    if lost and (literal or len(new.steps) < len(old.steps)):
        detail = f"{new.name} changed, and no known way to assert explains it"
        yield Weakened(new.path, new.node.lineno, "not-understood", detail)


def other_input(old: Routine, new: Routine) -> str:
    """The first value outside the assertions that was exchanged for another."""
    came = Counter(new.steps) - Counter(old.steps)
    shapes = {re.sub(r"Constant\([^()]*\)", "_", step) for step in came}
    lost = Counter(old.steps) - Counter(new.steps)
    if any(re.sub(r"Constant\([^()]*\)", "_", step) in shapes for step in lost):
        return f"{new.name} is given other values"
    return ""


def _is_commented(assertion: Assertion, text: str) -> bool:
    wanted = _squeezed(assertion.text)
    return any(
        _squeezed(line.lstrip(" \t#")).startswith(wanted)
        for line in text.split("\n")
        if line.lstrip().startswith("#")
    )


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).replace('"', "'")
