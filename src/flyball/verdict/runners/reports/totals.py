"""Parse closing lines and counts, for runners that leave nothing better."""

from __future__ import annotations

import re
from collections.abc import Iterable

from flyball.regex import regex
from flyball.verdict.case import CaseOutcome, SuiteCase, number_duplicates
from flyball.verdict.runners.tally import Tally, tally, tally_of

_TOTALS = (
    regex(
        r"^(?:\[\w+\]\s*)?Tests run: (?P<all>\d+), Failures: (?P<bad>\d+), Errors: (?P<worse>\d+)"
        r"(?:, Skipped: (?P<skip>\d+))?$",
        re.M,
    ),
    regex(r"^OK \((?P<all>\d+) tests?, \d+ (?:assertions?|ran)\b.*\)$", re.M),
    regex(
        r"^Tests: (?P<all>\d+), Assertions: \d+(?:, Errors: (?P<worse>\d+))?"
        r"(?:, Failures: (?P<bad>\d+))?(?:, .*?Skipped: (?P<skip>\d+))?.*\.$",
        re.M,
    ),
    regex(
        r"^(?P<all>\d+) (?:examples?|runs|tests)(?:, \d+ assertions)?, (?P<bad>\d+) failures?"
        r"(?:, (?P<worse>\d+) errors?)?"
        r"(?:, (?P<skip>\d+) (?:pendings?|skips|skipped|excluded))?"
        r"(?:, (?P<omitted>\d+) omissions, \d+ notifications)?$",
        re.M,
    ),
    regex(r"tests passed, (?P<bad>\d+) tests failed out of (?P<all>\d+)$", re.M),
    regex(
        r"^(?:Failed|Passed)!\s+- Failed:\s+(?P<bad>\d+), Passed:\s+\d+, Skipped:\s+(?P<skip>\d+)"
        r", Total:\s+(?P<all>\d+)",
        re.M,
    ),
    regex(
        r"^(?P<all>\d+) tests completed(?:, (?P<bad>\d+) failed)?(?:, (?P<skip>\d+) skipped)?$",
        re.M,
    ),
    regex(
        r"^(?P<all>\d+) tests?(?: [a-z]+)?(?:, \d+ passed)?, (?P<bad>\d+) failed"
        r"(?:, (?P<skip>\d+) skipped)?\.?$",
        re.M,
    ),
    regex(r"^(?P<all>\d+) Tests? (?P<bad>\d+) Failures? (?P<skip>\d+) Ignored\b", re.M),
    regex(r"^\d+%: Checks: (?P<all>\d+), Failures: (?P<bad>\d+), Errors: (?P<worse>\d+)", re.M),
    regex(
        r"^(?:\[doctest\] )?test cases: +(?P<all>\d+) \|(?: +\d+ passed(?: \||$))?"
        r"(?: +(?P<bad>\d+) failed)?(?: \| +(?P<skip>\d+) skipped)?",
        re.M,
    ),
    regex(r"^All tests passed \(\d+ assertions? in (?P<all>\d+) test cases?\)", re.M),
    regex(
        r"Synthesis: Tested: (?P<all>\d+) \| Passing: \d+ \| Failing: (?P<bad>\d+)"
        r" \| Crashing: (?P<worse>\d+)"
    ),
    regex(r"^Errors \((?P<bad>\d+) failures, (?P<all>\d+) tests\b", re.M),
)
"""Maven, PHPUnit and CppUTest, PHPUnit, RSpec with Minitest, test-unit and ExUnit, CTest, dotnet,
Gradle, small C suites, Unity, Check, doctest with Catch2, Catch2, Criterion, CppUTest."""

_PARTS = ("all", "bad", "worse", "skip", "omitted")


def from_totals(text: str) -> Tally | None:
    """Parse runners that print how many tests there were and how many failed."""
    for pattern in _TOTALS:
        found = [m.groupdict(default="0") for m in pattern.finditer(text)]
        if found:
            count = {key: sum(int(each.get(key, 0)) for each in found) for key in _PARTS}
            failed = count["bad"] + count["worse"]
            skipped = count["skip"] + count["omitted"]
            passed = max(count["all"] - failed - skipped, 0)
            return tally(passed, skipped, (), failed=failed)
    return None


_GOOGLE = regex(r"^\[ +(OK|FAILED|SKIPPED) +\] ([\w/]+)\.([\w/]+)[^(\n]* \((\d+) ms\)$", re.M)
_GOOGLE_ENDS = {
    "OK": CaseOutcome.PASSED,
    "FAILED": CaseOutcome.FAILED,
    "SKIPPED": CaseOutcome.SKIPPED,
}


def from_google_test(text: str) -> Tally | None:
    """Parse GoogleTest, which names every test when it ends."""
    cases = [
        SuiteCase(name, _GOOGLE_ENDS[end], suite=(suite,), seconds=int(ms) / 1000)
        for end, suite, name, ms in _GOOGLE.findall(text)
    ]
    return tally_of(number_duplicates(cases)) if cases else None


