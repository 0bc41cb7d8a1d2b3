"""A Python file of the project as text and as a tree."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, cast

from flyball.regex import regex
from flyball.repair.inside.hot_swap import Edit

_HEAD = regex(r"(?i)(?:f|fr|rf)(\"\"\"|'''|\"|')")
_PAIRS = {"(": ")", "[": "]", "{": "}"}


class Field(NamedTuple):
    """One `{…}` of a formatted string: the positions of its expression and of its format."""

    start: int
    end: int
    form: tuple[int, int] | None


def fields_of(text: str) -> list[Field] | None:
    """Return the fields of a formatted string; none if it has several parts or is too complex."""
    head = _HEAD.match(text)
    if head is None or not text.endswith(head[1]) or len(text) < head.end() + len(head[1]):
        return None
    end = len(text) - len(head[1])
    # Several literals in a row, or the same quotes inside: telling them apart would take a whole
    # tokenizer, and the string is simply not changed.
    if head[1] in text[head.end() : end]:
        return None
    try:
        return list(_fields(text, head.end(), end))
    except IndexError:
        return None


def _fields(text: str, i: int, end: int) -> Iterator[Field]:
    while i < end:
        if text[i] == "{" and text[i + 1] == "{":
            i += 2
        elif text[i] == "{":
            stop = _find_end(text, i + 1, ":!}=")
            form = None
            last = stop
            if text[stop] in "!=":
                last = _find_end(text, stop + 1, ":}")
            if text[last] == ":":
                closing = _find_end(text, last + 1, "}")
                form, last = (last + 1, closing), closing
            yield Field(i + 1, stop, form)
            i = last + 1
        else:
            i += 1


def _find_end(text: str, i: int, ends: str) -> int:
    """Find the first of some characters outside brackets and quotes, ignoring `!=` and `==`."""
    owed: list[str] = []
    while True:
        letter = text[i]
        if owed and letter == owed[-1]:
            owed.pop()
        elif letter in _PAIRS:
            owed.append(_PAIRS[letter])
        elif letter in "\"'":
            i = text.index(letter, i + 1) if letter in text[i + 1 :] else len(text)
        elif not owed and letter in ends:
            if letter in "!=" and (text[i + 1] == "=" or text[i - 1] in "<>!="):
                i += 1
            else:
                return i
        i += 1


def place_fields(
    node: ast.JoinedStr, data: bytes, span: tuple[int, int], line_start: int
) -> list[Field]:
    """Give the expressions in a formatted string their positions; leave out those without one."""
    text = data[span[0] : span[1]].decode("utf-8")
    values = [each for each in node.values if isinstance(each, ast.FormattedValue)]
    fields = fields_of(text) if "\n" not in text else None
    made: list[Field] = []
    if fields is not None and len(fields) == len(values):
        for value, field in zip(values, fields, strict=True):
            found = _shift(field, text, span[0])
            inner = text[field.start : field.end]
            if not _place_nodes(value.value, inner, node.lineno, found.start - line_start):
                break
            made.append(found)
    if len(made) < len(values):
        node.values = []
        return []
    return made


def _shift(field: Field, text: str, by: int) -> Field:
    """Return a field's position in bytes of the whole file."""

    def at(place: int) -> int:
        return by + len(text[:place].encode("utf-8"))

    form = (at(field.form[0]), at(field.form[1])) if field.form else None
    return Field(at(field.start), at(field.end), form)


def _place_nodes(node: ast.expr, text: str, line: int, column: int) -> bool:
    """Shift a tree's nodes to the position of its text, which begins at a column."""
    try:
        fresh = ast.parse(f"({text})", mode="eval").body
    except SyntaxError:
        return False
    # The text between the braces is parsed anew and compared: if it is not the same expression, the
    # place was guessed wrongly and is not used.
    if ast.dump(node) != ast.dump(fresh):
        return False
    for old, new in zip(ast.walk(node), ast.walk(fresh), strict=True):
        if isinstance(old, ast.expr | ast.keyword) and isinstance(new, ast.expr | ast.keyword):
            old.lineno = old.end_lineno = line
            old.col_offset = new.col_offset - 1 + column
            old.end_col_offset = (new.end_col_offset or 0) - 1 + column
    return True


Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Placed = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias
"""A syntax element with its position in the text."""
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = ("body", "orelse", "finalbody")

_TIGHT = regex(r"[\w.]+|\w[\w.]*\([^()]*\)|\w[\w.]*\[[^\[\]]*\]|\[[^\[\]]*\]|\([^()]*\)|\{[^{}]*\}")
LOOSE = (
    ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Attribute, ast.Await, ast.Starred,
    ast.IfExp, ast.comprehension,
)  # fmt: skip
"""Around an expression of these, a part that is not tight needs brackets."""


class Source:
    """One file: its text, its tree, and each node's position in the text."""

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
        """Return the byte range of a node's text."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, node: Placed) -> str:
        """Return a node as written."""
        start, end = self.span(node)
        return self.data[start:end].decode("utf-8")

    def line_start(self, line: int) -> int:
        """Return the offset of a line; one past the last is the end of the file."""
        return min(self._starts[line - 1], len(self.data))

    def line_at(self, offset: int) -> int:
        """Return the line of a byte offset."""
        return bisect_right(self._starts, offset)

    def line_text(self, line: int) -> str:
        """Return a line without its end."""
        start, end = self.line_start(line), self.line_start(line + 1)
        return self.data[start:end].decode("utf-8", "replace").rstrip("\r\n")

    def indent(self, node: ast.stmt) -> str | None:
        """Return the white space before a statement, or None if it does not begin its line."""
        start = self.span(node)[0]
        before = self.data[self.line_start(node.lineno) : start].decode("utf-8", "replace")
        return before if not before.strip() else None

    def replace(self, node: ast.expr, text: str) -> Edit:
        """Return an edit that replaces a node with a text, in brackets if necessary."""
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
        """Return a node and all of its descendants, top down; each node is walked only once."""
        if node not in self._within:
            self._within[node] = tuple(ast.walk(node))
        return self._within[node]

    def names_in(self, node: ast.AST) -> frozenset[str]:
        """Return the variables that a node mentions."""
        if node not in self._names:
            named = (each.id for each in ast.walk(node) if isinstance(each, ast.Name))
            self._names[node] = frozenset(named)
        return self._names[node]

    def function_of(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the innermost function around a node."""
        found = self.parent.get(node)
        while found is not None and not isinstance(found, SCOPES):
            found = self.parent.get(found)
        return found

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """Return the innermost class around a node."""
        found = self.parent.get(node)
        while found is not None and not isinstance(found, ast.ClassDef):
            found = self.parent.get(found)
        return found

    def block_of(self, node: ast.stmt) -> list[ast.stmt]:
        """Return the block that contains a statement."""
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
        """Return where each name with a value in a module or class is defined."""
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
        """Return the lines of the constants that a statement reads, and of its function's
        defaults."""
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
        """Return the innermost statement whose own lines, without those of its blocks, include this
        one."""
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
    """Return the lines of a statement itself: of a compound one, its head."""
    body = getattr(node, "body", None)
    assert node.end_lineno is not None
    if isinstance(body, list) and body:
        first = cast("list[ast.stmt]", body)[0]
        return node.lineno, max(node.lineno, first.lineno - 1)
    return node.lineno, node.end_lineno


def head_expressions(node: ast.stmt) -> Iterator[ast.expr]:
    """Yield the expressions of a statement itself, not of the statements in it."""
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
    """Yield every expression in a statement's own text."""
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
