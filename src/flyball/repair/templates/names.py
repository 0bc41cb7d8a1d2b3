"""Names: another variable, attribute, method or function."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from flyball.repair.site import Draft, Site

BUILTINS = frozenset(dir(builtins))
TWINS: tuple[tuple[str, ...], ...] = (
    ("min", "max"),
    ("any", "all"),
    ("sum", "len", "max", "min"),
    ("floor", "ceil", "trunc"),
    ("int", "float", "round", "str", "bool"),
    ("list", "tuple", "set", "sorted", "dict"),
    ("sorted", "reversed", "list"),
    ("append", "extend", "insert", "add", "update"),
    ("append", "appendleft"),
    ("pop", "popleft", "popitem"),
    ("add", "discard", "remove", "update"),
    ("startswith", "endswith"),
    ("find", "rfind", "index", "rindex"),
    ("strip", "lstrip", "rstrip"),
    ("split", "rsplit", "splitlines", "partition"),
    ("partition", "rpartition"),
    ("upper", "lower", "capitalize", "title", "swapcase", "casefold"),
    ("isdigit", "isalpha", "isalnum", "isupper", "islower", "isspace", "isnumeric"),
    ("keys", "values", "items"),
    ("union", "intersection", "difference", "symmetric_difference"),
    ("issubset", "issuperset", "isdisjoint"),
    ("get", "setdefault"),
    ("bisect_left", "bisect_right", "bisect"),
    ("heappush", "heappop", "heapify", "heappushpop", "heapreplace"),
    ("ljust", "rjust", "center"),
    ("left", "right"),
    ("first", "last"),
    ("start", "end", "stop"),
    ("prev", "next"),
    ("head", "tail"),
    ("parent", "child", "children"),
    ("match", "search", "fullmatch"),
    ("permutations", "combinations", "product"),
    ("sin", "cos", "tan"),
    ("isinstance", "issubclass"),
    ("days", "seconds", "total_seconds"),
    ("read", "readline", "readlines"),
    ("encode", "decode"),
    ("row", "col"),
    ("rows", "cols"),
    ("width", "height"),
    ("x", "y"),
    ("ValueError", "TypeError", "KeyError", "IndexError", "AttributeError", "ZeroDivisionError"),
)


def twins(name: str) -> list[str]:
    """Return names that are easily confused with this one."""
    found = [other for group in TWINS if name in group for other in group if other != name]
    return list(dict.fromkeys(found))


def change_variable(site: Site) -> Iterator[Draft]:
    """Replace a variable by another one."""
    for node in site.exprs:
        if not isinstance(node, ast.Name) or _is_called(site, node):
            continue
        # A builtin is exchanged for its like elsewhere (`builtin_counterpart`); here it would
        # mostly be a type error.
        if node.id in BUILTINS and node.id not in site.local_names:
            continue
        factor = 0.4 if isinstance(node.ctx, ast.Store) else 1.0
        for name in site.local_names:
            if name not in (node.id, "self", "cls"):
                yield site.swap(node, name, weight=factor * _nearness(site, node.id, name))


def _nearness(site: Site, old: str, new: str) -> float:
    weight = 1.5 if new in site.near_names else 0.8
    # Names that look alike are the ones that people confuse.
    if SequenceMatcher(None, old, new).ratio() > 0.6 or new in twins(old):
        weight *= 1.6
    return weight


def _is_called(site: Site, node: ast.expr) -> bool:
    around = site.source.parent.get(node)
    return isinstance(around, ast.Call) and around.func is node


def variable_to_attribute(site: Site) -> Iterator[Draft]:
    """Replace a variable by an attribute of `self`, or the reverse."""
    attributes = _own_attributes(site)
    for node in site.exprs:
        if _is_called(site, node):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if f"{node.id}" in attributes or f"_{node.id}" in attributes:
                name = node.id if node.id in attributes else f"_{node.id}"
                yield site.swap(node, f"self.{name}", weight=2.0)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            for name in site.local_names:
                if node.value.id == "self" and name.strip("_") == node.attr.strip("_"):
                    yield site.swap(node, name, weight=2.0)


def _own_attributes(site: Site) -> list[str]:
    owner = site.source.class_of(site.node)
    if owner is None or "self" not in site.local_names:
        return []
    found: dict[str, None] = {}
    for node in site.source.within(owner):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
            and not _is_called(site, node)
        ):
            found[node.attr] = None
    return list(found)


def change_attribute(site: Site) -> Iterator[Draft]:
    """Replace an attribute or method by another one of the same object."""
    own = _own_attributes(site)
    methods = _methods(site)
    others = _attributes_in_file(site)
    for node in site.exprs:
        if not isinstance(node, ast.Attribute):
            continue
        end = site.source.span(node)[1]
        place = (end - len(node.attr.encode("utf-8")), end)
        is_self = isinstance(node.value, ast.Name) and node.value.id == "self"
        pool: dict[str, float] = dict.fromkeys(twins(node.attr), 2.0)
        if _is_called(site, node):
            known: Sequence[str] = methods if is_self else others[1]
        else:
            known = own if is_self else others[0]
        for name in known:
            close = SequenceMatcher(None, name, node.attr).ratio() > 0.6
            pool.setdefault(name, 1.5 if close else 0.7)
        for name, weight in pool.items():
            if name != node.attr:
                yield _rename_attribute(site, node, place, name, weight)


def _rename_attribute(
    site: Site, node: ast.Attribute, place: tuple[int, int], name: str, weight: float
) -> Draft:
    edit = site.source.replace(node, "")._replace(start=place[0], end=place[1], text=name)
    return Draft(f"`.{node.attr}` → `.{name}`", (edit,), weight)


def _methods(site: Site) -> list[str]:
    owner = site.source.class_of(site.node)
    if owner is None:
        return []
    return [each.name for each in owner.body if isinstance(each, ast.FunctionDef)]


def _attributes_in_file(site: Site) -> tuple[list[str], list[str]]:
    """Return attributes read, and methods called, on anything but modules."""
    read: dict[str, None] = {}
    called: dict[str, None] = {}
    for node in site.source.within(site.source.tree):
        if isinstance(node, ast.Attribute):
            (called if _is_called(site, node) else read)[node.attr] = None
    return list(read), list(called)


def change_callee(site: Site) -> Iterator[Draft]:
    """Replace a function by another one."""
    own = [each.name for each in site.source.tree.body if isinstance(each, ast.FunctionDef)]
    for node in site.exprs:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        name = node.func.id
        for other in twins(name):
            yield site.swap(node.func, other, weight=2.0)
        for other in own if name in own else ():
            if other != name:
                yield site.swap(node.func, other, weight=0.8)


def builtin_counterpart(site: Site) -> Iterator[Draft]:
    """Replace a builtin passed by name, such as `key=min`, or an exception's type."""
    for node in site.exprs:
        if isinstance(node, ast.Name) and not _is_called(site, node) and node.id in BUILTINS:
            for other in twins(node.id):
                yield site.swap(node, other)
    if isinstance(site.node, ast.Try):
        for handler in site.node.handlers:
            if isinstance(handler.type, ast.Name):
                for other in (*twins(handler.type.id), "Exception"):
                    yield site.swap(handler.type, other)


def variable_for_constant(site: Site) -> Iterator[Draft]:
    """Replace a number by a variable."""
    for node in site.exprs:
        if isinstance(node, ast.Constant) and type(node.value) in (int, float, type(None)):
            for name in site.local_names:
                if name not in ("self", "cls"):
                    near = 1.0 if name in site.near_names else 0.5
                    yield site.swap(node, name, weight=near)
