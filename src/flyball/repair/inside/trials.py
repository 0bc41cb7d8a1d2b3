"""Try candidates on the tests: in forked children of a warm process, or each in a fresh one."""

from __future__ import annotations

import importlib
import importlib.machinery
import os
import re
import resource
from collections import deque
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from flyball.repair.inside.hot_swap import Edit, LiveFile, Unswappable, apply_edits, undo
from flyball.repair.inside.suites import (
    PASS,
    SKIP,
    SLOWEST_CPU,
    Orders,
    Proposal,
    Suite,
    open_suite,
    order_by_nearness,
    run_one,
)
from flyball.repair.inside.workers import Children, Job

# Sizes and plain values only: comparing contents would take longer than the tests, and would call
# the project's own `__eq__`.

CONTAINERS = (dict, list, set, bytearray)
PLAIN = (int, float, str, bool, type(None))


def measure_state(modules: list[Any]) -> list[Any]:
    """Measure the state of modules, of their classes and of their functions' defaults."""
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


# Slower, but it works for tests that cannot even be loaded, and for changes that cannot be swapped.

if TYPE_CHECKING:
    from flyball.repair.inside.workers import Say

WALL = 60.0
CPU = 3.0


def try_from_scratch(orders: Orders, candidates: list[Proposal]) -> None:
    """Try candidates in order, each in a fresh process, until enough of them pass."""
    # Imported once, before the forks: it takes longer to load than most suites take to run.
    if orders.runner == "pytest" and candidates:
        importlib.import_module("pytest")
    found: list[float] = []

    def answer(n: int, answers: list[Any], is_late: bool) -> None:
        end = answers[0] if answers else {"end": "time" if is_late else "crash"}
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
    """Return whether everything can be loaded and every test passes, starting with the failing
    ones."""
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
    """Import a file as if it had been changed."""
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


if TYPE_CHECKING:
    from flyball.repair.inside.workers import Say

FIRST_TOGETHER, MOST_TOGETHER = 4, 32
"""Candidates screened in one child: few while the likeliest are tried, more later."""
MOST_FEW = 4
LEAST_CPU = 0.05
ENDLESS_CPU = 0.04
OTHERS_CPU = 1.0
SLOW_CPU = 1.5
"""For tests that did not end under trace; most do once the fault is fixed."""
WARM = 0.75
"""Candidates that need a process of their own get the rest of the time, if there are any."""
SLOWER = 10.0
"""Candidates that ran out of time get this many times as much when they are tried again."""
AGAIN = 0.2
"""How much of the computing may go into trying again while others were not tried at all."""


def try_candidates(orders: Orders) -> None:
    """Try candidates in a process that has loaded everything; those that cannot be swapped, in
    fresh ones."""
    left: list[Proposal] = []

    def warm(say: Say) -> None:
        def use(suite: Suite) -> None:
            orders.say(tests=len(suite.names), broken=suite.broken)
            if suite.broken:
                say([each.n for each in orders.candidates])
                return
            trial = Trial(orders, suite)
            trial.run()
            say([] if trial.holding else [each.n for each in trial.unfit])

        open_suite(orders.runner, orders.args, use)

    def answer(_key: Any, answers: list[Any], _is_late: bool) -> None:
        by_number = {each.n: each for each in orders.candidates}
        left.extend([by_number[n] for n in answers[0]] if answers else orders.candidates)

    # Even the loading is done in a child: a suite that ends the process when imported would take
    # the program with it, and the rest is then tried from scratch.
    Children(1, answer).run_all([Job(0, warm, 1e6)], lambda: False)
    if not orders.is_probe:
        try_from_scratch(orders, left)


