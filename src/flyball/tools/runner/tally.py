"""What a test run came to, read from whatever its runner leaves behind."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from xml.etree import ElementTree

import msgspec

from flyball.core.evidence import Failure

KEPT_FAILURES = 50
KEPT_MESSAGE = 2_000


class Tally(NamedTuple):
    """Counts and failures; `reason` says why nothing could be counted."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: tuple[Failure, ...] = ()
    reason: str = ""


def failure(name: str, message: str) -> Failure:
    text = message.strip()
    return Failure(name, text if len(text) <= KEPT_MESSAGE else f"{text[:KEPT_MESSAGE]}…")


def from_junit(data: bytes) -> Tally | None:
    """JUnit XML, as pytest and many others write it."""
    try:
        root = ElementTree.fromstring(data)
    except ElementTree.ParseError:
        return None
    passed = skipped = 0
    failures: list[Failure] = []
    for case in root.iter("testcase"):
        bad = [e for e in case if e.tag in ("failure", "error")]
        if bad:
            name = "::".join(filter(None, (case.get("classname"), case.get("name"))))
            message = f"{bad[0].get('message') or ''}\n{bad[0].text or ''}"
            failures.append(failure(name, message))
        elif any(e.tag == "skipped" for e in case):
            skipped += 1
        else:
            passed += 1
    return Tally(passed, len(failures), skipped, tuple(failures[:KEPT_FAILURES]))


def from_jest_json(data: bytes) -> Tally | None:
    """The JSON that jest and vitest write."""
    try:
        report: dict[str, Any] = msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.DecodeError:
        return None
    failures: list[Failure] = []
    for file in report.get("testResults", []):
        cases = file.get("assertionResults", [])
        for case in cases:
            if case.get("status") == "failed":
                name = case.get("fullName") or case.get("title", "(unnamed)")
                failures.append(failure(name, "\n".join(case.get("failureMessages") or [])))
        if not cases and file.get("status") == "failed":
            failures.append(failure(str(file.get("name", "(file)")), str(file.get("message", ""))))
    return Tally(
        passed=int(report.get("numPassedTests", 0)),
        failed=max(int(report.get("numFailedTests", 0)), len(failures)),
        skipped=int(report.get("numPendingTests", 0)) + int(report.get("numTodoTests", 0)),
        failures=tuple(failures[:KEPT_FAILURES]),
    )


def from_go_json(text: str) -> Tally | None:
    """The event lines of `go test -json`."""
    outcome: dict[str, str] = {}
    said: dict[str, list[str]] = {}
    for line in text.split("\n"):
        if not line.startswith("{"):
            continue
        try:
            event: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.DecodeError:
            continue
        name = "/".join(filter(None, (event.get("Package"), event.get("Test"))))
        if event.get("Action") == "output":
            said.setdefault(name, []).append(str(event.get("Output", "")))
        elif event.get("Action") == "build-output":
            said.setdefault(str(event.get("ImportPath", "build")), []).append(
                str(event.get("Output", ""))
            )
        elif event.get("Action") in ("pass", "fail", "skip") and event.get("Test"):
            outcome[name] = str(event["Action"])
        elif event.get("Action") == "fail" and not event.get("Test"):
            outcome.setdefault(name, "fail-package")
    if not outcome and not said:
        return None
    return _from_go(outcome, said)


def _from_go(outcome: dict[str, str], said: dict[str, list[str]]) -> Tally:
    parents = {name.rpartition("/")[0] for name in outcome}
    leaves = {name: end for name, end in outcome.items() if name not in parents}
    bad = [name for name, end in leaves.items() if end in ("fail", "fail-package")]
    failures = [failure(name, "".join(said.get(name, []))) for name in bad]
    return Tally(
        passed=sum(end == "pass" for end in leaves.values()),
        failed=len(bad),
        skipped=sum(end == "skip" for end in leaves.values()),
        failures=tuple(failures[:KEPT_FAILURES]),
    )


