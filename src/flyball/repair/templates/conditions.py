"""Conditions: stronger, weaker, replaced; and statements that guard the code after them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import cast

from flyball.repair.inside.hot_swap import Edit
from flyball.repair.site import WORD, Draft, Site, rename
from flyball.repair.spectrum import NONE

NAMES_USED = 8
CONSTANTS_USED = 8
LONGEST = 50
SINGLE = (ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Break, ast.Continue)
RAISED = frozenset({"IndexError", "KeyError", "ZeroDivisionError", "AttributeError", "TypeError"})
"""After these, a condition that comes before the one that raises is likely."""


def _conditions(site: Site) -> Iterator[ast.expr]:
    """Yield the conditions in a statement's own text."""
    if isinstance(site.node, ast.If | ast.While | ast.Assert):
        yield site.node.test
    for node in site.exprs:
        if isinstance(node, ast.IfExp):
            yield node.test
        for each in getattr(node, "generators", ()):
            yield from each.ifs
    if isinstance(site.node, ast.Return) and isinstance(site.node.value, ast.Compare | ast.BoolOp):
        yield site.node.value


def _names(site: Site) -> list[str]:
    near = [name for name in site.local_names if name in site.near_names]
    far = [name for name in site.local_names if name not in site.near_names]
    return [name for name in (*near, *far) if name not in ("self", "cls")][:NAMES_USED]


def atoms(site: Site) -> Iterator[tuple[str, float]]:
    """Yield simple conditions over the names in scope, and those used elsewhere in the function."""
    for node in site.source.within(site.function or site.source.tree):
        if isinstance(node, ast.Compare):
            yield site.text(node), 1.5
            yield from _similar_comparisons(site, node)
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                yield site.text(value), 1.0
    yield from _comparisons_with_constants(site)
    names = _names(site)
    absent = 6.0 if NONE in site.clues else 1.0
    for name in names:
        yield from ((name, 1.0), (f"not {name}", 1.2))
        yield from ((f"{name} is None", absent), (f"{name} is not None", absent))
        yield from ((f"{name} == 0", 0.4), (f"{name} > 0", 0.4), (f"{name} < 0", 0.4))
    for attribute in _attributes(site):
        yield from ((attribute, 0.8), (f"not {attribute}", 0.8))
        yield (f"{attribute} is None", 0.8 * absent)
        yield (f"{attribute} is not None", 0.8 * absent)
    for name in names[:3]:
        for flag in own_flags(site):
            yield from ((f"{name}.{flag}", 0.4), (f"not {name}.{flag}", 0.4))
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            yield from ((f"{a} == {b}", 0.5), (f"{a} != {b}", 0.5))
            yield from ((f"{a} < {b}", 0.4), (f"{a} > {b}", 0.4))
            yield from ((f"{a} in {b}", 0.4), (f"{a} not in {b}", 0.4))
            yield from ((f"{b} in {a}", 0.2), (f"{b} not in {a}", 0.3))


def _comparisons_with_constants(site: Site) -> Iterator[tuple[str, float]]:
    """Yield comparisons of the statement's operands with constants of the file."""
    operands: dict[str, None] = {}
    for node in site.exprs:
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            found = [each for each in sides if not isinstance(each, ast.Constant)]
            operands.update(dict.fromkeys(site.text(each) for each in found))
    for operand in list(operands)[:3]:
        for constant in _constants(site):
            if len(operand) + len(constant) < LONGEST:
                yield f"{operand} != {constant}", 0.4
                yield f"{operand} == {constant}", 0.3


def _constants(site: Site) -> list[str]:
    """Return constants of the file: those of the function first, then texts, then numbers."""
    near: dict[str, None] = {}
    texts: dict[str, None] = {}
    numbers: dict[str, None] = {}
    for node in site.source.within(site.source.tree):
        value = node.value if isinstance(node, ast.Constant) else None
        if value is None or isinstance(site.source.parent.get(node), ast.Expr | ast.JoinedStr):
            continue
        is_near = site.function is not None and site.source.function_of(node) is site.function
        kind = near if is_near else texts if isinstance(value, str) else numbers
        kind[site.text(cast("ast.Constant", node))] = None
    return list({**near, **texts, **numbers})[:CONSTANTS_USED]


