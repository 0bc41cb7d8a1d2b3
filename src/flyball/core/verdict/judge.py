"""The one function that decides what may be said of a change.

Each finder below is one numbered finding of the specification, and they are asked in its order.
None of them can take back what another found: a verdict is the sum of its findings, so nothing that
is good elsewhere buys off a regression, a vanished test or a weakened one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from flyball.core.suite.case import CaseOutcome
from flyball.core.suite.part import is_within
from flyball.core.terms.change_verdict import (
    ChangeFinding,
    ChangeStrength,
    ChangeVerdict,
    FindingKind,
    SuiteLine,
    Weight,
)
from flyball.core.terms.changed_test import ChangedTest, Comparison
from flyball.core.verdict.reports import (
    NO_ENDS,
    AskedFor,
    ChangeFacts,
    Named,
    NamedEnd,
    SuiteRuns,
    TreeRun,
)

SHOWN_NAMES = 5
NOT_COLLECTED = "::(collection)"
"""How the name of what is told in the place of a file's tests ends, where it cannot be loaded."""
KEPT_TEXT = 4_000

WEAKER = frozenset(
    {Comparison.WEAKER, Comparison.SKIPPED, Comparison.GONE, Comparison.NOT_UNDERSTOOD}
)


def judge_change(
    suites: tuple[SuiteRuns, ...], change: ChangeFacts, asked: AskedFor
) -> ChangeVerdict:
    """The verdict on a change, from runs on clean checkouts and nothing that a driver chose."""
    found = [
        *_unkept(change),
        *(each for suite in suites for each in _of_suite(suite, change, asked)),
        *_reached(suites, change),
        *_named(asked.named),
    ]
    strength = _strength(suites, asked)
    if _wants_a_red_test(strength, found, asked):
        found.append(_ask_for_red())
    return ChangeVerdict(
        strength=strength,
        findings=tuple(found),
        ran=tuple([line for suite in suites for line in _lines(suite)]),
        not_run=asked.not_run,
        mended=tuple(sorted({name for suite in suites for name in _mended(suite)})),
        old_failures=tuple(sorted({name for suite in suites for name in _old_failures(suite)})),
        flaky=tuple(sorted({name for suite in suites for name in suite.flaky})),
        changed=change.files,
        shared_literals=change.shared_literals,
        noticed=change.noticed,
        left_behind=change.left_behind,
        has_suite=bool(suites),
        accepted_by=asked.accepted_by,
    )


def _of_suite(suite: SuiteRuns, change: ChangeFacts, asked: AskedFor) -> Iterator[ChangeFinding]:
    """Findings 1 to 4 and 7, for one suite."""
    yield from _not_evidence(suite)
    yield from _hidden_red(suite)
    yield from _regressions(suite, change)
    yield from _changed_promises(suite, change, asked)
    yield from _fewer_tests(suite, change)
    yield from _unexcused(suite, change, asked)


