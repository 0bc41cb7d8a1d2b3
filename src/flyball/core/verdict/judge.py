"""The one function that decides what may be said of a change.

Each finder below is one numbered finding of the specification, and they are asked in its order.
None of them can take back what another found: a verdict is the sum of its findings, so nothing that
is good elsewhere buys off a regression, a vanished test or a weakened one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flyball.core.suite.case import CaseOutcome
from flyball.core.terms.change_verdict import (
    ChangeFinding,
    ChangeStrength,
    ChangeVerdict,
    FindingKind,
    SuiteLine,
    Weight,
)
from flyball.core.terms.shape import listed
from flyball.core.verdict.promises import changed_promises, is_explained
from flyball.core.verdict.reports import (
    AskedFor,
    ChangeFacts,
    Named,
    NamedEnd,
    SuiteRuns,
    TreeRun,
    file_of,
)
from flyball.core.verdict.strength import (
    could_not_run,
    mended_tests,
    old_failures,
    strength_of,
    strength_shown,
)
from flyball.core.verdict.type_checks import loosened_settings
from flyball.regex import regex


def judge_change(
    suites: tuple[SuiteRuns, ...], change: ChangeFacts, asked: AskedFor
) -> ChangeVerdict:
    """The verdict on a change, from runs on clean checkouts and nothing that a driver chose."""
    found = [
        *_unkept(change),
        *(each for suite in suites for each in _of_suite(suite, change, asked)),
        *_reached(suites, change),
        *_loosened(change, asked),
        *_named(asked.named),
    ]
    strength = strength_shown(suites, asked)
    if _wants_a_red_test(strength, found, asked):
        found.append(_ask_for_red())
    return ChangeVerdict(
        strength=strength,
        findings=tuple(found),
        ran=tuple([line for suite in suites for line in _lines(suite)]),
        not_run=asked.not_run,
        mended=tuple(sorted({name for suite in suites for name in mended_tests(suite)})),
        old_failures=tuple(sorted({name for suite in suites for name in old_failures(suite)})),
        flaky=tuple(sorted({name for suite in suites for name in suite.flaky})),
        changed=change.files,
        shared_literals=change.shared_literals,
        left_behind=change.left_behind,
        has_suite=bool(suites),
    )


def _of_suite(suite: SuiteRuns, change: ChangeFacts, asked: AskedFor) -> Iterator[ChangeFinding]:
    """Findings 1 to 4 and 7, for one suite."""
    yield from _not_evidence(suite)
    yield from _hidden_red(suite)
    yield from _unsteady(suite)
    yield from _vanished_red(suite, change)
    yield from _vanished_rows(suite)
    yield from _regressions(suite, change)
    yield from changed_promises(suite, change, asked)
    yield from _fewer_tests(suite, change)
    yield from _unexcused(suite, change, asked)


def _unkept(change: ChangeFacts) -> Iterator[ChangeFinding]:
    """Finding 1 for the tree itself: what is not kept cannot have been judged."""
    if change.unreadable:
        yield ChangeFinding(
            FindingKind.NOT_EVIDENCE,
            Weight.BLOCKS,
            f"{listed(change.unreadable)} could not be kept, so the tree that was tested is not "
            "the tree that would be committed. Make the file smaller or leave it out.",
        )


def _not_evidence(suite: SuiteRuns) -> Iterator[ChangeFinding]:
    """Finding 1: a run that says nothing, whatever it printed."""

    def no(sentence: str) -> ChangeFinding:
        return ChangeFinding(FindingKind.NOT_EVIDENCE, Weight.BLOCKS, sentence, suite.part)

    new, old = suite.c, suite.a
    if new is None:
        yield no(f"{suite.suite} could not be run on the new tree, so nothing is shown.")
        return
    if new.trouble:
        yield no(f"{new.command} on the new tree is no evidence: {new.trouble}.")
    elif new.is_counted and not new.green and not new.red:
        yield no(f"{new.command} ran no test on the new tree.")
    elif new.exit_code and not new.red:
        yield no(f"{new.command} ended with exit code {new.exit_code} on the new tree.")
    if old is None and not suite.is_new:
        yield no(f"{suite.suite} could not be run on the tree from before: nothing to compare.")
    elif old and not new.trouble and new.red and old.exit_code and _speaks_as_one(old, new):
        yield no(f"{new.command} fails on the new tree as it did on the tree from before.")
    elif old and not new.trouble and could_not_run(old) and new.red:
        yield no(
            f"{old.command} could not be run on the tree from before "
            f"({old.trouble or f'exit code {old.exit_code}'}), "
            f"so it cannot be told whether {listed(new.red)} failed then, too."
        )
    elif suite.b is not None and suite.b.trouble and not new.trouble:
        yield no(
            f"With the tests from before, {suite.b.command} is no evidence: {suite.b.trouble}."
        )


def _speaks_as_one(*runs: TreeRun) -> bool:
    """Whether nothing is told test by test, so that the exit code stands for all of them."""
    return not any(run.is_counted for run in runs)


def _hidden_red(suite: SuiteRuns) -> Iterator[ChangeFinding]:
    """Finding 2, first half: still red by the old tests, and no longer red by the new ones."""
    if suite.a is None or suite.b is None or suite.c is None:
        return
    # Where the tree from before could not load a test, nobody knows how it would have ended there:
    # that the old one fails and the new one passes is enough.
    unknown = suite.b.red & suite.c.green
    if suite.a.whole or suite.a.trouble:
        unknown = frozenset[str]()
    unknown -= suite.a.ends.keys()
    hidden = ((suite.a.red & suite.b.red) - suite.c.red) | unknown
    hidden -= suite.flaky
    if hidden and _told(suite) == (False, False, True):
        # Only the exit code was red: no test from before ever ran, so none was made to agree.
        yield ChangeFinding(
            FindingKind.PROMISE_CHANGED,
            Weight.ASKS,
            f"{listed(hidden)} ran no test before the change, and with the tests as they were "
            "before it runs none of the new code either: they may not build with it, so nobody can "
            "tell whether it keeps what they asked. Compare the tests before and after.",
            suite.part,
            tuple(sorted(hidden)),
        )
    elif hidden:
        yield ChangeFinding(
            FindingKind.HIDDEN_RED,
            Weight.BLOCKS,
            f"{listed(hidden)} still fails with the tests as they were before: the tests were "
            "made to agree, the code was not repaired. Put them back and repair the code.",
            suite.part,
            tuple(sorted(hidden)),
        )


def _unsteady(suite: SuiteRuns) -> Iterator[ChangeFinding]:
    """Finding 2 for what is repaired in some runs only: by chance, or where a verdict is taken."""
    if suite.unsteady:
        yield ChangeFinding(
            FindingKind.HIDDEN_RED,
            Weight.ASKS,
            f"{listed(suite.unsteady)} always failed before; now it passes in one run and fails in "
            "another, with another terminal and environment. Repair it for all of them.",
            suite.part,
            tuple(sorted(suite.unsteady)),
        )


def _vanished_red(suite: SuiteRuns, change: ChangeFacts) -> Iterator[ChangeFinding]:
    """Finding 2 for tests that nobody touched: red before, and now skipped or gone.

    What stands for a whole file or a hook is gone as soon as its tests run, and is no loss.
    """
    if suite.a is None or suite.c is None or suite.c.whole or suite.c.trouble:
        return
    old = suite.a.red - suite.flaky - (suite.b.green | suite.b.red if suite.b else frozenset())
    ends = suite.c.ends
    skipped = {name for name in old if ends.get(name) is CaseOutcome.SKIPPED}
    if skipped:
        yield ChangeFinding(
            FindingKind.HIDDEN_RED,
            Weight.BLOCKS,
            f"{listed(skipped)} failed before and is skipped now, although its test was not "
            "changed. Repair the code.",
            suite.part,
            tuple(sorted(skipped)),
        )
    grown = {file_of(name) for name in ends.keys() - suite.a.ends.keys()}
    gone = {
        name
        for name in old - ends.keys() - suite.c.passed(old)
        if file_of(name) not in grown and not _NO_TEST.search(name) and "::" in name
        if not is_explained(name, change)
    }
    if gone:
        yield ChangeFinding(
            FindingKind.HIDDEN_RED,
            Weight.ASKS,
            f"{listed(gone)} failed before and no longer runs. That is no repair.",
            suite.part,
            tuple(sorted(gone)),
        )


def _vanished_rows(suite: SuiteRuns) -> Iterator[ChangeFinding]:
    """Finding 2 for the rows of a test: red before, and green now that fewer of them run."""
    if suite.a is None or suite.c is None or suite.c.whole or suite.c.trouble:
        return
    before, now = suite.a.rows, suite.c.rows
    mended = (suite.a.red & suite.c.green) - suite.flaky
    fewer = {name for name in mended if now.get(name, 0) < before.get(name, 0)}
    if fewer:
        yield ChangeFinding(
            FindingKind.HIDDEN_RED,
            Weight.ASKS,
            f"{listed(fewer)} failed before and passes now with fewer of its rows: those that are "
            "gone or skipped may be the ones that failed.",
            suite.part,
            tuple(sorted(fewer)),
        )


_NO_TEST = regex(r"\bhook\b|(?i:set_?up|tear_?down)|::\(|_FailedTest|^(.+)::\1$|failed to run")


def _told(suite: SuiteRuns) -> tuple[bool, ...]:
    """Whether the runs before, with the old tests and after spoke of any test at all."""
    return tuple([any(run.counts or ()) for run in (suite.a, suite.b, suite.c) if run])


def _regressions(suite: SuiteRuns, change: ChangeFacts) -> Iterator[ChangeFinding]:
    """Finding 2, second half: green before, and not green now though its test was not touched."""
    if suite.a is None or suite.c is None:
        return
    before, now = suite.a, suite.c
    # What is no evidence is told already, and compares with nothing.
    if now.trouble or (now.is_counted and could_not_run(before)):
        return
    broken = now.red - before.red - suite.flaky
    if broken:
        yield _regression(suite, broken, ("fails", "fail"), "Repair that.")
    # A selection leaves most tests out on purpose: only what it ran and lost is missing.
    if now.whole:
        return
    lost = {
        name
        for name in before.green - now.green - now.red - suite.flaky
        if file_of(name) not in change.testing_side and not is_explained(name, change)
    }
    if lost:
        gone = ("no longer runs", "no longer run")
        do = "The text was not changed. See to it that it runs and passes."
        yield _regression(suite, lost, gone, do)


def _regression(
    suite: SuiteRuns, names: Iterable[str], what: tuple[str, str], do: str
) -> ChangeFinding:
    """One finding for all the names; `what` is the verb for one and for several."""
    found = tuple(sorted(names))
    who = "it passed before the change or is" if len(found) == 1 else "they passed before or are"
    return ChangeFinding(
        FindingKind.REGRESSION,
        Weight.BLOCKS,
        f"{listed(found)} {what[len(found) > 1]}; {who} new. {do}",
        suite.part,
        found,
    )


def _fewer_tests(suite: SuiteRuns, change: ChangeFacts) -> Iterator[ChangeFinding]:
    """Finding 4: tests that are gone or skipped and that nothing above speaks of."""
    if suite.a is None or suite.c is None or suite.c.whole:
        return
    before, now = sum(suite.a.counts or ()), sum(suite.c.counts or ())
    if not suite.a.is_counted and now < before and not suite.c.exit_code:
        yield ChangeFinding(
            FindingKind.FEWER_TESTS,
            Weight.ASKS,
            f"{suite.c.command} told of {before} checks before and tells of {now} now.",
            suite.part,
        )
    kept = suite.a.green if suite.b is None else suite.a.green & suite.b.green
    gone = {
        name
        for name in kept - suite.c.green - suite.c.red - suite.flaky
        if file_of(name) in change.testing_side and not is_explained(name, change)
    }
    if gone:
        yield ChangeFinding(
            FindingKind.FEWER_TESTS,
            Weight.ASKS,
            f"{listed(gone)} passed before and is gone or skipped now.",
            suite.part,
            tuple(sorted(gone)),
        )


def _reached(suites: tuple[SuiteRuns, ...], change: ChangeFacts) -> Iterator[ChangeFinding]:
    """Finding 5: what reaches into the runner is named; where it may have decided, it is asked."""
    differs = any(_differs(suite) for suite in suites)
    for reach in change.reaches:
        weight = Weight.ASKS if reach.in_product or differs else Weight.NOTES
        yield ChangeFinding(FindingKind.REACHES_RUNNER, weight, reach.sentence)


def _differs(suite: SuiteRuns) -> bool:
    """Whether the old and the new testing side give one test two different ends."""
    if suite.b is None or suite.c is None:
        return False
    old, new = suite.b.ends, suite.c.ends
    return any(new.get(name, end) != end for name, end in old.items() if name not in suite.flaky)


def _loosened(change: ChangeFacts, asked: AskedFor) -> Iterator[ChangeFinding]:
    """Finding 5 for type checks: asked where one is part of the proof, and told elsewhere."""
    weight = Weight.ASKS if asked.checks_types else Weight.NOTES
    for sentence in (*change.silenced, *loosened_settings(change.tests)):
        yield ChangeFinding(FindingKind.TYPES_LOOSENED, weight, sentence)


def _named(named: tuple[Named, ...]) -> Iterator[ChangeFinding]:
    """Finding 6: what was named as verification must be green."""
    for each in named:
        if each.end is not NamedEnd.GREEN:
            detail = f": {each.detail}" if each.detail else ""
            yield ChangeFinding(
                FindingKind.NAMED_NOT_GREEN,
                Weight.BLOCKS,
                f"`{each.what}` was named as verification and is {each.end.value}{detail}.",
            )


def _unexcused(suite: SuiteRuns, change: ChangeFacts, asked: AskedFor) -> Iterator[ChangeFinding]:
    """Finding 7: old failures are listed; those that were to be repaired are sent back.

    Where a repair is asked for and no test shows one, a test that uses what changed and stays red
    is what the request was about, as far as anybody can see.
    """
    old = old_failures(suite)
    owed = {name for name in old if asked.mends_all or _is_named(name, asked.must_mend)}
    if asked.repairs and not owed and strength_of(suite) is ChangeStrength.GREEN:
        near = {name for name in old if file_of(name) not in change.tests_apart}
        if near:
            owed = near
            yield ChangeFinding(
                FindingKind.NAMED_NOT_GREEN,
                Weight.BLOCKS,
                f"{listed(near)} failed before, uses what was changed and still fails, and no "
                "test went from red to green. Repair that, or add a test that fails without your "
                "change.",
                suite.part,
                tuple(sorted(near)),
            )
    elif owed:
        yield ChangeFinding(
            FindingKind.NAMED_NOT_GREEN,
            Weight.BLOCKS,
            f"{listed(owed)} still fails, and to repair that was the request.",
            suite.part,
            tuple(sorted(owed)),
        )
    if left := old - owed:
        yield ChangeFinding(
            FindingKind.OLD_FAILURE,
            Weight.NOTES,
            f"{listed(left)} failed before the change and still does.",
            suite.part,
            tuple(sorted(left)),
        )


def _wants_a_red_test(
    strength: ChangeStrength, found: list[ChangeFinding], asked: AskedFor
) -> bool:
    is_open = any(each.weight is not Weight.NOTES for each in found)
    return asked.wants_red and strength is ChangeStrength.GREEN and not is_open


def _ask_for_red() -> ChangeFinding:
    return ChangeFinding(
        FindingKind.NOTHING_FAILED_BEFORE,
        Weight.BLOCKS,
        "Every test passes without the change, too, so none shows what it is for. Add a test that "
        "fails without it and passes with it, or stop again if there can be none.",
    )


def _lines(suite: SuiteRuns) -> Iterator[SuiteLine]:
    runs = {"before": suite.a, "after": suite.c, "old tests": suite.b, "new tests": suite.d}
    for name, run in runs.items():
        if run is not None:
            yield _line(name, suite.part, run)


def _line(name: str, part: str, run: TreeRun) -> SuiteLine:
    skipped = len(run.where(CaseOutcome.SKIPPED))
    counts = run.counts or (len(run.green), len(run.red), skipped)
    return SuiteLine(name, part, run.command, *counts, run.elapsed, run.whole, run.trouble)


def _is_named(name: str, wanted: tuple[str, ...]) -> bool:
    return any(each in name for each in wanted)
