"""What running code leaves behind in its modules: caches that filled, lists that grew.

Sizes and plain values only: comparing contents would take longer than the tests, and would call the
project's own `__eq__`.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, cast

CONTAINERS = (dict, list, set, bytearray)
PLAIN = (int, float, str, bool, type(None))


def measure_state(modules: list[Any]) -> list[Any]:
    """The measurable state of modules, of their classes and of their functions' defaults."""
    found: list[Any] = []
    for module in modules:
        name = getattr(module, "__name__", "")
        for value in _values(module):
            found.append(_measure(value))
            owner = value if isinstance(value, type) else type(value)
            if owner.__module__ == name:
                found += [_measure(each) for each in _values(value)]
    return found


def _values(owner: Any) -> list[Any]:
    return list(cast("dict[str, Any]", getattr(owner, "__dict__", {})).values())


def _measure(value: Any) -> Any:
    if isinstance(value, CONTAINERS):
        return _length(value)
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, FunctionType):
        return [_length(each) for each in value.__defaults__ or () if isinstance(each, CONTAINERS)]
    # Asked of the type: an object that makes up attributes as they are asked for would answer
    # anything.
    info = getattr(cast(Any, type(value)), "cache_info", None)
    return info(value).currsize if info else None


def _length(value: Any) -> int:
    return len(value)
