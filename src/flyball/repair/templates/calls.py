"""Calls: their arguments, what they are wrapped in, and the object that they are applied to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from flyball.repair.inside.hot_swap import Edit
from flyball.repair.site import Draft, Site
from flyball.repair.templates.operators import exchange

WRAPPERS = ("abs", "len", "int", "str", "list", "sorted", "set", "sum", "max", "min", "reversed",
            "tuple", "float", "bool", "round")  # fmt: skip
FLAGS = {"sorted": ("reverse=True",), "sort": ("reverse=True",), "enumerate": ("1",),
         "split": ("1",), "max": ("default=0",), "min": ("default=0",), "sum": ("0",),
         "zip": ("strict=True",), "popitem": ("last=False",), "pop": ("0", "None"),
         "round": ("2",), "splitlines": ("True",), "range": ("1", "-1"), "rsplit": ("1",),
         "next": ("None",), "getattr": ("None",),
         "get": ("0", "[]", "None", '""')}  # fmt: skip


def argument_order(site: Site) -> Iterator[Draft]:
    """Yield two arguments, or two parts of a tuple, exchanged."""
    for node in site.exprs:
        weight = 0.6
        match node:
            case ast.Call(args=args) if len(args) > 1:
                parts, weight = args, 1.0
            case ast.Tuple(elts=elts) | ast.List(elts=elts) if 1 < len(elts) < 6:
                parts, weight = elts, 0.6 if isinstance(node.ctx, ast.Load) else 0.3
            case ast.Slice(lower=ast.expr() as lower, upper=ast.expr() as upper):
                parts = [lower, upper]
            case ast.Dict(values=values) if 1 < len(values) < 6:
                parts = values
            case ast.DictComp(key=key, value=value):
                parts = [key, value]
            case _:
                continue
        for i, a in enumerate(parts):
            for b in parts[i + 1 :]:
                if site.text(a) != site.text(b):
                    yield exchange(site, a, b, weight)


def argument_count(site: Site) -> Iterator[Draft]:
    """Yield the call with one argument more or less."""
    for node in site.exprs:
        if not isinstance(node, ast.Call):
            continue
        for part in (*node.args, *node.keywords):
            yield _without(site, node, part)
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        # For functions that everybody knows, only arguments they really take; any name at hand for
        # others.
        for extra in FLAGS.get(name, ()):
            yield _with(site, node, extra, 1.5)
        for extra in site.local_names:
            if name not in FLAGS and extra != "self":
                yield _with(site, node, extra, 0.5 if extra in site.near_names else 0.25)


def _text(site: Site, part: ast.expr | ast.keyword) -> str:
    return site.source.text(part)


def _arguments(site: Site, node: ast.Call, parts: list[str], label: str, weight: float) -> Draft:
    start = site.source.span(node.func)[1]
    end = site.source.span(node)[1]
    return Draft(label, (Edit(start, end, f"({', '.join(parts)})"),), weight)


def _without(site: Site, node: ast.Call, part: ast.expr | ast.keyword) -> Draft:
    kept = [_text(site, each) for each in (*node.args, *node.keywords) if each is not part]
    return _arguments(site, node, kept, f"without the argument `{_text(site, part)}`", 0.7)


def _with(site: Site, node: ast.Call, extra: str, weight: float) -> Draft:
    positional = [_text(site, each) for each in node.args]
    named = [_text(site, each) for each in node.keywords]
    parts = [*positional, *named, extra] if "=" in extra else [*positional, extra, *named]
    return _arguments(site, node, parts, f"with the argument `{extra}`", weight)


def unwrap_call(site: Site) -> Iterator[Draft]:
    """Replace a call, an index or a one-element list by its content."""
    for node in site.exprs:
        match node:
            case ast.Call(func=func, args=[first, *_]):
                if not isinstance(first, ast.Starred):
                    yield site.swap(node, site.text(first), weight=1.0)
                if isinstance(func, ast.Attribute):
                    yield site.swap(node, site.text(func.value), weight=0.8)
                for other in node.args[1:]:
                    if not isinstance(other, ast.Starred):
                        yield site.swap(node, site.text(other), weight=0.5)
            case ast.Call(func=ast.Attribute(value=value), args=[]):
                yield site.swap(node, site.text(value), weight=1.0)
            case ast.Subscript(value=value, ctx=ast.Load()):
                yield site.swap(node, site.text(value), weight=0.7)
            case ast.List(elts=[only]) | ast.Tuple(elts=[only]):
                yield site.swap(node, site.text(only), weight=0.7)
            case ast.Attribute(value=value, ctx=ast.Load()):
                yield site.swap(node, site.text(value), weight=0.3)
            case ast.IfExp():
                yield site.swap(node, site.text(node.body), weight=0.5)
                yield site.swap(node, site.text(node.orelse), weight=0.5)
            case _:
                continue


def wrap_in_call(site: Site) -> Iterator[Draft]:
    """Wrap an expression in a call or a list."""
    own = [each.name for each in site.source.tree.body if isinstance(each, ast.FunctionDef)]
    used = {
        each.func.id
        for each in site.source.within(site.function or site.source.tree)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)
    }
    for node in site.exprs:
        if not _is_wrappable(site, node):
            continue
        text = site.text(node)
        for name in _own_methods(site):
            yield site.swap(node, f"{name}({text})", weight=0.7)
        for name in dict.fromkeys((*own, *WRAPPERS)):
            weight = 1.0 if name in used else 0.3 if name in own else 0.5
            yield site.swap(node, f"{name}({text})", weight=weight)
        yield site.swap(node, f"[{text}]", weight=0.7)
        yield site.swap(node, f"({text},)", weight=0.2)


def _own_methods(site: Site) -> list[str]:
    """Return methods of the enclosing class that take one argument."""
    owner = site.source.class_of(site.node)
    if owner is None or "self" not in site.parameters:
        return []
    methods = [each for each in owner.body if isinstance(each, ast.FunctionDef)]
    return [
        f"self.{each.name}"
        for each in methods
        if len(each.args.args) == 2 and not each.name.startswith("__")
    ]


def _is_wrappable(site: Site, node: ast.expr) -> bool:
    around = site.source.parent.get(node)
    if not isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript | ast.BinOp):
        return False
    if not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return False
    if isinstance(around, ast.Call) and around.func is node:
        return False
    return not isinstance(around, ast.Attribute)


def extreme(site: Site) -> Iterator[Draft]:
    """Yield the larger or smaller of the old and the new value, and the sum of both."""
    node = site.node
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, value = site.text(node.targets[0]), site.text(node.value)
        for name in ("max", "min"):
            yield site.swap(node.value, f"{name}({target}, {value})", weight=1.5)
            yield site.swap(node.value, f"{name}(0, {value})", weight=0.8)
        yield site.swap(node.value, f"{target} + {value}", weight=0.8)
        if isinstance(place := node.targets[0], ast.Subscript):
            so_far = f"{site.text(place.value)}.get({site.text(place.slice)}, 0)"
            yield site.swap(node.value, f"{so_far} + {value}", weight=1.0)
        yield site.swap(node.value, f"{value} + {target}", weight=0.5)
    elif isinstance(node, ast.Return) and node.value is not None:
        value = site.text(node.value)
        for name in ("max", "min"):
            yield site.swap(node.value, f"{name}(0, {value})", weight=0.4)


def lookup(site: Site) -> Iterator[Draft]:
    """Exchange `d[k]` and `d.get(k)`."""
    for node in site.exprs:
        match node:
            case ast.Subscript(value=value, slice=key, ctx=ast.Load()) if not isinstance(
                key, ast.Slice
            ):
                head, inner = site.text(value), site.text(key)
                for more in ("", ", 0", ", []", ", None", ', ""', f", {inner}"):
                    yield site.swap(node, f"{head}.get({inner}{more})")
            case ast.Call(func=ast.Attribute(value=value, attr="get"), args=[key, *_]):
                yield site.swap(node, f"{site.text(value)}[{site.text(key)}]")
            case _:
                continue
