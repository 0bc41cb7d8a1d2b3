"""Numbers and other constants: one more, one less, another."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flyball.tools.repair.candidate import Draft
from flyball.tools.repair.site import Site

STRINGS_KEPT = 12
PLAIN = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp)


def off_by_one(site: Site) -> Iterator[Draft]:
    """One more or one less, where counting happens."""
    for node in site.exprs:
        weight = _counting(site, node)
        if not weight:
            continue
        text = site.text(node)
        match node:
            case ast.Constant(value=int(value)) if not isinstance(node.value, bool):
                yield site.swap(node, str(value + 1), weight=weight)
                yield site.swap(node, str(value - 1), weight=weight)
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


def _counting(site: Site, node: ast.expr) -> float:
    """How often a number at this place is off by one; zero where it makes no sense."""
    around = site.source.parent.get(node)
    match around:
        case ast.Subscript() if around.slice is node:
            return 1.2 if not isinstance(node, ast.Slice | ast.Tuple) else 0.0
        case ast.Slice():
            return 1.2
        case ast.Call(func=ast.Name(id="range")):
            return 2.0
        case ast.Call() if node in around.args:
            return 0.5
        case ast.Compare():
            is_membership = any(isinstance(op, ast.In | ast.NotIn | ast.Is) for op in around.ops)
            return 0.0 if is_membership else 0.7
        case ast.BinOp():
            return 0.0 if isinstance(node, ast.BinOp) else 0.4
        case ast.Return() | ast.Assign():
            return 0.8
        case ast.AugAssign() if around.value is node:
            return 0.7
        case ast.Tuple():
            return 0.3
        case _:
            return 0.0


def adjustment(site: Site) -> Iterator[Draft]:
    """A `+ 1` that should be a `- 1`, or not be there, or be on the other side."""
    for node in site.exprs:
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add | ast.Sub):
            continue
        if isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
            left, value = site.text(node.left), node.right.value
            sign = "+" if isinstance(node.op, ast.Sub) else "-"
            yield site.swap(node, f"{left} {sign} {value}", weight=1.5)
            yield site.swap(node, left, weight=1.5)


def constant(site: Site) -> Iterator[Draft]:
    """Another constant: a usual one, or one that the file itself uses."""
    for node in site.exprs:
        if not isinstance(node, ast.Constant):
            continue
        for text, weight in _instead(site, node):
            if text != site.text(node):
                yield site.swap(node, text, weight=weight)


def _instead(site: Site, node: ast.Constant) -> Iterator[tuple[str, float]]:
    match node.value:
        case bool():
            yield str(not node.value), 2.0
        case None:
            yield from (("0", 0.5), ("[]", 0.5), ("False", 0.3), ('""', 0.3))
        case int() | float():
            yield from _numbers(site, node.value)
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
    for each in _used(site, int | float):
        if each not in usual:
            yield repr(each), 0.5


def _strings(site: Site, value: str) -> Iterator[tuple[str, float]]:
    for each in (value.lower(), value.upper(), value.capitalize(), value.strip()):
        if each != value:
            yield repr(each), 0.5
    for each in ("", " ", ",", "\n"):
        yield repr(each), 0.25
    for each in sorted(_used(site, str), key=lambda text: abs(len(str(text)) - len(value))):
        if len(str(each)) < 40:
            yield repr(each), 0.4


def _used(site: Site, kind: object) -> list[object]:
    """Constants of one kind in the same file, those of the same function first."""
    scopes = [site.function] if site.function else []
    found: dict[object, None] = {}
    for scope in (*scopes, site.source.tree):
        for node in ast.walk(scope):
            value = node.value if isinstance(node, ast.Constant) else None
            if isinstance(value, kind) and not isinstance(value, bool):  # type: ignore[arg-type]
                found[value] = None
    return list(found)[:STRINGS_KEPT]


def _is_docstring(site: Site, node: ast.Constant) -> bool:
    return isinstance(site.source.parent.get(node), ast.Expr)
