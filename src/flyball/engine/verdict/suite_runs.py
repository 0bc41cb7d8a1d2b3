"""The runs of one suite that a verdict needs, and no more than those.

Cost is kept down in four ways. What cannot differ is not run: the old tests on the new code only
where the change touches the testing side, and then only the files that it touched, unless something
that all tests share was touched. The tree from before is run once and remembered. The runs of the
two trees go side by side, and that of the old tests with them. And a suite that takes too long is
run in part.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from flyball.core.suite.case import CaseOutcome, SuiteCase
from flyball.core.suite.part import TOP, PartSuite, is_within
from flyball.core.suite.sides import is_shared
from flyball.core.terms.changed_test import Comparison
from flyball.core.verdict.canary import APART
from flyball.core.verdict.reports import NO_ENDS, ChangeFacts, SuiteRuns, TreeRun, file_of
from flyball.core.verdict.selection import SOURCE, count_tests, select_tests
from flyball.engine.verdict.base_runs import BaseRuns
from flyball.engine.verdict.tree_run import (
    SILENT,
    Selection,
    Taken,
    count_collected,
    hears_failures,
    run_tree,
    with_other_surroundings,
    words_for,
)
from flyball.regex import regex
from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.layout import Land
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.trees import TreeEntry, TreeHash

CHEAP = 3.0
"""A suite that cannot be run in part is run again if it took no more than so many seconds."""
FEW = 60
"""So many tests that changed sides are run once more, to tell a repair from a flaky test."""


SCRIPT = regex(r".*\.[cm]?[jt]sx?")
FAR_BELOW = 2
"""A suite that took less than this part of its limit does not run past it by chance."""


class TreePair(NamedTuple):
    """Two trees, what changed between them, and the newer one as it lies on disk."""

    base: str
    head: str
    facts: ChangeFacts
    land: Land


async def run_suites(
    context: CallContext, suite: PartSuite, compared: TreePair, *, is_new: bool = False
) -> SuiteRuns:
    """The runs of one suite, those that can differ; `is_new` where the tree before had none."""
    if is_new:
        c = await run_tree(context, compared.head, suite)
        d = await _new_tests(context, suite, compared, None, c, None)
        return _runs(suite, None, c.run, None, d, frozenset(), is_new=True)
    known = BaseRuns(context.workspace, context.env)
    before = known.find(compared.base, suite)
    is_slow = before is not None and before.timed_out
    # The old tests need nothing of the other two to begin, and may take as long as they do; the
    # new ones by their texts begin as well, or they would be waited for at the end.
    (a, c, wanted), old, early = await asyncio.gather(
        _before_and_after(context, suite, compared, known, before),
        _old_tests(context, suite, compared, is_known_slow=is_slow),
        _added_tests(context, suite, compared),
    )
    if a.unavailable and c.unavailable:
        runs = _runs(suite, a.run, c.run, None, None, frozenset())
        return runs._replace(unavailable=a.unavailable)
    if c.timed_out:
        # Nothing can be shown without it, and the others would take as long.
        return _runs(suite, a.run, c.run, None, None, frozenset())
    broken, mended = c.run.red - a.run.red, c.run.passed(a.run.red)
    if wanted is not None or is_slow:
        old = await _old_tests(context, suite, compared, wanted)
    b = _held_against(old, a, c) if old is not None else None
    # Code may know a verdict by its surroundings: what was repaired must hold in others, too. What
    # was broken is asked again where it broke, or other surroundings would excuse it.
    again = context if broken else with_other_surroundings(context)
    d, now, then, is_silent = await asyncio.gather(
        _new_tests(context, suite, compared, a, c, early),
        _flaky(again, suite, compared.head, c, broken | mended, wanted),
        _flaky(again, suite, compared.base, a, mended, wanted),
        _is_silenced(context, suite, compared),
    )
    run = c.run._replace(trouble=SILENT) if is_silent and not c.run.trouble else c.run
    runs = _runs(suite, a.run, run, b, d, now | then)
    return runs._replace(unsteady=(now - then) & mended)


async def _is_silenced(context: CallContext, suite: PartSuite, compared: TreePair) -> bool:
    """Whether tests no longer fail where the code that changed is loaded beside them."""
    facts = compared.facts
    code = [path for path in facts.files if path not in facts.testing_side]
    near = [path for path in code if SCRIPT.fullmatch(path) and is_within(path, suite.at)]
    if suite.runner not in APART or not near:
        return False
    start = "" if suite.at == "." else f"{suite.at}/"
    loads = [path.removeprefix(start) for path in near]
    if await hears_failures(context, compared.head, suite, loads) is not False:
        return False
    return bool(await hears_failures(context, compared.base, suite, loads))


def _runs(
    suite: PartSuite,
    a: TreeRun | None,
    c: TreeRun,
    b: TreeRun | None,
    d: TreeRun | None,
    flaky: frozenset[str],
    *,
    is_new: bool = False,
) -> SuiteRuns:
    return SuiteRuns(suite.at, suite.command or suite.runner, a, c, b, d, flaky, is_new)


class _Both(NamedTuple):
    """The same tests on both trees: all of them, or those that the change reaches."""

    a: Taken
    c: Taken
    wanted: Selection | None = None


async def _before_and_after(
    context: CallContext,
    suite: PartSuite,
    compared: TreePair,
    known: BaseRuns,
    before: Taken | None,
) -> _Both:
    """The suite on both trees; one that takes too long is run where the change reaches it."""
    if before is None:
        a, c = await asyncio.gather(
            run_tree(context, compared.base, suite), run_tree(context, compared.head, suite)
        )
        known.keep(compared.base, suite, a)
    elif before.timed_out and (part := await _in_part(context, suite, compared)):
        return part
    else:
        a, c = before, await run_tree(context, compared.head, suite)
    whole = _Both(a, c.beside(a))
    if (
        c.timed_out
        and not a.timed_out
        and a.run.elapsed < context.settings.suite_limits.seconds / FAR_BELOW
    ):
        # The change made it so: a part of the suite would hide what it did to the rest.
        return whole
    if a.timed_out or c.timed_out:
        return await _in_part(context, suite, compared) or whole
    return whole


def reached_tests(suite: PartSuite, compared: TreePair) -> Selection:
    """The test files of a part that the change reaches."""
    own = compared.land.below(suite.at)
    prefix = "" if suite.at == "." else f"{suite.at}/"
    texts = {f"{prefix}{path}": own.text(path) for path in own.files if SOURCE.fullmatch(path)}
    return Selection(select_tests(compared.facts.files, texts), whole=count_tests(texts))


async def _in_part(context: CallContext, suite: PartSuite, compared: TreePair) -> _Both | None:
    """The tests that the change reaches, where the runner can be told to run only those."""
    wanted = reached_tests(suite, compared)
    if not words_for(suite, wanted):
        return None
    whole = await count_collected(context, compared.head, suite)
    wanted = wanted._replace(whole=whole or wanted.whole)
    old = _present(context.workspace, compared.base, wanted.files)
    if not old:
        c = await run_tree(context, compared.head, suite, wanted)
        return _Both(Taken(TreeRun(c.run.command, 0, whole=wanted.whole)), c, wanted)
    a, c = await asyncio.gather(
        run_tree(context, compared.base, suite, wanted._replace(files=old)),
        run_tree(context, compared.head, suite, wanted),
    )
    return _Both(a, c.beside(a), wanted)


class _OldTests(NamedTuple):
    """A run of the new code with the old testing side, and which files that puts back."""

    taken: Taken
    touched: tuple[str, ...]
    is_whole: bool


async def _old_tests(
    context: CallContext,
    suite: PartSuite,
    compared: TreePair,
    reached: Selection | None = None,
    *,
    is_known_slow: bool = False,
) -> _OldTests | None:
    """The new code with the testing side from before, where the change touched it."""
    side = [path for path in compared.facts.testing_side if is_within(path, suite.at)]
    around = [path for path in compared.facts.testing_side if is_shared(path)]
    touched = tuple(sorted({*side, *around}))
    if not touched or is_known_slow:
        return None
    tree = _with_side_of(context.workspace, compared.head, compared.base, touched)
    files = _present(context.workspace, compared.base, touched)
    if any(map(is_shared, touched)):
        # Any test may end otherwise; of a suite that takes too long, those that were run are asked.
        old = _present(context.workspace, compared.base, reached.files) if reached else ()
        wanted = Selection(old) if old else None
    else:
        wanted = Selection(files)
    if wanted is None or not words_for(suite, wanted):
        return _OldTests(await run_tree(context, tree, suite), touched, is_whole=True)
    return _OldTests(await run_tree(context, tree, suite, wanted), touched, is_whole=False)


def _held_against(old: _OldTests, a: Taken, c: Taken) -> TreeRun:
    run = old.taken.beside(a).run
    if old.is_whole:
        return run
    # The files that were not run again are the same in both trees: they end as they did.
    same = {name: end for name, end in c.run.ends.items() if file_of(name) not in old.touched}
    return run._replace(ends={**same, **run.ends})


async def _added_tests(
    context: CallContext, suite: PartSuite, compared: TreePair
) -> TreeRun | None:
    """The old code with the tests that are new going by their texts, where those can be named."""
    if suite.runner != "pytest" or suite.at != TOP:
        return None
    facts = compared.facts
    added = [
        SuiteCase(each.function, CaseOutcome.PASSED, each.path, each.suite, spelling=each.name)
        for each in facts.tests
        if each.comparison is Comparison.ADDED and each.path in facts.testing_side
    ]
    wanted = Selection(cases=tuple(added))
    if not 0 < len(added) <= FEW or not words_for(suite, wanted):
        return None
    side = [path for path in facts.testing_side if is_within(path, suite.at)]
    tree = _with_side_of(context.workspace, compared.base, compared.head, side)
    return (await run_tree(context, tree, suite, wanted)).run


async def _new_tests(
    context: CallContext,
    suite: PartSuite,
    compared: TreePair,
    a: Taken | None,
    c: Taken,
    early: TreeRun | None,
) -> TreeRun | None:
    """The old code with the new testing side: new tests must fail there."""
    if early is not None and not early.trouble and early.red & c.run.green:
        return early
    side = [path for path in compared.facts.testing_side if is_within(path, suite.at)]
    present = _present(context.workspace, compared.head, side)
    if not present:
        return None
    tree = _with_side_of(context.workspace, compared.base, compared.head, side)
    # Tests that nobody knew are the likeliest to fail there, and one that does is enough.
    known = NO_ENDS if a is None else a.run.ends
    new = [case for case in c.cases if case.file in present and case.function not in known]
    if 0 < len(new) <= FEW and words_for(suite, alone := Selection(cases=tuple(new))):
        run = (await run_tree(context, tree, suite, alone)).run
        if run.red or run.exit_code:
            return run
    files = tuple([path for path in present if not is_shared(path)])
    return (await run_tree(context, tree, suite, Selection(files) if files else None)).run


async def _flaky(
    context: CallContext,
    suite: PartSuite,
    tree: str,
    taken: Taken,
    names: frozenset[str],
    reached: Selection | None,
) -> frozenset[str]:
    """Those of the tests that end differently when all are run once more on the same tree.

    One that ends differently alone may only need the company in which it failed: that is no
    chance, so the whole company is asked before it is called flaky.
    """
    asked = [case for case in taken.cases if names & _with_outer(case)]
    alone = Selection(cases=tuple(asked))
    if not 0 < len(alone.cases) <= FEW or not words_for(suite, alone):
        # What cannot be run in part is run again as a whole, where that is cheap.
        is_cheap = bool(names) and taken.run.elapsed <= CHEAP and len(names) <= FEW
        again = await run_tree(context, tree, suite) if is_cheap else taken
        return _changed_ends(taken, again, names)
    suspects = _changed_ends(taken, await run_tree(context, tree, suite, alone), names)
    if not suspects:
        return frozenset()
    files = _present(context.workspace, tree, reached.files) if reached else ()
    company = Selection(files) if files else None
    return _changed_ends(taken, await run_tree(context, tree, suite, company), suspects)


def _with_outer(case: SuiteCase) -> set[str]:
    """The test and those that it is a subtest of."""
    parts = case.function.split("::")
    return {"::".join(parts[:end]) for end in range(2, len(parts) + 1)} | {case.function}


def _changed_ends(one: Taken, other: Taken, names: frozenset[str]) -> frozenset[str]:
    # A test with subtests that nobody tells of has passed.
    was, now = one.run.ends, other.run.ends
    return frozenset(
        [name for name in names if _differs(was.get(name, CaseOutcome.PASSED), now.get(name))]
    )


def _differs(one: CaseOutcome, other: CaseOutcome | None) -> bool:
    return other is not None and one != other


def _present(workspace: Workspace, tree: str, paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(workspace.trees.entries(TreeHash(tree), paths)))


def _with_side_of(workspace: Workspace, tree: str, other: str, side: Sequence[str]) -> TreeHash:
    """A tree whose testing side is that of another."""
    theirs = workspace.trees.entries(TreeHash(other), side)
    entries: dict[str, TreeEntry | None] = {path: theirs.get(path) for path in side}
    return workspace.trees.overlay(TreeHash(tree), entries)