def _similar_comparisons(site: Site, node: ast.Compare) -> Iterator[tuple[str, float]]:
    """Yield a comparison of the function with one name replaced by a nearby one."""
    used = site.source.names_in(node)
    for old in sorted(used & set(site.local_names)):
        for new in sorted((site.near_names & set(site.local_names)) - used):
            yield rename(site.text(node), {old: new}), 0.6


def _attributes(site: Site) -> list[str]:
    found: dict[str, None] = {}
    for node in site.source.within(site.function or site.node):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            around = site.source.parent.get(node)
            if not (isinstance(around, ast.Call) and around.func is node):
                found[site.text(node)] = None
    return list(found)[:NAMES_USED]


def own_flags(site: Site) -> list[str]:
    """Return attributes that the enclosing class sets to a truth value."""
    owner = site.source.class_of(site.node)
    found: dict[str, None] = {}
    for node in site.source.within(owner) if owner else ():
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=ast.Constant(value=bool())):
                found[name] = None
            case _:
                continue
    return list(found)[:4]


def join_condition(site: Site) -> Iterator[Draft]:
    """Make a condition stronger with `and`, or weaker with `or`."""
    # `a and b` stops at a: after an error in evaluating the condition, a part in front of it is
    # likely.
    ahead = 1.0 if site.clues & RAISED else 0.3
    found = dict(reversed([*atoms(site)]))
    for node in _conditions(site):
        if isinstance(node, ast.Constant):
            continue
        text = site.text(node)
        is_or = isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or)
        # `a or b and c` would mean something else.
        tight = f"({text})" if is_or else text
        opened = _looked_into(site, node)
        for atom, weight in found.items():
            if atom != text:
                yield site.swap(node, f"{tight} and {atom}", weight=weight)
                yield site.swap(node, f"{text} or {atom}", weight=weight)
                first = weight * (0.8 if atom.endswith(("None", *site.local_names)) else ahead)
                first *= 4 if NONE in site.clues and atom.partition(" ")[0] in opened else 1
                yield site.swap(node, f"{atom} and {tight}", weight=first)
                yield site.swap(node, f"{atom} or {text}", weight=first)
        yield from _join_part(site, node, found)


def _join_part(site: Site, node: ast.expr, found: dict[str, float]) -> Iterator[Draft]:
    """Make one part of a condition weaker or stronger, and join the whole the other way."""
    if not isinstance(node, ast.BoolOp):
        return
    word = "or" if isinstance(node.op, ast.And) else "and"
    for value in node.values:
        names = site.source.names_in(value)
        for atom, weight in found.items():
            if names & set(WORD.findall(atom)) and atom != site.text(value):
                yield site.swap(value, f"{atom} {word} {site.text(value)}", weight=weight * 0.4)


def _looked_into(site: Site, condition: ast.expr) -> set[str]:
    """Return the object that a condition accesses: it must not be None there."""
    return {
        site.text(node.value)
        for node in ast.walk(condition)
        if isinstance(node, ast.Attribute | ast.Subscript)
    }


def replace_condition(site: Site) -> Iterator[Draft]:
    """Replace a condition by another one, or remove it."""
    found = dict(reversed([*atoms(site)]))
    wanted = list(_conditions(site))
    if isinstance(site.node, ast.Return) and isinstance(site.node.value, ast.Constant | ast.Name):
        wanted.append(site.node.value)
    match site.node:
        case ast.Assign(targets=[target, *_], value=ast.Constant(value=bool()) as value):
            wanted.append(value)
            found[f"not {site.text(target)}"] = 4.0
        case _:
            pass
    for node in wanted:
        for atom, weight in found.items():
            if atom != site.text(node):
                yield site.swap(node, atom, weight=weight)
        yield site.swap(node, "True", weight=0.5)
        yield site.swap(node, "False", weight=0.5)


