"""Names that are unknown where they are used: import, declare or respell them."""

from __future__ import annotations

import ast
import builtins
import sys
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher

from flyball.repair.inside.hot_swap import Edit
from flyball.repair.site import Draft, Site

ALIKE = 0.6
KNOWN_PARTS = {
    "abc": "ABC abstractmethod", "bisect": "bisect_left bisect_right insort",
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "contextlib": "contextmanager suppress", "copy": "deepcopy",
    "dataclasses": "dataclass field replace", "datetime": "date datetime timedelta timezone",
    "decimal": "Decimal", "enum": "Enum IntEnum", "fractions": "Fraction",
    "functools": "cache cached_property lru_cache partial reduce wraps",
    "heapq": "heapify heappop heappush nlargest nsmallest", "io": "BytesIO StringIO",
    "itertools": "accumulate chain combinations count cycle groupby islice permutations product "
                 "repeat zip_longest",
    "math": "ceil floor gcd inf isclose pi sqrt", "operator": "attrgetter itemgetter",
    "pathlib": "Path", "typing": "Any Callable Iterable Iterator NamedTuple Optional Union",
}  # fmt: skip
SOURCES = {name: module for module, names in KNOWN_PARTS.items() for name in names.split()}


def global_names(site: Site) -> dict[str, str]:
    """Return what the module defines, each with its kind: constant, function, class or import."""
    found: dict[str, str] = {}
    for node in site.source.tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                found[name] = "function"
            case ast.ClassDef(name=name):
                found[name] = "class"
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found.update(dict.fromkeys((a.asname or a.name for a in names), "import"))
            case _:
                for each in ast.walk(node):
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                        found[each.id] = "constant"
    return found


def correct_unknown(site: Site) -> Iterator[Draft]:
    """Correct a name that nothing defines: respell it, or import it."""
    known = {**global_names(site), **dict.fromkeys(site.local_names, "local")}
    for node in site.exprs:
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            continue
        if node.id in known or hasattr(builtins, node.id):
            continue
        for name in (*known, *dir(builtins)):
            alike = SequenceMatcher(None, name, node.id).ratio()
            if alike > ALIKE:
                yield site.swap(node, name, weight=4 * alike)
        if text := _import_of(node.id):
            yield Draft(f"`{text}` added", (_insert_at_top(site, text),), 4.0)


def correct_import(site: Site) -> Iterator[Draft]:
    """Correct a misspelt module, or a part of one, where it is imported."""
    node, source = site.node, site.source
    if not isinstance(node, ast.Import | ast.ImportFrom):
        return
    missing = _undefined(site)
    for alias in node.names:
        parts = _parts_of(node.module) if isinstance(node, ast.ImportFrom) else ()
        known = parts or sys.stdlib_module_names
        yield from _respell(source.span(alias)[0], alias.name, {*missing, *known})
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        start = source.span(node)[0]
        start = source.data.index(node.module.encode("utf-8"), start + len("from"))
        yield from _respell(start, node.module, sys.stdlib_module_names)


def _respell(start: int, old: str, known: Iterable[str]) -> Iterator[Draft]:
    end = start + len(old.encode("utf-8"))
    for name in sorted(known):
        alike = SequenceMatcher(None, name, old).ratio()
        if alike > ALIKE and name != old:
            # The fourth power, because among hundreds of names many are somewhat alike.
            yield Draft(f"`{old}` → `{name}`", (Edit(start, end, name),), alike**4)


def _parts_of(module: str | None) -> list[str]:
    return KNOWN_PARTS.get(module or "", "").split()


def _undefined(site: Site) -> set[str]:
    """Return names that the file reads, and that nothing in it defines."""
    read: set[str] = set()
    defined: set[str] = {*global_names(site), *dir(builtins)}
    for node in site.source.within(site.source.tree):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
    return read - defined


def _import_of(name: str) -> str:
    if name in SOURCES:
        return f"from {SOURCES[name]} import {name}"
    return f"import {name}" if name in sys.stdlib_module_names else ""


def _insert_at_top(site: Site, text: str) -> Edit:
    """Insert a line before the first import, or else before the first statement."""
    body = site.source.tree.body
    rest = [each for each in body if not _comes_first(each)]
    imports = [each for each in rest if isinstance(each, ast.Import | ast.ImportFrom)]
    first = (imports or rest)[0]
    marks: list[ast.expr] = getattr(first, "decorator_list", [])
    at = site.source.line_start(min([first.lineno, *(each.lineno for each in marks)]))
    gap = "" if imports else site.source.newline * 2
    return Edit(at, at, f"{text}{site.source.newline}{gap}")


def _comes_first(node: ast.stmt) -> bool:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_text or (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def change_global(site: Site) -> Iterator[Draft]:
    """Replace a constant, class or function of the module by another one."""
    known = global_names(site)
    for node in site.exprs:
        if not isinstance(node, ast.Name) or node.id in site.local_names:
            continue
        kind = known.get(node.id, "")
        for name, other in known.items():
            if name != node.id and other == kind:
                alike = SequenceMatcher(None, name, node.id).ratio() > ALIKE
                yield site.swap(node, name, weight=2.0 if alike else 1.0)


def declare_name(site: Site) -> Iterator[Draft]:
    """Declare that a variable of the enclosing function or module is meant, not a new one."""
    if site.function is None or site.source.indent(site.function.body[0]) is None:
        return
    written = {
        node.id
        for node in site.source.within(site.function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    outer = site.source.function_of(site.function)
    first = site.function.body[0]
    at = site.source.line_start(first.lineno)
    indent = site.source.indent(first) or ""
    for name in sorted(written):
        word = "nonlocal" if outer is not None and name in _assigned_in(outer, site) else "global"
        # Declaring a name that exists nowhere outside would only move the error.
        if word == "nonlocal" or name in global_names(site):
            text = f"{indent}{word} {name}{site.source.newline}"
            yield Draft(f"`{word} {name}` added", (Edit(at, at, text),), 2.0)


def _assigned_in(function: ast.AST, site: Site) -> set[str]:
    """Return names that a function itself assigns, excluding nested functions."""
    return {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store)
        and site.source.function_of(node) is function
    }


def call_inherited(site: Site) -> Iterator[Draft]:
    """Call the superclass's method first."""
    function, owner = site.function, site.source.class_of(site.node)
    if function is None or owner is None or not owner.bases or function.body[0] is not site.node:
        return
    names = [name for name in site.parameters if name not in ("self", "cls")]
    for given in dict.fromkeys(("", ", ".join(names), *names)):
        text = f"super().{function.name}({given})"
        if edits := site.insert_before(text):
            yield Draft(f"`{text}` added", edits)
