"""One syntax tree for every language: Python by `ast`, the rest by tree-sitter grammars."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast

from flyball.errors import MissingExtra
from flyball.regex import regex


def kinds(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


class Node:
    """A piece of source code: its kind, its bytes, and its children."""

    __slots__ = ("end", "field", "kids", "kind", "named", "parent", "source", "start")

    def __init__(self, source: bytes, kind: str, start: int, end: int) -> None:
        self.source = source
        self.kind = kind
        self.start = start
        self.end = end
        self.field: str | None = None
        self.named = True
        self.parent: Node | None = None
        self.kids: list[Node] = []

    def add(self, kid: Node, field: str | None = None) -> Node:
        kid.parent, kid.field = self, field
        self.kids.append(kid)
        return kid

    def get(self, *fields: str) -> Node | None:
        """Return the first child that has one of these field names."""
        return next((kid for kid in self.kids if kid.field in fields), None)

    def all(self, field: str) -> list[Node]:
        """Return the children with a field name."""
        return [kid for kid in self.kids if kid.field == field]

    @property
    def parts(self) -> list[Node]:
        """Return the children, without punctuation and comments."""
        return [kid for kid in self.kids if kid.named and "comment" not in kid.kind]

    @property
    def text(self) -> str:
        return self.source[self.start : self.end].decode("utf-8", "replace")

    @property
    def line(self) -> int:
        return self.source.count(b"\n", 0, self.start) + 1

    @property
    def plain(self) -> str:
        """Return the code without comments, layout and commas before a closing bracket."""
        found, at = "", self.start
        for leaf in self.leaves():
            if leaf.start >= at and "comment" not in leaf.kind:
                gap = self.source[at : leaf.start].decode("utf-8", "replace")
                found = _joined(_joined(found, COMMENT.sub("", gap)), leaf.said)
            at = max(at, leaf.end)
        rest = self.source[at : self.end].decode("utf-8", "replace")
        return re.sub(r",(?=[)\]}])", "", _joined(found, COMMENT.sub("", rest))).strip(";")

    @property
    def said(self) -> str:
        """Return the text of a token; single-quoted strings are normalised to double quotes."""
        text = self.text
        if self.kind == "string" and re.fullmatch(r"'[^\"\\#$']*'", text):
            return f'"{text[1:-1]}"'
        return text if self.kind in STRINGS else text.strip()

    def leaves(self) -> Iterator[Node]:
        """Yield the tokens in order; a string is one token."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            if not node.kids or node.kind in STRINGS:
                yield node
            else:
                stack.extend(reversed(node.kids))

    def walk(self, stop: Callable[[Node], bool] | None = None) -> Iterator[Node]:
        """Yield this node and everything in it, in order; nodes named by `stop` are not entered."""
        stack: list[Node] = [self]
        while stack:
            node = stack.pop()
            yield node
            if stop is None or node is self or not stop(node):
                stack.extend(reversed(node.kids))

    def above(self) -> Iterator[Node]:
        """Yield the ancestors of this node, nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


COMMENT = regex(r"#[^\n]*|\\\n")


def _joined(before: str, after: str) -> str:
    """Join two pieces with no more space between them than words need."""
    after = after if '"' in after or "'" in after or "`" in after else re.sub(r"\s+", "", after)
    is_glued = before[-1:].isalnum() and after[:1].isalnum()
    return f"{before} {after}" if is_glued else before + after


STRINGS = kinds(
    "string string_literal interpreted_string_literal raw_string_literal template_string"
    " encapsed_string char_literal character_literal rune_literal concatenated_string heredoc_body"
    " regex simple_symbol string_array symbol_array text_block heredoc nowdoc"
)
NUMBERS = kinds(
    "integer float number int_literal float_literal integer_literal number_literal"
    " decimal_integer_literal hex_integer_literal decimal_floating_point_literal"
    " octal_integer_literal binary_integer_literal rational complex imaginary_literal"
)
BOOLEANS = {"true": "false", "false": "true", "True": "False", "False": "True",
            "TRUE": "FALSE", "FALSE": "TRUE"}  # fmt: skip
NOTHINGS = kinds("none null nil undefined null_literal nullptr None NULL")

GRAMMARS = {
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "php": ("tree_sitter_php", "language_php"),
}
ENDINGS = {
    "py": "python", "pyi": "python", "js": "javascript", "jsx": "javascript", "mjs": "javascript",
    "cjs": "javascript", "ts": "typescript", "mts": "typescript", "cts": "typescript",
    "tsx": "tsx", "go": "go", "rs": "rust", "java": "java", "c": "c", "h": "c", "cc": "cpp",
    "cpp": "cpp", "cxx": "cpp", "hpp": "cpp", "hh": "cpp", "rb": "ruby", "php": "php",
}  # fmt: skip


def language_of(path: str) -> str | None:
    """Return the language of a file with a known grammar, by its extension."""
    return ENDINGS.get(path.rpartition("/")[2].rpartition(".")[2].lower())


READ_BY_LINES = kinds(
    "kt kts scala groovy cs fs vb ex exs sh bash bats zsh swift dart lua pl t zig nim jl hs ml erl"
    " clj r vue svelte m mm ino"
)


def is_code(path: str) -> bool:
    """Return whether a file is code that we can parse, by a grammar or by lines."""
    ending = path.rpartition("/")[2].rpartition(".")[2].lower()
    return ending in ENDINGS or ending in READ_BY_LINES


def parse(language: str, source: bytes) -> Node | None:
    """Return the tree of a text; None if it cannot be parsed in that language."""
    if language == "python":
        return _python(source)
    tree = _parser(language).parse(source)
    root = tree.root_node
    if root.has_error and _broken_share(root) > 0.5:
        return None
    return _converted(root, source, 0)


def _broken_share(root: Any) -> float:
    broken = sum(kid.end_byte - kid.start_byte for kid in root.children if kid.type == "ERROR")
    return broken / max(1, root.end_byte - root.start_byte)


@cache
def _parser(language: str) -> Any:
    module, function = GRAMMARS[language]
    # A grammar takes longer to load than all else: only what a change needs is loaded.
    try:
        library = importlib.import_module("tree_sitter")
        grammar = importlib.import_module(module)
    except ImportError:
        package = module.replace("_", "-")
        raise MissingExtra(f"Reading {language} tests", package, "verify") from None
    return library.Parser(library.Language(getattr(grammar, function)()))


def _converted(root: Any, source: bytes, shift: int) -> Node:
    """Copy a tree; parse the content of a Rust macro as expressions, which it mostly is."""
    top = Node(source, root.type, root.start_byte + shift, root.end_byte + shift)
    stack: list[tuple[Any, Node]] = [(root, top)]
    while stack:
        theirs, ours = stack.pop()
        for number, kid in enumerate(theirs.children):
            node = Node(source, kid.type, kid.start_byte + shift, kid.end_byte + shift)
            node.named = kid.is_named
            ours.add(node, theirs.field_name_for_child(number))
            if kid.type == "token_tree" and theirs.type == "macro_invocation":
                _add_macro_arguments(kid, node, shift)
            else:
                stack.append((kid, node))
    return top


CALLED, BLOCK = b"fn f(){g(", b"fn f(){"


def _add_macro_arguments(tokens: Any, ours: Node, shift: int) -> None:
    """Read a macro's tokens as the arguments of a call, or else piece by piece."""
    start, end = tokens.children[0].end_byte, tokens.children[-1].start_byte
    said = ours.source[start + shift : end + shift]
    tree = _parser("rust").parse(CALLED + said + b")}").root_node
    if not tree.has_error:
        body = tree.children[0].child_by_field_name("body")
        given = body.named_children[0].child_by_field_name("arguments") if body else None
        for kid in given.named_children if given else ():
            ours.add(_converted(kid, ours.source, start + shift - len(CALLED)))
        return
    for token in tokens.children[1:]:
        if token.type in (",", ";") or token is tokens.children[-1]:
            piece = ours.source[start + shift : token.start_byte + shift]
            if piece.strip():
                _add_piece(piece, ours, start + shift)
            start = token.end_byte


