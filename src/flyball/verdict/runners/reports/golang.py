"""Parse the event lines of `go test -json`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from flyball.bounds import is_nested_too_deeply
from flyball.verdict.case import CaseOutcome, SuiteCase
from flyball.verdict.runners.tally import Tally, tally_of

_Ends = dict[tuple[str, str], tuple[CaseOutcome, float]]

ENDS = {"pass": CaseOutcome.PASSED, "fail": CaseOutcome.FAILED, "skip": CaseOutcome.SKIPPED}


def from_go_json(text: str) -> Tally | None:
    """Parse each test without subtests, and each package that failed without a failing test."""
    ends: _Ends = {}
    broken: dict[str, None] = {}
    said: dict[tuple[str, str], list[str]] = {}
    for event in _events(text):
        package = str(event.get("Package") or event.get("ImportPath") or "").partition(" ")[0]
        key = (package, str(event.get("Test") or ""))
        match event.get("Action"):
            case "output" | "build-output":
                said.setdefault(key, []).append(str(event.get("Output", "")))
            case "pass" | "fail" | "skip" as end if key[1]:
                ends[key] = (ENDS[end], float(event.get("Elapsed") or 0))
            case "fail" | "build-fail":
                broken[package] = None
            case _:
                pass
    if not ends and not said and not broken:
        return None
    inner = _inner_ends(ends)
    cases = [
        _case(key, outcome, seconds, "".join(said.get(key, ())))
        for key, (outcome, seconds) in ends.items()
        if _is_a_test_itself(outcome, inner.get(key, set()))
    ]
    blamed = {case.suite[0] for case in cases if case.is_bad}
    cases += [
        SuiteCase(
            "(package)",
            CaseOutcome.ERROR,
            suite=(name,),
            message=_of_package(name, said),
            spelling=name,
        )
        for name in sorted(broken)
        if name not in blamed
    ]
    return tally_of(cases)


def _of_package(name: str, said: dict[tuple[str, str], list[str]]) -> str:
    """Return the output of a package, and of its compiler (newer versions report that
    separately)."""
    return "".join(
        "".join(lines)
        for (package, test), lines in said.items()
        if not test and package.partition("_test")[0].removesuffix(".test") in (name, "")
    )


def _case(key: tuple[str, str], outcome: CaseOutcome, seconds: float, message: str) -> SuiteCase:
    package, test = key
    top, *inner = test.split("/")
    return SuiteCase(
        inner[-1] if inner else top,
        outcome,
        suite=(package, *([top, *inner[:-1]] if inner else ())),
        seconds=seconds,
        message=message if outcome is CaseOutcome.FAILED else "",
        spelling=f"{package}.{test}",
    )


def _inner_ends(ends: _Ends) -> dict[tuple[str, str], set[CaseOutcome]]:
    """Return the results of the subtests of each test that has some."""
    found: dict[tuple[str, str], set[CaseOutcome]] = {}
    for (package, test), (outcome, _) in ends.items():
        outer = test.rpartition("/")[0]
        while outer:
            found.setdefault((package, outer), set()).add(outcome)
            outer = outer.rpartition("/")[0]
    return found


def _is_a_test_itself(outcome: CaseOutcome, inner: set[CaseOutcome]) -> bool:
    """Return whether a test itself failed, although all of its subtests passed."""
    return not inner or (outcome is CaseOutcome.FAILED and CaseOutcome.FAILED not in inner)


def _events(text: str) -> Iterator[dict[str, Any]]:
    for line in text.split("\n"):
        if line.startswith("{") and not is_nested_too_deeply(line.encode(errors="replace")):
            try:
                yield msgspec.json.decode(line, type=dict[str, Any])
            except msgspec.DecodeError:
                continue
