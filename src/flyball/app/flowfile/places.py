"""Record the line of each value in a text."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from json import JSONDecodeError, JSONDecoder

from flyball.regex import regex
from flyball.terms.shape import Path

MAX_DEPTH = 64
MAX_OPEN = 2 * MAX_DEPTH
MAX_VALUES = 50_000


class UnreadableError(ValueError):
    """The text is not valid in its format; `line` and `column` give the position."""

    def __init__(self, code: str, message: str, hint: str, line: int, column: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.message = f"{message} (column {column})." if column else f"{message}."
        self.hint = hint
        self.line = line


class Places:
    """The lines of a text, and the line of each value found in it so far."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines: dict[Path, int] = {}
        self._count = 0
        self._breaks = [match.start() for match in re.finditer("\n", text)]

    def line(self, offset: int) -> int:
        return bisect_right(self._breaks, offset - 1) + 1

    def column(self, offset: int) -> int:
        return offset - (self.text.rfind("\n", 0, offset) + 1) + 1

    def mark(self, path: Path, offset: int) -> None:
        """Record the position of a value; refuse too many values or too deep nesting."""
        if len(path) > MAX_DEPTH:
            raise self.too_deep(offset)
        self._count += 1
        if self._count > MAX_VALUES:
            raise self.unreadable(
                "too-large", f"There are more than {MAX_VALUES} values", "Split the file.", offset
            )
        self.lines.setdefault(path, self.line(offset))

    def reject_deep_nesting(self) -> None:
        """Refuse deep nesting, which costs parsers their stack or quadratic time."""
        depth = 0
        for bracket in re.finditer(r"[\[\]{}]", self.text):
            depth = depth + 1 if bracket[0] in "[{" else max(0, depth - 1)
            if depth > MAX_OPEN:
                raise self.too_deep(bracket.start())

    def too_deep(self, offset: int) -> UnreadableError:
        message = f"Values are nested more than {MAX_DEPTH} deep"
        return self.unreadable("too-deep", message, "Flatten it.", offset)

    def unreadable(self, code: str, message: str, hint: str, offset: int) -> UnreadableError:
        offset = min(offset, len(self.text))
        return UnreadableError(code, message, hint, self.line(offset), self.column(offset))


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
                    "A key in double quotes should be here", "Quote it, or remove an extra comma."
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
                raise self.broken("There is an extra comma before ']'", "Remove the comma.")
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


_WHERE = regex(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_BLANK = regex(r"(?:[ \t\r\n]|#[^\n]*)*")
_STRING = regex(
    r'"""(?:\\.|[^\\])*?"""+|'
    r"'''.*?'''+|"
    r'"(?:\\.|[^"\\\n])*"|'
    r"'[^'\n]*'",
    re.DOTALL,
)
_BARE = regex(r"[A-Za-z0-9_-]+")
_ATOM = regex(r"[^,\]\}\#\n]+")


def parse_toml(places: Places) -> object:
    """Return the table of a TOML text."""
    places.reject_deep_nesting()
    try:
        value = tomllib.loads(places.text)
    except tomllib.TOMLDecodeError as error:
        raise _broken(places, str(error)) from None
    except (ValueError, OverflowError):
        raise UnreadableError(
            "broken-toml", "A number or date is out of range", "Fix it.", 1
        ) from None
    places.mark((), 0)
    _Walk(places).document()
    return value


def _broken(places: Places, text: str) -> UnreadableError:
    where = _WHERE.search(text)
    message = _WHERE.sub("", text)
    code, hint = "broken-toml", "Check the quotes and `key = value`."
    if "overwrite" in message or "declare" in message or "redefine" in message:
        code, hint = "duplicate-key", "Give each key and table once."
    if where and where[1]:
        return UnreadableError(code, message, hint, int(where[1]), int(where[2]))
    return places.unreadable(code, f"{message} at the end", hint, len(places.text))


class _Walk:
    """Follows headers and keys; parses values only as far as needed to skip them."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.text = places.text
        self.at = 0
        self.counts: dict[Path, int] = {}

    def document(self) -> None:
        table: Path = ()
        while self.skip_blank() < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)

    def skip_blank(self) -> int:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def header(self) -> Path:
        start = self.at
        is_array = self.text.startswith("[[", self.at)
        self.at += 2 if is_array else 1
        names = self.key()
        self.at = self.text.index("]", self.at) + (2 if is_array else 1)
        path = self.resolve(names[:-1])
        if is_array:
            whole = (*path, names[-1])
            self.counts[whole] = self.counts.get(whole, -1) + 1
            self.places.mark(whole, start)
        here = self.resolve((*path, names[-1]), len(path))
        self.places.mark(here, start)
        return here

    def resolve(self, names: Path, done: int = 0) -> Path:
        """Return the path of a dotted name, with the current index after each array of tables."""
        path: Path = names[:done]
        for name in names[done:]:
            path = (*path, name)
            if path in self.counts:
                path = (*path, self.counts[path])
        return path

    def key(self) -> Path:
        names: list[str] = []
        while True:
            self.skip_blank()
            name = _STRING.match(self.text, self.at) or _BARE.match(self.text, self.at)
            word = name[0] if name else ""
            names.append(*tomllib.loads(f"{word} = 0"))
            self.at += len(word)
            if self.text[self.skip_blank()] != ".":
                return tuple(names)
            self.at += 1

    def pair(self, table: Path) -> None:
        self.skip_blank()
        start = self.at
        path = (*table, *self.key())
        for length in range(len(table) + 1, len(path) + 1):
            self.places.mark(path[:length], start)
        self.at = self.text.index("=", self.at) + 1
        self.value(path)

    def value(self, path: Path) -> None:
        self.skip_blank()
        self.places.mark(path, self.at)
        match self.text[self.at]:
            case "[":
                self.items(path, "]")
            case "{":
                self.items(path, "}")
            case _:
                match = _STRING.match(self.text, self.at) or _ATOM.match(self.text, self.at)
                self.at = match.end() if match else self.at + 1

    def items(self, path: Path, close: str) -> None:
        """Read the values of an array, or the pairs of an inline table."""
        self.at += 1
        index = 0
        while self.text[self.skip_blank()] != close:
            if self.text[self.at] == ",":
                self.at += 1
            elif close == "]":
                self.value((*path, index))
                index += 1
            else:
                self.pair(path)
        self.at += 1
