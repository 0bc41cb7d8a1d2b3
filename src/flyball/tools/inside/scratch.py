"""Candidates on trial in processes that have loaded nothing of the project yet.

Slower, but it works for tests that cannot even be loaded, and for changes that cannot be swapped.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import time
from collections.abc import Callable
from typing import Any

from flyball.tools.inside.child import Children, Job
from flyball.tools.inside.orders import Orders, Proposal, run_one
from flyball.tools.inside.suites import PASS, SKIP, Suite, open_suite
from flyball.tools.inside.swapping import Edit, edited

WALL = 60.0
CPU = 3.0


def try_from_scratch(orders: Orders, candidates: list[Proposal]) -> None:
    """Try candidates in order, until enough of them hold."""
    if orders.runner == "pytest" and candidates:
        importlib.import_module("pytest")
    found: list[float] = []

    def answer(n: int, said: list[Any]) -> None:
        end = said[0] if said else {"end": "crash"}
        if end["end"] == "hold":
            found.append(time.monotonic())
        orders.say(n=n, **end)

    def is_over() -> bool:
        is_late = bool(found) and time.monotonic() > found[0] + orders.patience
        return orders.is_over or is_late or len(found) >= orders.enough

    jobs = (Job(each.n, lambda each=each: [_judge(orders, each)], WALL) for each in candidates)
    Children(orders.width, answer).run_all(jobs, is_over)


def _judge(orders: Orders, each: Proposal) -> dict[str, Any]:
    _replace(os.path.join(orders.root, each.path), each)
    return {"end": "hold" if _passes(orders) else "fail"}


def _passes(orders: Orders) -> bool:
    """Whether everything can be loaded and every test passes, the failing ones first."""
    ends: list[str] = []

    def use(suite: Suite) -> None:
        if suite.broken:
            return
        known = set(suite.names)
        first = [name for name in orders.failing if name in known]
        for name in dict.fromkeys([*first, *suite.names]):
            ends.append(run_one(suite, name, CPU)["end"])
            if ends[-1] not in (PASS, SKIP):
                return

    open_suite(orders.runner, orders.args, use)
    return PASS in ends and all(end in (PASS, SKIP) for end in ends)


def _replace(path: str, each: Proposal) -> None:
    """Let a file be imported as if it had been changed."""
    real = os.path.realpath(path)
    with open(real, "rb") as file:
        data = edited(file.read(), [Edit(*edit) for edit in each.edits])
    loader: Any = importlib.machinery.SourceFileLoader
    plain: Callable[..., Any] = loader.get_code

    def get_code(self: Any, name: str) -> Any:
        if os.path.realpath(self.get_filename(name)) != real:
            return plain(self, name)
        return compile(data, real, "exec", dont_inherit=True)

    loader.get_code = get_code