_NUMBERED = regex(r"^\d+ - (.+): .*?(PASSED|FAILED)$", re.M)
_NUMBERED_SUM = regex(r"^(\d+) tests, \d+ passed, \d+ failed$", re.M)


def from_numbered(text: str) -> Tally | None:
    """Parse C suites that number each test, `1 - name: PASSED`, and count them at the end."""
    cases = [
        SuiteCase(name, CaseOutcome.PASSED if end == "PASSED" else CaseOutcome.FAILED)
        for name, end in _NUMBERED.findall(text)
    ]
    # What a test prints may stand before its end: all must be there, or none is named.
    is_whole = sum(map(int, _NUMBERED_SUM.findall(text))) == len(cases)
    return tally_of(number_duplicates(cases)) if cases and is_whole else None


_AUTOMAKE = regex(r"^(PASS|FAIL|SKIP|XFAIL|XPASS|ERROR): (\S.*)$", re.M)
_AUTOMAKE_SUM = regex(r"^# TOTAL: +\d+$", re.M)
_AUTOMAKE_ENDS = {
    "PASS": CaseOutcome.PASSED,
    "FAIL": CaseOutcome.FAILED,
    "XPASS": CaseOutcome.FAILED,
    "ERROR": CaseOutcome.ERROR,
}


def from_automake(text: str) -> Tally | None:
    """Parse `make check` of an Automake project: a line per test above a summary."""
    if not _AUTOMAKE_SUM.search(text):
        return None
    cases = [
        SuiteCase(name, _AUTOMAKE_ENDS.get(end, CaseOutcome.SKIPPED))
        for end, name in _AUTOMAKE.findall(text)
    ]
    return tally_of(number_duplicates(cases)) if cases else None


_THINGS = r"tests?|checks?|cases?"
_WORDS = r"passed|failed|passes|failures|fails|pass|fail|skipped|skip|todo|errors?|ok"
_AFTER = regex(
    rf"(?<![\d.])(\d+) (?:(?:unit |of )?(?:tests?|checks?|cases?|assertions?) )?({_WORDS})\b", re.I
)
_BEFORE = regex(
    rf"^\W*(?:(?:{_THINGS}|total|number of)[ _-])?({_WORDS})(?:[ _-](?:{_THINGS}))?"
    r" *[:=] *(\d+)(?= *(?:$|[,;|)\]]))",
    re.I | re.M,
)
_OUT_OF = regex(
    rf"^\W*(?:passed )?(\d+)(?:/| of | out of )(\d+)(?: \w+)? (?:{_THINGS})?(?: (?:have )?passed)",
    re.I | re.M,
)
_MINCTEST = regex(r"^(?:ALL TESTS PASSED|SOME TESTS FAILED) \((\d+)/(\d+)\)$", re.M)
_ALL_OF = regex(r"^\W*all (\d+) (?:tests?|checks?|cases?) (?:passed|ok|succeeded)\b", re.I | re.M)
_COUNTING_LINE = regex(rf"^\W*(?:[\w ]+: +)?\d+ (?:\w+ )?(?:{_WORDS})\b", re.I)


def from_loose(text: str) -> Tally | None:
    """Parse a project's own counts, each on its line: `3 passed`, `PASSED: 15`, `12/12 tests
    passed`."""
    if found := _OUT_OF.findall(text) or _MINCTEST.findall(text):
        passed = sum(int(good) for good, _ in found)
        return tally(passed, 0, (), failed=max(sum(int(n) for _, n in found) - passed, 0))
    if found := _ALL_OF.findall(text):
        return tally(sum(map(int, found)), 0, ())
    lines = [line for line in text.split("\n") if _COUNTING_LINE.match(line)]
    count = [(word.lower(), int(n)) for line in lines for n, word in _AFTER.findall(line)]
    count = count or [(word.lower(), int(n)) for word, n in _BEFORE.findall(text)]
    return summed(count, ()) if count else None


_COUNTS = regex(r"(\d+) (passed|failed|errors?|skipped|todo|pending|xfailed|xpassed)")
_GOOD = frozenset({"passed", "passing", "pass", "passes", "xpassed", "ok"})
_BAD = frozenset({"failed", "error", "errors", "failing", "fail", "fails", "failures", "cancelled"})


def counted(text: str, bad: Iterable[tuple[str, str]], at_least: int = 0) -> Tally:
    """Return the sum of a closing line's counts."""
    found = [(word, int(n)) for n, word in _COUNTS.findall(text)]
    count = summed(found, bad)
    return count._replace(failed=max(count.failed, at_least))


def summed(count: Iterable[tuple[str, int]], bad: Iterable[tuple[str, str]]) -> Tally:
    """Return words and numbers as a tally; an unknown word counts as a skip."""
    passed = failed = skipped = 0
    for word, n in count:
        if word in _GOOD:
            passed += n
        elif word in _BAD:
            failed += n
        else:
            skipped += n
    return tally(passed, skipped, bad, failed=failed)
