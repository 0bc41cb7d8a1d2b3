"""The function that decides what may be said about a change.

Each finder below is one numbered finding of the specification, and they run in its order. No finder
can retract another's finding: a verdict is the sum of its findings, so nothing good elsewhere makes
up for a regression, a vanished test or a weakened one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

import msgspec

from flyball.regex import regex
from flyball.terms.change_verdict import (
    ChangeFinding,
    ChangeStrength,
    ChangeVerdict,
    FindingKind,
    MutantCount,
    SuiteLine,
    Weight,
)
from flyball.terms.shape import listed
from flyball.verdict.case import BAD, CaseOutcome
from flyball.verdict.part import is_within
from flyball.verdict.promises import (
    KEPT_TEXT,
    changed_promises,
    contradiction,
    is_explained,
    is_merged,
    is_named,
    is_spoken_of,
)
from flyball.verdict.reports import (
    AskedFor,
    ChangeFacts,
    Named,
    NamedEnd,
    SuiteRuns,
    TreeRun,
    file_of,
)
from flyball.verdict.strength import (
    could_not_run,
    fixed_tests,
    old_failures,
    strength_of,
    strength_shown,
)
from flyball.verdict.type_checks import loosened_settings


def judge_change(
    suites: tuple[SuiteRuns, ...], change: ChangeFacts, asked: AskedFor
) -> ChangeVerdict:
    """Return the verdict on the change, from runs on clean checkouts alone."""
    found = [
        *_unkept(change),
        *(each for suite in suites for each in _of_suite(suite, change, asked)),
        *_reached(suites, change),
        *_loosened(change, asked),
        *_named(asked.named),
    ]
    strength = strength_shown(suites, asked)
    if not change.documents and _wants_a_red_test(strength, found, asked):
        found.append(_ask_for_red())
    return ChangeVerdict(
        strength=strength,
        findings=tuple(found),
        ran=tuple([line for suite in suites for line in _lines(suite)]),
        not_run=(*asked.not_run, *_not_altered(suites)),
        mended=tuple(sorted({name for suite in suites for name in fixed_tests(suite)})),
        old_failures=tuple(sorted({name for suite in suites for name in old_failures(suite)})),
        flaky=tuple(sorted({name for suite in suites for name in suite.flaky})),
        changed=change.shown_files,
        shared_literals=change.shared_literals,
        left_behind=change.left_behind,
        has_suite=bool(suites),
        is_refactoring=asked.is_refactoring and strength is ChangeStrength.GREEN,
        uninverted=any(suite.uninverted & fixed_tests(suite) for suite in suites),
    )


def _not_altered(suites: Iterable[SuiteRuns]) -> tuple[str, ...]:
    """Explain what to install so that fixed tests can be tried with another expectation."""
    missing = sorted({each for suite in suites for each in suite.missing})
    return tuple([f"repaired tests with another expectation: {each}" for each in missing])


def with_mutants(verdict: ChangeVerdict, found: MutantCount | None) -> ChangeVerdict:
    """Add how many small changes the tests notice; ask about new tests that notice none."""
    findings = verdict.findings
    is_by_new = verdict.strength is ChangeStrength.NEW_TESTS
    if found is not None and is_by_new and not found.noticed:
        said = (
            f"The new tests notice none of {found.tried} small changes to the new lines "
            f"({listed(found.unnoticed)}), so they may assert nothing about them."
        )
        findings = (*findings, ChangeFinding(FindingKind.NOT_EVIDENCE, Weight.ASKS, said))
    return msgspec.structs.replace(verdict, mutants=found, findings=findings)


def judge_unchanged(suites: Sequence[SuiteRuns]) -> ChangeVerdict:
    """Return finding 9: there is no change, so only the runs and their failures are reported."""
    ran = [suite for suite in suites if suite.new is not None and not suite.unavailable]
    return ChangeVerdict(
        ran=tuple([line for suite in ran for line in _lines(suite)]),
        not_run=tuple(
            [
                f"{each.suite} in {each.part}: {each.unavailable}"
                for each in suites
                if each.unavailable
            ]
        ),
        old_failures=tuple(sorted({name for each in ran if each.new for name in each.new.red})),
        has_suite=bool(ran),
        is_unchanged=True,
    )


def _of_suite(suite: SuiteRuns, change: ChangeFacts, asked: AskedFor) -> Iterator[ChangeFinding]:
    """Return findings 1 to 4 and 7 for one suite."""
    yield from _not_evidence(suite)
    yield from _hidden_red(suite, change, asked)
    yield from _unsteady(suite)
    yield from _vanished_red(suite, change)
    yield from _vanished_rows(suite)
    yield from _regressions(suite, change)
    yield from changed_promises(suite, change, asked)
    yield from _fewer_tests(suite, change)
    yield from _unexcused(suite, change, asked)
    yield from _red_here_alone(suite, change)


def _unkept(change: ChangeFacts) -> Iterator[ChangeFinding]:
    """Yield finding 1 for the tree itself: files that are not tracked or cannot be read."""
    if change.compiled:
        yield ChangeFinding(
            FindingKind.NOT_EVIDENCE,
            Weight.ASKS,
            f"{listed(change.compiled)} is compiled code that the change brings: it runs instead "
            f"of sources, and cannot be reviewed.",
        )
    if change.submodules:
        yield ChangeFinding(
            FindingKind.NOT_EVIDENCE,
            Weight.ASKS,
            f"{listed(change.submodules)} is a submodule that was moved to another commit, and its "
            "files are not here: nothing of what changed in it was tested.",
        )
    for reason in dict.fromkeys(change.unkept.values()):
        paths = [path for path, why in change.unkept.items() if why == reason]
        wanted = "smaller" if reason.startswith("larger") else "readable"
        yield ChangeFinding(
            FindingKind.NOT_EVIDENCE,
            Weight.BLOCKS,
            f"{listed(paths)} could not be kept ({reason}), so the tree that was tested is not "
            f"the tree that would be committed. Make the file {wanted} or remove it.",
        )
    if change.installation:
        yield ChangeFinding(
            FindingKind.NOT_EVIDENCE,
            Weight.BLOCKS,
            f"{change.installation} was changed during the run, and tests run with it. Reinstall "
            f"it as it was, or work without --in-place.",
        )


def _not_evidence(suite: SuiteRuns) -> Iterator[ChangeFinding]:
    """Return finding 1: a run whose result is no evidence, whatever it printed."""

    def no(sentence: str) -> ChangeFinding:
        return ChangeFinding(FindingKind.NOT_EVIDENCE, Weight.BLOCKS, sentence, suite.part)

    new, old, put_back = suite.new, suite.old, suite.old_tests_new_code
    if new is None:
        yield no(f"{suite.suite} could not be run on the new tree, so nothing is shown.")
        return
    if suite.unavailable:
        yield no(f"{suite.suite} can be started on neither tree: {_sentence(suite.unavailable)}")
        return
    if new.trouble:
        yield no(
            f"{new.command} on the new tree is no evidence: {_sentence(new.trouble)}{_quoted(new)}"
        )
    elif new.is_counted and not new.green and not new.red:
        yield no(f"{new.command} ran no test on the new tree.{_quoted(new)}")
    elif new.exit_code and not new.red:
        yield no(
            f"{new.command} ended with exit code {new.exit_code} on the new tree.{_quoted(new)}"
        )
    if old is None and not suite.is_new:
        yield no(f"{suite.suite} could not be run on the tree from before: nothing to compare.")
    elif old and not new.trouble and new.red and old.exit_code and _is_uncounted(old, new):
        yield no(
            f"{new.command} fails on the new tree as it did on the tree from before.{_quoted(new)}"
        )
    elif old and not new.trouble and could_not_run(old) and new.red:
        yield no(
            f"{old.command} could not be run on the old tree "
            f"({old.trouble or f'exit code {old.exit_code}'}), so it is unknown whether "
            f"{listed(new.red)} failed then, too.{_quoted(old)}"
        )
    elif put_back is not None and put_back.trouble and not new.trouble:
        yield no(
            f"With the tests from before, {put_back.command} is no evidence: "
            f"{_sentence(put_back.trouble)}{_quoted(put_back)}"
        )
    yield from _indifferent(suite)


def _indifferent(suite: SuiteRuns) -> Iterator[ChangeFinding]:
    """Yield the fixed tests that still passed with a changed expectation."""
    for each in suite.deceived:
        yield ChangeFinding(
            FindingKind.NOT_EVIDENCE,
            Weight.BLOCKS,
            f"{each.test} still passes when it expects something else. Something makes it say yes "
            "to anything: an equality, an assertion, the runner, or a forged report.",
            suite.part,
            (each.test,),
            each.before,
            each.after,
        )
    for each in suite.agreeing:
        yield ChangeFinding(
            FindingKind.NOT_EVIDENCE,
            Weight.ASKS,
            f"{each.test} passes when it expects {each.after} as well as when it expects "
            f"{each.before}: the comparison accepts both. Is that intended?",
            suite.part,
            (each.test,),
            each.before,
            each.after,
        )


def _quoted(run: TreeRun) -> str:
    """Return the first lines of the runner's own output, to append to a sentence."""
    return f" It said: {' · '.join(run.says)}" if run.says else ""


