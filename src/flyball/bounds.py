"""How large and how deeply nested what others send us may be, looked at before it is parsed."""

from __future__ import annotations

from itertools import accumulate

from flyball.regex import regex

DEEPEST = 200
"""Levels of arrays, objects or elements; what hosts, clients and runners send has under 50."""

_STRING = regex(rb'(?s)"[^"\\]*+(?:\\.[^"\\]*+)*+"?')
_LEVELS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_OTHERS = bytes(set(range(256)) - set(b"[{]}"))


def is_nested_too_deeply(data: bytes, deepest: int = DEEPEST) -> bool:
    """Return whether JSON has more levels than may be parsed; brackets in strings do not count."""
    # Few brackets cannot be deep: then nothing has to be looked at one by one.
    if data.count(b"[") + data.count(b"{") <= deepest:
        return False
    steps = memoryview(_STRING.sub(b"", data).translate(_LEVELS, _OTHERS)).cast("b")
    return max(accumulate(steps), default=0) > deepest
