"""Parse JSON with comments as in settings files, with the position of every value.

This parser is handwritten because every byte that is not ours must stay: other parsers drop
positions, comments and commas, and a file printed from values is not the file that its owner wrote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from flyball.errors import BrokenSettings
from flyball.regex import regex

BOM = "\ufeff"
_SPACE = regex(r"[ \t\r\n]*")
_NUMBER = regex(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![0-9A-Za-z_.+-])")
_WORD = regex(r"[A-Za-z_$][A-Za-z0-9_$]*")
_WORDS: dict[str, object] = {"true": True, "false": False, "null": None}
_LINE_COMMENT = regex(r"//[^\r\n]*")
_BLOCK_COMMENT = regex(r"/\*.*?\*/", re.DOTALL)
_STRINGS = json.JSONDecoder()
_MAX_DEPTH = 100
_MAX_DIGITS = 100


class JsonPart(NamedTuple):
    """An element of a container: a member with its key, or an item; `comma` is -1 if none."""

    key: str | None
    start: int
    node: JsonNode
    comma: int

    @property
    def end(self) -> int:
        return self.node.end


class JsonNode(NamedTuple):
    """A value, its position, and its children."""

    start: int
    end: int
    value: object
    parts: tuple[JsonPart, ...] = ()

    def last(self, key: str) -> JsonPart | None:
        """Return the effective member of a key: of duplicates, readers take the last."""
        found = [part for part in self.parts if part.key == key]
        return found[-1] if found else None


class NonStandardJson(NamedTuple):
    """A deviation from strict JSON: a comment, a trailing comma, a duplicate key."""

    kind: str
    start: int
    end: int


class JsonText(NamedTuple):
    """A text and its one value; None if it has only whitespace and comments."""

    text: str
    root: JsonNode | None
    oddities: tuple[NonStandardJson, ...]

    @property
    def value(self) -> object:
        return self.root.value if self.root else None

    def comments(self, start: int = 0, end: int | None = None) -> Iterator[NonStandardJson]:
        """Yield the comments that begin in a range of the text."""
        stop = len(self.text) if end is None else end
        for each in self.oddities:
            if each.kind in (LINE_COMMENT, BLOCK_COMMENT) and start <= each.start < stop:
                yield each


LINE_COMMENT = "a line comment"
BLOCK_COMMENT = "a comment"
TRAILING_COMMA = "a comma before the closing bracket"
DOUBLE_KEY = "a key that is given twice"
BYTE_ORDER_MARK = "a byte order mark"


def scan(text: str, path: str) -> JsonText:
    """Parse a settings text; report an error with its file, line and column."""
    scanner = _Scanner(text, path)
    root = scanner.document()
    return JsonText(text, root, tuple(sorted(scanner.oddities, key=lambda each: each.start)))


def place(text: str, offset: int) -> str:
    """Return `line:column` of an offset, both counted from one, as editors do."""
    line = text.count("\n", 0, offset) + 1
    return f"{line}:{offset - text.rfind(chr(10), 0, offset)}"


class _Scanner:
    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self.at = 0
        self.depth = 0
        self.oddities: list[NonStandardJson] = []

    def broken(self, what: str, at: int | None = None) -> BrokenSettings:
        where = place(self.text, self.at if at is None else at)
        return BrokenSettings(self.path, where, what)

    def document(self) -> JsonNode | None:
        if self.text.startswith(BOM):
            self.oddities.append(NonStandardJson(BYTE_ORDER_MARK, 0, 1))
            self.at = 1
        if not self.peek():
            return None
        root = self.value()
        if self.peek():
            raise self.broken("something follows the end of the value")
        return root

    def peek(self) -> str:
        """Return the next significant character; record comments on the way."""
        while True:
            space = _SPACE.match(self.text, self.at)
            self.at = space.end() if space else self.at
            if self.text.startswith("//", self.at):
                self.comment(LINE_COMMENT, _LINE_COMMENT)
            elif self.text.startswith("/*", self.at):
                self.comment(BLOCK_COMMENT, _BLOCK_COMMENT)
            else:
                return self.text[self.at : self.at + 1]

    def comment(self, kind: str, form: re.Pattern[str]) -> None:
        found = form.match(self.text, self.at)
        if found is None:
            raise self.broken("a comment is never closed")
        self.oddities.append(NonStandardJson(kind, self.at, found.end()))
        self.at = found.end()

    def value(self) -> JsonNode:
        start = self.peek()
        match start:
            case "{" | "[":
                return self.container("}" if start == "{" else "]")
            case '"':
                at, text = self.at, self.string()
                return JsonNode(at, self.at, text)
            case "":
                raise self.broken("the text ends where a value should be")
            case _:
                return self.plain()

    def container(self, close: str) -> JsonNode:
        start, parts = self.at, list[JsonPart]()
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise self.broken(f"values are nested more than {_MAX_DEPTH} deep")
        self.at += 1
        while self.peek() != close:
            if parts and parts[-1].comma < 0:
                raise self.broken(f"a comma or {close!r} should be here")
            parts.append(self.part(is_member=close == "}"))
        if parts and parts[-1].comma >= 0:
            comma = parts[-1].comma
            self.oddities.append(NonStandardJson(TRAILING_COMMA, comma, comma + 1))
        self.at += 1
        self.depth -= 1
        values = [part.node.value for part in parts]
        if close == "]":
            return JsonNode(start, self.at, values, tuple(parts))
        return JsonNode(start, self.at, self.members(parts), tuple(parts))

    def members(self, parts: list[JsonPart]) -> dict[str, object]:
        found: dict[str, object] = {}
        for part in parts:
            if str(part.key) in found:
                self.oddities.append(NonStandardJson(DOUBLE_KEY, part.start, part.end))
            found[str(part.key)] = part.node.value
        return found

    def part(self, *, is_member: bool) -> JsonPart:
        start, key = self.at, None
        if is_member:
            if self.peek() != '"':
                raise self.broken("a key in double quotes should be here")
            key = self.string()
            if self.peek() != ":":
                raise self.broken(f"a colon should follow the key {key!r}")
            self.at += 1
        elif self.peek() == ",":
            raise self.broken("there is an extra comma")
        node = self.value()
        comma = self.at if self.peek() == "," else -1
        self.at += comma >= 0
        return JsonPart(key, start, node, comma)

    def string(self) -> str:
        try:
            text, self.at = _STRINGS.raw_decode(self.text, self.at)
        except json.JSONDecodeError as error:
            what = error.msg.removesuffix(" at").lower()
            raise self.broken(what, min(error.pos, len(self.text))) from None
        return str(text)

    def plain(self) -> JsonNode:
        start = self.at
        if number := _NUMBER.match(self.text, start):
            self.at = number.end()
            # Longer numbers are no real settings, and converting them to int can take very long.
            is_short = len(number[0]) <= _MAX_DIGITS
            return JsonNode(start, self.at, json.loads(number[0]) if is_short else number[0])
        word = _WORD.match(self.text, start)
        if word and word[0] in _WORDS:
            self.at = word.end()
            return JsonNode(start, self.at, _WORDS[word[0]])
        raise self.broken(f"{word[0] if word else self.text[start]!r} is not a JSON value")
