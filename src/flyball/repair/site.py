"""Places in a Python file that may be changed, and the proposals for each."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from flyball.regex import regex
from flyball.repair.inside.hot_swap import Edit
from flyball.repair.source import Source, expressions


class Draft(NamedTuple):
    """A template's proposal at one place; `weight` compares it with the template's other
    proposals."""

    label: str
    edits: tuple[Edit, ...]
    weight: float = 1.0


class Candidate(NamedTuple):
    """A change, its place, the template that made it, and its estimated probability."""

    path: str
    line: int
    template: str
    label: str
    edits: tuple[Edit, ...]
    chance: float


def diff_of(path: str, before: bytes, after: bytes) -> str:
    """Return a unified diff from one content of a file to another."""
    lines = difflib.unified_diff(_lines(before), _lines(after), f"a/{path}", f"b/{path}")
    parts: list[str] = []
    for line in lines:
        parts.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(parts)


def _lines(data: bytes) -> list[str]:
    r"""Return the lines of a text with their ends; only `
    ` ends one."""
    *whole, last = data.decode("utf-8").split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


def common_prefix(a: bytes, b: bytes) -> int:
    """Return how many leading bytes two texts share."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


MOST_PARALLELS = 12
WORD = regex(r"[A-Za-z_]\w*")
HOLDERS = (ast.Name, ast.Attribute)
CONTAINERS = {"list": "append", "set": "add", "deque": "append", "defaultdict": "", "dict": ""}


class Site:
    """One suspicious statement."""

    def __init__(
        self, source: Source, node: ast.stmt, score: float, clues: frozenset[str] = frozenset()
    ) -> None:
        self.source = source
        self.node = node
        self.score = score
        self.clues = clues
        self.function = source.function_of(node)
        self.exprs = tuple(expressions(node))

    def text(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        """Return a node as it is written in the file."""
        return self.source.text(node)

    def swap(self, node: ast.expr, text: str, label: str = "", weight: float = 1.0) -> Draft:
        """Return a draft that replaces an expression with a text."""
        parts = label or f"`{self.text(node)}` → `{text}`"
        return Draft(parts, (self.source.replace(node, text),), weight)

    @cached_property
    def local_names(self) -> tuple[str, ...]:
        """Return the function's parameters and variables, followed by those of enclosing
        functions."""
        found: dict[str, None] = {}
        function = self.function
        while function is not None:
            found.update(dict.fromkeys(names_of(function)))
            function = self.source.function_of(function)
        if self.function is None:
            found.update(dict.fromkeys(_assigned(self.source.tree)))
        return tuple(found)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return parameters_of(self.function) if self.function else ()

    @cached_property
    def near_names(self) -> frozenset[str]:
        """Return names in this statement and in its neighbours."""
        block = self.source.block_of(self.node)
        i = block.index(self.node) if self.node in block else 0
        around = [*block[max(0, i - 2) : i + 3]]
        if isinstance(above := self.source.parent.get(self.node), ast.stmt):
            around.append(above)
        return frozenset(
            node.id
            for each in around
            for node in (ast.walk(each) if each in block else expressions(each))
            if isinstance(node, ast.Name)
        )

    @cached_property
    def container_methods(self) -> dict[str, str]:
        """Return variables and attributes that hold a list or a set, and how items are added."""
        found: dict[str, str] = {}
        for node in self.source.within(self._outermost):
            if isinstance(node, ast.Assign):
                for target, value in _pairs(node.targets[0], node.value):
                    if isinstance(target, HOLDERS) and (kind := _container(value)):
                        found[self.text(target)] = CONTAINERS[kind]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                value = node.func.value
                if isinstance(value, HOLDERS) and node.func.attr in ("append", "add"):
                    found[self.text(value)] = node.func.attr
        return {name: method for name, method in found.items() if method}

    @property
    def _outermost(self) -> ast.AST:
        """Return the outermost function around this place."""
        found = self.function
        while found is not None and (outer := self.source.function_of(found)) is not None:
            found = outer
        return found or self.source.tree

    @cached_property
    def parallels(self) -> tuple[dict[str, str], ...]:
        """Return names that correspond in two statements that are otherwise equal."""
        found: dict[tuple[tuple[str, str], ...], None] = {}
        shapes: dict[str, list[tuple[str, ...]]] = {}
        for node in self.source.within(self.function) if self.function else ():
            if isinstance(node, ast.stmt | ast.Compare | ast.BoolOp | ast.Call):
                names = tuple(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
                shape = WORD.sub("_", self.text(node))
                # Every two of a shape are compared, so what is long or spans lines is left out.
                if 1 < len(names) < 8 and "\n" not in shape:
                    shapes.setdefault(shape, []).append(names)
        for group in shapes.values():
            for a in group:
                for b in group:
                    pairs = {(x, y) for x, y in zip(a, b, strict=False) if x != y}
                    if len(a) == len(b) and 0 < len(pairs) < 4 and len(dict(pairs)) == len(pairs):
                        found[tuple(sorted(pairs))] = None
        return tuple(dict(pairs) for pairs in found)[:MOST_PARALLELS]

    def insert_before(self, *lines: str) -> tuple[Edit, ...]:
        """Return an insertion before this statement; None if other code precedes it on its line."""
        indent = self.source.indent(self.node)
        if indent is None:
            return ()
        at = self.source.line_start(first_line(self.node))
        return (Edit(at, at, self._block(indent, lines)),)

    def insert_after(self, *lines: str) -> tuple[Edit, ...]:
        """Insert statements after this one."""
        indent = self.source.indent(self.node)
        assert self.node.end_lineno is not None
        at = self.source.line_start(self.node.end_lineno + 1)
        tail = self.source.data[self.source.span(self.node)[1] : at]
        if indent is None or (tail.strip() and not tail.strip().startswith(b"#")):
            return ()
        lead = "" if tail.endswith(b"\n") else self.source.newline
        return (Edit(at, at, lead + self._block(indent, lines)),)

    def _block(self, indent: str, lines: tuple[str, ...]) -> str:
        return "".join(f"{indent}{line}{self.source.newline}" for line in lines)


def rename(text: str, mapping: dict[str, str]) -> str:
    """Return a text with some names replaced by others."""
    return WORD.sub(lambda found: mapping.get(found[0], found[0]), text)


def first_line(node: ast.stmt) -> int:
    """Return the first line of a statement, including its decorators."""
    marks: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in marks)])


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    args = function.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    every += [each for each in (args.vararg, args.kwarg) if each]
    return tuple(each.arg for each in every)


def names_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[str, ...]:
    """Return parameters first, then assigned names, in source order."""
    return tuple(dict.fromkeys((*parameters_of(function), *_assigned(function))))


def _assigned(scope: ast.AST) -> Iterator[str]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each target of an assignment with its value."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        yield from zip(target.elts, value.elts, strict=False)
    else:
        yield target, value


def _container(value: ast.expr) -> str:
    match value:
        case ast.List() | ast.ListComp():
            return "list"
        case ast.Set() | ast.SetComp():
            return "set"
        case ast.Call(func=ast.Name(id=name)) if name in CONTAINERS:
            return name
        case _:
            return ""
