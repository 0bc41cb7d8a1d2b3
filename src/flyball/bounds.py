"""Limits on the size and nesting of input, checked before it is parsed."""

from __future__ import annotations

from itertools import accumulate

from flyball.regex import regex

DEEPEST = 200
"""Maximum nesting of arrays, objects or elements; hosts, clients and runners send less than 50."""

_STRING = regex(rb'(?s)"[^"\\]*+(?:\\.[^"\\]*+)*+"?')
_LEVELS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_OTHERS = bytes(set(range(256)) - set(b"[{]}"))


def is_nested_too_deeply(data: bytes, deepest: int = DEEPEST) -> bool:
    """Return whether JSON is nested deeper than allowed; brackets in strings do not count."""
    # Few brackets cannot be deeply nested, so no scan is needed.
    if data.count(b"[") + data.count(b"{") <= deepest:
        return False
    steps = memoryview(_STRING.sub(b"", data).translate(_LEVELS, _OTHERS)).cast("b")
    return max(accumulate(steps), default=0) > deepest
