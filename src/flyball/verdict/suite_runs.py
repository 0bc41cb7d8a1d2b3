"""The runs of one suite that a verdict needs, and no others.

Four measures keep the cost down. A combination that cannot differ is not run: the old tests run on
the new code only if the change touches the testing side, and then only the files that it touched,
unless it touched something that all tests share. The tree before the change is run once and cached.
The runs of the two trees go in parallel, together with that of the old tests. And a suite that
takes too long is run in part.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from flyball.regex import regex
from flyball.terms.evidence import Comparison
from flyball.tools.call.protocol import CallContext
from flyball.verdict.base_runs import BaseRuns, build_ahead
from flyball.verdict.canary import APART
from flyball.verdict.case import BAD, CaseOutcome, SuiteCase
from flyball.verdict.inverted import run_inverted
from flyball.verdict.part import TOP, PartSuite, is_within
from flyball.verdict.reports import (
    NO_ENDS,
    ChangeFacts,
    SharedFile,
    SuiteRuns,
    TreeRun,
    Unsteady,
    file_of,
)
from flyball.verdict.runners.layout import FileIndex
from flyball.verdict.selection import SOURCE, count_tests, select_tests
from flyball.verdict.sides import find_read_by_tests, is_shared
from flyball.verdict.strength import could_not_run, fixed_tests
from flyball.verdict.tree_run import (
    SILENT,
    Selection,
    Taken,
    count_collected,
    hears_failures,
    run_tree,
    with_moved_files,
    with_other_surroundings,
    words_for,
)
from flyball.workspace.run.workspace import Workspace
from flyball.workspace.trees.trees import TreeEntry, TreeHash

CHEAP = 3.0
"""A suite that cannot be run in part is run again if it took no more than so many seconds."""
NOT_MOVED: Mapping[str, str] = MappingProxyType({})
TIMES = 5
"""So often a test is run at most on one tree where its ends differ."""
FEW = 60
"""So many tests that changed sides are run once more, to tell a repair from a flaky test."""


OLD, NEW = "the old code", "the new code"
OLD_TESTS = f"old tests on {NEW}"
NEW_TESTS = f"new tests on {OLD}"

SCRIPT = regex(r".*\.[cm]?[jt]sx?")
FAR_BELOW = 2
"""A suite that took less than this part of its limit does not run past it by chance."""


class TreePair(NamedTuple):
    """Two trees, the changes between them, and the newer one on disk."""

    base: str
    head: str
    facts: ChangeFacts
    land: FileIndex


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
    chance = await _repeat(context, suite, compared, _Both(a, c, wanted), known)
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


class _Chance(NamedTuple):
    """The evidence of repeated runs of the same tree about single tests."""

    flaky: frozenset[str] = frozenset()
    unsteady: tuple[Unsteady, ...] = ()


async def _repeat(
    context: CallContext, suite: PartSuite, compared: TreePair, both: _Both, known: BaseRuns
) -> _Chance:
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
    beside = _beside(c.run, broken | fixed)
    then_names = frozenset((fixed | still) - steady.keys())
    now, then = await asyncio.gather(
        _count_red(
            again,
            suite,
            compared.head,
            c,
            broken | fixed | beside,
            both.wanted,
            least=TIMES if compared.facts.by_chance else 2,
            in_company=False,
        ),
        _count_red(context, suite, compared.base, a, then_names, both.wanted, moved=moved),
    )
    known.keep_repeated(compared.base, suite, then)
    then = {**steady, **then}
    unsure = frozenset([name for name in broken | beside if 0 < now[name][0] < now[name][1]])
    if unsure:
        then |= await _count_red(
            context,
            suite,
            compared.base,
            a,
            unsure & a.run.ends.keys(),
            both.wanted,
            least=TIMES,
            moved=moved,
        )
    flaky = frozenset([name for name, (red, of) in then.items() if 0 < red < of])
    unsteady = [
        Unsteady(name, *counted, *then.get(name, (0, 0)))
        for name, counted in sorted(now.items())
        if 0 < counted[0] < counted[1] and name not in flaky
    ]
    return _Chance(flaky, tuple(unsteady))


def _beside(run: TreeRun, names: frozenset[str]) -> frozenset[str]:
    """Return the other tests in the same files: they cost almost nothing, and may reveal a flaky
    one.

    Return only as many as can be selected by name.
    """
    files = {file_of(name) for name in names}
    found = sorted(name for name in run.green - names if file_of(name) in files)
    return frozenset(found[: max(0, FEW - len(names))])


async def _is_silenced(context: CallContext, suite: PartSuite, compared: TreePair) -> bool:
    """Return whether tests no longer fail when the changed code is loaded with them."""
    facts = compared.facts
    code = [path for path in facts.files if path not in facts.put_back]
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
    whole = _Both(with_moved_files(a, compared.facts.renamed), c.beside(a))
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
    """Return the test files of a part that the change reaches."""
    own = compared.land.below(suite.at)
    prefix = "" if suite.at == "." else f"{suite.at}/"
    texts = {f"{prefix}{path}": own.text(path) for path in own.files if SOURCE.fullmatch(path)}
    return Selection(select_tests(compared.facts.files, texts), whole=count_tests(texts))


async def _in_part(context: CallContext, suite: PartSuite, compared: TreePair) -> _Both | None:
    """Return the tests that the change reaches, if the runner can select them."""
    wanted = reached_tests(suite, compared)
    if not words_for(suite, wanted):
        return None
    whole = await count_collected(context, compared.head, suite)
    wanted = wanted._replace(whole=whole or wanted.whole)
    old = _present(context.workspace, compared.base, wanted.files)
    if not old:
        c = await run_tree(context, compared.head, suite, wanted, what=_on(NEW, suite))
        return _Both(Taken(TreeRun(c.run.command, 0, whole=wanted.whole)), c, wanted)
    a, c = await asyncio.gather(
        run_tree(context, compared.base, suite, wanted._replace(files=old), what=_on(OLD, suite)),
        run_tree(context, compared.head, suite, wanted, what=_on(NEW, suite)),
    )
    return _Both(with_moved_files(a, compared.facts.renamed), c.beside(a), wanted)


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
) -> dict[str, tuple[int, int]]:
    """Return how often each test was red, in how many runs of the same tree.

    A test with varying results is run again, up to five times. A test that ends differently alone
    may depend on the tests with which it failed: that is not chance, so then the whole group is
    repeated.
    """
    first = {name: _is_red(taken, name) for name in names}
    ends: dict[str, list[bool]] = {name: [end] for name, end in first.items()}
    asked = [case for case in taken.cases if names & _with_outer(case)]
    alone = Selection(cases=tuple(asked))
    is_few = 0 < len(alone.cases) <= FEW and words_for(suite, alone)
    # What cannot be run in part is run again as a whole, where that is cheap.
    is_cheap = bool(names) and taken.run.elapsed <= CHEAP and len(names) <= FEW
    if not is_few and not is_cheap:
        return {name: (int(end), 1) for name, end in first.items()}
    context = context.during("once more, what changed sides")
    again = await run_tree(context, tree, suite, alone if is_few else None)
    again = with_moved_files(again, moved)
    is_told = bool(again.run.ends) and not again.run.trouble
    other = {name: _is_red(again, name) for name in names} if is_told else {}
    differing = [name for name, end in other.items() if end != first[name]]
    files = _present(context.workspace, tree, reached.files) if reached else ()
    whole = Selection(files) if files else None
    part = alone if is_few and not differing and not in_company else whole
    for _ in range(TIMES - 2 if differing or least > 2 else 0):
        more = await run_tree(context, tree, suite, part)
        more = with_moved_files(more, moved)
        for name in names if least > 2 else differing:
            ends[name].append(_is_red(more, name))
    for name, end in other.items():
        if end == first[name] or len(set(ends[name])) > 1 or not is_few:
            ends[name].append(end)
    return {name: (sum(each), len(each)) for name, each in ends.items()}


def _is_red(taken: Taken, name: str) -> bool:
    """Return whether a test failed; one whose subtests are not reported passed."""
    return taken.run.ends.get(name) in BAD


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


def _with_outer(case: SuiteCase) -> set[str]:
    """Return the test and the tests that contain it as a subtest."""
    parts = case.function.split("::")
    return {"::".join(parts[:end]) for end in range(2, len(parts) + 1)} | {case.function}


def _present(workspace: Workspace, tree: str, paths: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(workspace.trees.entries(TreeHash(tree), paths)))


def _with_side_of(workspace: Workspace, tree: str, other: str, side: Sequence[str]) -> TreeHash:
    """Return a tree whose testing side is that of another."""
    theirs = workspace.trees.entries(TreeHash(other), side)
    entries: dict[str, TreeEntry | None] = {path: theirs.get(path) for path in side}
    return workspace.trees.overlay(TreeHash(tree), entries)