def _add_piece(piece: bytes, ours: Node, at: int) -> None:
    lead = len(piece) - len(piece.lstrip())
    tree = _parser("rust").parse(BLOCK + piece.strip() + b"}").root_node
    block = tree.children[0].child_by_field_name("body") if tree.children else None
    kids: list[Any] = block.named_children if block else []
    if not kids:
        ours.add(Node(ours.source, "tokens", at + lead, at + len(piece.rstrip())))
        return
    inner = kids[0].children[0] if kids[0].type == "expression_statement" else kids[0]
    ours.add(_converted(inner, ours.source, at + lead - len(BLOCK)))


# Python


def _python(source: bytes) -> Node | None:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    starts = [0]
    for line in source.splitlines(keepends=True) if b"\f" not in source else source.split(b"\n"):
        extra = 0 if line.endswith((b"\n", b"\r")) or b"\f" not in source else 1
        starts.append(starts[-1] + len(line) + extra)
    if source.startswith(b"\xef\xbb\xbf"):
        starts[0] = 3
    top = Node(source, "module", 0, len(source))
    try:
        for stmt in tree.body:
            _PythonTree(source, starts).copy(stmt, top, "body")
    except RecursionError:
        return None
    return top


OPERATORS: dict[type[ast.AST], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+",
    ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
    ast.And: "and", ast.Or: "or", ast.Not: "not", ast.USub: "-", ast.UAdd: "+", ast.Invert: "~",
    ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>",
    ast.MatMult: "@",
}  # fmt: skip
KINDS: dict[type[ast.AST], str] = {
    ast.FunctionDef: "function_definition", ast.AsyncFunctionDef: "function_definition",
    ast.ClassDef: "class_definition", ast.Call: "call", ast.Attribute: "attribute",
    ast.Name: "identifier", ast.Assert: "assert_statement", ast.With: "with_statement",
    ast.AsyncWith: "with_statement", ast.If: "if_statement", ast.For: "for_statement",
    ast.AsyncFor: "for_statement", ast.While: "while_statement", ast.Try: "try_statement",
    ast.TryStar: "try_statement", ast.ExceptHandler: "except_clause", ast.Tuple: "tuple",
    ast.List: "list", ast.Set: "set", ast.Dict: "dictionary", ast.Return: "return_statement",
    ast.Raise: "raise_statement", ast.Expr: "expression_statement", ast.Assign: "assignment",
    ast.AnnAssign: "assignment", ast.AugAssign: "augmented_assignment", ast.Lambda: "lambda",
    ast.Compare: "comparison", ast.BinOp: "binary", ast.BoolOp: "boolean", ast.UnaryOp: "unary",
    ast.Await: "await", ast.keyword: "keyword_argument", ast.Starred: "splat",
    ast.JoinedStr: "string", ast.IfExp: "conditional_expression", ast.Subscript: "subscript",
    ast.arg: "parameter", ast.Continue: "continue_statement", ast.Break: "break_statement",
    ast.Match: "match_statement", ast.match_case: "case", ast.withitem: "with_item",
    ast.Import: "import_statement", ast.ImportFrom: "import_statement", ast.Pass: "pass",
    ast.Delete: "delete", ast.Global: "global",
}  # fmt: skip
FIELDS = {
    "func": "function", "value": "value", "test": "condition", "orelse": "alternative",
    "exc": "value", "context_expr": "context", "decorator_list": "decorator", "attr": "attribute",
    "body": "body", "left": "left", "target": "left", "targets": "left", "iter": "iterated",
    "type": "type", "items": "item", "handlers": "handler", "finalbody": "final", "arg": "name",
    "args": "argument", "keywords": "argument", "operand": "argument", "bases": "base",
}  # fmt: skip
DEFINED = regex(rb"(?:async\s+)?(?:def|class)\s+([^\s(:\[]+)")


