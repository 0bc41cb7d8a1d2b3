"""Numbers and other constants: one more, one less, another."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flyball.repair.inside.hot_swap import Edit
from flyball.repair.site import Draft, Site
from flyball.repair.source import own_lines

STRINGS_KEPT = 12
AKIN = ((60, 24, 3600, 86400, 1440), (12, 24), (7, 12, 30, 31, 365, 366, 52), (1000, 1024, 100),
        (255, 256), (2, 8, 10, 16), (26, 25), (97, 65, 48), (90, 180, 360))  # fmt: skip
"""Numbers that are easily confused."""
FORMS = ("02d", "03d", ",", ".2f", ".1f", ".0f", ".3f", ",.2f", "d", "x", "X", "b", "02x", "08b",
         ".1%", ".0%", ">2", "<2")  # fmt: skip
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
PLAIN = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp)


def off_by_one(site: Site) -> Iterator[Draft]:
    """Yield one more or one less, where counting happens."""
    for node in site.exprs:
        weight = _count_weight(site, node)
        if not weight:
            continue
        text = site.text(node)
        match node:
            case ast.Constant(value=int(value)) if not isinstance(node.value, bool):
                yield site.swap(node, str(value + 1), weight=weight)
                yield site.swap(node, str(value - 1), weight=weight)
            # `n + 1` is turned by `change_adjustment`; `n + 1 + 1` is nobody's mistake.
            case ast.BinOp(op=ast.Add() | ast.Sub(), right=ast.Constant(value=int())):
                continue
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                yield site.swap(node, str(1 - value), weight=weight)
                yield site.swap(node, str(-1 - value), weight=weight)
            case _ if isinstance(node, PLAIN):
                yield site.swap(node, f"{text} + 1", weight=weight)
                yield site.swap(node, f"{text} - 1", weight=weight)
            case _:
                continue


def _count_weight(site: Site, node: ast.expr) -> float:
    """Return how often a number at this place is off by one; zero where that makes no sense."""
    around = site.source.parent.get(node)
    match around:
        case ast.Subscript() if around.slice is node:
            return 1.2 if not isinstance(node, ast.Slice | ast.Tuple) else 0.0
        case ast.Slice():
            return 1.2
        case ast.Call(func=ast.Name(id="range")):
            return 2.0
        case ast.Call(func=ast.Name(id=name)) if node in around.args and _is_around(site, name):
            return 1.5
        case ast.Call() if node in around.args:
            return 0.5
        case ast.Compare():
            is_membership = any(isinstance(op, ast.In | ast.NotIn | ast.Is) for op in around.ops)
            return 0.0 if is_membership else 0.7
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            return 0.0 if isinstance(node, ast.BinOp) else 0.4
        case ast.BinOp():
            return 0.0 if isinstance(node, ast.BinOp) else 0.08
        case ast.Return() | ast.Assign():
            return 0.8
        case ast.AugAssign() if around.value is node:
            return 0.7
        case ast.Tuple():
            return 0.3
        case _:
            return 0.0


def _is_around(site: Site, name: str) -> bool:
    """Return whether this name is the enclosing function's: it calls itself."""
    return site.function is not None and site.function.name == name


def change_adjustment(site: Site) -> Iterator[Draft]:
    """Replace `+ 1` by `- 1`, or remove it; round a quotient up."""
    for node in site.exprs:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
            yield site.swap(node, f"-(-{_bracketed(site, node.left)} // {site.text(node.right)})")
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add | ast.Sub):
            continue
        if isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
            left, value = site.text(node.left), node.right.value
            sign = "+" if isinstance(node.op, ast.Sub) else "-"
            yield site.swap(node, f"{left} {sign} {value}", weight=1.5)
            yield site.swap(node, left, weight=1.5)


def _bracketed(site: Site, node: ast.expr) -> str:
    text = site.text(node)
    return text if isinstance(node, ast.Name | ast.Call | ast.Attribute) else f"({text})"


def shift_number(site: Site, node: ast.expr, by: int) -> str:
    """Return a number with such an offset, written as a person would."""
    match node:
        case ast.Constant(value=int(value)):
            return str(value + by)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=ast.Constant(value=int(value))):
            total = (value if isinstance(node.op, ast.Add) else -value) + by
            if not total:
                return site.text(left)
            return f"{site.text(left)} {'+' if total > 0 else '-'} {abs(total)}"
        case _:
            return f"{site.text(node)} {'+' if by > 0 else '-'} {abs(by)}"


