"""Parse TOML with the standard library, with the line of every value.

The library keeps no positions, so a second, lenient pass over the valid text finds them.
"""

from __future__ import annotations

import re
import tomllib

from flyball.app.flowfile.places import Places, UnreadableError
from flyball.core.terms.shape import Path
from flyball.regex import regex

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
            "broken-toml", "A number or date is out of range", "Mend it.", 1
        ) from None
    places.mark((), 0)
    _Walk(places).document()
    return value


def _broken(places: Places, text: str) -> UnreadableError:
    where = _WHERE.search(text)
    message = _WHERE.sub("", text)
    code, hint = "broken-toml", "Mind the quotes and `key = value`."
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