def _sentence(text: str) -> str:
    """End a text with a single full stop."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _messages(run: TreeRun, names: Iterable[str]) -> str:
    """Return the message of the first of these failed tests, to append to a sentence."""
    said = dict.fromkeys([run.messages[each] for each in sorted(names) if each in run.messages])
    return f" It said: {' · '.join([*said][:MOST_SAID])}" if said else ""


MOST_SAID = 3


def _is_uncounted(*runs: TreeRun) -> bool:
    """Return whether no run reports single tests, so that the exit code stands for all of them."""
    return not any(run.is_counted for run in runs)


def _hidden_red(suite: SuiteRuns, change: ChangeFacts, asked: AskedFor) -> Iterator[ChangeFinding]:
    """Return finding 2, first half: red with the old tests, and no longer red with the new ones."""
    if suite.old is None or suite.old_tests_new_code is None or suite.new is None:
        return
    # Where the tree from before could not load a test, nobody knows how it would have ended there:
    # that the old one fails and the new one passes is enough.
    unknown = suite.old_tests_new_code.red & suite.new.green
    if suite.old.whole or suite.old.trouble:
        unknown = frozenset[str]()
    unknown -= suite.old.ends.keys()
    hidden = ((suite.old.red & suite.old_tests_new_code.red) - suite.new.red) | unknown
    hidden -= suite.set_aside
    shared = hidden & suite.by_shared
    hidden -= shared
    if shared:
        yield _needs_shared(suite, change, shared)
    if hidden and _has_counts(suite) == (False, False, True):
        # Only the exit code was red: no test from before ever ran, so none was made to agree.
        yield ChangeFinding(
            FindingKind.PROMISE_CHANGED,
            Weight.ASKS,
            f"{listed(hidden)} ran no test before the change, and with the tests as they were "
            "before it runs none of the new code either: they may not build with it, so whether "
            "it still satisfies them is unknown. Compare the tests before and after.",
            suite.part,
            tuple(sorted(hidden)),
        )
        return
    contrary = [
        each for name in sorted(hidden) if (each := contradiction(suite, name, change, asked))
    ]
    yield from contrary
    hidden -= {name for each in contrary for name in each.tests}
    if hidden:
        yield ChangeFinding(
            FindingKind.HIDDEN_RED,
            Weight.BLOCKS,
            f"{listed(hidden)} still fails with the tests as they were before: the tests were "
            f"changed to pass, the code was not repaired. Put them back and repair the code."
            f"{_messages(suite.old_tests_new_code, hidden)}",
            suite.part,
            tuple(sorted(hidden)),
        )


def _needs_shared(suite: SuiteRuns, change: ChangeFacts, names: frozenset[str]) -> ChangeFinding:
    """Ask about tests that depend on a file which the product also reads."""
    shared = (*change.shared, *suite.read)
    files = [each for each in shared if is_within(each.path, suite.part)] or shared
    return ChangeFinding(
        FindingKind.HIDDEN_RED,
        Weight.ASKS,
        f"{listed(names)} passes only with the change of {listed(each.path for each in files)}, "
        "which tests read or are run by. Is that the repair, or was it only made to pass?",
        suite.part,
        tuple(sorted(names)),
        "\n".join(each.before for each in files)[:KEPT_TEXT],
        "\n".join(each.after for each in files)[:KEPT_TEXT],
    )


def _unsteady(suite: SuiteRuns) -> Iterator[ChangeFinding]:
    """Ask about tests that the change made depend on chance, or on where they run."""
    for each in suite.unsteady:
        was_red = each.red_before > 0
        said = (
            f"{each.test} passes after the tests around it, and fails without them or in another "
            "order; before the change no result in its file depended on that."
            if each.by_order
            else f"{each.test} failed {each.red_now} of {each.runs_now} times now, "
            f"and {each.red_before} of {each.runs_before} before. Repeated runs had different "
            "terminals and environments; it should have the same result in all of them."
        )
        kind = FindingKind.HIDDEN_RED if was_red else FindingKind.REGRESSION
        yield ChangeFinding(kind, Weight.ASKS, said, suite.part, (each.test,))


def _vanished_red(suite: SuiteRuns, change: ChangeFacts) -> Iterator[ChangeFinding]:
    """Yield finding 2 for untouched tests: red before, and now skipped or gone.

    An entry for a whole file or a hook disappears as soon as its tests run, and is no loss.
    """
    if suite.old is None or suite.new is None or suite.new.whole or suite.new.trouble:
        return
    old = (
        suite.old.red
        - suite.set_aside
        - (
            suite.old_tests_new_code.green | suite.old_tests_new_code.red
            if suite.old_tests_new_code
            else frozenset()
        )
    )
    ends = suite.new.ends
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
    grown = {file_of(name) for name in ends.keys() - suite.old.ends.keys()}
    gone = {
        name
        for name in old - ends.keys() - suite.new.passed(old)
        if file_of(name) not in grown and not _NO_TEST.search(name) and "::" in name
        if not is_explained(name, change)
    }
    if gone:
        yield ChangeFinding(
            FindingKind.HIDDEN_RED,
            Weight.ASKS,
            f"{listed(gone)} failed before and no longer runs. That is not a repair.",
            suite.part,
            tuple(sorted(gone)),
        )


def _vanished_rows(suite: SuiteRuns) -> Iterator[ChangeFinding]:
    """Return finding 2 for the rows of a test: red before, and green now because fewer rows run."""
    if suite.old is None or suite.new is None or suite.new.whole or suite.new.trouble:
        return
    before, now = suite.old.rows, suite.new.rows
    mended = (suite.old.red & suite.new.green) - suite.set_aside
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


def _has_counts(suite: SuiteRuns) -> tuple[bool, ...]:
    """Return whether any of the runs, before, with the old tests or after, reported a test."""
    return tuple(
        [any(run.counts or ()) for run in (suite.old, suite.old_tests_new_code, suite.new) if run]
    )


def _regressions(suite: SuiteRuns, change: ChangeFacts) -> Iterator[ChangeFinding]:
    """Return finding 2, second half: green before, and not green now although the test was not
    touched."""
    if suite.old is None or suite.new is None:
        return
    before, now = suite.old, suite.new
    # What is no evidence is told already, and compares with nothing.
    if now.trouble or (now.is_counted and could_not_run(before)):
        return
    if before.is_counted and not now.is_counted and now.exit_code:
        passed = len(before.green)
        yield ChangeFinding(
            FindingKind.REGRESSION,
            Weight.BLOCKS,
            f"{now.command} runs no test on the new tree and ends with exit code {now.exit_code}; "
            f"before the change {passed} passed.{_quoted(now)}",
            suite.part,
        )
        return
    broken = now.red - before.red - suite.set_aside
    if broken:
        yield _regression(suite, broken, ("fails", "fail"), f"Repair that.{_messages(now, broken)}")
    # A row that was red excuses no other row of the same test.
    rows = {
        row
        for row, end in before.row_ends.items()
        if end is CaseOutcome.PASSED and now.row_ends.get(row) in BAD
    }
    if rows := rows - suite.set_aside:
        yield _regression(suite, rows, ("fails", "fail"), "Repair that.")
    # A selection leaves most tests out on purpose: only what it ran and lost is missing.
    if now.whole:
        return
    lost = {
        name
        for name in before.green - now.green - now.red - suite.set_aside
        if file_of(name) not in change.testing_side and not is_explained(name, change)
    }
    if lost:
        gone = ("no longer runs", "no longer run")
        do = "The text was not changed. See to it that it runs and passes."
        yield _regression(suite, lost, gone, do)


def _regression(
    suite: SuiteRuns, names: Iterable[str], what: tuple[str, str], do: str
) -> ChangeFinding:
    """Return one finding for all the names; `what` is the verb in singular and plural."""
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
    """Return finding 4: tests that are gone or skipped and not covered by other findings."""
    if suite.old is None or suite.new is None or suite.new.whole:
        return
    before, now = sum(suite.old.counts or ()), sum(suite.new.counts or ())
    if not suite.old.is_counted and now < before and not suite.new.exit_code:
        yield ChangeFinding(
            FindingKind.FEWER_TESTS,
            Weight.ASKS,
            f"{suite.new.command} reported {before} checks before and reports {now} now.",
            suite.part,
        )
    kept = (
        suite.old.green
        if suite.old_tests_new_code is None
        else suite.old.green & suite.old_tests_new_code.green
    )
    gone = {
        name
        for name in kept - suite.new.green - suite.new.red - suite.set_aside
        if file_of(name) in change.testing_side
        and not (is_explained(name, change) or is_merged(name, change))
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
    """Return finding 5: code that reaches into the runner, as a question if it may have decided the
    result."""
    differs = any(_differs(suite) for suite in suites)
    for reach in change.reaches:
        weight = Weight.ASKS if reach.in_product or differs else Weight.NOTES
        yield ChangeFinding(FindingKind.REACHES_RUNNER, weight, reach.sentence)


def _differs(suite: SuiteRuns) -> bool:
    """Return whether a test ends differently with the old and the new testing side."""
    if suite.old_tests_new_code is None or suite.new is None:
        return False
    old, new = suite.old_tests_new_code.ends, suite.new.ends
    return any(
        new.get(name, end) != end for name, end in old.items() if name not in suite.set_aside
    )


def _loosened(change: ChangeFacts, asked: AskedFor) -> Iterator[ChangeFinding]:
    """Return finding 5 for type checks: a question if one is part of the proof, else a note."""
    weight = Weight.ASKS if asked.checks_types else Weight.NOTES
    for sentence in (*change.silenced, *loosened_settings(change.tests)):
        yield ChangeFinding(FindingKind.TYPES_LOOSENED, weight, sentence)


def _named(named: tuple[Named, ...]) -> Iterator[ChangeFinding]:
    """Return finding 6: checks named as verification must be green."""
    for each in named:
        if each.end is not NamedEnd.GREEN:
            detail = f": {each.detail}" if each.detail else ""
            yield ChangeFinding(
                FindingKind.NAMED_NOT_GREEN,
                Weight.BLOCKS,
                f"`{each.what}` was named as verification and is {each.end.value}{detail}.",
            )


def _unexcused(suite: SuiteRuns, change: ChangeFacts, asked: AskedFor) -> Iterator[ChangeFinding]:
    """Ask about tests that should be fixed and are still red, and list the other old failures.

    These are the tests that the request or the findings name. In a repair, and in a feature that no
    test shows, they also include tests that use the changed code. In a repair, new tests never make
    up for one of them.
    """
    old = old_failures(suite)
    if old and suite.old and suite.new and _is_uncounted(suite.old, suite.new):
        # That it fails as it did is finding 1, with what it says.
        return
    if asked.mends_all:
        named = old
    else:
        said = asked.announced if asked.repairs else ()
        named = {n for n in old if is_named(n, asked.must_mend) or is_spoken_of(n, said)}
    if named:
        said = "still fails, and to repair that was the request."
        yield _owed(suite, named, said, is_sent_back=asked.is_run)
    near = {name for name in old - named if file_of(name) not in change.tests_apart}
    strength = strength_of(suite)
    owes_near = asked.repairs or (asked.adds and strength is ChangeStrength.GREEN)
    if not owes_near or asked.must_mend or change.documents:
        near = set[str]()
    if near:
        verb, use, they = ("fails", "uses", "is it")
        if len(near) > 1:
            verb, use, they = ("fail", "use", "are they")
        end = f"{use} what was changed" + (
            ". Repair that, or say why it is not what this change is about."
            if asked.is_run
            else f"; {they} what this change is about?"
        )
        # Where another test that was there went green, the rest may be somebody else's.
        is_sent_back = asked.is_run and strength is not ChangeStrength.OLD_TESTS
        said = f"failed before and still {verb}, and {end}"
        yield _owed(suite, near, said, is_sent_back=is_sent_back)
    if left := old - named - near:
        do = "do" if len(left) > 1 else "does"
        yield ChangeFinding(
            FindingKind.OLD_FAILURE,
            Weight.NOTES,
            f"{listed(left)} failed before the change and still {do}.{_why(suite, left)}",
            suite.part,
            tuple(sorted(left)),
        )


def _red_here_alone(suite: SuiteRuns, change: ChangeFacts) -> Iterator[ChangeFinding]:
    """Yield the tests that only Flyball's run of the old tree fails, and that so count for nothing.

    What the change does to one that uses what was changed is for the user's own run to show.
    """
    near = {name for name in suite.elsewhere if file_of(name) not in change.tests_apart}
    near = set[str]() if change.documents else near
    for names, weight in ((near, Weight.ASKS), (suite.elsewhere.keys() - near, Weight.NOTES)):
        if not names:
            continue
        why = "; ".join(sorted({suite.elsewhere[name] for name in names} - {""}))
        said = _messages(suite.old, names) if suite.old else ""
        yield ChangeFinding(
            FindingKind.OLD_FAILURE,
            weight,
            f"{listed(names)} fails in Flyball's run of the old tree and passes in your own"
            f"{f' ({why})' if why else ''}, so it counts for nothing here."
            f"{' Does it still pass in your own run of the new tree?' if names is near else ''}"
            f"{said}",
            suite.part,
            tuple(sorted(names)),
        )


def _owed(suite: SuiteRuns, names: Set[str], what: str, *, is_sent_back: bool) -> ChangeFinding:
    return ChangeFinding(
        FindingKind.NAMED_NOT_GREEN,
        Weight.BLOCKS if is_sent_back else Weight.ASKS,
        f"{listed(names)} {what}{_why(suite, names)}",
        suite.part,
        tuple(sorted(names)),
    )


def _why(suite: SuiteRuns, names: Set[str]) -> str:
    """Explain how the environment may have caused a failure, if there is evidence for that."""
    said = sorted({suite.reasons[name] for name in names if name in suite.reasons})
    messages = _messages(suite.new, names) if suite.new else ""
    return f" ({'; '.join(said)}){messages}" if said else messages


def _wants_a_red_test(
    strength: ChangeStrength, found: list[ChangeFinding], asked: AskedFor
) -> bool:
    is_open = any(each.weight is not Weight.NOTES for each in found)
    is_due = asked.wants_red and not asked.is_refactoring
    return is_due and strength is ChangeStrength.GREEN and not is_open


def _ask_for_red() -> ChangeFinding:
    return ChangeFinding(
        FindingKind.NOTHING_FAILED_BEFORE,
        Weight.BLOCKS,
        "Every test passes without the change, too, so none shows what it is for. Add a test that "
        "fails without it and passes with it, or stop again if there can be none.",
    )


def _lines(suite: SuiteRuns) -> Iterator[SuiteLine]:
    runs = {
        "before": suite.old,
        "after": suite.new,
        "old tests": suite.old_tests_new_code,
        "new tests": suite.new_tests_old_code,
    }
    for name, run in runs.items():
        if run is not None and not suite.unavailable:
            yield _line(name, suite.part, run)


def _line(name: str, part: str, run: TreeRun) -> SuiteLine:
    skipped = len(run.where(CaseOutcome.SKIPPED))
    counts = run.counts or (len(run.green), len(run.red), skipped)
    is_silent = not run.is_counted and not any(counts)
    exit_code = run.exit_code if is_silent else None
    return SuiteLine(
        name, part, run.command, *counts, run.elapsed, run.whole, run.trouble, exit_code
    )