def change_constant(site: Site) -> Iterator[Draft]:
    """Replace a constant by a usual one, or by one that the file itself uses."""
    for node in site.exprs:
        if not isinstance(node, ast.Constant):
            continue
        for text, weight in _other_constants(site, node):
            if text != site.text(node):
                yield site.swap(node, text, weight=weight)


def _other_constants(site: Site, node: ast.Constant) -> Iterator[tuple[str, float]]:
    match node.value:
        case bool():
            yield str(not node.value), 2.0
        case None:
            yield from (("0", 0.5), ("[]", 0.5), ("False", 0.3), ('""', 0.3))
        case int() | float():
            yield from _numbers(site, node.value)
            if node.value in (0, 1, -1) and _is_surpassed(site):
                yield from (('float("inf")', 2.0), ('float("-inf")', 2.0), ("None", 0.5))
        case str() if not _is_docstring(site, node):
            yield from _strings(site, node.value)
        case _:
            return


def _numbers(site: Site, value: int | float) -> Iterator[tuple[str, float]]:
    usual = [0, 1, -1, 2]
    if isinstance(value, float):
        usual += [-value] if value else []
        yield from (("0.0", 0.4), ("1.0", 0.4), ('float("inf")', 0.4), ('float("-inf")', 0.4))
    elif value in (0, 1, -1):
        yield from (('float("inf")', 0.25), ('float("-inf")', 0.25), ("None", 0.25))
    if value:
        usual += [int(value) * 10, int(value) // 10, -int(value)]
    for each in dict.fromkeys(usual):
        yield str(each), 0.6
    for each in _constants_used(site, int | float):
        if each not in usual:
            yield repr(each), 0.5
    for group in AKIN:
        if value in group:
            yield from ((str(each), 0.3) for each in group)


def _is_surpassed(site: Site) -> bool:
    """Return whether this sets a first value to compare others with: the best so far."""
    if not isinstance(site.node, ast.Assign) or site.function is None:
        return False
    names = site.source.names_in(site.node)
    compared: set[str] = set()
    for node in site.source.within(site.function):
        is_order = isinstance(node, ast.Compare) and isinstance(node.ops[0], ORDERS)
        is_extreme = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("min", "max")
        if is_order or is_extreme:
            compared |= site.source.names_in(node)
    return bool(names & compared)


def _strings(site: Site, value: str) -> Iterator[tuple[str, float]]:
    for each in (value.lower(), value.upper(), value.capitalize(), value.strip()):
        if each != value:
            yield repr(each), 0.5
    for each in ("", " ", ",", "\n"):
        yield repr(each), 0.25
    for each in sorted(
        _constants_used(site, str), key=lambda text: abs(len(str(text)) - len(value))
    ):
        if len(str(each)) < 40:
            yield repr(each), 0.4


def _constants_used(site: Site, kind: object) -> list[object]:
    """Return constants of one kind in the same file, those of the same function first."""
    scopes = [site.function] if site.function else []
    found: dict[object, None] = {}
    for scope in (*scopes, site.source.tree):
        for node in site.source.within(scope):
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, kind) and not isinstance(value, bool):  # type: ignore[arg-type]
                found[value] = None
    return list(found)[:STRINGS_KEPT]


def change_format(site: Site) -> Iterator[Draft]:
    """Change the format of a field in a formatted string."""
    first, last = own_lines(site.node)
    for node, fields in site.source.fields.items():
        if not first <= node.lineno <= last:
            continue
        for field in fields:
            start, end = field.form or (field.end, field.end)
            old = site.source.data[start:end].decode("utf-8")
            for form in FORMS:
                if form != old:
                    text = form if field.form else f":{form}"
                    yield Draft(f"`{{:{old}}}` → `{{:{form}}}`", (Edit(start, end, text),))
            if field.form:
                yield Draft(f"`{{:{old}}}` → `{{}}`", (Edit(start - 1, end, ""),))


def _is_docstring(site: Site, node: ast.Constant) -> bool:
    return isinstance(site.source.parent.get(node), ast.Expr)