def _guard_conditions(site: Site) -> Iterator[tuple[str, float]]:
    # At the head of a function only its parameters are known.
    is_first = site.function is not None and site.function.body[0] is site.node
    names = [*site.parameters] if is_first else _names(site)[:5]
    for name in names:
        if name in ("self", "cls"):
            continue
        yield from ((f"not {name}", 2.0), (f"{name} is None", 1.5))
        yield from ((f"{name} == 0", 0.8), (f"{name} < 0", 0.8), (f"{name} <= 0", 0.8))
        yield from ((f"{name} == 1", 0.4), (f"len({name}) < 2", 0.4))
    for node in site.source.within(site.function) if site.function else ():
        if isinstance(node, ast.Compare) and "\n" not in site.text(node):
            yield site.text(node), 0.4
    for i, a in enumerate(names[:4]):
        for b in names[i + 1 : 4]:
            yield from ((f"{a} == {b}", 0.4), (f"{a} < {b}", 0.3), (f"{a} > {b}", 0.3))
            yield from ((f"{a} in {b}", 0.5), (f"{a} not in {b}", 0.5))


def _ways_to_leave(site: Site) -> Iterator[tuple[str, float]]:
    """Return ways to leave a function early, starting with those it uses itself."""
    for node in site.source.within(site.function or site.source.tree):
        if isinstance(node, ast.Return | ast.Raise):
            yield site.text(node), 1.5
    for text in ("None", "0", "[]", "False", "True", '""', "{}", "1", "-1"):
        yield f"return {text}", 0.6
    yield from ((f"return {name}", 0.4) for name in site.parameters if name != "self")
    yield from ((f"raise {name}", 0.2) for name in ("ValueError", "TypeError", "KeyError"))


def add_guard(site: Site) -> Iterator[Draft]:
    """Add a condition before the statement under which the function returns early."""
    if site.function is None:
        return
    unit = "    "
    leavings = dict(reversed([*_ways_to_leave(site)]))
    if _is_in_loop(site):
        leavings |= {"continue": 2.0, "break": 1.5}
    for condition, weight in dict(reversed([*_guard_conditions(site)])).items():
        for leaving, often in leavings.items():
            if edits := site.insert_before(f"if {condition}:", f"{unit}{leaving}"):
                label = f"`if {condition}: {leaving}` before it"
                yield Draft(label, edits, weight * often)


def make_conditional(site: Site) -> Iterator[Draft]:
    """Make a statement conditional, with a condition used in the function."""
    node, indent = site.node, site.source.indent(site.node)
    if site.function is None or indent is None or not isinstance(node, SINGLE):
        return
    start, end = site.source.span(node)
    for condition, weight in _known_conditions(site).items():
        text = f"if {condition}:{site.source.newline}{indent}    {site.text(node)}"
        yield Draft(f"only `if {condition}`", (Edit(start, end, text),), weight)


def _known_conditions(site: Site) -> dict[str, float]:
    """Return conditions used in the function or the file, and whether names in scope are set."""
    near = {each.id for each in site.exprs if isinstance(each, ast.Name)} | site.near_names
    known = {*site.local_names, "len"}
    found: dict[str, float] = {}
    for scope, weight in ((site.source.tree, 0.3), (site.function, 1.0)):
        for node in site.source.within(scope) if scope else ():
            if not isinstance(node, ast.Compare | ast.Call):
                continue
            names = site.source.names_in(node)
            if names & near and names <= known:
                text = site.text(node)
                if len(text) < LONGEST and "\n" not in text:
                    found[text], found[f"not {text}"] = weight, weight * 0.4
    own = {each.id for each in site.exprs if isinstance(each, ast.Name)}
    for name in _names(site):
        weight = 0.6 if name in own else 0.3
        found.setdefault(name, weight)
        found.setdefault(f"not {name}", weight / 2)
        found.setdefault(f"{name} is not None", weight)
    return found


def _is_in_loop(site: Site) -> bool:
    around = site.source.parent.get(site.node)
    while around is not None and around is not site.function:
        if isinstance(around, ast.For | ast.While | ast.AsyncFor):
            return True
        around = site.source.parent.get(around)
    return False
