"""Reading the reports that runners write for machines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import msgspec

from flyball.tools.runner.tally import Tally, plain, tally


def from_junit(data: bytes) -> Tally | None:
    """JUnit XML, as pytest writes it; a test that reports twice counts once."""
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError:
        return None
    ends: dict[str, set[str]] = {}
    bad: list[tuple[str, str]] = []
    for case in root.iter("testcase"):
        name = _node_id(case)
        ends.setdefault(name, set()).update(part.tag for part in case)
        bad += [(name, why) for why in _troubles(case)]
    failed = {name for name, _ in bad}
    skipped = {name for name, tags in ends.items() if "skipped" in tags and name not in failed}
    return tally(len(ends) - len(failed) - len(skipped), len(skipped), bad)


def _node_id(case: Element) -> str:
    """The name by which pytest would run this test again."""
    file, owner, name = case.get("file", ""), case.get("classname", ""), case.get("name", "")
    if not file:
        return "::".join(filter(None, (owner, name)))
    module = ".".join(PurePosixPath(file).with_suffix("").parts)
    if not owner and name == module:
        return file
    classes = owner.removeprefix(module).strip(".")
    return "::".join([file, *filter(None, classes.split(".")), name])


def _troubles(case: Element) -> Iterator[str]:
    for part in case:
        if part.tag in ("failure", "error"):
            yield f"{part.get('message') or ''}\n{part.text or ''}"


def from_jest(data: bytes) -> Tally | None:
    """The JSON that jest and vitest write."""
    try:
        report = msgspec.json.decode(data, type=_JestReport)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    bad: list[tuple[str, str]] = []
    for file in report.testResults:
        broken = [case for case in file.assertionResults if case.status == "failed"]
        bad += [(case.fullName or case.title, "\n".join(case.failureMessages)) for case in broken]
        if not broken and file.status == "failed":
            bad.append((_tail(file.name), file.message))
    return tally(
        report.numPassedTests,
        report.numPendingTests + report.numTodoTests,
        [(name, plain(message)) for name, message in bad],
        failed=report.numFailedTests,
    )


class _JestCase(msgspec.Struct):
    status: str = ""
    fullName: str = ""  # noqa: N815
    title: str = ""
    failureMessages: list[str] = []  # noqa: N815


class _JestFile(msgspec.Struct):
    name: str = ""
    status: str = ""
    message: str = ""
    assertionResults: list[_JestCase] = []  # noqa: N815


class _JestReport(msgspec.Struct):
    numPassedTests: int = 0  # noqa: N815
    numFailedTests: int = 0  # noqa: N815
    numPendingTests: int = 0  # noqa: N815
    numTodoTests: int = 0  # noqa: N815
    testResults: list[_JestFile] = []  # noqa: N815


def _tail(path: str) -> str:
    """The end of a path, which is the same wherever the tree lies."""
    return "/".join(PurePosixPath(path).parts[-2:])


def from_unittest_json(data: bytes) -> Tally | None:
    """What our own start of unittest leaves (see `unittests`)."""
    try:
        report = msgspec.json.decode(data, type=_UnittestReport)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    failed = {name for name, _ in report.bad}
    skipped = set(report.skipped) - failed
    passed = set(report.passed) - failed - skipped
    return tally(len(passed), len(skipped), report.bad)


class _UnittestReport(msgspec.Struct):
    passed: list[str]
    skipped: list[str]
    bad: list[tuple[str, str]]


def from_go_json(text: str) -> Tally | None:
    """The event lines of `go test -json`."""
    ends: dict[str, str] = {}
    packages: set[str] = set()
    said: dict[str, list[str]] = {}
    for event in _go_events(text):
        package = str(event.get("Package") or event.get("ImportPath") or "").partition(" ")[0]
        name = f"{package}.{event['Test']}" if event.get("Test") else package
        match event.get("Action"):
            case "output" | "build-output":
                said.setdefault(name, []).append(str(event.get("Output", "")))
            case "pass" | "fail" | "skip" as end if event.get("Test"):
                ends[name] = end
            case "fail" | "build-fail":
                packages.add(name)
            case _:
                pass
    if not ends and not said and not packages:
        return None
    parents = {name.rpartition("/")[0] for name in ends if "/" in name}
    leaves = {name: end for name, end in ends.items() if name not in parents or end == "fail"}
    bad = [name for name, end in leaves.items() if end == "fail" and not _has_bad_child(name, ends)]
    lone = sorted(p for p in packages if not any(name.startswith(f"{p}.") for name in bad))
    return tally(
        sum(end == "pass" for end in leaves.values()),
        sum(end == "skip" for end in leaves.values()),
        [(name, "".join(said.get(name, []))) for name in [*bad, *lone]],
    )


def _go_events(text: str) -> Iterator[dict[str, Any]]:
    for line in text.split("\n"):
        if line.startswith("{"):
            try:
                yield msgspec.json.decode(line, type=dict[str, Any])
            except msgspec.DecodeError:
                continue


def _has_bad_child(name: str, ends: dict[str, str]) -> bool:
    return any(each.startswith(f"{name}/") and end == "fail" for each, end in ends.items())
