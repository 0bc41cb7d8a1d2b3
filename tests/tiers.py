"""Which cases of many are tried by `make test`; the others wait for `make test-slow`."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar

import pytest

from flyball.tools.pages.browser import can_browse
from flyball.workspace.process.levels import Mechanism, best_mechanism
from flyball.workspace.servers.network import can_serve

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

T = TypeVar("T")

IN_CI = bool(os.environ.get("CI"))
NEEDS_SERVERS = pytest.mark.skipif(
    not can_serve(), reason="SERVER TESTS DID NOT RUN: the kernel gives no network namespace here"
)
NEEDS_SANDBOX = pytest.mark.skipif(
    best_mechanism() is Mechanism.NONE,
    reason="CONFINED CALLS WERE NOT TRIED: no sandbox works here",
)
NEEDS_PAGES = pytest.mark.skipif(
    not can_serve() or not (IN_CI or can_browse(os.environ)),
    reason="PAGE TESTS DID NOT RUN: Chromium, Playwright or a network namespace is missing",
)
"""Skipped loudly; where CI lacks what can be installed, such a test runs, and fails."""


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
