"""How a set of Python test modules changed, test by test."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from flyball.core.terms.evidence import Weakened
from flyball.core.weakening.finding import Compared
from flyball.core.weakening.pairing import pair_up
from flyball.core.weakening.python.assertion import dotted, is_literal
from flyball.core.weakening.python.gains import (
    ModuleComparing,
    asserted,
    new_assertions,
    new_helpers,
    new_rows,
)
from flyball.core.weakening.python.losses import losses, names_of, other_input
from flyball.core.weakening.python.routine import Module, Routine, kept
from flyball.core.weakening.python.strength import strength_of
from flyball.core.weakening.renames import Renames


def compare_modules(
    before: Mapping[str, Module], after: Mapping[str, Module], renames: Renames
) -> Iterator[Compared]:
    """Every test that is not the same on both sides, beside what became of it."""
    same = {path: kept(before[path], after[path]) for path in before.keys() & after.keys()}
    before, after = _without(before, same), _without(after, same)
    pool, helped = new_assertions(before, after), new_helpers(before, after)
    change = ModuleComparing(renames, pool, helped, new_rows(before, after))
    pairs = _pairs(before, after)
    taken = {(new.path, new.name) for new in pairs.values()}
    for path, module in before.items():
        for name, routine in module.routines.items():
            found = pairs.get((path, name))
            if found is not None:
                yield _compared(routine, found, after[found.path], change)
        if path in after:
            yield from _constants(module, after[path])
    # What vanished comes last: those that stayed have first call on what was gained.
    routines = [r for module in before.values() for r in module.routines.values()]
    missing = [r for r in routines if r.is_collected and (r.path, r.name) not in pairs]
    yield from _missing(missing, after, change)
    for path, module in after.items():
        for routine in module.routines.values():
            if routine.is_collected and (path, routine.name) not in taken:
                text, gain = routine.text, _weight(routine)
                line, calls = routine.node.lineno, _calls(routine)
                yield Compared(path, routine.place, line, None, text, (), gain, calls)


Place = tuple[str, str]


def _without(
    modules: Mapping[str, Module], same: Mapping[str, frozenset[str]]
) -> dict[str, Module]:
    return {
        path: module._replace(
            routines={n: r for n, r in module.routines.items() if n not in same.get(path, ())}
        )
        for path, module in modules.items()
    }


def _pairs(before: Mapping[str, Module], after: Mapping[str, Module]) -> dict[Place, Routine]:
    """Each function with its successor: in its place, else by body, by name, by what it asserts."""
    found: dict[Place, Routine] = {}
    missing: list[Routine] = []
    for path, module in before.items():
        now: Mapping[str, Routine] = after[path].routines if path in after else {}
        for name, routine in module.routines.items():
            other = now.get(name)
            if other is not None and (other.is_collected or not routine.is_collected):
                found[path, name] = other
            elif routine.is_collected:
                missing.append(routine)
    free = [
        other
        for path, module in after.items()
        for name, other in module.routines.items()
        if other.is_collected and (path not in before or name not in before[path].routines)
    ]
    keys: tuple[Callable[[Routine], Hashable], ...] = (lambda r: r.shape, lambda r: r.place[-1])
    pairs = pair_up(missing, free, keys, _features, _is_close)
    return found | {(missing[a].path, missing[a].name): free[b] for a, b in pairs.items()}


def _features(routine: Routine) -> Counter[Hashable]:
    return Counter[Hashable]([*asserted(routine), *routine.steps])


def _is_close(old: Routine, new: Routine) -> bool:
    """At least half of what it asserted, or most of what it did."""
    wanted = asserted(old)
    if wanted and (wanted & asserted(new)).total() * 2 >= wanted.total():
        return True
    did, does = Counter(old.steps), Counter(new.steps)
    return (did & does).total() * 5 >= max(did.total(), does.total()) * 3


def _missing(
    missing: Sequence[Routine],
    after: Mapping[str, Module],
    change: ModuleComparing,
) -> Iterator[Compared]:
    """Tests that are nowhere any more, unless all they asserted is now asserted by new ones."""
    rest = {r.shape for m in after.values() for r in m.routines.values() if not r.is_collected}
    for routine in missing:
        found: tuple[Weakened, ...] = ()
        wanted = asserted(routine)
        if wanted and not wanted - change.pool:
            change.pool.subtract(wanted)
        else:
            kind, says = "removed-test", "was removed"
            if routine.shape in rest:
                kind, says = "renamed-away", "is no longer collected"
            line, detail = routine.node.lineno, f"{routine.name} {says}"
            found = (Weakened(routine.path, line, kind, detail),)
        text = routine.text
        line, loss = routine.node.lineno, -_weight(routine)
        yield Compared(routine.path, routine.place, line, text, None, found, loss, _calls(routine))


def _calls(routine: Routine) -> frozenset[str]:
    return frozenset(_called(routine))


def _called(routine: Routine) -> Iterator[str]:
    """The functions it calls, those that every test calls left aside."""
    for stmt in routine.node.body:
        for node in ast.walk(stmt):
            if isinstance(node, ast.Call):
                name = dotted(node.func).split(".")[-1] or getattr(node.func, "attr", "")
                if not name.startswith(("assert", "raises", "len", "list", "range")):
                    yield name


def _compared(old: Routine, new: Routine, now: Module, change: ModuleComparing) -> Compared:
    moved = (old.path, old.name) != (new.path, new.name)
    found = [*losses(old, new, now, change)]
    return Compared(
        old.path,
        old.place,
        new.node.lineno,
        old.text,
        new.text,
        tuple(found),
        gain=_weight(new) - _weight(old),
        calls=_calls(old) | _calls(new),
        moved_to=(new.path, *new.place) if moved else (),
        other_input=other_input(old, new) if old.is_collected else "",
        is_test=old.is_collected,
    )


def _weight(routine: Routine) -> int:
    """Everything that it asserts, once for each row."""
    rows = len(routine.cases)
    return sum(strength_of(a) for a in routine.assertions) * max(1, rows) + rows


def _constants(old: Module, new: Module) -> Iterator[Compared]:
    """Literals at the top of a module that its tests compare with."""
    used = {
        name
        for routine in new.routines.values()
        for assertion in routine.assertions
        for name in names_of(assertion.expected)
    }
    for name in sorted(used & old.constants.keys() & new.constants.keys()):
        before, after = old.constants[name], new.constants[name]
        if is_literal(before) and is_literal(after) and ast.dump(before) != ast.dump(after):
            was, now = ast.unparse(before), ast.unparse(after)
            detail = f"{name}: {was} became {now}"
            found = Weakened(new.path, after.lineno, "changed-expected", detail)
            yield Compared(new.path, (name,), after.lineno, was, now, (found,))
