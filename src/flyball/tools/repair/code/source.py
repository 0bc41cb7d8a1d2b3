"""A Python file as bytes and as a tree, with the way from one to the other."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import cast

from flyball.regex import regex
from flyball.tools.repair.code.fstrings import Field, place_fields
from flyball.tools.repair.inside.hot_swap import Edit

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Placed = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias
"""What stands somewhere in the text."""
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = ("body", "orelse", "finalbody")

_TIGHT = regex(r"[\w.]+|\w[\w.]*\([^()]*\)|\w[\w.]*\[[^\[\]]*\]|\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}")
LOOSE = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Attribute, ast.Await, ast.Starred,
    ast.IfExp, ast.comprehension,
)  # fmt: skip
"""Around an expression of these, a part that is not tight needs brackets."""


class Source:
    """One file: its text, its tree, and where each node of the tree stands in the text."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.tree = ast.parse(data)
        self.newline = "\r\n" if b"\r\n" in data else "\n"
        self._starts = [0]
        for line in data.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)
        # Templates ask for the same walks at every site; done once, generating is several times
        # faster.
        self._within: dict[ast.AST, tuple[ast.AST, ...]] = {}
        self._names: dict[ast.AST, frozenset[str]] = {}
        # Formatted strings first: before Python 3.12 the nodes in them have wrong places, which are
        # put right here, and parents are noted only for nodes that stay.
        self.fields: dict[ast.JoinedStr, list[Field]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.JoinedStr):
                self._place(node)
        self.parent: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parent[child] = node

    def _place(self, node: ast.JoinedStr) -> None:
        start = self._starts[node.lineno - 1]
        self.fields[node] = place_fields(node, self.data, self.span(node), start)

    def span(self, node: Placed) -> tuple[int, int]:
        """Where a node's text begins and ends, in bytes."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: Placed) -> str:
        """A node as it is written."""
        start, end = self.span(node)
        return self.data[start:end].decode("utf-8")

    def line_start(self, line: int) -> int:
        """Where a line begins; one past the last is the end of the file."""
        return min(self._starts[line - 1], len(self.data))

    def line_at(self, offset: int) -> int:
        """The line that a byte stands on."""
        return bisect_right(self._starts, offset)

    def line_text(self, line: int) -> str:
        """A line without its end."""
        start, end = self.line_start(line), self.line_start(line + 1)
        return self.data[start:end].decode("utf-8", "replace").rstrip("\r\n")

    def indent(self, node: ast.stmt) -> str | None:
        """The white space before a statement, or None where it does not begin its line."""
        start = self.span(node)[0]
        before = self.data[self.line_start(node.lineno) : start].decode("utf-8", "replace")
        return before if not before.strip() else None

    def replace(self, node: ast.expr, text: str) -> Edit:
        """Another text in a node's place, in brackets where it needs them."""
        start, end = self.span(node)
        if self._needs_brackets(node, text, start, end):
            text = f"({text})"
        return Edit(start, end, text)

    def _needs_brackets(self, node: ast.expr, text: str, start: int, end: int) -> bool:
        if _TIGHT.fullmatch(text):
            return False
        around = self.parent.get(node)
        is_head = (isinstance(around, ast.Subscript) and around.value is node) or (
            isinstance(around, ast.Call) and around.func is node
        )
        if not is_head and not isinstance(around, LOOSE):
            return False
        # Brackets that are there already are enough.
        before = self.data[:start].rstrip()[-1:]
        return not (before == b"(" and self.data[end:].lstrip()[:1] == b")")

    def within(self, node: ast.AST) -> tuple[ast.AST, ...]:
        """A node and all that is in it, from the top down; it is walked through only once."""
        if node not in self._within:
            self._within[node] = tuple(ast.walk(node))
        return self._within[node]

    def names_in(self, node: ast.AST) -> frozenset[str]:
        """The variables that a node speaks of."""
        if node not in self._names:
            named = (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
            self._names[node] = frozenset(named)
        return self._names[node]

    def function_of(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The innermost function around a node."""
        found = self.parent.get(node)
        while found is not None and not isinstance(found, SCOPES):
            found = self.parent.get(found)
        return found

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around a node."""
        found = self.parent.get(node)
        while found is not None and not isinstance(found, ast.ClassDef):
            found = self.parent.get(found)
        return found

    def block_of(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements that a statement stands among."""
        around = self.parent.get(node)
        for name in BLOCKS:
            block: object = getattr(around, name, None)
            if isinstance(block, list) and node in block:
                return cast("list[ast.stmt]", block)
        for handler in getattr(around, "handlers", ()):
            if node in handler.body:
                return handler.body
        return [node]

    @cached_property
    def functions(self) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
        return tuple(node for node in ast.walk(self.tree) if isinstance(node, SCOPES))

    @cached_property
    def statements(self) -> tuple[ast.stmt, ...]:
        return tuple(node for node in ast.walk(self.tree) if isinstance(node, ast.stmt))

    @cached_property
    def constants(self) -> dict[str, int]:
        """Where each name that a module or a class gives a value to is defined."""
        found: dict[str, int] = {}
        for node in (*self.tree.body, *self._class_bodies):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [each.id for each in targets if isinstance(each, ast.Name)]
                found.update(dict.fromkeys(names, node.lineno))
        return found

    @property
    def _class_bodies(self) -> Iterator[ast.stmt]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ClassDef):
                yield from node.body

    def definitions_for(self, node: ast.stmt) -> set[int]:
        """The lines of the constants that a statement reads, and of its function's defaults."""
        found: set[int] = set()
        for each in expressions(node):
            name = getattr(each, "id", getattr(each, "attr", ""))
            if name in self.constants and isinstance(getattr(each, "ctx", None), ast.Load):
                found.add(self.constants[name])
        function = self.function_of(node)
        if function and (function.args.defaults or any(function.args.kw_defaults)):
            found.add(function.lineno)
        return found

    def statement_at(self, line: int) -> ast.stmt | None:
        """The innermost statement whose own lines, without those of its blocks, hold this one."""
        return self._by_line.get(line)

    @cached_property
    def _by_line(self) -> dict[int, ast.stmt]:
        found: dict[int, ast.stmt] = {}
        for node in self.statements:
            first, last = own_lines(node)
            for line in range(first, last + 1):
                # Of several statements on one line the last to begin is the innermost.
                if line not in found or node.lineno >= found[line].lineno:
                    found[line] = node
        return found


def own_lines(node: ast.stmt) -> tuple[int, int]:
    """The lines of a statement itself: of a compound one, its head."""
    body = getattr(node, "body", None)
    assert node.end_lineno is not None
    if isinstance(body, list) and body:
        first = cast("list[ast.stmt]", body)[0]
        return node.lineno, max(node.lineno, first.lineno - 1)
    return node.lineno, node.end_lineno


def head_expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement itself, not of the statements in it."""
    for name, value in ast.iter_fields(node):
        if name in BLOCKS or name in ("handlers", "decorator_list", "returns", "annotation"):
            continue
        for each in _as_list(value):
            if isinstance(each, ast.expr):
                yield each
            elif isinstance(each, ast.withitem):
                yield each.context_expr
            elif isinstance(each, ast.arguments):
                yield from (d for d in (*each.defaults, *each.kw_defaults) if d is not None)


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownVariableType]


def expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """Every expression in a statement's own text."""
    for head in head_expressions(node):
        yield from _expressions_below(head)


def _expressions_below(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.FormattedValue):
        yield from _expressions_below(node.value)
        return
    if isinstance(node, ast.JoinedStr):
        for each in node.values:
            if isinstance(each, ast.FormattedValue):
                yield from _expressions_below(each)
        return
    if isinstance(node, ast.expr):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _expressions_below(child)
