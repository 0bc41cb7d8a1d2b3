"""Run tests again on the same tree: a result that chance or their order decides is no evidence."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from flyball.tools.call.protocol import CallContext
from flyball.verdict.base_runs import BaseRuns
from flyball.verdict.case import BAD, CaseOutcome, SuiteCase
from flyball.verdict.part import PartSuite
from flyball.verdict.reports import TreeRun, Unsteady, file_of
from flyball.verdict.runners.table import BY_NAME
from flyball.verdict.tree_run import (
    Selection,
    Taken,
    TreePair,
    reached_tests,
    run_tree,
    with_moved_files,
    with_other_surroundings,
    words_for,
)
from flyball.workspace.trees.trees import TreeHash

CHEAP = 3.0
"""A suite that cannot be run in part is run again if it took no more than so many seconds. Further
runs of a part may take as long where nothing points to chance, or a tenth of a longer suite."""
LONGEST = 20.0
"""So many seconds further runs may take where the change names a clock or a random number."""
NOT_MOVED: Mapping[str, str] = MappingProxyType({})
TIMES = 5
"""So often a test is run at most on one tree where its ends differ."""
OFTEN = 20
"""So often where the change names a clock or a random number: what fails one time in three passes
five times in eight tries."""
FEW = 60
"""So many tests that changed sides are run once more, to tell a repair from a flaky test."""


class BothTaken(NamedTuple):
    """The same tests on both trees: all of them, or those that the change reaches."""

    a: Taken
    c: Taken
    wanted: Selection | None = None


class Chance(NamedTuple):
    """The evidence of repeated runs of the same tree about single tests."""

    flaky: frozenset[str] = frozenset()
    unsteady: tuple[Unsteady, ...] = ()


class _Counts(NamedTuple):
    """How often each test was red, in how many runs; and which failed only apart from others."""

    red: Mapping[str, tuple[int, int]]
    apart: frozenset[str] = frozenset()


async def repeat_tests(
    context: CallContext, suite: PartSuite, compared: TreePair, both: BothTaken, known: BaseRuns
) -> Chance:
    """Run again the tests whose result changed, so that chance neither repairs nor excuses
    anything.

    Code may detect a verdict by its environment, so a repair must hold in other environments, too.
    A regression is repeated in the environment where it occurred, or another one would excuse it.
    """
    a, c, moved = both.a, both.c, compared.facts.renamed
    broken, fixed = c.run.red - a.run.red, c.run.passed(a.run.red)
    still = a.run.red & c.run.red
    steady = known.repeated(compared.base, suite)
    again = context if broken else with_other_surroundings(context)
    beside = _beside(suite, compared, both, broken | fixed)
    then_names = frozenset((fixed | still) - steady.keys())
    counted, before = await asyncio.gather(
        _count_red(
            again,
            suite,
            compared.head,
            c,
            broken | fixed | beside,
            both.wanted,
            least=OFTEN if compared.facts.by_chance else 2 if broken else TIMES,
            in_company=False,
        ),
        _count_red(context, suite, compared.base, a, then_names, both.wanted, moved=moved),
    )
    known.keep_repeated(compared.base, suite, before.red)
    now, then = counted.red, {**steady, **before.red}
    unsure = frozenset([name for name in broken | beside if 0 < now[name][0] < now[name][1]])
    if unsure:
        names = unsure & a.run.ends.keys()
        more = await _count_red(
            context, suite, compared.base, a, names, both.wanted, least=TIMES, moved=moved
        )
        then |= more.red
    flaky = frozenset([name for name, (red, of) in then.items() if 0 < red < of])
    unsteady = [
        Unsteady(name, *counts, *then.get(name, (0, 0)))
        for name, counts in sorted(now.items())
        if 0 < counts[0] < counts[1] and name not in flaky
    ]
    by_order = await _new_by_order(again, suite, compared, both, counted.apart - flaky)
    return Chance(flaky, (*unsteady, *by_order))


def _beside(
    suite: PartSuite, compared: TreePair, both: BothTaken, changed: frozenset[str]
) -> frozenset[str]:
    """Return tests that may reveal chance or another order at little cost: those in the same files.

    Where no test changed sides these are new ones with what is beside them, or else tests that
    reach the change. Return only as many as can be selected by name.
    """
    run = both.c.run
    files = {file_of(name) for name in changed or run.green - both.a.run.ends.keys()}
    if not files and not compared.facts.documents and both.wanted is None:
        files = set(reached_tests(suite, compared).files)
    if not changed and not _is_selectable(suite, run, tuple(files)):
        return frozenset()
    found = sorted(name for name in run.green - changed if file_of(name) in files)
    return frozenset(found[: max(0, FEW - len(changed))])


def _is_selectable(suite: PartSuite, run: TreeRun, files: tuple[str, ...]) -> bool:
    """Return whether these test files can be run alone, in a short time."""
    is_short = sum(run.seconds.get(file, 0.0) for file in files) <= CHEAP
    return is_short and words_for(suite, Selection(files)) is not None


async def _count_red(
    context: CallContext,
    suite: PartSuite,
    tree: str,
    taken: Taken,
    names: frozenset[str],
    reached: Selection | None,
    *,
    least: int = 2,
    in_company: bool = True,
    moved: Mapping[str, str] = NOT_MOVED,
) -> _Counts:
    """Return how often each test was red, in how many runs of the same tree.

    A test with varying results is run again, up to five times. A test that ends differently alone
    may depend on the tests with which it failed: that is not chance, so then the whole group is
    repeated.
    """
    first = {name: _is_red(taken, name) for name in names}
    ends: dict[str, list[bool]] = {name: [end] for name, end in first.items()}
    asked = tuple([case for case in taken.cases if names & _with_outer(case)])
    is_few = 0 < len(asked) <= FEW and words_for(suite, Selection(cases=asked)) is not None
    # What cannot be run in part is run again as a whole, where that is cheap.
    is_cheap = bool(names) and taken.run.elapsed <= CHEAP and len(names) <= FEW
    if not is_few and not is_cheap:
        return _Counts({name: (int(end), 1) for name, end in first.items()})
    context = context.during("once more, what changed sides")
    alone = Selection(cases=asked) if is_few else None
    if is_few and not in_company:
        again = await _run_apart(context, suite, tree, asked, _pieces(taken))
    else:
        again = await run_tree(context, tree, suite, alone)
    again = with_moved_files(again, moved)
    is_reported = bool(again.run.ends) and not again.run.trouble
    other = {name: _is_red(again, name) for name in names} if is_reported else {}
    differing = [name for name, end in other.items() if end != first[name]]
    part = alone if not differing and not in_company else _company(context, tree, reached)
    least = 2 if alone is None and least == TIMES and not in_company else least
    times = TIMES if differing or (in_company and least > 2) else _times(least, taken, again)
    for _ in range(times - 2):
        more = with_moved_files(await run_tree(context, tree, suite, part), moved)
        for name in names if least > 2 else differing:
            ends[name].append(_is_red(more, name))
    apart: set[str] = set()
    for name, end in other.items():
        if end == first[name] or len(set(ends[name])) > 1 or not is_few:
            ends[name].append(end)
        elif end:
            apart.add(name)
    return _Counts({name: (sum(each), len(each)) for name, each in ends.items()}, frozenset(apart))


def _times(least: int, whole: Taken, part: Taken) -> int:
    """Return how often a part of a suite is run, within the time that the reason allows."""
    seconds = CHEAP if whole.run.elapsed <= CHEAP else whole.run.elapsed / 10
    fewest = 3 if part.run.elapsed <= CHEAP else 2
    seconds, fewest = (LONGEST, TIMES) if least > TIMES else (seconds, fewest)
    return min(least, max(fewest, 2 + int(seconds / max(part.run.elapsed, 0.01))))


async def _run_apart(
    context: CallContext, suite: PartSuite, tree: str, cases: tuple[SuiteCase, ...], pieces: int
) -> Taken:
    """Run tests without those that ran before them: in reverse, or in pieces by themselves."""
    functions = [*dict.fromkeys(case.function for case in cases)]
    runner = BY_NAME.get(suite.runner)
    if len(functions) < 2 or pieces == 1 or (runner is not None and runner.keeps_order):
        return await run_tree(context, tree, suite, Selection(cases=cases[::-1]))
    size = -(-len(functions) // pieces)
    taken: list[Taken] = []
    for first in range(0, len(functions), size):
        piece = frozenset(functions[first : first + size])
        wanted = Selection(cases=tuple([case for case in cases if case.function in piece]))
        taken.append(await run_tree(context, tree, suite, wanted))
    if troubled := next((each for each in taken if each.run.trouble), None):
        return troubled
    ends = {name: end for each in taken for name, end in each.run.ends.items()}
    ends |= {name: CaseOutcome.FAILED for each in taken for name in each.run.red}
    elapsed = sum(each.run.elapsed for each in taken)
    return taken[0]._replace(run=taken[0].run._replace(ends=ends, elapsed=elapsed))


def _pieces(whole: Taken) -> int:
    """Return into how many pieces tests are split: each one costs a start of the runner."""
    if whole.run.elapsed > LONGEST:
        return 1
    return 4 if whole.run.elapsed <= CHEAP and len(whole.cases) <= FEW else 2


def _company(context: CallContext, tree: str, reached: Selection | None) -> Selection | None:
    """Return the test files that were selected and are in that tree; None for the whole suite."""
    entries = context.workspace.trees.entries(TreeHash(tree), reached.files) if reached else ()
    return Selection(tuple(sorted(entries))) if entries else None


async def _new_by_order(
    context: CallContext,
    suite: PartSuite,
    compared: TreePair,
    both: BothTaken,
    names: frozenset[str],
) -> list[Unsteady]:
    """Return the tests whose result depends on other tests, where none of their file did before."""
    a, moved = both.a, compared.facts.renamed
    names = frozenset([name for name in names & a.run.ends.keys() if file_of(name) not in moved])
    files = {file_of(name) for name in names}
    cases = tuple([case for case in a.cases if file_of(case.function) in files][:FEW])
    if not names or not cases:
        return []
    then = await _run_apart(context, suite, compared.base, cases, _pieces(a))
    if then.run.trouble or not then.run.ends:
        return []
    usual = {file_of(name) for name in then.run.red & a.run.green}
    return [
        Unsteady(name, 1, 2, 2 * _is_red(a, name), 2, by_order=True)
        for name in sorted(names)
        if file_of(name) not in usual
    ]


def _is_red(taken: Taken, name: str) -> bool:
    """Return whether a test failed; one whose subtests are not reported passed."""
    return taken.run.ends.get(name) in BAD


def _with_outer(case: SuiteCase) -> set[str]:
    """Return the test and the tests that contain it as a subtest."""
    parts = case.function.split("::")
    return {"::".join(parts[:end]) for end in range(2, len(parts) + 1)} | {case.function}
