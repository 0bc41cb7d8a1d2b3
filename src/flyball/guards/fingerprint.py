"""Fingerprints of errors and outcomes, which are equal for two runs of the same failure."""

from __future__ import annotations

import re

from flyball.regex import regex
from flyball.terms.call import digest

ERROR_LINE = regex(
    r"error|exception|fail|fatal|panic|assert|traceback|undefined|cannot|denied|not found|no such"
    r"|unexpected|invalid|expected|missing|refused|timed? ?out",
    re.IGNORECASE,
)
FRAME_LINE = regex(r'^\s*(?:File ".*", line \d+|at .+\(.*:\d+(?::\d+)?\)$)|^Traceback \(')
ERROR_LINES_KEPT = 20

# What varies between two runs of the same failure, most specific first.
VARYING = tuple(
    (regex(pattern), plain)
    for pattern, plain in (
        (r"\x1b\[[0-9;?]*[A-Za-z]", ""),
        (r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?", "T"),
        (r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b", "T"),
        (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "H"),
        (r"\b0x[0-9a-fA-F]+\b", "H"),
        (r"(?:/private)?(?:/var/folders|/var/tmp|/tmp|/dev/shm)/[^\s'\":,;)\]]+", "P"),
        (r"\b[A-Za-z]:\\(?:[^\s\\'\":,;)\]]+\\)*[Tt]e?mp\\[^\s'\":,;)\]]+", "P"),
        (r"(?:[A-Za-z]:)?(?:[\w.@~+-]*[/\\])+(?=[\w.@+-])", ""),
        (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,}\b", "H"),
        (r"\d+(?:[.,]\d+)*", "N"),
        (r"[=_*-]{4,}", "-"),
        (r"\s+", " "),
    )
)


def fingerprint(text: str) -> str:
    """Return a digest of an error that survives new numbers, addresses, times and paths."""
    return digest(plain_error(text))


def plain_error(text: str) -> str:
    """Return the lines of a text that name the error, without what varies from run to run."""
    lines = [line for line in text.split("\n") if line.strip() and not FRAME_LINE.match(line)]
    telling = [line for line in lines if ERROR_LINE.search(line)] or lines[-5:]
    return "\n".join(dict.fromkeys(map(_plain, telling[:ERROR_LINES_KEPT])))


def _plain(line: str) -> str:
    for pattern, plain in VARYING:
        line = pattern.sub(plain, line)
    return line.strip()


_PASSING = tuple(
    (regex(pattern), plain)
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


def without_volatile_parts(text: str) -> str:
    """Return a text without differences in times, durations, addresses and temporary paths."""
    for pattern, plain in _PASSING:
        text = pattern.sub(plain, text)
    return text
