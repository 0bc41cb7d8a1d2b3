"""Parse JUnit XML, in the dialects of the runners that write it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from xml.etree.ElementTree import Element

import msgspec

from flyball.regex import regex
from flyball.verdict.case import CaseOutcome, SuiteCase, merged, number_duplicates
from flyball.verdict.runners.reports.output import ReadOne, RunnerOutput, xml_of

Identify = Callable[[Element, RunnerOutput], SuiteCase]
"""A test case element in; the test's identity out, its outcome still open."""

OPEN = CaseOutcome.PASSED


def junit(identify: Identify, *, twice: bool = False) -> ReadOne:
    """Return a parser of JUnit XML; with `twice`, a test may report its clean-up separately."""

    def read(data: bytes, said: RunnerOutput) -> Sequence[SuiteCase] | None:
        root = xml_of(data)
        if root is None:
            return None
        cases = [_ended(case, identify(case, said)) for case in root.iter("testcase")]
        return merged(cases) if twice else number_duplicates(cases)

    return read


def _ended(element: Element, case: SuiteCase) -> SuiteCase:
    tags = {part.tag for part in element}
    outcome = CaseOutcome.PASSED
    if "failure" in tags:
        outcome = CaseOutcome.FAILED
    elif "error" in tags:
        outcome = CaseOutcome.ERROR
    elif "skipped" in tags:
        outcome = CaseOutcome.SKIPPED
    said = [
        f"{part.get('message') or ''}\n{part.text or ''}".strip()
        for part in element
        if part.tag in ("failure", "error")
    ]
    if case.message and not any(said):
        said = [case.message]
    return msgspec.structs.replace(
        case,
        outcome=outcome,
        seconds=_number(element.get("time", "")),
        message="\n".join(said) if outcome is not CaseOutcome.SKIPPED else "",
    )


def _number(text: str) -> float:
    try:
        return round(float(text.replace(",", "")), 6)
    except ValueError:
        return 0.0


_PARAMETERS = regex(r"(.+?)\[(.*)\]", re.S)


def parameters_apart(name: str) -> tuple[str, str]:
    """Return a name, and the parameters in brackets after it."""
    found = _PARAMETERS.fullmatch(name)
    return (found[1], found[2]) if found else (name, "")


def pytest_case(element: Element, _said: RunnerOutput) -> SuiteCase:
    """Read pytest's xunit1 dialect, with names that pytest accepts as arguments."""
    file, owner = element.get("file", ""), element.get("classname", "")
    whole = element.get("name", "")
    name, parameters = parameters_apart(whole)
    if not file:
        spelling = "::".join(filter(None, (owner, whole)))
        return SuiteCase(name, OPEN, "", (owner,) if owner else (), parameters, spelling=spelling)
    module = ".".join(PurePosixPath(file).with_suffix("").parts)
    if not owner and whole == module:
        return SuiteCase("(collection)", OPEN, file, spelling=file)
    if owner != module and not owner.startswith(f"{module}."):
        file, module = _collected_from(owner, file)
    classes = tuple(filter(None, owner.removeprefix(module).strip(".").split(".")))
    return SuiteCase(
        name, OPEN, file, classes, parameters, spelling="::".join([file, *classes, whole])
    )


def _collected_from(owner: str, file: str) -> tuple[str, str]:
    """Return the file and the module of a test that is defined in another file than it runs in.

    An inherited or imported test is reported with the file that defines it, and runs in another.
    """
    parts = owner.split(".")
    depth = next((n for n, part in enumerate(parts) if part[:1].isupper()), len(parts))
    found = PurePosixPath(*parts[:depth])
    return (f"{found}.py", ".".join(parts[:depth])) if depth and owner else (file, "")


def without_sums(read: ReadOne) -> ReadOne:
    """Return a parser that ignores tests that only sum up their steps, as deno reports them."""

    def kept(data: bytes, said: RunnerOutput) -> Sequence[SuiteCase] | None:
        cases = read(data, said)
        outer = {(case.file, case.suite) for case in cases or ()}
        return cases and [
            case
            for case in cases
            if (case.file, (*case.suite, case.name)) not in outer
            or (case.is_bad and "test step" not in case.message)
        ]

    return kept


def file_case(element: Element, said: RunnerOutput) -> SuiteCase:
    """Read bats and deno: the class is the file, and steps follow their test's name."""
    *suite, name = element.get("name", "").split(" > ")
    return SuiteCase(name, OPEN, said.from_place(element.get("classname", "")), tuple(suite))


_DATA_SET = regex(r"(\w+) with data set (.+)", re.S)


def phpunit_case(element: Element, said: RunnerOutput) -> SuiteCase:
    """Read PHPUnit: a class in a file, and data sets described in words."""
    whole = element.get("name", "")
    found = _DATA_SET.fullmatch(whole)
    name, parameters = (found[1], found[2]) if found else (whole, "")
    owner = element.get("class") or element.get("classname", "")
    return SuiteCase(name, OPEN, said.from_place(element.get("file", "")), (owner,), parameters)


def java_case(element: Element, _said: RunnerOutput) -> SuiteCase:
    """Read Surefire and Gradle: a class with its package; parameters and numbers follow the
    name."""
    whole = element.get("name", "")
    bare = re.sub(r"\(.*?\)", "", whole, count=1)
    name, parameters = parameters_apart(bare)
    if bare.startswith("["):
        name, parameters = whole, ""
    owner = element.get("classname", "").replace("$", ".")
    return SuiteCase(name, OPEN, "", (owner,) if owner else (), parameters)


def ctest_case(element: Element, _said: RunnerOutput) -> SuiteCase:
    """Read CTest: tests have only a name; one that cannot start is not a skip."""
    printed = (element.findtext("system-out") or "").strip()
    skipped = element.find("skipped")
    if skipped is not None and not (skipped.get("message") or "").startswith(_MEANT):
        skipped.tag = "error"
    return SuiteCase(element.get("name", ""), OPEN, message=printed)


_MEANT = ("SKIP_", "Disabled", "Not Run (Disabled)")
