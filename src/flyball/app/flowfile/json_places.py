"""Parse strict JSON, with the line of every value."""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder

from flyball.app.flowfile.places import Places, UnreadableError
from flyball.core.terms.shape import Path
from flyball.regex import regex

_SPACE = regex(r"[ \t\n\r]*")
_NUMBER = regex(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?(?![0-9A-Za-z_.+-])")
_WORDS = {"true": True, "false": False, "null": None}
_WORD = regex(r"[A-Za-z_][A-Za-z0-9_]*")
_MAX_DIGITS = 100
_DECODER = JSONDecoder()


def parse_json(places: Places) -> object:
    """Return the one value of a JSON text."""
    scan = _Scanner(places)
    value = scan.value(())
    scan.skip()
    if scan.at < len(places.text):
        raise scan.broken("There is something after the end of the value", "Remove it.")
    return value


class _Scanner:
    """A recursive-descent parser; `Places.mark` limits its depth."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.text = places.text
        self.at = 0

    def broken(self, message: str, hint: str, offset: int | None = None) -> UnreadableError:
        where = self.at if offset is None else offset
        return self.places.unreadable("broken-json", message, hint, where)

    def skip(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        if self.text.startswith(("//", "/*", "#"), self.at):
            raise self.broken("JSON has no comments", "Remove the comment, or use YAML or TOML.")

    def peek(self) -> str:
        self.skip()
        return self.text[self.at : self.at + 1]

    def value(self, path: Path) -> object:
        start = self.peek()
        self.places.mark(path, self.at)
        match start:
            case "{":
                return self.map(path)
            case "[":
                return self.list(path)
            case '"':
                return self.string()
            case "":
                raise self.broken("The text ends where a value should be", "Complete it.")
            case _:
                return self.plain()

    def map(self, path: Path) -> dict[str, object]:
        result: dict[str, object] = {}
        self.at += 1
        if self.peek() == "}":
            self.at += 1
            return result
        while True:
            if self.peek() != '"':
                raise self.broken(
                    "A key in double quotes should be here", "Quote it; mind a comma too many."
                )
            offset = self.at
            key = self.string()
            if key in result:
                message = f"The key {key!r} is given twice"
                raise self.places.unreadable("duplicate-key", message, "Remove one.", offset)
            self.places.mark((*path, key), offset)
            if self.peek() != ":":
                raise self.broken(f"A colon should follow the key {key!r}", "Add the colon.")
            self.at += 1
            result[key] = self.value((*path, key))
            if self.is_last("}"):
                return result

    def list(self, path: Path) -> list[object]:
        result: list[object] = []
        self.at += 1
        if self.peek() == "]":
            self.at += 1
            return result
        while True:
            if self.peek() == "]":
                raise self.broken("There is a comma too many before ']'", "Remove the comma.")
            result.append(self.value((*path, len(result))))
            if self.is_last("]"):
                return result

    def is_last(self, close: str) -> bool:
        sign = self.peek()
        if sign not in (",", close) or not sign:
            raise self.broken(f"A comma or {close!r} should be here", f"Add a comma or {close!r}.")
        self.at += 1
        return sign == close

    def string(self) -> str:
        try:
            text, self.at = _DECODER.raw_decode(self.text, self.at)
        except JSONDecodeError as error:
            hint = "Close the quotes; write a line break as \\n and a backslash as \\\\."
            raise self.broken(error.msg.removesuffix(" at"), hint, error.pos) from None
        return str(text)

    def plain(self) -> object:
        if number := _NUMBER.match(self.text, self.at):
            self.at = number.end()
            return self.number(number)
        word = _WORD.match(self.text, self.at)
        if word and word[0] in _WORDS:
            self.at = word.end()
            return _WORDS[word[0]]
        shown = word[0] if word else self.text[self.at]
        raise self.broken(f"{shown!r} is not a JSON value", "Put text in double quotes.")

    def number(self, found: re.Match[str]) -> float:
        if len(found[0]) > _MAX_DIGITS:
            raise self.broken("The number is too long", "Write a smaller one.", found.start())
        return float(found[0]) if found[1] or found[2] else int(found[0])