class _PythonTree:
    """Copies Python's own tree."""

    def __init__(self, source: bytes, starts: list[int]) -> None:
        self.source = source
        self.starts = starts

    def copy(self, theirs: ast.AST, parent: Node, field: str | None) -> Node | None:
        here = self._made(theirs)
        if here is None:
            for name, kid in _children(theirs):
                self.copy(kid, parent, FIELDS.get(name, name))
            return None
        parent.add(here, field)
        match theirs:
            case ast.Compare():
                self._operated(here, [theirs.left, *theirs.comparators], theirs.ops)
            case ast.BoolOp():
                ops = [theirs.op] * (len(theirs.values) - 1)
                self._operated(here, theirs.values, ops)
            case ast.BinOp():
                self._operated(here, [theirs.left, theirs.right], [theirs.op])
            case ast.Constant() | ast.JoinedStr():
                pass
            case _:
                self._others(here, theirs)
        return here

    def _others(self, here: Node, theirs: ast.AST) -> None:
        if isinstance(theirs, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found = DEFINED.match(self.source, here.start)
            name = found.span(1) if found else (here.start, here.start)
            here.add(Node(self.source, "identifier", *name), "name")
        if isinstance(theirs, ast.UnaryOp):
            op = Node(self.source, OPERATORS[type(theirs.op)], here.start, here.start + 1)
            op.end = here.start + len(op.kind)
            op.named = False
            here.add(op, "operator")
        for name, kid in _children(theirs):
            self.copy(kid, here, FIELDS.get(name, name))
        if isinstance(theirs, ast.Attribute):
            start = here.end - len(theirs.attr.encode())
            here.add(Node(self.source, "identifier", start, here.end), "attribute")
        if isinstance(theirs, ast.arg):
            end = here.start + len(theirs.arg.encode())
            here.add(Node(self.source, "identifier", here.start, end), "name")
        if isinstance(theirs, ast.keyword) and theirs.arg:
            end = here.start + len(theirs.arg.encode())
            here.add(Node(self.source, "identifier", here.start, end), "name")
        here.kids.sort(key=lambda kid: (kid.start, kid.end))

    def _operated(self, here: Node, values: list[ast.expr], ops: list[Any]) -> None:
        here.kids = []
        last = self.copy(values[0], here, "left" if len(values) == 2 else "operand")
        for op, value in zip(ops, values[1:], strict=True):
            said = OPERATORS[type(op)]
            following = self._made(value)
            assert last is not None and following is not None
            at = self.source.find(said.encode().split()[0], last.end, following.start)
            at = max(at, last.end)
            end = self.source.find(said.encode().split()[-1], at) + len(said.encode().split()[-1])
            token = Node(self.source, said, at, end)
            token.named = False
            here.add(token, "operator")
            last = self.copy(value, here, "right" if len(values) == 2 else "operand")

    def _made(self, theirs: ast.AST) -> Node | None:
        line: int | None = getattr(theirs, "lineno", None)
        if line is None:
            if isinstance(theirs, ast.withitem):
                inner = self._made(theirs.context_expr)
                assert inner is not None
                return Node(self.source, "with_item", inner.start, inner.end)
            return None
        last: int = getattr(theirs, "end_lineno", None) or line
        column: int = getattr(theirs, "col_offset", 0)
        until: int = getattr(theirs, "end_col_offset", None) or 0
        start, end = self.starts[line - 1] + column, self.starts[last - 1] + until
        return Node(self.source, self._kind(theirs), start, end)

    def _kind(self, theirs: ast.AST) -> str:
        if isinstance(theirs, ast.Constant):
            match theirs.value:
                case bool():
                    return "true" if theirs.value else "false"
                case None:
                    return "none"
                case int():
                    return "integer"
                case float():
                    return "float"
                case complex():
                    return "complex"
                case str() | bytes():
                    return "string"
                case _:
                    return "ellipsis"
        return KINDS.get(type(theirs), type(theirs).__name__.lower())


def _children(theirs: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for name, value in ast.iter_fields(theirs):
        several = cast("list[object]", value) if isinstance(value, list) else [value]
        for each in several:
            if isinstance(each, ast.AST) and not isinstance(each, ast.expr_context):
                yield name, each
