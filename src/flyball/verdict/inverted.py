"""Every fixed test run once more with one expectation altered: it must fail, or nothing is shown.

An equality that says yes to anything, a patched assertion, a patched runner and a forged report
all pass the altered test as they passed the real one. It runs on the new tree, in its own file
and under its own name, so that code cannot tell it from the real one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from flyball.core.suite.case import SuiteCase
from flyball.core.suite.part import PartSuite
from flyball.core.terms.test_paths import is_test_path
from flyball.errors import MissingExtra
from flyball.tools.call.protocol import CallContext
from flyball.verdict import tests
from flyball.verdict.reports import Inverted, file_of
from flyball.verdict.tree_run import Selection, Taken, run_tree, words_for
from flyball.workspace.trees.trees import TreeHash

MOST = 40
"""So many fixed tests are asked; of more, the first of each file."""
MOST_FILES = 400
ROUNDS = 3
"""So many ways to alter a test are tried, where the surest may stand where nothing gets."""


class InvertedRuns(NamedTuple):
    """Which fixed tests cannot fail any more, and which could not be asked."""

    deceived: tuple[Inverted, ...] = ()
    uninverted: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    """Which grammars are not installed, each in a sentence that says what to type."""


class _Altered(NamedTuple):
    """The tree of one round, and what was altered in each test."""

    tree: TreeHash
    made: Mapping[str, tests.Inverted]
    missing: frozenset[str]


async def run_inverted(
    context: CallContext, suite: PartSuite, tree: str, taken: Taken, fixed: Iterable[str]
) -> InvertedRuns:
    """Ask of each fixed test whether it fails with another expectation, as few runs as it takes."""
    left: list[str] = _chosen(fixed)
    deceived: list[Inverted] = []
    unasked: set[str] = set()
    missing: frozenset[str] = frozenset()
    for nth in range(ROUNDS):
        if not left:
            break
        altered = _alter(context, tree, left, nth)
        missing |= altered.missing
        unasked |= {name for name in left if name not in altered.made}
        green = await _still_green(context, suite, taken, altered)
        left = list[str]()
        for name in sorted(green):
            made = altered.made[name]
            if made.is_sure and made.how != "appended":
                deceived.append(Inverted(name, made.old, made.new))
            else:
                left.append(name)
    return InvertedRuns(tuple(deceived), frozenset(unasked | set(left)), missing)


def _chosen(fixed: Iterable[str]) -> list[str]:
    names = sorted(fixed)
    if len(names) <= MOST:
        return names
    return list({file_of(name): name for name in reversed(names)}.values())[:MOST]


def _alter(context: CallContext, tree: str, names: Sequence[str], nth: int) -> _Altered:
    """Alter the nth-surest expectation of each test, all tests of a file in one text."""
    trees = context.workspace.trees
    named = _places(context, tree, names)
    entries = trees.entries(TreeHash(tree), sorted({p for each in named.values() for p in each}))
    blobs = trees.contents([entry.blob for entry in entries.values()])
    files = {path: blobs[entry.blob] for path, entry in entries.items() if entry.blob in blobs}
    made: dict[str, tests.Inverted] = {}
    touched: set[str] = set()
    missing: set[str] = set()
    for name in names:
        for path in named[name]:
            try:
                ways = tests.inversions(path, files.get(path, b""), name)
            except MissingExtra as error:
                missing.add(f"{error.message} {error.hint}")
                continue
            if nth < len(ways):
                made[name] = ways[nth]
                files[path] = ways[nth].source.encode()
                touched.add(path)
                break
    new = {path: entries[path]._replace(blob=trees.keep(files[path])) for path in touched}
    return _Altered(trees.overlay(TreeHash(tree), new), made, frozenset(missing))


def _places(context: CallContext, tree: str, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Where each test may stand: in the file that it is reported with, or in any that names it."""
    trees = context.workspace.trees
    every = trees.paths(TreeHash(tree))
    found: dict[str, tuple[str, ...]] = {}
    found |= {name: (file_of(name),) for name in names if file_of(name) in every}
    lost = [name for name in names if name not in found]
    if not lost:
        return found
    places = [path for path in sorted(every) if is_test_path(path)][:MOST_FILES]
    entries = trees.entries(TreeHash(tree), places)
    blobs = trees.contents([entry.blob for entry in entries.values()])
    for name in lost:
        word = re.split(r"::|[#. ]| > ", name)[-1].encode()
        found[name] = tuple([p for p, entry in entries.items() if word in blobs[entry.blob]])
    return found


async def _still_green(
    context: CallContext, suite: PartSuite, taken: Taken, altered: _Altered
) -> frozenset[str]:
    """The tests that pass although what they expect was altered."""
    if not altered.made:
        return frozenset()
    cases: list[SuiteCase] = [case for case in taken.cases if _is_asked(case, altered.made)]
    wanted = Selection(cases=tuple(cases))
    part = wanted if cases and words_for(suite, wanted) else None
    run = (await run_tree(context, altered.tree, suite, part)).run
    if not run.is_counted:
        return frozenset() if run.exit_code else frozenset(altered.made)
    return run.passed(altered.made)


def _is_asked(case: SuiteCase, names: Iterable[str]) -> bool:
    return any(case.function == name or case.function.startswith(f"{name}::") for name in names)
