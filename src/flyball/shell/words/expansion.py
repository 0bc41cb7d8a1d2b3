"""Expand `${name…}` to the possible values of a name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flyball.shell.words.pattern import Pattern
from flyball.shell.words.place import WILD

_SLICE = Pattern(r":\s*(\d+|\s-\d+|\(-\d+\))\s*(?::\s*(-?\d+)\s*)?")
_REPLACE = Pattern(r"/([/#%]?)((?:[^/\\]|\\.)+)(?:/(.*))?", re.S)
MAX_CUT = 60


def changed(held: Sequence[str], how: str) -> Sequence[str]:
    """Return the texts after applying the operator and its argument; none if it is not supported.

    Operators that only change letter case leave the text as it is.
    """
    if how == "" or how[0] in ",^~?" or how[:2] == ":?":
        return held
    if match := re.fullmatch(r":?[-=+](.*)", how, re.S):
        return [*held, _plain(match[1])]
    if not any(text.strip("*") for text in held):
        return ["*"]
    if how[0] in "%#":
        return [left for text in held for left in _cut(text, how)]
    if match := _SLICE.fullmatch(how):
        return [_sliced(text, match[1], match[2]) for text in held]
    if (match := _REPLACE.fullmatch(how)) and not WILD.search(match[2]):
        old, new = _plain(match[2]), _plain(match[3] or "")
        return [text.replace(old, new, -1 if match[1] == "/" else 1) for text in held]
    return []


def _plain(argument: str) -> str:
    """Return an argument without its quotes; a gap if it contains an expansion."""
    return "*" if re.search(r"[$`]", argument) else re.sub(r"['\"\\]", "", argument)


def _cut(text: str, how: str) -> list[str]:
    """Return the rest of a text, or all possible rests, after a pattern is removed."""
    ends = how[0] == "%"
    cut = _plain(how.lstrip(how[0]))
    if not WILD.search(cut):
        return [text.removesuffix(cut) if ends else text.removeprefix(cut)]
    if len(text) > MAX_CUT:
        return []
    return [text[:i] if ends else text[i:] for i in range(len(text) + 1)]


def _sliced(text: str, start: str, size: str | None) -> str:
    at = int(start.strip("( )"))
    rest = text[at:]
    if size is None:
        return rest
    return rest[: int(size)]
