"""Run every fixed test again with one expectation changed: it must fail.

An equality that is always true, a patched assertion, a patched runner and a forged report all pass
the changed test as they passed the real one. It runs on the new tree, in its own file and under its
own name, so that code cannot tell it from the real one.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from flyball.errors import MissingExtra
from flyball.terms.test_paths import is_test_path
from flyball.tools.call.protocol import CallContext
from flyball.verdict import tests
from flyball.verdict.case import SuiteCase
from flyball.verdict.part import PartSuite
from flyball.verdict.reports import Inverted, TreeRun, file_of
from flyball.verdict.sides import find_testing_side
from flyball.verdict.tree_run import Selection, Taken, run_tree, words_for
from flyball.workspace.trees.trees import TreeHash

MOST = 40
"""So many fixed tests are asked; of more, the first of each file."""
MOST_FILES = 400
ROUNDS = 4
"""So many ways to alter a test are tried, where the surest may stand where nothing gets."""


class InvertedRuns(NamedTuple):
    """The fixed tests that can no longer fail, and those that could not be tried."""

    deceived: tuple[Inverted, ...] = ()
    agreeing: tuple[Inverted, ...] = ()
    """Tests that pass with what they saw before, or with another part of what they expect."""
    uninverted: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    """Which grammars are not installed, each in a sentence that says what to type."""


class _Altered(NamedTuple):
    """The tree of one round, and the change made to each test."""

    tree: TreeHash
    made: Mapping[str, tests.Inverted]
    missing: frozenset[str]
    guessed: frozenset[str] = frozenset()
    """Tests that no file is reported of: what was changed may belong to a namesake."""


async def run_inverted(
    context: CallContext,
    suite: PartSuite,
    tree: str,
    new: Taken,
    fixed: Iterable[str],
    old: Taken | None = None,
) -> InvertedRuns:
    """Check that each fixed test fails with another expectation, in as few runs as possible."""
    context = context.during("altered tests, which must fail")
    if not new.run.is_counted:
        return await _run_altered_programs(context, suite, tree, frozenset(fixed), old)
    left = _chosen(fixed)
    messages = {case.function: case.message for case in old.cases if case.is_bad} if old else {}
    found, agreed = InvertedRuns(), dict[str, Inverted]()
    unasked = set[str]()
    for nth in range(ROUNDS + 1):
        altered = _alter(context, tree, left, messages, nth)
        found = found._replace(missing=found.missing | altered.missing)
        unasked |= {name for name in left if name not in altered.made}
        run = await _run_altered(context, suite, new, altered)
        left = list[str]()
        others = run.red - new.run.red - altered.made.keys()
        for name, made in altered.made.items():
            is_green = run.passed((name,)) or not (run.is_counted or run.exit_code)
            if is_green and others and name in altered.guessed:
                left.append(name)
                continue
            if is_green and made.is_sure and made.how in ("expected", "raised", "negated"):
                said = Inverted(name, made.old, made.new)
                found = found._replace(deceived=(*found.deceived, said))
            elif made.how == "probe" or not _is_red(run, name):
                # It passed where nothing may get, or was not run, as where it does not build.
                left.append(name)
                # What makes two things the same is for the product to say, so this is a question.
                if is_green and made.how in ("seen", "part", "bound", "probe"):
                    agreed[name] = Inverted(name, made.old, made.new)
        if not left:
            break
    sure = {each.test for each in found.deceived}
    agreeing = tuple([each for name, each in agreed.items() if name not in sure])
    return found._replace(agreeing=agreeing, uninverted=frozenset({*unasked, *left}))


def _is_red(run: TreeRun, name: str) -> bool:
    return any(each == name or each.startswith(f"{name}::") for each in run.red)


async def _run_altered_programs(
    context: CallContext, suite: PartSuite, tree: str, fixed: frozenset[str], old: Taken | None
) -> InvertedRuns:
    """Change all expectations of test programs: a suite that reports only its exit code must fail.

    Then repeat it with only the expectation at which the previous run failed: otherwise other
    checks would fail in its place.
    """
    if not fixed:
        return InvertedRuns()
    trees = context.workspace.trees

    def read(path: str) -> str:
        entry = trees.entries(TreeHash(tree), (path,)).get(path)
        data = trees.contents([entry.blob]).get(entry.blob, b"") if entry else b""
        return data.decode("utf-8", "replace")

    every = sorted(trees.paths(TreeHash(tree)))
    side = find_testing_side(every, read, suite.at)
    made: dict[str, tests.Inverted] = {}
    missing: set[str] = set()
    for path in sorted(side)[:MOST_FILES]:
        try:
            way = tests.invert_program(path, read(path)) if tests.is_code(path) else None
        except MissingExtra as error:
            missing.add(f"{error.message} {error.hint}")
            continue
        if way is not None:
            made[path] = way
    if not made:
        return InvertedRuns(uninverted=fixed, missing=frozenset(missing))
    alone = {
        path: way
        for path, line in _failed_at(old, made)
        if (way := tests.invert_program(path, read(path), line)) is not None
    }
    for altered in (made, alone) if alone and alone != made else (made,):
        entries = trees.entries(TreeHash(tree), sorted(altered))
        new = {
            path: entry._replace(blob=trees.keep(altered[path].source.encode()))
            for path, entry in entries.items()
        }
        run = (await run_tree(context, trees.overlay(TreeHash(tree), new), suite)).run
        if not run.exit_code:
            first = altered[min(altered)]
            said = [Inverted(name, first.old, first.new) for name in sorted(fixed)]
            return InvertedRuns(tuple(said))
    return InvertedRuns()


def _failed_at(old: Taken | None, programs: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the lines of test programs that the previous run named in its failure."""
    said = "\n".join(old.run.says) if old is not None else ""
    for path in programs:
        found = re.search(rf"(?<![\w.]){re.escape(posixpath.basename(path))}:(\d+)", said)
        if found is not None:
            yield path, int(found[1])


