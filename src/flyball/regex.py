"""Regular expressions that are compiled on first use.

There are several hundred, and a process uses a few: compiling all of them at import took a quarter
of the start time of every command and of every hook that decides by itself.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern like `re.compile`; an error in it is raised on first use."""
    return cast("re.Pattern[AnyStr]", _LatePattern(text, flags))


class _LatePattern:
    """A proxy for a pattern until its first use."""

    def __init__(self, text: Any, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        # Called only for missing attributes: afterwards the pattern's own methods are used
        # directly.
        pattern: re.Pattern[Any] = re.compile(*self._given)
        for each in _ANSWERED:
            setattr(self, each, getattr(pattern, each))
        return getattr(pattern, name)


_ANSWERED = (
    "search",
    "match",
    "fullmatch",
    "finditer",
    "findall",
    "sub",
    "subn",
    "split",
    "pattern",
    "flags",
    "groups",
    "groupindex",
)
