"""Regular expressions that are compiled when they are first used.

There are some hundreds of them, and a process uses a few: to compile all when their modules are
loaded was a quarter of what every command, and every hook that decides by itself, took to start.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def regex(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """A pattern like that of `re.compile`; what is wrong with it is raised by its first use."""
    return cast("re.Pattern[AnyStr]", _LatePattern(text, flags))


class _LatePattern:
    """Stands for a pattern until somebody asks it for something."""

    def __init__(self, text: Any, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:
        # Asked only for what is not there yet: from then on all is answered by the pattern itself.
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
