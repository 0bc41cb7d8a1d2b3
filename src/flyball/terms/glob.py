"""Match paths against patterns: `*` stays inside a directory, `**` crosses directories."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache


def matches(path: str, patterns: Iterable[str]) -> bool:
    """Return whether any pattern names the path or a folder that contains it."""
    clean = path.removeprefix("./").strip("/")
    return any(_compiled(pattern).fullmatch(clean) for pattern in patterns)


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    body = ""
    for part in re.split(r"(\*\*/|\*\*|\*|\?)", pattern.removeprefix("./").strip("/")):
        match part:
            case "**/":
                body += r"(?:.*/)?"
            case "**":
                body += r".*"
            case "*":
                body += r"[^/]*"
            case "?":
                body += r"[^/]"
            case _:
                # Brackets too: in many projects they are part of a folder's name.
                body += re.escape(part)
    return re.compile(rf"{body}(?:/.*)?", re.DOTALL)
