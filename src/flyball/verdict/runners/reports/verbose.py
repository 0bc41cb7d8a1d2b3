"""Parse runners that name every test in their verbose output."""

from __future__ import annotations

import re

from flyball.regex import regex
from flyball.verdict.case import CaseOutcome, SuiteCase, number_duplicates
from flyball.verdict.runners.tally import Tally, tally_of

_MINITEST = regex(r"^(.+?)#(.+?) = (\d+\.\d+) s = ([.FES])$", re.M)
_MINITEST_SAID = regex(
    r"^ +\d+\) (?:Failure|Error):\n(.+?)(?: \[(.+?):\d+\])?:\n(.*?)"
    r"(?=\n\n +\d+\) |\n\n\d+ runs|\Z)",
    re.M | re.S,
)
_LETTERS = {
    ".": CaseOutcome.PASSED,
    "F": CaseOutcome.FAILED,
    "E": CaseOutcome.ERROR,
    "S": CaseOutcome.SKIPPED,
}


def from_minitest(text: str) -> Tally | None:
    """Read Minitest with `-v`: class, method, time and a letter."""
    said = {found[1]: found[3] for found in _MINITEST_SAID.finditer(text)}
    cases = [
        SuiteCase(
            found[2],
            _LETTERS[found[4]],
            suite=(found[1],),
            seconds=float(found[3]),
            message=said.get(f"{found[1]}#{found[2]}", ""),
        )
        for found in _MINITEST.finditer(text)
    ]
    return tally_of(number_duplicates(cases)) if cases else None


_TEST_UNIT_SUITE = regex(r"^( *)(\S.*): $")
_TEST_UNIT_CASE = regex(r"^( +)(\S.*?)(?:\[(.*)\])?:\t+")
_TEST_UNIT_END = regex(r": \((\d+\.\d+)\)$")
_TEST_UNIT_BAD = regex(r"^={9,}\n(Failure|Error|Omission|Pending): (.*?)^={9,}$", re.M | re.S)
_TEST_UNIT_ENDS = {
    "Failure": CaseOutcome.FAILED,
    "Error": CaseOutcome.ERROR,
    "Omission": CaseOutcome.SKIPPED,
    "Pending": CaseOutcome.SKIPPED,
}


def from_test_unit(text: str) -> Tally | None:
    """Read test-unit with `-v`: suites by their indentation, and errors inside a line."""
    suites: dict[int, str] = {}
    cases: list[SuiteCase] = []
    begun: re.Match[str] | None = None
    said: list[str] = []
    for line in text.split("\n"):
        if begun is None:
            begun, said = _TEST_UNIT_CASE.match(line), []
            head = begun or _TEST_UNIT_SUITE.match(line)
            if head is None:
                continue
            suites = {at: name for at, name in suites.items() if at < len(head[1])}
            if begun is None:
                suites[len(head[1])] = head[2]
        said.append(line)
        if begun is not None and (end := _TEST_UNIT_END.search(line)):
            cases.append(_test_unit_case(begun, "\n".join(said), tuple(suites.values()), end[1]))
            begun = None
    return tally_of(number_duplicates(cases)) if cases else None


def _test_unit_case(
    begun: re.Match[str], said: str, suite: tuple[str, ...], seconds: str
) -> SuiteCase:
    bad = _TEST_UNIT_BAD.search(said)
    outcome = _TEST_UNIT_ENDS[bad[1]] if bad else CaseOutcome.PASSED
    message = f"{bad[1]}: {bad[2]}" if bad and outcome is not CaseOutcome.SKIPPED else ""
    return SuiteCase(begun[2], outcome, "", suite, begun[3] or "", float(seconds), message)


_MIX_FILE = regex(r"^(\S+) \[(.+\.exs)\]$")
_MIX_CASE = regex(
    r"^.*  \* (?:test|property|doctest) (.+?) \((skipped|excluded|[\d.]+ms)\) \[L#\d+\]"
)
_MIX_BAD = regex(r"^ +\d+\) (?:test|property|doctest) (.+) \((\S+)\)$")


def from_mix(text: str) -> Tally | None:
    """Parse `mix test --trace`: a heading per module, a line per test, and the failures between."""
    module = file = ""
    ended: dict[tuple[str, str], tuple[str, str]] = {}
    said: dict[tuple[str, str], list[str]] = {}
    saying: tuple[str, str] | None = None
    for line in text.split("\n"):
        if head := _MIX_FILE.match(line):
            module, file, saying = head[1], head[2], None
        elif case := _MIX_CASE.match(line):
            ended[module, case[1]] = (file, case[2])
            saying = None
        elif head := _MIX_BAD.match(line):
            saying = (head[2], head[1])
            said[saying] = []
        elif saying:
            said[saying].append(line.strip())
    cases = [
        _mix_case(key, where, end, "\n".join(said[key]) if key in said else None)
        for key, (where, end) in ended.items()
    ]
    return tally_of(number_duplicates(cases)) if cases else None


def _mix_case(key: tuple[str, str], file: str, end: str, message: str | None) -> SuiteCase:
    module, name = key
    outcome = CaseOutcome.PASSED if message is None else CaseOutcome.FAILED
    if not end.endswith("ms"):
        return SuiteCase(name, CaseOutcome.SKIPPED, file, (module,))
    seconds = round(float(end.removesuffix("ms")) / 1000, 6)
    return SuiteCase(
        name, outcome, file, (module,), seconds=seconds, message=(message or "").strip()
    )


_UNITTEST = regex(
    r"^(\w+) \(([\w.]+)\)(?:\n[^\n]+?)?(?: \.\.\. |\n?.*?)"
    r"(ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$",
    re.M,
)
_WORDS = {
    "ok": CaseOutcome.PASSED,
    "FAIL": CaseOutcome.FAILED,
    "ERROR": CaseOutcome.ERROR,
    "unexpected success": CaseOutcome.FAILED,
}


def unittest_cases(text: str) -> list[SuiteCase]:
    """Return the tests that unittest or Django name with `-v 2`, by their dotted names."""
    cases: list[SuiteCase] = []
    for name, owner, word in _UNITTEST.findall(text):
        dotted = owner if owner.endswith(f".{name}") else f"{owner}.{name}"
        outcome = _WORDS.get(word, CaseOutcome.SKIPPED)
        suite = tuple(dotted.split(".")[:-1])
        cases.append(SuiteCase(name, outcome, suite=suite, spelling=dotted))
    return cases
