"""Regular expressions that are compiled when first used.

A hook is a new process for every call and needs few of them; compiling all would take most of its
start-up time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


def is_open(text: str) -> bool:
    """Return whether a regular expression of sed or awk ends inside brackets.

    Inside brackets they contain a delimiter, and programs differ on whether that ends the
    expression.
    """
    brackets = r"\\.|\[\^?\]?(?:\[[:.=].*?[:.=]\]|[^\]])*\]"
    return "[" in re.sub(brackets, "", text, flags=re.S)


class Pattern(NamedTuple):
    """The text of a regular expression, with its matching functions."""

    text: str
    flags: int = 0

    def fullmatch(self, string: str) -> re.Match[str] | None:
        """Return the match of the whole string."""
        return re.compile(self.text, self.flags).fullmatch(string)

    def match(self, string: str, at: int = 0) -> re.Match[str] | None:
        """Return the match that starts at an index."""
        return re.compile(self.text, self.flags).match(string, at)

    def search(self, string: str, at: int = 0) -> re.Match[str] | None:
        """Return the first match from an index on."""
        return re.compile(self.text, self.flags).search(string, at)

    def every(self, string: str) -> Iterator[re.Match[str]]:
        """Yield all matches, in order."""
        return re.compile(self.text, self.flags).finditer(string)

    def split(self, string: str) -> list[str]:
        """Return the pieces between matches, including groups."""
        return re.compile(self.text, self.flags).split(string)
