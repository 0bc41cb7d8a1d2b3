"""Parse the Test Anything Protocol of AVA, tape, tap, bats, prove and many C suites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import msgspec

from flyball.regex import regex
from flyball.verdict.case import CaseOutcome, SuiteCase, number_duplicates
from flyball.verdict.runners.reports.output import RunnerOutput
from flyball.verdict.runners.tally import Tally, tally_of

_LINE = regex(
    r"(?P<indent> *)(?P<end>not ok|ok)\b(?: +\d+)?(?: +-)? ?(?P<name>.*?)"
    r"(?: +# *(?P<mark>SKIP|TODO)\b.*| +# (?:time=|in ).*)? *\{?",
    re.I,
)
_GROUP = regex(r"# (?!(?:tests|pass|fail|ok|skip|todo|time|Subtest)\b)(.+)")
_ERROR = regex(r"^\s*(?:error|message): (.+(?:\n\s{4,}(?! *\w+: ).+)*)", re.M)
_PLAN = regex(r"^\s*(?:1\.\.\d+|TAP version \d+)", re.M)


class _Point(NamedTuple):
    """One line of a test, the group above it, and the text below it."""

    depth: int
    is_ok: bool
    mark: str
    name: str
    group: str
    group_line: int
    below: str


def _points(text: str) -> Iterator[_Point]:
    lines = text.split("\n")
    group, group_line = "", 0
    for n, line in enumerate(lines):
        if found := _GROUP.fullmatch(line):
            group, group_line = found[1].strip(), n
        elif found := _LINE.fullmatch(line):
            end = next(
                (m for m in range(n + 1, len(lines)) if _LINE.fullmatch(lines[m])), len(lines)
            )
            below = "\n".join(lines[n + 1 : min(end, n + 200)])
            mark = (found["mark"] or "").upper()
            name = found["name"].replace("\\#", "#").strip()
            is_ok = found["end"].lower() == "ok"
            yield _Point(len(found["indent"]), is_ok, mark, name, group, group_line, below)


def _outcome(point: _Point) -> CaseOutcome:
    if point.mark:
        return CaseOutcome.SKIPPED
    return CaseOutcome.PASSED if point.is_ok else CaseOutcome.FAILED


def _why(point: _Point) -> str:
    """Return the diagnostics after a line that is not ok: a block, or the comments that follow."""
    if point.is_ok:
        return ""
    block = re.split(r"\n\s*\.\.\.", point.below, maxsplit=1)[0]
    if block.lstrip().startswith("---"):
        error = _ERROR.search(block)
        short = error[1].strip("'\"|- \n") if error else ""
        return short or block.strip("- \n")
    return "\n".join(line.lstrip("# ") for line in block.split("\n") if line.startswith("#"))


def from_tap(text: str) -> Tally | None:
    """Parse every test without subtests at any depth, under the names of its groups."""
    if not _PLAN.search(text):
        return None
    open_cases: list[tuple[int, SuiteCase]] = []
    for point in _points(text):
        # What is deeper is at the end: each line takes all of it to its own depth.
        first = len(open_cases)
        while first and open_cases[first - 1][0] > point.depth:
            first -= 1
        inner = [case for _, case in open_cases[first:]]
        if inner:
            held = [(point.depth, _under(point.name, case)) for case in inner]
            is_reported = point.is_ok or point.mark or any(case.is_bad for case in inner)
            open_cases[first:] = held + ([] if is_reported else [(point.depth, _case(point))])
        else:
            open_cases.append((point.depth, _case(point)))
    return tally_of(number_duplicates([case for _, case in open_cases])) if open_cases else None


def _case(point: _Point) -> SuiteCase:
    return SuiteCase(point.name or "(unnamed)", _outcome(point), message=_why(point))


def _under(name: str, case: SuiteCase) -> SuiteCase:
    return msgspec.structs.replace(case, suite=(name, *case.suite))


_AVA_FILE = regex(r"(?:.*/)?(?:test|tests|__tests__|[^/]*[.-]test|test-[^/]*).*\.[cm]?[jt]sx?")


def from_ava(said: RunnerOutput) -> Tally | None:
    """Parse AVA's TAP: each title is preceded by as much of the file's path as is needed."""
    points = [point for point in _points(said.tidy) if not point.depth]
    files = [path for path in said.files if _AVA_FILE.fullmatch(path)]
    cases = [_ava_case(point, files) for point in points]
    return tally_of(number_duplicates(cases)) if cases else None


def _ava_case(point: _Point, files: Sequence[str]) -> SuiteCase:
    """Find the file among those of the tree: with a single file, AVA does not name it."""
    words = point.name.split(" › ")
    for n in range(len(words) - 1, 0, -1):
        wanted = re.compile(rf"(?:.*/)?{re.escape('/'.join(words[:n]))}(?:[.-]test)?\.[cm]?[jt]sx?")
        found = [path for path in files if wanted.fullmatch(path)]
        if found:
            file = min(found, key=len)
            return SuiteCase(" › ".join(words[n:]), _outcome(point), file, message=_why(point))
    file = files[0] if len(files) == 1 else ""
    return SuiteCase(point.name, _outcome(point), file, message=_why(point))


def from_tape(text: str) -> Tally | None:
    """Parse tape: a test is a comment with its assertions below; it fails if one of them does."""
    # By line and not by name: two tests after each other may have the same.
    grouped = [list(points) for _, points in groupby(_points(text), lambda each: each.group_line)]
    if not grouped:
        return None
    cases = [_tape_case(points[0].group, points) for points in grouped]
    return tally_of(number_duplicates(cases))


def _tape_case(group: str, points: list[_Point]) -> SuiteCase:
    ends = {_outcome(point) for point in points}
    bad = [point for point in points if _outcome(point) is CaseOutcome.FAILED]
    outcome = CaseOutcome.PASSED
    if bad:
        outcome = CaseOutcome.FAILED
    elif ends == {CaseOutcome.SKIPPED}:
        outcome = CaseOutcome.SKIPPED
    message = "\n".join(f"{point.name}\n{point.below.split('  ...')[0]}" for point in bad)
    return SuiteCase(re.sub(r"^(?:SKIP|TODO) ", "", group) or "(unnamed)", outcome, message=message)
