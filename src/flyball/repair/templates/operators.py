"""Operators: another one, none, or the operands exchanged."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flyball.repair.inside.hot_swap import Edit
from flyball.repair.site import Draft, Site

COMPARISONS: dict[type[ast.cmpop], tuple[tuple[str, float], ...]] = {
    ast.Lt: (("<=", 3), (">", 2), (">=", 1), ("!=", 0.2), ("==", 0.1)),
    ast.LtE: (("<", 3), (">=", 2), (">", 1), ("==", 0.3)),
    ast.Gt: ((">=", 3), ("<", 2), ("<=", 1), ("!=", 0.2), ("==", 0.1)),
    ast.GtE: ((">", 3), ("<=", 2), ("<", 1), ("==", 0.3)),
    ast.Eq: (("!=", 2), ("<=", 1), (">=", 1), ("<", 0.5), (">", 0.5), ("in", 0.4), ("is", 0.2)),
    ast.NotEq: (("==", 2), ("<", 1), (">", 1), ("<=", 0.5), (">=", 0.5), ("not in", 0.4)),
    ast.Is: (("is not", 2), ("==", 1)),
    ast.IsNot: (("is", 2), ("!=", 1)),
    ast.In: (("not in", 2), ("==", 0.5)),
    ast.NotIn: (("in", 2), ("!=", 0.5)),
}
ARITHMETIC: dict[type[ast.operator], tuple[tuple[str, float], ...]] = {
    ast.Add: (("-", 2), ("*", 1), ("|", 0.3)),
    ast.Sub: (("+", 2), ("%", 0.4), ("*", 0.3), ("^", 0.2)),
    ast.Mult: (("+", 1), ("/", 1), ("**", 1), ("//", 0.6), ("-", 0.3)),
    ast.Div: (("//", 2), ("*", 1.5), ("%", 0.5)),
    ast.FloorDiv: (("/", 2), ("%", 1.5), ("*", 0.6), (">>", 0.2)),
    ast.Mod: (("//", 2), ("/", 1), ("-", 0.3), ("*", 0.3)),
    ast.Pow: (("*", 2), ("+", 0.3)),
    ast.BitAnd: (("|", 2), ("^", 1.5), ("-", 0.4)),
    ast.BitOr: (("&", 2), ("^", 1.5), ("+", 0.3), ("-", 0.3)),
    ast.BitXor: (("&", 2), ("|", 1.5)),
    ast.LShift: ((">>", 2),),
    ast.RShift: (("<<", 2),),
}
SIGNED = (ast.Tuple, ast.Call, ast.Return, ast.Assign, ast.Lambda, ast.Compare, ast.keyword,
          ast.Slice, ast.BinOp)  # fmt: skip
BITWISE = ("&", "|", "^", "<<", ">>")
COMMUTATIVE = (ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)


def _operator_edit(site: Site, left: ast.expr, right: ast.expr, old: str, new: str) -> Edit | None:
    """Return an edit of the operator itself, between two operands."""
    start, end = site.source.span(left)[1], site.source.span(right)[0]
    gap = site.source.data[start:end].decode("utf-8")
    at = gap.find(old)
    # A comment between the operands may hold the operator's letters.
    if at < 0 or "#" in gap:
        return None
    first = start + len(gap[:at].encode("utf-8"))
    return Edit(first, first + len(old), new)


WRITTEN: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+",
    ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.And: "and", ast.Or: "or", ast.MatMult: "@",
}  # fmt: skip


def change_comparison(site: Site) -> Iterator[Draft]:
    """Replace a comparison by another one."""
    for node in site.exprs:
        if not isinstance(node, ast.Compare):
            continue
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            old = WRITTEN[type(op)]
            for new, weight in COMPARISONS[type(op)]:
                if edit := _operator_edit(site, left, right, old, new):
                    yield Draft(f"`{old}` → `{new}`", (edit,), weight)
            left = right


def change_arithmetic(site: Site) -> Iterator[Draft]:
    """Replace an arithmetic operator by another one."""
    for node in site.exprs:
        if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            # Joining or formatting text: another operator can only raise.
            if _is_text(node.left) and isinstance(node.op, ast.Add | ast.Mod | ast.Mult):
                continue
            old = WRITTEN[type(node.op)]
            counts = _is_number(node.left) or _is_number(node.right)
            for new, weight in ARITHMETIC[type(node.op)]:
                if counts and new in BITWISE and old not in BITWISE:
                    continue
                if edit := _operator_edit(site, node.left, node.right, old, new):
                    yield Draft(f"`{old}` → `{new}`", (edit,), weight)


def change_augmented(site: Site) -> Iterator[Draft]:
    """Replace an augmented assignment by another one, or by a plain one."""
    node = site.node
    if isinstance(node, ast.AugAssign):
        old = WRITTEN[type(node.op)] + "="
        usual = ARITHMETIC.get(type(node.op), ())
        known = {new for new, _ in usual} | {old[:-1]}
        others = [(new, 0.4) for new in ("+", "-", "*", "//", "%") if new not in known]
        for new, weight in (*usual, *others, ("", 1.0)):
            if edit := _operator_edit(site, node.target, node.value, old, f"{new}="):
                yield Draft(f"`{old}` → `{new}=`", (edit,), weight)
    elif isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
        if not isinstance(target, ast.Tuple | ast.List):
            for new, weight in (("+=", 1.5), ("-=", 0.7), ("*=", 0.5), ("|=", 0.3)):
                if edit := _operator_edit(site, target, node.value, "=", new):
                    yield Draft(f"`=` → `{new}`", (edit,), weight)


def change_boolean(site: Site) -> Iterator[Draft]:
    """Exchange `and` and `or`, or remove one condition."""
    for node in site.exprs:
        if not isinstance(node, ast.BoolOp):
            continue
        old = WRITTEN[type(node.op)]
        new = "or" if old == "and" else "and"
        edits = [
            _operator_edit(site, a, b, old, new)
            for a, b in zip(node.values, node.values[1:], strict=False)
        ]
        if kept := tuple(edit for edit in edits if edit):
            yield Draft(f"`{old}` → `{new}`", kept, 2.0)
            if len(kept) > 1:
                yield from (Draft(f"one `{old}` → `{new}`", (edit,), 0.7) for edit in kept)
        for value in node.values:
            rest = f" {old} ".join(site.text(v) for v in node.values if v is not value)
            yield site.swap(node, rest, f"without `{site.text(value)}`", 0.8)


def negate(site: Site) -> Iterator[Draft]:
    """Negate a condition."""
    for node in site.exprs:
        if isinstance(node, ast.UnaryOp):
            if isinstance(node.op, ast.Not | ast.USub | ast.Invert):
                yield site.swap(node, site.text(node.operand), weight=1.5)
        elif _is_condition(site, node) and not isinstance(node, ast.Compare):
            text = site.text(node)
            yield site.swap(node, f"not {text}" if _is_plain(node) else f"not ({text})")


def change_sign(site: Site) -> Iterator[Draft]:
    """Negate a number that is passed on, returned or compared."""
    for node in site.exprs:
        around = site.source.parent.get(node)
        is_read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        is_head = isinstance(around, ast.Call) and around.func is node
        if _is_plain(node) and is_read and not is_head and isinstance(around, SIGNED):
            if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
                continue
            weight = 0.4 if isinstance(around, ast.BinOp) else 1.0
            yield site.swap(node, f"-{site.text(node)}", weight=weight)


def _is_condition(site: Site, node: ast.expr) -> bool:
    around = site.source.parent.get(node)
    match around:
        case ast.If() | ast.While() | ast.IfExp() | ast.Assert():
            return around.test is node
        case ast.BoolOp() | ast.comprehension():
            return node in getattr(around, "values", ()) or node in getattr(around, "ifs", ())
        case ast.Return():
            return isinstance(node, ast.BoolOp | ast.Call | ast.Name)
        case _:
            return False


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant)


def exchange_operands(site: Site) -> Iterator[Draft]:
    """Exchange the operands of an operator that is not commutative."""
    for node in site.exprs:
        if isinstance(node, ast.BinOp) and not isinstance(node.op, COMMUTATIVE):
            weight = 0.3 if isinstance(node.op, ast.Mod) else 1.0
            if _is_number(node.right) and isinstance(node.op, ast.Add):
                continue
            yield exchange(site, node.left, node.right, weight)
        elif isinstance(node, ast.Compare) and len(node.ops) == 1:
            if isinstance(node.ops[0], ast.In | ast.NotIn):
                yield exchange(site, node.left, node.comparators[0], 0.5)
        elif isinstance(node, ast.IfExp):
            yield exchange(site, node.body, node.orelse, 1.5)


def exchange(site: Site, a: ast.expr, b: ast.expr, weight: float = 1.0) -> Draft:
    """Exchange two expressions."""
    edits = (site.source.replace(a, site.text(b)), site.source.replace(b, site.text(a)))
    return Draft(f"`{site.text(a)}` and `{site.text(b)}` exchanged", edits, weight)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def drop_operand(site: Site) -> Iterator[Draft]:
    """Keep only one side of an operation."""
    for node in site.exprs:
        if isinstance(node, ast.BinOp):
            for side in (node.left, node.right):
                weight = 0.3 if isinstance(side, ast.Constant) else 1.0
                yield site.swap(node, site.text(side), weight=weight)
