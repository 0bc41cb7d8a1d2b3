"""Which cases of many are tried by `make test`; the others wait for `make test-slow`."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

T = TypeVar("T")


def sampled(cases: Iterable[T], every: int, name: Callable[[T], str] = str) -> list[ParameterSet]:
    """All cases as parameters; the first and each `every`-th after it are not exhaustive."""
    return [_case(each, name(each), n % every == 0) for n, each in enumerate(cases)]


def named(cases: Mapping[str, T], every: int) -> list[ParameterSet]:
    """Like `sampled`, for cases that have names."""
    return [_case(each, name, n % every == 0) for n, (name, each) in enumerate(cases.items())]


def one_of_each(
    cases: Iterable[T], kind: Callable[[T], Hashable], name: Callable[[T], str] = str
) -> list[ParameterSet]:
    """All cases as parameters; all but the first of each kind are exhaustive."""
    met: set[Hashable] = set()
    found: list[ParameterSet] = []
    for each in cases:
        found.append(_case(each, name(each), kind(each) not in met))
        met.add(kind(each))
    return found


def _case(value: object, name: str, is_sample: bool) -> ParameterSet:
    return pytest.param(value, id=name, marks=() if is_sample else pytest.mark.exhaustive)
