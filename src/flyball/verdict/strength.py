"""Finding 8 and the label: which tests went from red to green, and how much that shows."""

from __future__ import annotations

from flyball.terms.change_verdict import ChangeStrength
from flyball.verdict.reports import NO_ENDS, AskedFor, SuiteRuns, TreeRun, file_of


def fixed_tests(suite: SuiteRuns) -> frozenset[str]:
    """Return finding 8: tests that were red before and are green now, old or new."""
    return _by_old_tests(suite) | _by_new_tests(suite)


def old_failures(suite: SuiteRuns) -> frozenset[str]:
    """Return the tests that failed before and still do."""
    if suite.old is None or suite.new is None:
        return frozenset()
    return (suite.old.red & suite.new.red) - suite.set_aside


def _by_old_tests(suite: SuiteRuns) -> frozenset[str]:
    if suite.old is None or suite.new is None:
        return frozenset()
    now = suite.new.passed(suite.old.red)
    return (
        now if suite.old_tests_new_code is None else suite.old_tests_new_code.passed(now)
    ) - suite.set_aside


def _by_new_tests(suite: SuiteRuns) -> frozenset[str]:
    if suite.new is None or suite.new_tests_old_code is None or suite.new_tests_old_code.trouble:
        return frozenset()
    failed = suite.new.passed(suite.new_tests_old_code.red)
    return (failed | _not_loaded(suite, suite.new, suite.new_tests_old_code)) - suite.set_aside


def _not_loaded(suite: SuiteRuns, new: TreeRun, old_code: TreeRun) -> frozenset[str]:
    """Return new tests that cannot be loaded without the change, for example because they import
    it.

    Nothing in their file ran there, and the run failed.
    """
    if not (old_code.red or old_code.exit_code):
        return frozenset()
    known = NO_ENDS if suite.old is None else suite.old.ends
    seen = {file_of(name) for name in old_code.green}
    return frozenset([n for n in new.green if n not in known and file_of(n) not in seen])


def strength_shown(suites: tuple[SuiteRuns, ...], asked: AskedFor) -> ChangeStrength:
    """Return the strength of the weakest suite, since the change reached every one."""
    if suites:
        shown = [strength_of(suite) for suite in suites]
        # Where one part went from red to green, a neighbour that stayed green weakens nothing.
        best = max(shown)
        least = min(shown)
        return best if least >= ChangeStrength.GREEN else least
    if asked.checked:
        return ChangeStrength.CHECKED
    return ChangeStrength.SHOWN if asked.shown else ChangeStrength.UNVERIFIED


def strength_of(suite: SuiteRuns) -> ChangeStrength:
    """Return how much one suite shows about the change."""
    new = suite.new
    if new is None or new.trouble:
        return ChangeStrength.UNVERIFIED
    if not new.is_counted:
        # By the old tests, or by the new ones on the old code: it failed without the change.
        was_red = any(
            run is not None and run.exit_code != 0 for run in (suite.old, suite.new_tests_old_code)
        )
        if new.exit_code:
            return ChangeStrength.UNVERIFIED
        if was_red:
            return ChangeStrength.EXIT_MENDED
        return ChangeStrength.GREEN if _counts_as_many(suite) else ChangeStrength.EXIT_ZERO
    if not new.green - suite.set_aside:
        return ChangeStrength.UNVERIFIED
    if suite.old is not None and could_not_run(suite.old):
        return ChangeStrength.EXIT_MENDED
    if _by_old_tests(suite):
        return ChangeStrength.OLD_TESTS
    return ChangeStrength.NEW_TESTS if _by_new_tests(suite) else ChangeStrength.GREEN


def _counts_as_many(suite: SuiteRuns) -> bool:
    """Return whether the suite prints how many tests passed, and no fewer now than before."""
    before, now = (run.counts[0] if run and run.counts else 0 for run in (suite.old, suite.new))
    return 0 < before <= now


def could_not_run(run: TreeRun) -> bool:
    """Return whether a run failed without reporting its tests, or is no evidence at all."""
    return bool(run.trouble) or run.reports_no_test