def _computed() -> float:
    """Return the processor time of all children so far.

    Wall time would not do: on a busy machine it passes while nothing is computed, and retries would
    use up most of it.
    """
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Trial:
    """Tries candidates on tests that are already loaded, the likeliest first."""

    def __init__(
        self, orders: Orders, suite: Suite, computed: Callable[[], float] = _computed
    ) -> None:
        self.orders = orders
        self._computed = computed
        self.suite = suite
        names = list(suite.names)
        known = set(names)
        self.failing = [name for name in orders.failing if name in known]
        self.near = [name for name in orders.near if name in known]
        far = order_by_nearness(names, [*self.failing, *self.near])
        # Slow tests last: most candidates are refuted before it comes to them.
        self.far = [] if orders.is_probe else sorted(far, key=orders.slow.__contains__)
        self.limits: dict[str, float] = {}
        self.reasons: dict[str, str] = {}
        self.few: list[str] = []
        self.unfit: list[Proposal] = []
        self.holding = 0
        self._first_at: float | None = None
        self._living: dict[str, LiveFile] = {}
        self._promising: deque[Proposal] = deque()
        self.waiting: deque[Proposal] = deque()
        self._slow: deque[Proposal] = deque()
        self._patient: set[int] = set()
        """The numbers of candidates that are given more time."""
        self._granted = 0.0
        self._together = FIRST_TOGETHER
        self._most_together = MOST_TOGETHER

    @property
    def is_over(self) -> bool:
        """Return whether time is up, or enough was found and the search has continued for a while
        after."""
        if self.orders.is_over or self.holding >= self.orders.enough:
            return True
        if self.unfit and not self.holding and self.orders.is_past(WARM):
            return True
        return self._first_at is not None and self.orders.is_past(
            self._first_at + self.orders.patience
        )

    def run(self) -> None:
        self._measure()
        self.orders.say(failing=self.failing)
        if not self.failing:
            return
        for path in {each.path for each in self.orders.candidates}:
            self._living[path] = LiveFile(os.path.join(self.orders.root, path))
        self.waiting = deque(self.orders.candidates)
        Children(self.orders.width, self.hear).run(self.following, lambda: self.is_over)

    def _measure(self) -> None:
        """Measure how long each failing test takes, and whether it fails here at all."""
        stable = [name for name in self.failing if name in self.orders.endless]
        for name in stable:
            self.limits[name], self.reasons[name] = ENDLESS_CPU, "time"

        def work(name: str, say: Say) -> None:
            # Twice, to see whether a test fails the same way each time: only then does another way
            # mean that a candidate before it left something behind.
            for _ in range(2):
                say(run_one(self.suite, name, 0.6))

        def answer(name: str, answers: list[Any], is_late: bool) -> None:
            died: dict[str, Any] = {"end": "time" if is_late else "crash", "cpu": 0.0, "why": ""}
            end, again = [*answers, died, died][:2]
            if end["end"] not in (PASS, SKIP):
                stable.append(name)
            endless = end["end"] == "time"
            self.limits[name] = ENDLESS_CPU if endless else LEAST_CPU + 6 * end["cpu"]
            self.reasons[name] = _reason(end) if _reason(end) == _reason(again) else ""

        unknown = [name for name in self.failing if name not in self.orders.endless]
        jobs = (Job(name, partial(work, name), self.orders.wall(20.0)) for name in unknown)
        Children(self.orders.width, answer).run_all(jobs, lambda: self.orders.is_over)
        # The quickest first; each candidate is refuted by the first that still fails.
        self.failing = sorted(stable, key=lambda name: self.limits[name])
        self.few = _choose_few(self.failing)

    def following(self) -> Job | None:
        """Return the next job: promising ones first; occasionally a slow one gets more time."""
        if self._promising:
            each = self._promising.popleft()
            wall = 10.0 + len(self.failing) + len(self.near) + len(self.far)
            wall += 2 * SLOWEST_CPU * len(self.orders.slow)
            return Job([each], partial(self._judge, each), self.orders.wall(wall))
        alone = sum(self.limits[name] for name in self.few)
        if self._may_try_again(alone * SLOWER):
            each = self._slow.popleft()
            self._patient.add(each.n)
            wall = self.orders.wall(5.0 + 3 * alone * SLOWER)
            return Job([each], partial(self._screen, [each]), wall)
        batch = [self.waiting.popleft() for _ in range(min(self._together, len(self.waiting)))]
        if not batch:
            return None
        wall = self.orders.wall(5.0 + 3 * alone * len(batch))
        return Job(batch, partial(self._screen, batch), wall)

    def _may_try_again(self, seconds: float) -> bool:
        """Return whether a slow candidate may be retried: in a share of the time, or all if none
        waits."""
        if not self._slow or self.holding:
            return False
        # A candidate may be right and slow, on a busy machine above all; but the many that were
        # never tried come first.
        if self.waiting and self._granted + seconds > AGAIN * self._computed():
            return False
        self._granted += seconds
        return True

    def hear(self, batch: list[Proposal], answers: list[Any], is_late: bool) -> None:
        ends = [each["end"] for each in answers]
        # One of the batch spoilt the process for those after it, and nobody knows which: all are
        # tried again, one to a process from now on.
        if "polluted" in ends:
            self._together = self._most_together = 1
            self.waiting.extendleft(reversed(batch))
            return
        # Stopped in time, so those before are judged fairly; the rest goes back to the front.
        is_stained = bool(ends) and ends[-1] == "stained"
        if is_stained:
            answers.pop()
            self._most_together = max(1, self._most_together // 2)
        for each, end in zip(batch, answers):  # noqa: B905
            self._note(each, end)
        rest = batch[len(answers) :]
        if rest and not is_stained:
            self._note(rest.pop(0), {"end": "time" if is_late else "crash"})
        self.waiting.extendleft(reversed(rest))
        self._together = min(self._most_together, self._together + 1)

    def _note(self, each: Proposal, answers: dict[str, Any]) -> None:
        end = answers["end"]
        if end == "promising":
            self._promising.append(each)
        if end == "unfit":
            self.unfit.append(each)
            return
        if end == "time" and each.n not in self._patient:
            self._slow.append(each)
        if end == "hold":
            self.holding += 1
            self._first_at = self.orders.spent if self._first_at is None else self._first_at
        self.orders.note(each.n, **answers)

    def _screen(self, batch: list[Proposal], say: Say) -> None:
        """Try several candidates in a child, on a few tests that fail without them."""
        modules = [module for each in self._living.values() for module in each.modules]
        # A cache that one candidate filled would answer for the next.
        clean = measure_state(modules)
        for each in batch:
            say({"end": self._screened(each)})
            if each is not batch[-1] and measure_state(modules) != clean:
                say({"end": "stained"})
                return
        if len(batch) > 1 and self._is_polluted():
            say({"end": "polluted"})

    def _screened(self, each: Proposal) -> str:
        try:
            steps = self._living[each.path].swap([Edit(*edit) for edit in each.edits])
        except Unswappable:
            return "unfit"
        except (SyntaxError, ValueError):
            return "broken"
        # A few of the failing tests are enough to refute nearly every candidate; all of them are
        # run only for what survives this.
        for name in self.few:
            end = run_one(self.suite, name, self._limit(name, each))["end"]
            if end != PASS:
                break
        else:
            end = "promising"
        undo(steps)
        return end if end in ("promising", "time") else "fail"

    def _is_polluted(self) -> bool:
        """Return whether earlier candidates changed state that tests can see."""
        name = self.few[0]
        end = run_one(self.suite, name, self.limits[name])
        return end["end"] == PASS or self.reasons[name] not in ("", _reason(end))

    def _limit(self, name: str, each: Proposal) -> float:
        is_patient = each.n in self._patient
        if name in self.limits:
            return self.limits[name] * (SLOWER if is_patient else 1.0)
        if name in self.orders.slow:
            return SLOWEST_CPU if is_patient else SLOW_CPU
        return OTHERS_CPU + SLOWER * self.orders.cpu.get(name, 1.0)

    def _judge(self, each: Proposal, say: Say) -> None:
        """Run all failing tests in a child, and if they pass, all the others."""
        self._living[each.path].swap([Edit(*edit) for edit in each.edits])
        for name in self.failing:
            end = run_one(self.suite, name, self._limit(name, each))["end"]
            if end != PASS:
                say({"end": "time" if end == "time" else "fail"})
                return
        # Those that ran the same lines come first: they are the likeliest to break.
        others = [*self.near, *self.far]
        for name, following in zip(others, [*others[1:], ""]):  # noqa: B905
            end = run_one(self.suite, name, self._limit(name, each), following)["end"]
            if end == "time" and name in self.orders.slow:
                if each.n in self._patient:
                    continue  # as before, nobody knows how it ends
                say({"end": "time"})
                return
            if end not in (PASS, SKIP):
                say({"end": "broke"})
                return
        say({"end": "hold"})


def _reason(end: dict[str, Any]) -> str:
    """Return how a test failed, without parts that vary between runs."""
    return "time" if end["end"] == "time" else re.sub(r"0x[0-9a-f]+", "", end["why"])


def _choose_few(failing: list[str]) -> list[str]:
    """Return a few representative tests: of different functions if there are several."""
    chosen: dict[str, str] = {}
    for name in failing:
        chosen.setdefault(name.partition("[")[0], name)
    return list(chosen.values())[:MOST_FEW]
