"""What makes two outcomes the same: the text without what differs from run to run."""

from __future__ import annotations

import re

_PASSING = tuple(
    (re.compile(pattern), plain)
    for pattern, plain in (
        (r"\x1b\[[0-9;?]*[ -/]*[@-~]", ""),
        (
            r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?",
            "<time>",
        ),
        (r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b", "<time>"),
        (
            r"(?<![\w.])\d+(?:[.,]\d+)?\s?(?:ns|µs|us|ms|s|secs?|seconds?|m|mins?|minutes?)\b",
            "<time>",
        ),
        (r'(?i)("?(?:time|duration|elapsed)\w*"?\s*[:=]\s*"?)\d+(?:\.\d+)?', r"\1<time>"),
        (r"\b0x[0-9a-fA-F]{4,}\b", "<address>"),
        (r"(?:/private)?(?:/var/folders|/var/tmp|/tmp|/dev/shm)/[^\s'\":,;)\]]+", "<temporary>"),
        (r"\b(pid|PID|process)([ =:]+)\d+\b", r"\1\2<pid>"),
    )
)


def steady(text: str) -> str:
    """A text in which times, durations, addresses and temporary paths no longer differ."""
    for pattern, plain in _PASSING:
        text = pattern.sub(plain, text)
    return text
