"""Candidates on trial in processes that have loaded nothing of the project yet.

Slower, but it works for tests that cannot even be loaded, and for changes that cannot be swapped.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from flyball.tools.repair.inside.hot_swap import Edit, apply_edits
from flyball.tools.repair.inside.job import SLOWEST_CPU, Orders, Proposal, run_one
from flyball.tools.repair.inside.suites import PASS, SKIP, Suite, open_suite
from flyball.tools.repair.inside.workers import Children, Job

if TYPE_CHECKING:
    from flyball.tools.repair.inside.workers import Say

WALL = 60.0
CPU = 3.0


def try_from_scratch(orders: Orders, candidates: list[Proposal]) -> None:
    """Try candidates in order, until enough of them hold."""
    # Imported once, before the forks: it takes longer to load than most suites take to run.
    if orders.runner == "pytest" and candidates:
        importlib.import_module("pytest")
    found: list[float] = []

    def answer(n: int, said: list[Any], is_late: bool) -> None:
        end = said[0] if said else {"end": "time" if is_late else "crash"}
        if end["end"] == "hold":
            found.append(orders.spent)
        orders.note(n, **end)

    def is_over() -> bool:
        is_late = bool(found) and orders.is_past(found[0] + orders.patience)
        return orders.is_over or is_late or len(found) >= orders.enough

    jobs = (
        Job(each.n, partial(_judge_candidate, orders, each), orders.wall(WALL))
        for each in candidates
    )
    Children(orders.width, answer).run_all(jobs, is_over)


def _judge_candidate(orders: Orders, each: Proposal, say: Say) -> None:
    _replace_on_import(os.path.join(orders.root, each.path), each)
    # Files that could not be loaded are tried alone first: most candidates fail there, without a
    # run of everything.
    files = [name for name in orders.broken if orders.runner == "pytest" and os.path.isfile(name)]
    holds = (not files or _passes(orders, files)) and _passes(orders, [])
    say({"end": "hold" if holds else "fail"})


def _passes(orders: Orders, files: list[str]) -> bool:
    """Whether everything can be loaded and every test passes, the failing ones first."""
    ends: list[str] = []

    def use(suite: Suite) -> None:
        if suite.broken:
            return
        known = set(suite.names)
        first = [name for name in orders.failing if name in known]
        names = list(dict.fromkeys([*first, *suite.names]))
        for name, following in zip(names, [*names[1:], ""]):  # noqa: B905
            is_slow = name in orders.slow
            end = run_one(suite, name, SLOWEST_CPU if is_slow else CPU, following)["end"]
            if is_slow and end == "time":
                continue  # as before, nobody knows how it ends
            ends.append(end)
            if end not in (PASS, SKIP):
                return

    open_suite(orders.runner, [*orders.args, *files], use)
    return PASS in ends and all(end in (PASS, SKIP) for end in ends)


def _replace_on_import(path: str, each: Proposal) -> None:
    """Let a file be imported as if it had been changed."""
    real = os.path.realpath(path)
    with open(real, "rb") as file:
        data = apply_edits(file.read(), [Edit(*edit) for edit in each.edits])
    loader: Any = importlib.machinery.SourceFileLoader
    plain: Callable[..., Any] = loader.get_code

    def get_code(self: Any, name: str) -> Any:
        if os.path.realpath(self.get_filename(name)) != real:
            return plain(self, name)
        return compile(data, real, "exec", dont_inherit=True)

    # By the loader and not by writing the file: several candidates are tried at a time in one copy,
    # and bytecode that is cached on disk must not come into it.
    loader.get_code = get_code
