"""The same parts in another form: regrouped, called, copied, looped, yielded."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flyball.repair.inside.hot_swap import Edit
from flyball.repair.site import Draft, Site
from flyball.repair.templates.operators import WRITTEN, exchange

METHODS = ("lower", "strip", "upper", "copy", "split", "items", "values", "rstrip", "sort")
KEYS = ("len", "abs", "str.lower", "lambda each: each[1]", "lambda each: each[0]")
SORTERS = frozenset({"sorted", "max", "min", "sort"})
READ = (ast.Name, ast.Attribute, ast.Subscript, ast.Call)


def regroup(site: Site) -> Iterator[Draft]:
    """Move the brackets."""
    for node in site.exprs:
        match node:
            case ast.BinOp(left=a, op=outer, right=ast.BinOp(left=b, op=inner, right=c)):
                text = f"({site.text(a)} {_sign(outer)} {site.text(b)}) {_sign(inner)}"
                yield site.swap(node, f"{text} {_bracketed(site, c)}")
                yield from _with_first(site, a, b)
            case ast.BinOp(left=ast.BinOp(left=a, op=inner, right=b), op=outer, right=c):
                text = f"({site.text(b)} {_sign(outer)} {site.text(c)})"
                yield site.swap(node, f"{_bracketed(site, a)} {_sign(inner)} {text}")
            case ast.BoolOp(op=ast.Or(), values=[ast.BoolOp(values=[a, b]), c]):
                text = f"({site.text(b)} or {site.text(c)})"
                yield site.swap(node, f"{site.text(a)} and {text}")
            case ast.BoolOp(values=[ast.UnaryOp(op=ast.Not(), operand=a), b]):
                joined = f"{site.text(a)} {_sign(node.op)} {site.text(b)}"
                yield site.swap(node, f"not ({joined})")
            case _:
                continue


def _with_first(site: Site, a: ast.expr, b: ast.expr) -> Iterator[Draft]:
    """Put brackets around an operand and the first part of the operation after it."""
    while isinstance(b, ast.BinOp):
        b = b.left
        start, end = site.source.span(a)[0], site.source.span(b)[1]
        label = f"`({site.source.data[start:end].decode('utf-8')})` in brackets"
        yield Draft(label, (Edit(start, start, "("), Edit(end, end, ")")))


def _sign(op: ast.operator | ast.boolop) -> str:
    return WRITTEN[type(op)]


def _bracketed(site: Site, node: ast.expr) -> str:
    text = site.text(node)
    return f"({text})" if isinstance(node, ast.BinOp | ast.BoolOp | ast.Compare) else text


def change_call(site: Site) -> Iterator[Draft]:
    """Call a method that was not called, remove a needless call, or add one more."""
    for node in site.exprs:
        around = site.source.parent.get(node)
        is_called = isinstance(around, ast.Call) and around.func is node
        if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load) or is_called:
            continue
        if isinstance(node, ast.Attribute):
            yield site.swap(node, f"{site.text(node)}()", weight=2.0)
        if isinstance(node, ast.Call) and not node.args and not node.keywords:
            yield site.swap(node, site.text(node.func), weight=0.7)
        if isinstance(node, READ) and not isinstance(around, ast.Attribute):
            for method in METHODS:
                yield site.swap(node, f"{site.text(node)}.{method}()", weight=0.5)
        if isinstance(node, ast.Call) and isinstance(site.function, ast.AsyncFunctionDef):
            yield site.swap(node, f"await {site.text(node)}")


def change_sort_key(site: Site) -> Iterator[Draft]:
    """Change the sort order."""
    for node in site.exprs:
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        named = {each.arg: each for each in node.keywords}
        if name not in SORTERS or (not node.args and name != "sort"):
            continue
        for key in KEYS:
            if "key" in named:
                yield site.swap(named["key"].value, key)
            else:
                start = site.source.span(node)[1] - 1
                lead = ", " if node.args or node.keywords else ""
                yield Draft(f"ordered by `{key}`", (Edit(start, start, f"{lead}key={key}"),))


def create_each_time(site: Site) -> Iterator[Draft]:
    """Create rows and closures each time instead of sharing them; replace None by a value."""
    for node in site.exprs:
        match node:
            case ast.BinOp(left=ast.List(elts=[only]), op=ast.Mult(), right=times):
                text = f"[{site.text(only)} for _ in range({site.text(times)})]"
                yield site.swap(node, text, weight=2.0 if isinstance(only, ast.BinOp) else 0.7)
            case ast.Lambda(args=ast.arguments(args=[])):
                # A lambda made in a loop sees the loop's last value; a default keeps the present
                # one.
                free = {each.id for each in ast.walk(node.body) if isinstance(each, ast.Name)}
                for name in sorted(free & set(site.local_names)):
                    yield site.swap(node, f"lambda {name}={name}: {site.text(node.body)}")
            case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right) if isinstance(
                right, READ
            ):
                yield site.swap(right, f"{site.text(right)} or 1", weight=0.5)
            case ast.BoolOp(op=ast.Or(), values=[ast.Name() | ast.Attribute() as a, b]):
                text = site.text(a)
                yield site.swap(node, f"{text} if {text} is not None else {site.text(b)}")
            case _:
                continue


def change_keyword(site: Site) -> Iterator[Draft]:
    """Exchange `if` and `while`, `if` and `elif`, or the conditions of two branches."""
    node, source = site.node, site.source
    start = source.span(node)[0]
    if isinstance(node, ast.While):
        yield Draft("`while` → `if`", (Edit(start, start + 5, "if"),), 0.5)
    if not isinstance(node, ast.If):
        return
    word = source.data[start : start + 4]
    if word == b"elif":
        yield Draft("`elif` → `if`", (Edit(start, start + 4, "if"),), 1.5)
    elif source.indent(node) is not None:
        if not node.orelse:
            yield Draft("`if` → `while`", (Edit(start, start + 2, "while"),), 1.5)
        block = source.block_of(node)
        i = block.index(node)
        if i and isinstance(block[i - 1], ast.If):
            yield Draft("`if` → `elif`", (Edit(start, start + 2, "elif"),), 1.5)
    if len(node.orelse) == 1 and isinstance(other := node.orelse[0], ast.If):
        yield exchange(site, node.test, other.test, 1.5)


def change_result(site: Site) -> Iterator[Draft]:
    """Yield values one by one or as a whole; keep a result, or discard it."""
    node = site.node
    start, end = site.source.span(node)
    match node:
        case ast.Expr(value=ast.Yield(value=ast.expr())):
            yield Draft("`yield` → `yield from`", (Edit(start, start + 5, "yield from"),), 1.5)
            yield Draft("`yield` → `return`", (Edit(start, start + 5, "return"),), 0.7)
        case ast.Expr(value=ast.YieldFrom()):
            yield Draft("`yield from` → `yield`", (Edit(start, start + 10, "yield"),), 1.5)
        case ast.Return(value=ast.expr()):
            yield Draft("`return` → `yield`", (Edit(start, start + 6, "yield"),), 0.7)
        case ast.Assign(value=ast.Call() as value):
            yield Draft("its result not kept", (Edit(start, end, site.text(value)),), 0.7)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))) if isinstance(
            owner, ast.Name | ast.Attribute
        ):
            yield Draft("its result kept", (Edit(start, start, f"{site.text(owner)} = "),), 1.5)
            for name in site.local_names:
                if name not in (site.text(owner), *site.parameters):
                    label = f"its result kept in `{name}`"
                    yield Draft(label, (Edit(start, start, f"{name} = "),), 0.5)
        case _:
            return
