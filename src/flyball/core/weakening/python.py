"""How a set of Python test modules got weaker."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from flyball.core.terms.evidence import Weakened
from flyball.core.weakening.assertion import Assertion, Reach, is_literal, names_in
from flyball.core.weakening.routine import Module, Routine
from flyball.core.weakening.strength import renamed, skeleton, weaker

Pool = Counter[tuple[object, ...]]


def python_weakenings(
    before: Mapping[str, Module], after: Mapping[str, Module]
) -> Iterator[Weakened]:
    """Compare every test with what became of it, wherever it went."""
    pool = _new_assertions(before, after)
    for path, module in before.items():
        now = after.get(path)
        lost: list[Routine] = []
        for routine in module.routines.values():
            found = _counterpart(routine, now, before, after)
            if found is not None:
                yield from _compared(routine, found, after[found.path], pool)
            elif routine.is_collected and not _is_elsewhere(routine, pool):
                lost.append(routine)
        yield from _lost(module, now, lost, after)
        if now is not None:
            yield from _constants(module, now)


def _new_assertions(before: Mapping[str, Module], after: Mapping[str, Module]) -> Pool:
    """Assertions that functions gained, for those that only moved from one to another."""
    pool: Pool = Counter()
    for path, module in after.items():
        used = _used(module)
        for name, routine in module.routines.items():
            if routine.is_collected or name.split(".")[-1] in used:
                earlier = before[path].routines.get(name) if path in before else None
                pool += _asserted(routine) - (_asserted(earlier) if earlier else Counter())
    return pool


def _used(module: Module) -> set[str]:
    """Every name that the tests of a module mention, their helpers' among them."""
    tests = [routine.node for routine in module.routines.values() if routine.is_collected]
    return {name for node in tests for stmt in node.body for name in names_in(stmt)}


def _asserted(routine: Routine) -> Pool:
    return Counter(
        assertion.key
        for assertion in routine.assertions
        if assertion.reach >= Reach.CONDITIONAL and assertion.op != "tautology"
    )


def _counterpart(
    routine: Routine,
    now: Module | None,
    before: Mapping[str, Module],
    after: Mapping[str, Module],
) -> Routine | None:
    """The same name in the same file, or else the same body or name newly in some file."""
    if now is not None and routine.name in now.routines:
        found = now.routines[routine.name]
        if found.is_collected or not routine.is_collected:
            return found
    if not routine.is_collected:
        return None
    fresh = [
        other
        for path, module in after.items()
        for name, other in module.routines.items()
        if other.is_collected and (path not in before or name not in before[path].routines)
    ]
    last = routine.name.split(".")[-1]
    alike = [o for o in fresh if o.shape == routine.shape]
    named = [o for o in fresh if o.name.split(".")[-1] == last]
    return next(iter(alike + named), None)


def _is_elsewhere(routine: Routine, pool: Pool) -> bool:
    """Whether everything a vanished test asserted is now asserted by a new one."""
    wanted = _asserted(routine)
    if not wanted or wanted - pool:
        return False
    pool.subtract(wanted)
    return True


def _lost(
    module: Module, now: Module | None, lost: Sequence[Routine], after: Mapping[str, Module]
) -> Iterator[Weakened]:
    if now is None and lost:
        names = ", ".join(routine.name for routine in lost[:5])
        yield Weakened(module.path, 1, "deleted-file", f"deleted with its tests: {names}")
        return
    kept = {r.shape for m in after.values() for r in m.routines.values() if not r.is_collected}
    for routine in lost:
        kind = "renamed-away" if routine.shape in kept else "removed-test"
        says = "is no longer collected" if kind == "renamed-away" else "was removed"
        yield Weakened(module.path, routine.node.lineno, kind, f"{routine.name} {says}")


def _compared(old: Routine, new: Routine, module: Module, pool: Pool) -> Iterator[Weakened]:
    if new.is_empty and not old.is_empty:
        yield Weakened(new.path, new.node.lineno, "emptied-test", f"{new.name} does nothing now")
        return
    had = Counter(skip.text for skip in old.skips)
    for skip in new.skips:
        if had[skip.text]:
            had[skip.text] -= 1
        else:
            yield Weakened(new.path, skip.line, "new-skip", skip.text)
    yield from _cases(old, new)
    yield from _locals(old, new)
    yield from _assertions(old, new, module, pool)


