"""Small changes to new lines that a test should notice."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from flyball.verdict.tests._calls import (
    BINARY,
    CONDITIONS,
    LEAVING,
    LOOPS,
    TRIES,
    bare,
    comparison_of,
    negated_of,
    operands_of,
)
from flyball.verdict.tests._invert import other_literal
from flyball.verdict.tests._reach import BLOCKS
from flyball.verdict.tests._reader import is_statement
from flyball.verdict.tests._tree import BOOLEANS, NUMBERS, STRINGS, Node, kinds, language_of, parse
from flyball.verdict.tests._words import style_of


class Mutant(NamedTuple):
    """A file with one small change."""

    path: str
    line: int
    operator: str
    """comparison, arithmetic, constant, condition, statement or return."""
    old: str
    new: str
    source: str


NEXT = {
    "==": "!=", "!=": "==", "===": "!==", "!==": "===", "<": "<=", "<=": "<", ">": ">=",
    ">=": ">", "is": "is not", "is not": "is", "in": "not in", "not in": "in",
}  # fmt: skip
EMPTIED = {
    "python": "pass", "javascript": ";", "go": "", "rust": "", "java": ";", "c": ";", "ruby": "nil",
    "php": ";",
}  # fmt: skip
TESTED = kinds(
    "if_statement if_expression while_statement while_expression if unless while elsif"
    " conditional_expression ternary_expression"
)


def mutants(
    path: str, source: str | bytes, lines: Collection[int], most: int = 10
) -> tuple[Mutant, ...]:
    """Return up to `most` small changes on these lines, first one for every line.

    Empty for languages without a grammar. Whether a change compiles is not checked here.
    """
    language = language_of(path)
    data = source.encode() if isinstance(source, str) else source
    root = parse(language, data) if language else None
    if root is None:
        return ()
    wanted, style = frozenset(lines), style_of(language or "")
    by_line: dict[int, list[Mutant]] = {}
    for node in root.walk():
        for operator, start, end, new in _changes(node, style):
            line = data.count(b"\n", 0, start) + 1
            if line not in wanted:
                continue
            changed = data[:start] + new.encode() + data[end:]
            old = data[start:end].decode("utf-8", "replace")
            text = changed.decode("utf-8", "replace")
            by_line.setdefault(line, []).append(Mutant(path, line, operator, old, new, text))
    deepest = max(map(len, by_line.values()), default=0)
    chosen = [
        found[nth]
        for nth in range(deepest)
        for _, found in sorted(by_line.items())
        if nth < len(found)
    ]
    return tuple(chosen[:most])


def _changes(node: Node, style: str) -> Iterator[tuple[str, int, int, str]]:
    compared = comparison_of(node) if node is bare(node) else None
    if compared and compared[1].text in NEXT:
        op = compared[1]
        yield "comparison", op.start, op.end, NEXT[op.text]
    op = next((k for k in node.kids if k.text in SWAPPED), None) if node.kind in BINARY else None
    if op is not None and node is bare(node):
        kind = "condition" if operands_of(node) else "arithmetic"
        yield kind, op.start, op.end, SWAPPED[op.text]
    is_constant = node.kind in NUMBERS or node.kind in STRINGS or node.text in BOOLEANS
    if is_constant and not _is_apart(node) and (new := other_literal(node, style)) is not None:
        yield "constant", node.start, node.end, new
    test = node.get("condition") if node.kind in TESTED else None
    if test is not None and negated_of(test) is None:
        inner = bare(test)
        word = f"not ({inner.text})" if style == "python" else f"!({inner.text})"
        yield "condition", inner.start, inner.end, word
    if node.kind in ("return_statement", "return", "return_expression") and node.parts:
        yield from _returned(node, style)
    elif _is_left_out(node, style):
        yield "statement", node.start, node.end, EMPTIED[style]


SWAPPED = {
    "and": "or", "or": "and", "&&": "||", "||": "&&", "+": "-", "-": "+", "*": "-", "/": "*",
    "//": "/", "%": "*",
}  # fmt: skip


def _is_apart(node: Node) -> bool:
    """Return whether a constant has no effect: a docstring, an import, an attribute."""
    parent = node.parent
    if parent is None or (parent.kind == "expression_statement" and node.kind in STRINGS):
        return True
    return any(re.search("import|attribute_item|annotation", each.kind) for each in node.above())


def _returned(node: Node, style: str) -> Iterator[tuple[str, int, int, str]]:
    value = node.parts[-1]
    nothing = {"python": "None", "javascript": "undefined", "ruby": "nil", "php": "null"}.get(style)
    if nothing is not None and value.text != nothing:
        yield "return", value.start, value.end, nothing
    elif style in ("c", "java", "go", "rust") and comparison_of(value):
        yield "return", value.start, value.end, f"!({value.text})"
    elif style == "c":
        yield "return", value.start, value.end, "0"


LEFT_OUT = kinds(
    "expression_statement augmented_assignment assignment call delete inc_statement dec_statement"
    " assignment_statement operator_assignment raise_statement throw_statement"
)


def _is_left_out(node: Node, style: str) -> bool:
    if (
        node.kind not in LEFT_OUT
        or not is_statement(node)
        or node.kind in LEAVING - {"raise_statement", "throw_statement"}
    ):
        return False
    if node.kind == "expression_statement" and node.parts and node.parts[0].kind in STRINGS:
        return False
    inner = node.parts[0] if node.kind == "expression_statement" and node.parts else node
    if inner.kind in CONDITIONS | LOOPS | TRIES | BLOCKS:
        return False
    # Names that are bound or handed on here are used further on: without them nothing loads.
    if re.match(r"(?:module\.)?exports\b", inner.text):
        return False
    if inner.kind in ("assignment", "assignment_expression") and style in ("python", "ruby"):
        left = inner.get("left")
        return left is not None and left.kind in ("attribute", "subscript", "call")
    return node.parent is not None and (node.parent.kind in BLOCKS or style == "python")