def _unkept(change: ChangeFacts) -> Iterator[ChangeFinding]:
    """Finding 1 for the tree itself: what is not kept cannot have been judged."""
    if change.unreadable:
        yield ChangeFinding(
            FindingKind.NOT_EVIDENCE,
            Weight.BLOCKS,
            f"{_listed(change.unreadable)} could not be kept, so the tree that was tested is not "
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
    elif old and not new.trouble and _could_not_run(old) and new.red:
        yield no(
            f"{old.command} could not be run on the tree from before (exit code {old.exit_code}), "
            f"so it cannot be told whether {_listed(new.red)} failed then, too."
        )
    elif old and suite.b is not None and suite.b.trouble and not old.trouble and not new.trouble:
        yield no(
            f"With the tests from before, {suite.b.command} is no evidence: {suite.b.trouble}."
        )


def _could_not_run(run: TreeRun) -> bool:
    """Whether a suite that tells of its tests elsewhere told of none, and ended badly."""
    return not run.is_counted and run.exit_code != 0


def _hidden_red(suite: SuiteRuns) -> Iterator[ChangeFinding]:
    """Finding 2, first half: still red by the old tests, and no longer red by the new ones."""
    if suite.a is None or suite.b is None or suite.c is None:
        return
    hidden = (suite.a.red & suite.b.red) - suite.c.red - suite.flaky
    if hidden:
        yield ChangeFinding(
            FindingKind.HIDDEN_RED,
            Weight.BLOCKS,
            f"{_listed(hidden)} still fails with the tests as they were before: the tests were "
            "made to agree, the code was not repaired. Put them back and repair the code.",
            suite.part,
            tuple(sorted(hidden)),
        )


def _regressions(suite: SuiteRuns, change: ChangeFacts) -> Iterator[ChangeFinding]:
    """Finding 2, second half: green before, and not green now though its test was not touched."""
    if suite.a is None or suite.c is None:
        return
    before, now = suite.a, suite.c
    # What is no evidence is told already, and compares with nothing.
    if now.trouble or before.trouble or (now.is_counted and _could_not_run(before)):
        return
    broken = now.red - before.red - suite.flaky
    if broken:
        yield _regression(suite, broken, "fails", "Repair that.")
    # A selection leaves most tests out on purpose: only what it ran and lost is missing.
    if now.whole:
        return
    lost = {
        name
        for name in before.green - now.green - now.red - suite.flaky
        if _file_of(name) not in change.testing_side and not _is_explained(name, change)
    }
    if lost:
        gone = "no longer runs, although its test was not changed"
        yield _regression(suite, lost, gone, "See to it that it runs and passes.")


def _regression(suite: SuiteRuns, names: Iterable[str], what: str, do: str) -> ChangeFinding:
    found = tuple(sorted(names))
    return ChangeFinding(
        FindingKind.REGRESSION,
        Weight.BLOCKS,
        f"{_listed(found)} {what}; it passed before the change or is new. {do}",
        suite.part,
        found,
    )


def _changed_promises(
    suite: SuiteRuns, change: ChangeFacts, asked: AskedFor
) -> Iterator[ChangeFinding]:
    """Finding 3: what the old tests promised and the new code does not keep."""
    side = [path for path in change.testing_side if is_within(path, suite.part)]
    if suite.a is None or not (side or suite.b):
        return
    if suite.b is None or suite.b.trouble:
        # The old tests cannot be asked, so the comparison of their texts is the only witness.
        own = [each for each in change.tests if is_within(each.path, suite.part)]
        yield from _grouped(_promise(suite, each, asked) for each in own if _asks(each, asked))
        return
    yield from _grouped(_broken_promises(suite, suite.a, suite.b, change, asked))


def _broken_promises(
    suite: SuiteRuns, before: TreeRun, kept: TreeRun, change: ChangeFacts, asked: AskedFor
) -> Iterator[ChangeFinding]:
    told: set[str] = set()
    if not before.is_counted and before.green - kept.green:
        # One name stands for all tests: which of them changed is told by their texts alone.
        own = [each for each in change.tests if is_within(each.path, suite.part)]
        if asks := [each for each in own if _asks(each, asked)]:
            yield from (_promise(suite, each, asked) for each in asks)
            return
    for name in sorted(before.green - kept.green - suite.flaky):
        test, file = _text_of(name, change), _file_of(name)
        if test is not None and test.name not in told:
            told.add(test.name)
            yield _promise(suite, test, asked)
        elif test is None and not (file in change.testing_side and _is_uncollected(file, kept)):
            yield _unexplained(suite, name)


def _grouped(found: Iterable[ChangeFinding]) -> Iterator[ChangeFinding]:
    """Tests that went together are one thing to decide: those gone from the same file."""
    gone: dict[str, list[ChangeFinding]] = {}
    for each in found:
        if each.before and not each.after and each.weight is Weight.ASKS:
            gone.setdefault(_file_of(each.tests[0]), []).append(each)
        else:
            yield each
    for file, each in gone.items():
        names = tuple([name for one in each for name in one.tests])
        yield msgspec.structs.replace(
            each[0],
            sentence=each[0].sentence
            if len(each) == 1
            else f"{file}: {len(each)} tests are gone: {_listed(_short(names))}",
            tests=names,
            before="\n\n".join(one.before for one in each)[:KEPT_TEXT],
        )


def _short(names: Iterable[str]) -> list[str]:
    return [name.partition("::")[2] or name for name in names]


def _is_uncollected(file: str, run: TreeRun) -> bool:
    """Whether an old test file could not even be loaded, as when a name that it imports moved.

    Then every test in it fails alike and says nothing: the texts that did not change are the same
    promises still, and those that did are compared.
    """
    own = [name for name in run.ends if name.startswith(f"{file}::")]
    return all(name.endswith(NOT_COLLECTED) for name in own)


def _file_of(name: str) -> str:
    return name.partition("::")[0]


def _asks(test: ChangedTest, asked: AskedFor) -> bool:
    return _weight(test, asked) is Weight.ASKS


def _weight(test: ChangedTest, asked: AskedFor) -> Weight:
    if test.comparison in WEAKER:
        return Weight.ASKS
    if test.comparison is not Comparison.OTHER_EXPECTATION:
        return Weight.NOTES
    is_announced = any((test.function or test.path) in text for text in asked.announced)
    return Weight.NOTES if is_announced and not asked.keeps_behaviour else Weight.ASKS


def _promise(suite: SuiteRuns, test: ChangedTest, asked: AskedFor) -> ChangeFinding:
    return ChangeFinding(
        FindingKind.PROMISE_CHANGED,
        _weight(test, asked),
        f"{test.name}: {test.sentence}",
        suite.part,
        (test.name,),
        test.before[:KEPT_TEXT],
        test.after[:KEPT_TEXT],
    )


def _unexplained(suite: SuiteRuns, name: str) -> ChangeFinding:
    """The text of the test is as it was: something that it uses was changed for it."""
    return ChangeFinding(
        FindingKind.PROMISE_CHANGED,
        Weight.ASKS,
        f"{name} passes only with what the change did around the tests; with the helpers, data and "
        "configuration from before it does not.",
        suite.part,
        (name,),
    )


def _fewer_tests(suite: SuiteRuns, change: ChangeFacts) -> Iterator[ChangeFinding]:
    """Finding 4: tests that are gone or skipped and that nothing above speaks of."""
    if suite.a is None or suite.c is None or suite.c.whole:
        return
    kept = suite.a.green if suite.b is None else suite.a.green & suite.b.green
    gone = {
        name
        for name in kept - suite.c.green - suite.c.red - suite.flaky
        if _file_of(name) in change.testing_side and not _is_explained(name, change)
    }
    if gone:
        yield ChangeFinding(
            FindingKind.FEWER_TESTS,
            Weight.ASKS,
            f"{_listed(gone)} passed before and is gone or skipped now.",
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
    old = _old_failures(suite)
    owed = {name for name in old if asked.mends_all or _is_named(name, asked.must_mend)}
    if asked.repairs and not owed and _strength_of(suite) is ChangeStrength.GREEN:
        near = {name for name in old if _file_of(name) not in change.tests_apart}
        if near:
            owed = near
            yield ChangeFinding(
                FindingKind.NAMED_NOT_GREEN,
                Weight.BLOCKS,
                f"{_listed(near)} failed before, uses what was changed and still fails, and no "
                "test went from red to green. Repair that, or add a test that fails without your "
                "change.",
                suite.part,
                tuple(sorted(near)),
            )
    elif owed:
        yield ChangeFinding(
            FindingKind.NAMED_NOT_GREEN,
            Weight.BLOCKS,
            f"{_listed(owed)} still fails, and to repair that was the request.",
            suite.part,
            tuple(sorted(owed)),
        )
    if left := old - owed:
        yield ChangeFinding(
            FindingKind.OLD_FAILURE,
            Weight.NOTES,
            f"{_listed(left)} failed before the change and still does.",
            suite.part,
            tuple(sorted(left)),
        )


def _old_failures(suite: SuiteRuns) -> frozenset[str]:
    if suite.a is None or suite.c is None:
        return frozenset()
    return (suite.a.red & suite.c.red) - suite.flaky


def _mended(suite: SuiteRuns) -> frozenset[str]:
    """Finding 8: red before and green now, by tests that were there or by new ones."""
    return _by_old_tests(suite) | _by_new_tests(suite)


def _by_old_tests(suite: SuiteRuns) -> frozenset[str]:
    if suite.a is None or suite.c is None:
        return frozenset()
    now = suite.c.green if suite.b is None else suite.c.green & suite.b.green
    return (suite.a.red & now) - suite.flaky


def _by_new_tests(suite: SuiteRuns) -> frozenset[str]:
    if suite.c is None or suite.d is None or suite.d.trouble:
        return frozenset()
    failed = suite.d.red & suite.c.green
    return (failed | _not_loaded(suite, suite.c, suite.d)) - suite.flaky


def _not_loaded(suite: SuiteRuns, new: TreeRun, old_code: TreeRun) -> frozenset[str]:
    """New tests that could not even be loaded without the change, as when they import what it adds.

    Nothing of their file ran there, and the run ended badly.
    """
    if not (old_code.red or old_code.exit_code):
        return frozenset()
    known = NO_ENDS if suite.a is None else suite.a.ends
    told = {_file_of(name) for name in old_code.green}
    return frozenset([n for n in new.green if n not in known and _file_of(n) not in told])


def _strength(suites: tuple[SuiteRuns, ...], asked: AskedFor) -> ChangeStrength:
    """The weakest suite speaks for the change: each was reached by it."""
    if suites:
        shown = [_strength_of(suite) for suite in suites]
        # Where one part went from red to green, a neighbour that stayed green weakens nothing.
        best = max(shown)
        least = min(shown)
        return best if least >= ChangeStrength.GREEN else least
    if asked.checked:
        return ChangeStrength.CHECKED
    return ChangeStrength.SHOWN if asked.shown else ChangeStrength.UNVERIFIED


def _strength_of(suite: SuiteRuns) -> ChangeStrength:
    new = suite.c
    if new is None or new.trouble:
        return ChangeStrength.UNVERIFIED
    if not new.is_counted:
        # By the old tests, or by the new ones on the old code: it failed without the change.
        was_red = any(run is not None and run.exit_code != 0 for run in (suite.a, suite.d))
        if new.exit_code:
            return ChangeStrength.UNVERIFIED
        return ChangeStrength.EXIT_MENDED if was_red else ChangeStrength.EXIT_ZERO
    if not new.green - suite.flaky:
        return ChangeStrength.UNVERIFIED
    if suite.a is not None and _could_not_run(suite.a):
        return ChangeStrength.EXIT_MENDED
    if _by_old_tests(suite):
        return ChangeStrength.OLD_TESTS
    return ChangeStrength.NEW_TESTS if _by_new_tests(suite) else ChangeStrength.GREEN


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


def _text_of(name: str, change: ChangeFacts) -> ChangedTest | None:
    for test in change.tests:
        if test.name == name or name.startswith(f"{test.name}::"):
            return test
    return None


def _is_explained(name: str, change: ChangeFacts) -> bool:
    """Whether a test that is gone lives on under another name, or its end is a question already."""
    test = _text_of(name, change)
    return test is not None and test.became != ""


def _is_named(name: str, wanted: tuple[str, ...]) -> bool:
    return any(each in name for each in wanted)


def _listed(names: Iterable[str]) -> str:
    found = sorted(names)
    more = len(found) - SHOWN_NAMES
    said = ", ".join(found[:SHOWN_NAMES])
    return f"{said} and {more} more" if more > 0 else said
