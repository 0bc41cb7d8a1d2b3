"""Expressions taken from elsewhere in the function, and other forms of the same expression."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flyball.repair.inside.hot_swap import Edit
from flyball.repair.site import Draft, Site, rename
from flyball.repair.templates.numbers import shift_number

MOST_DONORS = 40
MOST_LENGTH = 60
EMPTY = ("[]", "{}", "set()", "()", '""', "0", "None", "[[]]")


def use_donor(site: Site) -> Iterator[Draft]:
    """Replace an expression by one of the same function, of the same or another form."""
    pool = _pool(site)
    for node in site.exprs:
        if not _is_replaceable(site, node):
            continue
        text = site.text(node)
        for other, kind in pool.items():
            # One variable for another is a template of its own, with better weights.
            if other != text and (not isinstance(node, ast.Name) or kind is not ast.Name):
                yield site.swap(node, other, weight=1.5 if isinstance(node, kind) else 0.7)


def use_parallel(site: Site) -> Iterator[Draft]:
    """Yield the same statement with names that correspond elsewhere in the function."""
    for node in (*site.exprs,):
        text = site.text(node)
        if isinstance(node, ast.Name | ast.Constant):
            continue
        for mapping in site.parallels:
            if (mapped := rename(text, mapping)) != text:
                yield site.swap(node, mapped)
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                last = site.text(node.right)
                if (mapped := rename(last, mapping)) != last and mapped not in text:
                    yield site.swap(node, f"{text} + {mapped}")


def exchange_loops(site: Site) -> Iterator[Draft]:
    """Exchange two loops of a comprehension, or nested loops."""
    parts = [each for node in site.exprs for each in getattr(node, "generators", ())]
    if isinstance(site.node, ast.For):
        parts += [each for each in site.node.body if isinstance(each, ast.For)]
        parts.insert(0, site.node)
    for i, a in enumerate(parts):
        for b in parts[i + 1 :]:
            (a1, _), (_, a2) = site.source.span(a.target), site.source.span(a.iter)
            (b1, _), (_, b2) = site.source.span(b.target), site.source.span(b.iter)
            # Edits must not overlap, and one loop may stand inside the other's text.
            if a2 <= b1 or b2 <= a1:
                first, second = site.source.data[a1:a2], site.source.data[b1:b2]
                edits = (Edit(a1, a2, second.decode()), Edit(b1, b2, first.decode()))
                yield Draft("two loops exchanged", edits)


def _pool(site: Site) -> dict[str, type[ast.expr]]:
    found: dict[str, type[ast.expr]] = {}
    for node in site.source.within(site.function or site.source.tree):
        if isinstance(node, ast.Call | ast.BinOp | ast.Subscript | ast.Attribute | ast.ListComp):
            around = site.source.parent.get(node)
            is_head = isinstance(around, ast.Call) and around.func is node
            text = site.text(node)
            if not is_head and len(text) < MOST_LENGTH and "\n" not in text:
                found[text] = type(node)
    names = [name for name in site.local_names if name in site.near_names and name != "self"]
    return {**dict.fromkeys(names, ast.Name), **dict(list(found.items())[:MOST_DONORS])}


def _is_replaceable(site: Site, node: ast.expr) -> bool:
    around = site.source.parent.get(node)
    if isinstance(around, ast.Call) and around.func is node:
        return False
    if isinstance(node, ast.Slice | ast.Starred | ast.Constant | ast.JoinedStr):
        return isinstance(node, ast.Constant) and isinstance(around, ast.Return | ast.Assign)
    return not isinstance(around, ast.Attribute)


def add_operand(site: Site) -> Iterator[Draft]:
    """Add something to an expression, subtract it, or multiply by it."""
    names = [name for name in site.local_names if name not in ("self", "cls")]
    for node in site.exprs:
        if not _is_replaceable(site, node) or isinstance(node, ast.Compare | ast.BoolOp):
            continue
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            continue
        if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
            continue
        text = site.text(node)
        for name in names:
            weight = 1.0 if name in site.near_names else 0.5
            if name != text:
                yield site.swap(node, f"{text} + {name}", weight=weight)
                yield site.swap(node, f"{text} - {name}", weight=weight)
                yield site.swap(node, f"{text} * {name}", weight=weight * 0.8)
                yield site.swap(node, f"{name} + {text}", weight=weight * 0.4)
                yield site.swap(node, f"{name} - {text}", weight=weight * 0.4)
                yield site.swap(node, f"{text} % {name}", weight=weight * 0.3)
                yield site.swap(node, f"{text} // {name}", weight=weight * 0.3)
        if isinstance(node, ast.BinOp | ast.Name):
            for holder in _indexed_names(site):
                yield site.swap(node, f"{_bracketed(site, node)} % len({holder})", weight=0.4)
        for more, weight in ((" ** 2", 0.7), (" * 2", 0.4), (" // 2", 0.4), (" / 2", 0.3)):
            yield site.swap(node, f"{text}{more}", weight=weight)


def _indexed_names(site: Site) -> list[str]:
    """Return the variables whose elements the function accesses by number."""
    found: dict[str, None] = {}
    for node in site.source.within(site.function or site.node):
        if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
            continue
        if isinstance(node.value, ast.Name | ast.Attribute):
            found[site.text(node.value)] = None
    return list(found)[:3]


def _bracketed(site: Site, node: ast.expr) -> str:
    return f"({site.text(node)})" if isinstance(node, ast.BinOp) else site.text(node)


def change_slice(site: Site) -> Iterator[Draft]:
    """Yield part of a sequence, another part, or the whole."""
    names = [name for name in site.local_names if name in site.near_names and name != "self"][:6]
    for node in site.exprs:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            yield from _other_slices(site, node, node.slice)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            head, key = site.text(node.value), site.text(node.slice)
            for text in (f"{head}[-1]", f"{head}[0]", f"{head}[1]", f"{head}[-{key}]"):
                yield site.swap(node, text, weight=0.7)
            yield site.swap(node, f"{head}[{key}:]", weight=0.3)
            yield site.swap(node, f"{head}[:{key}]", weight=0.3)
            for name in names:
                yield site.swap(node, f"{head}[{name}:]", weight=0.2)
                yield site.swap(node, f"{head}[:{name}]", weight=0.2)
        elif (
            isinstance(node, ast.Name | ast.Attribute | ast.Call)
            and _is_replaceable(site, node)
            and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        ):
            yield from _part_of(site, node, names)


def _part_of(site: Site, node: ast.expr, names: list[str]) -> Iterator[Draft]:
    text = site.text(node)
    weight = 1.0 if isinstance(site.source.parent.get(node), ast.For) else 0.5
    for part in ("[1:]", "[:-1]", "[0]", "[-1]", "[:]", "[::-1]"):
        yield site.swap(node, f"{text}{part}", weight=weight)
    for name in names:
        if name != text:
            yield site.swap(node, f"{text}[{name}:]", weight=weight * 0.7)
            yield site.swap(node, f"{text}[:{name}]", weight=weight * 0.7)
            yield site.swap(node, f"{text}[{name}]", weight=weight * 0.7)


def _other_slices(site: Site, node: ast.Subscript, part: ast.Slice) -> Iterator[Draft]:
    head = site.text(node.value)
    low = site.text(part.lower) if part.lower else ""
    high = site.text(part.upper) if part.upper else ""
    step = f":{site.text(part.step)}" if part.step else ""
    for text, weight in (
        (f"{head}[:{high}{step}]", 0.7 if low else 0.0),
        (f"{head}[{low}:{step}]", 0.7 if high else 0.0),
        (f"{head}[{high}:{step}]", 0.7 if high and not low else 0.0),
        (f"{head}[:{low}{step}]", 0.7 if low and not high else 0.0),
        (f"{head}[{low}:{high}]", 0.7 if step else 0.0),
        (f"{head}[{low}:{high}:-1]", 0.3),
        (f"{head}[1:{high}{step}]", 0.5 if not low else 0.0),
        (f"{head}[{low}:-1{step}]", 0.5 if not high else 0.0),
        (f"{head}[-{low}:{high}{step}]", 0.3 if low else 0.0),
        (f"{head}[{low}:-{high}{step}]", 0.3 if high else 0.0),
    ):
        if weight:
            yield site.swap(node, text, weight=weight)
    if part.lower and part.upper:
        for by in (1, -1):
            both = f"{shift_number(site, part.lower, by)}:{shift_number(site, part.upper, by)}"
            yield site.swap(node, f"{head}[{both}{step}]", weight=0.7)


def change_container(site: Site) -> Iterator[Draft]:
    """Replace an empty value by another, or by one with content."""
    for node in site.exprs:
        text = site.text(node)
        if text not in EMPTY or isinstance(node, ast.Slice):
            continue
        for other in EMPTY:
            if other != text:
                yield site.swap(node, other, weight=0.7)
        for name in site.local_names:
            if name != "self":
                yield site.swap(node, f"[{name}]", weight=0.7)
                yield site.swap(node, name, weight=0.5)


def change_iteration(site: Site) -> Iterator[Draft]:
    """Yield a comprehension with another filter or none, or joined to something."""
    for node in site.exprs:
        for part in getattr(node, "generators", ()):
            yield from _other_iterables(site, part.iter)
        if isinstance(node, ast.ListComp) and isinstance(site.node, ast.Return):
            for name in site.local_names:
                if name != "self":
                    yield site.swap(node, f"{name} + {site.text(node)}", weight=0.7)
    if isinstance(site.node, ast.For):
        yield from _other_iterables(site, site.node.iter)


def _other_iterables(site: Site, node: ast.expr) -> Iterator[Draft]:
    text = site.text(node)
    for name, weight in (
        ("list", 1.3),
        ("reversed", 1),
        ("sorted", 1),
        ("enumerate", 1),
        ("set", 0.7),
    ):
        if not text.startswith(f"{name}("):
            yield site.swap(node, f"{name}({text})", weight=weight)
    for method in ("items", "values", "keys"):
        yield site.swap(node, f"{text}.{method}()", weight=0.5)
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[only]):
            inner = site.text(only)
            yield site.swap(node, f"range(1, {inner})", weight=1.5)
            yield site.swap(node, f"range(1, {inner} + 1)", weight=1.5)
            yield site.swap(node, f"range({inner}, 0, -1)", weight=0.5)
            yield site.swap(node, f"range({inner} - 1, -1, -1)", weight=0.5)
        case ast.Call(func=ast.Name(id="range"), args=[low, high]):
            a, b = site.text(low), site.text(high)
            yield site.swap(node, f"range({b})", weight=1.0)
            yield site.swap(node, f"range({a} + 1, {b} + 1)", weight=0.7)
            yield site.swap(node, f"range({b}, {a}, -1)", weight=0.5)
            yield site.swap(node, f"range({a}, {b}, -1)", weight=0.5)
            yield site.swap(node, f"range({b} - 1, {a} - 1, -1)", weight=0.4)
            yield site.swap(node, f"range({a}, {b}, {a})", weight=0.4)
        case _:
            return
