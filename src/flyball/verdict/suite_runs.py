"""The runs of one suite that a verdict needs, and no others.

Four measures keep the cost down. A combination that cannot differ is not run: the old tests run on
the new code only if the change touches the testing side, and then only the files that it touched,
unless it touched something that all tests share. The tree before the change is run once and cached.
The runs of the two trees go in parallel, together with that of the old tests. And a suite that
takes too long is run in part.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from flyball.regex import regex
from flyball.terms.evidence import Comparison
from flyball.tools.call.protocol import CallContext
from flyball.verdict.base_runs import BaseRuns, build_ahead
from flyball.verdict.canary import APART
from flyball.verdict.case import CaseOutcome, SuiteCase
from flyball.verdict.inverted import run_inverted
from flyball.verdict.part import TOP, PartSuite, is_within
from flyball.verdict.repeats import FEW, BothTaken, repeat_tests
from flyball.verdict.reports import (
    NO_ENDS,
    ChangeFacts,
    SharedFile,
    SuiteRuns,
    TreeRun,
    file_of,
)
from flyball.verdict.sides import find_read_by_tests, is_shared
from flyball.verdict.strength import could_not_run, fixed_tests
from flyball.verdict.tree_run import (
    SILENT,
    Selection,
    Taken,
    TreePair,
    count_collected,
    detects_failures,
    reached_tests,
    run_tree,
    with_moved_files,
    words_for,
)
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.trees import TreeEntry, TreeHash

OLD, NEW = "the old code", "the new code"
OLD_TESTS = f"old tests on {NEW}"
NEW_TESTS = f"new tests on {OLD}"

SCRIPT = regex(r".*\.[cm]?[jt]sx?")
FAR_BELOW = 2
"""A suite that took less than this part of its limit does not run past it by chance."""


async def run_suites(
    context: CallContext, suite: PartSuite, compared: TreePair, *, is_new: bool = False
) -> SuiteRuns:
    """Return the runs of one suite that can differ; `is_new` if it did not exist before."""
    if is_new:
        c = await run_tree(context, compared.head, suite, what=_on(NEW, suite))
        d = await _new_tests(context, suite, compared, None, c, None)
        return _runs(suite, None, c.run, None, d, frozenset(), is_new=True)
    await build_ahead(context, compared.base, suite)
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
    read = _seen_read(context.workspace, compared, a)
    facts = compared.facts
    compared = compared._replace(facts=facts._replace(shared=(*facts.shared, *read)))
    if wanted is not None or is_slow or read:
        old = await _old_tests(context, suite, compared, wanted)
    kept = await _held_against(context, suite, compared, old, a, c) if old else _KeptTests()
    d = await _new_tests(context, suite, compared, a, c, early)
    runs = _runs(suite, a.run, c.run, kept.run, d, frozenset())
    runs = runs._replace(by_shared=kept.by_shared, unbuilt_without=kept.unbuilt, read=read)
    chance = await repeat_tests(context, suite, compared, BothTaken(a, c, wanted), known)
    runs = runs._replace(flaky=chance.flaky, unsteady=chance.unsteady)
    runs = runs._replace(reasons=_reasons(a, c))
    return await _with_inverted(context, suite, compared, runs, c, a)


def _seen_read(workspace: Workspace, compared: TreePair, old: Taken) -> tuple[SharedFile, ...]:
    """Return the changed files of data that the old tests read, and nothing says the code does."""
    facts, land = compared.facts, compared.land
    changed = [path for path in facts.files if path in old.read and path not in facts.put_back]
    found = find_read_by_tests(changed, land.files, land.text) if changed else frozenset[str]()

    def text(tree: str, path: str) -> str:
        return (workspace.file_at(tree, path) or b"").decode("utf-8", "replace")

    return tuple(
        [SharedFile(p, text(compared.base, p), text(compared.head, p)) for p in sorted(found)]
    )


def _on(code: str, suite: PartSuite) -> str:
    """Return the purpose of a run of the suite, as shown to people while they wait."""
    return f"{suite.command or suite.runner} on {code}"


async def _with_inverted(
    context: CallContext,
    suite: PartSuite,
    compared: TreePair,
    runs: SuiteRuns,
    new: Taken,
    old: Taken,
) -> SuiteRuns:
    """Check of every fixed test, or if none was fixed of others, that it can still fail."""
    fixed = fixed_tests(runs)
    found = await run_inverted(context, suite, compared.head, new, fixed, old)
    runs = runs._replace(deceived=found.deceived, uninverted=found.uninverted)
    runs = runs._replace(agreeing=found.agreeing)
    runs = runs._replace(missing=found.missing)
    if fixed - found.uninverted or not await _is_silenced(context, suite, compared):
        return runs
    run = new.run if new.run.trouble else new.run._replace(trouble=SILENT)
    return runs._replace(new=run)


async def _is_silenced(context: CallContext, suite: PartSuite, compared: TreePair) -> bool:
    """Return whether tests no longer fail when the changed code is loaded with them."""
    facts = compared.facts
    code = [path for path in facts.files if path not in facts.put_back]
    near = [path for path in code if SCRIPT.fullmatch(path) and is_within(path, suite.at)]
    if suite.runner not in APART or not near:
        return False
    start = "" if suite.at == "." else f"{suite.at}/"
    loads = [path.removeprefix(start) for path in near]
    if await detects_failures(context, compared.head, suite, loads) is not False:
        return False
    return bool(await detects_failures(context, compared.base, suite, loads))


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


async def _before_and_after(
    context: CallContext,
    suite: PartSuite,
    compared: TreePair,
    known: BaseRuns,
    before: Taken | None,
) -> BothTaken:
    """Run the suite on both trees; if it takes too long, only the tests that the change reaches."""
    if before is None:
        a, c = await asyncio.gather(
            run_tree(context, compared.base, suite, what=_on(OLD, suite)),
            run_tree(context, compared.head, suite, what=_on(NEW, suite)),
        )
        known.keep(compared.base, suite, a)
    elif before.timed_out and (part := await _in_part(context, suite, compared)):
        return part
    else:
        a, c = before, await run_tree(context, compared.head, suite, what=_on(NEW, suite))
    whole = BothTaken(with_moved_files(a, compared.facts.renamed), c.beside(a))
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


async def _in_part(context: CallContext, suite: PartSuite, compared: TreePair) -> BothTaken | None:
    """Return the tests that the change reaches, if the runner can select them."""
    wanted = reached_tests(suite, compared)
    if not words_for(suite, wanted):
        return None
    whole = await count_collected(context, compared.head, suite)
    wanted = wanted._replace(whole=whole or wanted.whole)
    old = _present(context.workspace, compared.base, wanted.files)
    if not old:
        c = await run_tree(context, compared.head, suite, wanted, what=_on(NEW, suite))
        return BothTaken(Taken(TreeRun(c.run.command, 0, whole=wanted.whole)), c, wanted)
    a, c = await asyncio.gather(
        run_tree(context, compared.base, suite, wanted._replace(files=old), what=_on(OLD, suite)),
        run_tree(context, compared.head, suite, wanted, what=_on(NEW, suite)),
    )
    return BothTaken(with_moved_files(a, compared.facts.renamed), c.beside(a), wanted)


class _OldTests(NamedTuple):
    """A run of the new code with the old testing side, and the files restored for it."""

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
    """Run the new code with the old testing side, if the change touched that."""
    put_back = compared.facts.put_back
    side = [path for path in put_back if is_within(path, suite.at)]
    around = [path for path in put_back if is_shared(path)]
    touched = tuple(sorted({*side, *around}))
    if not touched or is_known_slow:
        return None
    return await _with_old(context, suite, compared, touched, reached)


async def _with_old(
    context: CallContext,
    suite: PartSuite,
    compared: TreePair,
    touched: tuple[str, ...],
    reached: Selection | None = None,
) -> _OldTests:
    """Return the new code with these files as they were before."""
    tree = _with_side_of(context.workspace, compared.head, compared.base, touched)
    files = _present(context.workspace, compared.base, touched)
    if any(map(is_shared, touched)):
        # Any test may end otherwise; of a suite that takes too long, those that were run are asked.
        old = _present(context.workspace, compared.base, reached.files) if reached else ()
        wanted = Selection(old) if old else None
    else:
        wanted = Selection(files)
    if wanted is None or not words_for(suite, wanted):
        taken = await run_tree(context, tree, suite, what=OLD_TESTS)
        return _OldTests(taken, touched, is_whole=True)
    taken = await run_tree(context, tree, suite, wanted, what=OLD_TESTS)
    return _OldTests(taken, touched, is_whole=False)


class _KeptTests(NamedTuple):
    """The result of the old tests on the new code, and the part that decides."""

    run: TreeRun | None = None
    by_shared: frozenset[str] = frozenset()
    unbuilt: tuple[str, ...] = ()


async def _held_against(
    context: CallContext,
    suite: PartSuite,
    compared: TreePair,
    old: _OldTests,
    a: Taken,
    c: Taken,
) -> _KeptTests:
    """Run the old testing side on the new code, apart from files that the product reads."""
    shared = frozenset([each.path for each in compared.facts.shared])
    run = _merged(old, a, c, compared.facts)
    if shared.isdisjoint(old.touched):
        return _KeptTests(run)
    alone = tuple([path for path in old.touched if path not in shared])
    differs = {name for name, end in c.run.ends.items() if run.ends.get(name, end) != end}
    # Where only an exit code speaks, what does not build cannot be told from what fails.
    is_unbuilt = c.run.is_counted and not run.is_counted and not run.trouble
    if not differs and not is_unbuilt:
        return _KeptTests(run)
    if not alone:
        gone = tuple(sorted(shared)) if is_unbuilt else ()
        return _KeptTests(None if is_unbuilt else run, frozenset(differs), gone)
    apart = _merged(await _with_old(context, suite, compared, alone), a, c, compared.facts)
    if is_unbuilt:
        return _KeptTests(apart, unbuilt=tuple(sorted(shared)))
    by_shared = {name for name in differs if apart.ends.get(name) == c.run.ends.get(name)}
    return _KeptTests(run, frozenset(by_shared))


def _merged(old: _OldTests, a: Taken, c: Taken, facts: ChangeFacts) -> TreeRun:
    run = with_moved_files(old.taken.beside(a), facts.renamed).run
    if could_not_run(a.run) and could_not_run(run):
        # No test of either was told of, whatever words each was started with.
        return run._replace(ends=a.run.ends)
    if old.is_whole:
        return run
    # The files that were not run again are the same in both trees: they end as they did.
    touched = {facts.renamed.get(path, path) for path in old.touched}
    same = {name: end for name, end in c.run.ends.items() if file_of(name) not in touched}
    return run._replace(ends={**same, **run.ends})


async def _added_tests(
    context: CallContext, suite: PartSuite, compared: TreePair
) -> TreeRun | None:
    """Run the old code with the tests whose texts are new, if they have names."""
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
    side = [path for path in facts.put_back if is_within(path, suite.at)]
    tree = _with_side_of(context.workspace, compared.base, compared.head, side)
    return (await run_tree(context, tree, suite, wanted, what=NEW_TESTS)).run


async def _new_tests(
    context: CallContext,
    suite: PartSuite,
    compared: TreePair,
    a: Taken | None,
    c: Taken,
    early: TreeRun | None,
) -> TreeRun | None:
    """Run the old code with the new testing side: new tests must fail there."""
    if early is not None and not early.trouble and early.red & c.run.green:
        return early
    side = [path for path in compared.facts.put_back if is_within(path, suite.at)]
    present = _present(context.workspace, compared.head, side)
    if not present:
        return None
    tree = _with_side_of(context.workspace, compared.base, compared.head, side)
    # Tests that nobody knew are the likeliest to fail there, and one that does is enough.
    known = NO_ENDS if a is None else a.run.ends
    new = [case for case in c.cases if case.file in present and case.function not in known]
    if 0 < len(new) <= FEW and words_for(suite, alone := Selection(cases=tuple(new))):
        run = (await run_tree(context, tree, suite, alone, what=NEW_TESTS)).run
        if run.red or run.exit_code:
            return run
    files = tuple([path for path in present if not is_shared(path)])
    chosen = Selection(files) if files else None
    return (await run_tree(context, tree, suite, chosen, what=NEW_TESTS)).run


_NETWORK = regex(
    r"(?i)connection refused|network is unreachable|ECONNREFUSED|ENETUNREACH|EAI_AGAIN|getaddrinfo"
    r"|name or service not known|temporary failure in name resolution|could not connect"
    r"|no route to host|Failed to connect"
)
_VARIABLE = regex(
    r"KeyError: '([A-Z][A-Z0-9_]{3,})'|(?:variable|env)\S* [`'\"]?([A-Z][A-Z0-9_]{3,})"
)


def _reasons(a: Taken, c: Taken) -> dict[str, str]:
    """Return how the environment may have caused tests to fail before and after."""
    still = a.run.red & c.run.red
    found: dict[str, str] = {}
    for case in c.cases:
        if case.function in still and (why := likely_reason(case.message)):
            found[case.function] = why
    return found


def likely_reason(message: str) -> str:
    """Return what a failure says about its environment; empty if nothing."""
    if _NETWORK.search(message):
        return "it wants a connection, and tests run without the network unless settings allow it"
    if named := _VARIABLE.search(message):
        return f"it asks for the variable {named[1] or named[2]}"
    return ""


def _present(workspace: Workspace, tree: str, paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(workspace.trees.entries(TreeHash(tree), paths)))


def _with_side_of(workspace: Workspace, tree: str, other: str, side: Sequence[str]) -> TreeHash:
    """Return a tree whose testing side is that of another."""
    theirs = workspace.trees.entries(TreeHash(other), side)
    entries: dict[str, TreeEntry | None] = {path: theirs.get(path) for path in side}
    return workspace.trees.overlay(TreeHash(tree), entries)