def _cases(old: Routine, new: Routine) -> Iterator[Weakened]:
    """Rows of a parametrized test that are gone, or hold other values."""
    earlier, later = Counter(map(_row, old.cases)), Counter(map(_row, new.cases))
    gone = list((earlier - later).elements())
    fresh = (later - earlier).total()
    line = new.node.lineno
    for number, row in enumerate(gone):
        kind = "changed-expected" if number < fresh else "removed-case"
        yield Weakened(new.path, line, kind, f"{new.name}: case {row}")


def _row(node: ast.expr) -> str:
    """A row of values, whether or not it is wrapped in `pytest.param`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("param"):
        return ", ".join(map(ast.unparse, node.args))
    return (
        ", ".join(map(ast.unparse, node.elts)) if isinstance(node, ast.Tuple) else ast.unparse(node)
    )


def _locals(old: Routine, new: Routine) -> Iterator[Weakened]:
    """Literals under a name that an unchanged assertion compares with."""
    kept = {a.key for a in old.assertions} & {a.key for a in new.assertions}
    used = {name for a in new.assertions if a.key in kept for name in _names(a.expected)}
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


def _names(node: ast.expr | None) -> Iterator[str]:
    for part in ast.walk(node) if node else ():
        if isinstance(part, ast.Name):
            yield part.id


def _constants(old: Module, new: Module) -> Iterator[Weakened]:
    """Literals at the top of a module that its tests compare with."""
    used = {
        name
        for routine in new.routines.values()
        for assertion in routine.assertions
        for name in _names(assertion.expected)
    }
    for name in sorted(used & old.constants.keys() & new.constants.keys()):
        before, after = old.constants[name], new.constants[name]
        if is_literal(before) and is_literal(after) and ast.dump(before) != ast.dump(after):
            detail = f"{name}: {ast.unparse(before)} became {ast.unparse(after)}"
            yield Weakened(new.path, after.lineno, "changed-expected", detail)


LOWERED = {
    Reach.DEAD: ("early-return", "is never reached"),
    Reach.SWALLOWED: ("swallowed-assertion", "cannot fail the test any more"),
    Reach.CONDITIONAL: ("conditional-assertion", "only runs under a condition now"),
}


def _assertions(old: Routine, new: Routine, module: Module, pool: Pool) -> Iterator[Weakened]:
    gone, fresh = list(old.assertions), list(new.assertions)
    for assertion in sorted(old.assertions, key=lambda a: -a.reach):
        same = [other for other in fresh if other.key == assertion.key]
        if not same:
            continue
        best = max(same, key=lambda other: other.reach)
        gone.remove(assertion)
        fresh.remove(best)
        if best.reach < assertion.reach:
            kind, says = LOWERED[best.reach]
            yield Weakened(new.path, best.line, kind, f"`{best.text}` {says}")
    able = [a for a in fresh if a.reach >= Reach.CONDITIONAL]
    for assertion in gone:
        if assertion.reach < Reach.CONDITIONAL or assertion.op == "tautology":
            continue
        if pool[assertion.key] > 0:
            pool[assertion.key] -= 1
            continue
        yield from _changed(assertion, able, new, module)


def _changed(
    old: Assertion, fresh: list[Assertion], new: Routine, module: Module
) -> Iterator[Weakened]:
    """What became of an assertion that is not there any more; takes its successor off the list."""
    successor, kind = _successor(old, fresh)
    if successor is not None:
        fresh.remove(successor)
        if kind:
            detail = f"`{old.text}` became `{successor.text}`"
            yield Weakened(new.path, successor.line, kind, detail)
        return
    kind = "commented-out" if _is_commented(old, module.text) else "removed-assertion"
    yield Weakened(new.path, new.node.lineno, kind, f"{new.name}: `{old.text}`")


def _successor(old: Assertion, fresh: Sequence[Assertion]) -> tuple[Assertion | None, str | None]:
    """The assertion that stands in for another one, and in which way it is weaker."""
    for other in fresh:
        if other.subject == old.subject:
            return other, weaker(old, other)
    for other in fresh:
        if renamed(other) == renamed(old):
            return other, None
    for other in fresh:
        if skeleton(other) == skeleton(old):
            return other, "changed-expected"
    hollow = next((other for other in fresh if other.op == "tautology"), None)
    return hollow, "tautology"


def _is_commented(assertion: Assertion, text: str) -> bool:
    wanted = _squeezed(assertion.text)
    return any(
        _squeezed(line.lstrip(" \t#")).startswith(wanted)
        for line in text.split("\n")
        if line.lstrip().startswith("#")
    )


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).replace('"', "'")
