"""Parse the output of `cargo test`; its JSON is available on nightly toolchains only."""

from __future__ import annotations

import re

import msgspec

from flyball.regex import regex
from flyball.verdict.case import CaseOutcome, SuiteCase, number_duplicates
from flyball.verdict.runners.tally import Tally, tally, tally_of

_BINARY = regex(r"^ +Running (?:unittests )?(\S+) \((?:.*[/\\])?(.+?)-[0-9a-f]{16}\S*\)$")
_DOCS = regex(r"^ +Doc-tests (\S+)$")
_CASE = regex(r"^test (.+?)(?: - should panic)? \.\.\. (?:.*\b)?(ok|FAILED|ignored)\b")
_SAID = regex(r"^---- (.+?) stdout ----$")
_END = regex(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.M)
_RUSTC_ERROR = regex(r"^error(?:\[E\d+\])?: (.+)$", re.M)

ENDS = {"ok": CaseOutcome.PASSED, "FAILED": CaseOutcome.FAILED, "ignored": CaseOutcome.SKIPPED}


def from_cargo(text: str) -> Tally | None:
    """Return every test under the file and the crate that it was compiled from."""
    results = _END.findall(text)
    cases = _cases(text)
    if not results and not cases:
        return _rustc_trouble(text)
    by_test = tally_of(number_duplicates(cases))
    failed = sum(int(failed) for _, failed, _ in results)
    if failed > by_test.failed or len(cases) < sum(int(n) for each in results for n in each):
        # Output of tests that print without a line end hides some lines; the sums hold all.
        return tally(
            sum(int(passed) for passed, _, _ in results),
            sum(int(ignored) for _, _, ignored in results),
            [(each.name, each.message) for each in by_test.failures],
            failed=failed,
        )
    return by_test


def _cases(text: str) -> list[SuiteCase]:
    file = crate = saying = ""
    found: dict[tuple[str, str, str], SuiteCase] = {}
    said: dict[tuple[str, str, str], list[str]] = {}
    for line in text.split("\n"):
        if head := _BINARY.match(line):
            file, crate, saying = head[1], head[2], ""
        elif head := _DOCS.match(line):
            file, crate, saying = "", head[1], ""
        elif case := _CASE.match(line):
            found[file, crate, case[1]] = _case(case[1], ENDS[case[2]], file, crate)
        elif head := _SAID.match(line):
            saying = head[1]
        elif line in ("failures:", ""):
            saying = saying if line == "" else ""
        elif saying:
            said.setdefault((file, crate, saying), []).append(line)
    return [
        msgspec.structs.replace(case, message="\n".join(said.get(key, ())))
        for key, case in found.items()
    ]


_DOC_CASE = regex(r"(\S+) - (.*?) ?(\(line \d+\))(?: - .*)?")


def _case(whole: str, outcome: CaseOutcome, file: str, crate: str) -> SuiteCase:
    """Return a test of a module, or a documentation example, without its line in the name."""
    if example := _DOC_CASE.fullmatch(whole):
        suite = (crate, "documentation")
        return SuiteCase(example[2], outcome, example[1], suite, example[3].strip("()"))
    *modules, name = whole.split("::")
    return SuiteCase(name, outcome, file, tuple(filter(None, (crate, *modules))))


def _rustc_trouble(text: str) -> Tally | None:
    if "could not compile" not in text and "Compiling " not in text:
        return None
    errors = [each for each in _RUSTC_ERROR.findall(text) if "aborting" not in each]
    return tally(0, 0, (), reason=f"it does not compile: {errors[0]}") if errors else None