_UNITTEST_HEAD = re.compile(r"^(?:FAIL|ERROR): (\S+)(?: \(([\w.<>]+)\))?", re.M)
_UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ", re.M)
_UNITTEST_END = re.compile(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$", re.M)


def from_unittest(text: str) -> Tally | None:
    """What `python -m unittest` prints."""
    ran = _UNITTEST_RAN.search(text)
    if ran is None:
        return None
    end = _UNITTEST_END.search(text, ran.end())
    parts = dict(p.split("=") for p in (end[1] or "").split(", ") if "=" in p) if end else {}
    count = {name: int(value) for name, value in parts.items() if value.isdigit()}
    bad = count.get("failures", 0) + count.get("errors", 0) + count.get("unexpected successes", 0)
    skipped = count.get("skipped", 0) + count.get("expected failures", 0)
    heads = list(_UNITTEST_HEAD.finditer(text))
    failures: list[Failure] = []
    for i, head in enumerate(heads):
        stop = heads[i + 1].start() if i + 1 < len(heads) else ran.start()
        where = head[2] or ""
        name = where if where.endswith(head[1]) else ".".join(filter(None, (where, head[1])))
        failures.append(failure(name, text[head.end() : stop].strip("=-\n ")))
    passed = max(int(ran[1]) - bad - skipped, 0)
    return Tally(passed, bad, skipped, tuple(failures[:KEPT_FAILURES]))


_CARGO_CASE = re.compile(r"^test (.+?) \.\.\. (ok|FAILED|ignored)", re.M)
_CARGO_SAID = re.compile(r"^---- (.+?) stdout ----\n(.*?)(?=^---- |^failures:|\Z)", re.M | re.S)


def from_cargo(text: str) -> Tally | None:
    """What `cargo test` prints."""
    cases = _CARGO_CASE.findall(text)
    if not cases and "test result:" not in text:
        return None
    said = dict(_CARGO_SAID.findall(text))
    bad = [name for name, end in cases if end == "FAILED"]
    return Tally(
        passed=sum(end == "ok" for _, end in cases),
        failed=len(bad),
        skipped=sum(end == "ignored" for _, end in cases),
        failures=tuple(failure(name, said.get(name, "")) for name in bad[:KEPT_FAILURES]),
    )


_SUMMARIES = (
    re.compile(
        r"^=+ (?P<all>.*\b(?:passed|failed|error|skipped|no tests ran)\b.*) in [\d.]+s", re.M
    ),
    re.compile(r"^\s*Tests:?\s+(?P<all>.*(?:passed|failed|skipped|todo).*)$", re.M),
    re.compile(r"^(?P<all>\d+ (?:passed|failed)(?:, \d+ \w+)*)\s*$", re.M),
)
_COUNTS = re.compile(r"(\d+) (passed|failed|errors?|skipped|todo|pending|xfailed|xpassed)")
_SPEC = re.compile(
    r"^\s*(?:#|ℹ)?\s*(?:(\d+) (passing|failing|pending)|(pass|fail|skipped) (\d+))", re.M
)
_TAP = re.compile(r"^\s*(not ok|ok) \d+(?: -)? ?(.*?)(?: # (SKIP|TODO).*)?$", re.M | re.I)
_WORDS = {
    "passed": 0, "passing": 0, "pass": 0, "xfailed": 2,
    "failed": 1, "error": 1, "errors": 1, "failing": 1, "fail": 1, "xpassed": 1,
    "skipped": 2, "todo": 2, "pending": 2,
}  # fmt: skip


def from_text(text: str) -> Tally | None:
    """The closing lines of the common runners, for commands whose runner we did not start."""
    for read in (from_unittest, from_cargo, _from_summary, _from_spec, _from_tap):
        if (tally := read(text)) is not None:
            return tally
    return None


def _from_summary(text: str) -> Tally | None:
    for pattern in _SUMMARIES:
        found = [m["all"] for m in pattern.finditer(text)]
        if found:
            return _count((word, int(n)) for n, word in _COUNTS.findall(found[-1]))
    return None


def _from_spec(text: str) -> Tally | None:
    found = [(m[2] or m[3], int(m[1] or m[4])) for m in _SPEC.finditer(text)]
    return _count(found) if found else None


def _from_tap(text: str) -> Tally | None:
    found = list(_TAP.finditer(text))
    if not found:
        return None
    bad = [m[2] or "(unnamed)" for m in found if m[1].lower() == "not ok" and not m[3]]
    skipped = sum(bool(m[3]) for m in found)
    names = tuple(failure(name, "") for name in bad[:KEPT_FAILURES])
    return Tally(len(found) - len(bad) - skipped, len(bad), skipped, names)


def _count(words: Any) -> Tally:
    sums = [0, 0, 0]
    for word, n in words:
        sums[_WORDS[word]] += n
    return Tally(sums[0], sums[1], sums[2])
