"""Where the parts of formatted strings stand; before Python 3.12 the tree does not tell."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from flyball.regex import regex

_HEAD = regex(r"(?i)(?:f|fr|rf)(\"\"\"|'''|\"|')")
_PAIRS = {"(": ")", "[": "]", "{": "}"}


class Field(NamedTuple):
    """One `{…}` of a formatted string: its expression and what follows the colon, by place."""

    start: int
    end: int
    form: tuple[int, int] | None


def fields_of(text: str) -> list[Field] | None:
    """The fields of one formatted string, or nothing where it is several, or too intricate."""
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
    """The first of some characters outside brackets and quotes; `!=` and `==` are none."""
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
    """Give the expressions in a formatted string their places; those without are left out."""
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
    """A field's place in bytes of the whole file."""

    def at(place: int) -> int:
        return by + len(text[:place].encode("utf-8"))

    form = (at(field.form[0]), at(field.form[1])) if field.form else None
    return Field(at(field.start), at(field.end), form)


def _place_nodes(node: ast.expr, text: str, line: int, column: int) -> bool:
    """Move a tree's nodes to where its text stands, which begins at a column."""
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