def _chosen(fixed: Iterable[str]) -> list[str]:
    names = sorted(fixed)
    if len(names) <= MOST:
        return names
    return list({file_of(name): name for name in reversed(names)}.values())[:MOST]


def _alter(
    context: CallContext, tree: str, names: Sequence[str], messages: Mapping[str, str], nth: int
) -> _Altered:
    """Change the nth-surest expectation of each test, all tests of a file in one text."""
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
                said = messages.get(name, "")
                ways = _ways(tests.inversions(path, files.get(path, b""), name, said))
            except MissingExtra as error:
                missing.add(f"{error.message} {error.hint}")
                continue
            if nth < len(ways):
                made[name] = ways[nth]
                files[path] = ways[nth].source.encode()
                touched.add(path)
                break
    new = {path: entries[path]._replace(blob=trees.keep(files[path])) for path in touched}
    guessed = frozenset([name for name in made if file_of(name) not in files])
    return _Altered(trees.overlay(TreeHash(tree), new), made, frozenset(missing), guessed)


def _ways(every: Sequence[tests.Inverted]) -> list[tests.Inverted]:
    """Choose which changes to try: expected values first, wherever they are in the test."""
    probes = [each for each in every if each.how == "probe"][:1]
    values = [each for each in every if each.how in ("seen", "expected", "part", "bound", "raised")]
    rest = [each for each in every if each.how != "probe" and each not in values]
    return [*probes, *[*values[: ROUNDS - 2], *rest][:ROUNDS]]


def _places(context: CallContext, tree: str, names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the possible files of each test: the file of its report, or any file that names it."""
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


async def _run_altered(
    context: CallContext, suite: PartSuite, new: Taken, altered: _Altered
) -> TreeRun:
    """Run the changed tests, and only those if the runner can select."""
    if not altered.made:
        return TreeRun(new.run.command, 1)
    cases: list[SuiteCase] = [case for case in new.cases if _is_asked(case, altered.made)]
    wanted = Selection(cases=tuple(cases))
    part = wanted if cases and words_for(suite, wanted) else None
    return (await run_tree(context, altered.tree, suite, part)).run


def _is_asked(case: SuiteCase, names: Iterable[str]) -> bool:
    return any(case.function == name or case.function.startswith(f"{name}::") for name in names)
