"""JSON as people and models write it: fenced or not, with comments, with a comma too many.

Only what can mean one thing alone is taken. What is still no JSON is named by line and column of
the block it stands in, so that whoever wrote it can mend it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

FENCED = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
OPEN_FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[^\n]*\n", re.MULTILINE)

_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|(?<![^\s,\[{])#[^\n]*|,(?=\s*[\]}])', re.DOTALL
)


def json_blocks(text: str) -> Iterator[str]:
    """What may be JSON in an answer, the likeliest first: the last fence, all of it, the braces."""
    blocks = [match[2] for match in FENCED.finditer(text)]
    yield from reversed(blocks)
    yield text
    # A fence that is never closed, as where a reply was cut off or simply ends.
    if opened := [*OPEN_FENCE.finditer(text)]:
        yield text[opened[-1].end() :]
    for first, last in ("{}", "[]"):
        start, end = text.find(first), text.rfind(last)
        if 0 <= start < end:
            yield text[start : end + 1]


def loads(text: str) -> object | None:
    """The value of a block, or None where it is no JSON even when read kindly."""
    for form in (text, _tidied(text)):
        try:
            return json.loads(form)
        except (ValueError, RecursionError):
            continue
    return None


def json_fault(text: str) -> str:
    """Why the likeliest block of an answer is no JSON, with line and column; empty without one."""
    for block in json_blocks(text):
        if not block.lstrip().startswith(("{", "[")):
            continue
        try:
            json.loads(_tidied(block))
        except json.JSONDecodeError as error:
            line = block.split("\n")[error.lineno - 1].strip()
            return f"line {error.lineno}, column {error.colno}: {error.msg}, at `{line[:60]}`."
        except (ValueError, RecursionError):
            return "its numbers or its nesting are beyond measure."
    return ""


def _tidied(text: str) -> str:
    """Without comments and without commas before a closing bracket; lines stay where they are."""
    plain = _TOKEN.sub(_kept, text)
    # A comment may have stood between a comma and its bracket.
    return _TOKEN.sub(_kept, plain)


def _kept(match: re.Match[str]) -> str:
    found = match[0]
    return found if found.startswith('"') else "\n" * found.count("\n")
