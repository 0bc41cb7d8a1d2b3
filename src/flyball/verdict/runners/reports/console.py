"""Read the console output of runners, for commands that leave no report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from flyball.regex import regex
from flyball.verdict.runners.reports.cargo import from_cargo
from flyball.verdict.runners.reports.tap import from_tap
from flyball.verdict.runners.reports.totals import (
    counted,
    from_automake,
    from_google_test,
    from_loose,
    from_numbered,
    from_totals,
    summed,
)
from flyball.verdict.runners.reports.verbose import (
    from_minitest,
    from_mix,
    from_test_unit,
    unittest_cases,
)
from flyball.verdict.runners.tally import Tally, plain, tally

Reader = Callable[[str], Tally | None]


def from_text(text: str) -> Tally | None:
    """Return the results in the closing lines of common runners; the first parser that matches
    wins."""
    tidy = plain(text)
    for read in READERS:
        if (found := read(tidy)) is not None:
            return found
    return None


_UNITTEST_HEAD = regex(
    r"^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (\S+)(?: \(([\w.<>]+)\))?[^\n]*\n", re.M
)
_UNITTEST_RAN = regex(r"^Ran (\d+) tests? in [\d.]+s$", re.M)
_UNITTEST_END = regex(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$", re.M)


_FIXTURE = regex(r"(?:setUp|tearDown)(?:Class|Module)$")


def from_unittest(text: str) -> Tally | None:
    """Parse the output of unittest and Django."""
    runs = list(_UNITTEST_RAN.finditer(text))
    if not runs:
        return None
    skipped = failed = 0
    for ran in runs:
        end = _UNITTEST_END.search(text, ran.end())
        count = _keyed(end[1] or "") if end else {}
        skipped += count.get("skipped", 0) + count.get("expected failures", 0)
        failed += count.get("failures", 0) + count.get("errors", 0)
        failed += count.get("unexpected successes", 0)
    bad = [
        (_unittest_name(head[1], head[2] or ""), body)
        for head, body in _blocks(_UNITTEST_HEAD, text, runs[-1].start())
    ]
    tests = {name for name, _ in bad if not _FIXTURE.search(name)}
    wrong = len(tests) if bad else failed
    total = sum(int(ran[1]) for ran in runs)
    passed = max(total - wrong - skipped, 0)
    found = tally(passed, skipped, bad, failed=0 if bad else failed)
    cases = unittest_cases(text[: runs[-1].start()])
    return found._replace(cases=tuple(cases)) if len(cases) == total else found


def _keyed(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"([a-z][a-z ]*[a-z])=(\d+)", text)}


def _unittest_name(name: str, owner: str) -> str:
    owner = owner.removeprefix("unittest.loader._FailedTest").strip(".")
    return owner if owner.endswith(name) else ".".join(filter(None, (owner, name)))


def _blocks(
    head: re.Pattern[str], text: str, end: int, start: int = 0
) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each heading with the text up to the next one."""
    heads = list(head.finditer(text, start, end))
    for n, found in enumerate(heads):
        stop = heads[n + 1].start() if n + 1 < len(heads) else end
        yield found, text[found.end() : stop].strip("=-\n ")


_PYTEST_END = regex(
    r"^=*\s*((?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?"
    r"|subtests passed|rerun)(?:, )?)+|no tests ran) in [\d.]+s.*$",
    re.M,
)
_PYTEST_BAD = regex(r"^(?:FAILED|ERROR|SUBFAILED\S*) (\S+?\.py(?:::\S.*?)?)(?: - (.*))?$", re.M)


def from_pytest(text: str) -> Tally | None:
    """Parse pytest's closing line and its short summary."""
    ends = [found[1] for found in _PYTEST_END.finditer(text)]
    if not ends:
        return None
    return counted("\n".join(ends), [(m[1], m[2] or "") for m in _PYTEST_BAD.finditer(text)])


_PYTEST_STEP = regex(
    r"^(\S+\.py::\S.*?)(?: (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b.*| *|(?= Fatal ).*)$", re.M
)


def from_pytest_steps(text: str) -> Tally | None:
    """Return pytest's progress when it was ended: the test in progress counts as failed."""
    steps = [(m[1], m[2] or "") for m in _PYTEST_STEP.finditer(plain(text))]
    if not steps:
        return None
    ends = [end for _, end in steps]
    bad = [(name, "") for name, end in steps if end in ("FAILED", "ERROR")]
    bad += [(name, "it did not finish") for name, end in steps[-1:] if not end]
    good = ends.count("PASSED") + ends.count("XPASS")
    return tally(good, ends.count("SKIPPED") + ends.count("XFAIL"), bad)


_JEST_END = regex(r"^Tests?:[ \t]+(.*\d+ total.*)$", re.M)
_JEST_FILES = regex(r"^Test Suites:[ \t]+(?:(\d+) failed)?.*\d+ total$", re.M)
_JEST_BAD = regex(r"^ +● (.+)$\n", re.M)


def from_jest_text(text: str) -> Tally | None:
    """Parse the output of jest."""
    ends = [found[1] for found in _JEST_END.finditer(text)]
    if not ends:
        return None
    stop = text.rfind("Test Suites:")
    bad = [
        (head[1].removesuffix(" › Test suite failed to run"), body)
        for head, body in _blocks(_JEST_BAD, text, stop if stop > 0 else len(text))
        if "Console" not in head[1]
    ]
    files = sum(int(found[1] or 0) for found in _JEST_FILES.finditer(text))
    return counted("\n".join(ends), bad, at_least=files)


_VITEST_END = regex(r"^\s*Tests\s{2,}(.*\(\d+\)|no tests)\s*$", re.M)
_VITEST_FILES = regex(r"^\s*Test Files\s{2,}(?:(\d+) failed)?.*$", re.M)
_VITEST_BAD = regex(r"^\s*(?:FAIL|❯)\s{2,}(\S+ > .+?|\S+ \[ .* \])$\n", re.M)


def from_vitest_text(text: str) -> Tally | None:
    """Parse the output of vitest."""
    ends = [found[1] for found in _VITEST_END.finditer(text)]
    if not ends:
        return None
    bad = [(head[1], body) for head, body in _blocks(_VITEST_BAD, text, text.rfind("Test Files"))]
    files = sum(int(found[1] or 0) for found in _VITEST_FILES.finditer(text))
    return counted("\n".join(ends), bad, at_least=files)


_MOCHA_END = regex(r"^\s+(\d+) (passing|failing|pending)\b", re.M)
_MOCHA_BAD = regex(r"^  \d+\) (.+(?:\n {7,}.+)*?):\n", re.M)


def from_mocha(text: str) -> Tally | None:
    """Parse Mocha's `spec` reporter."""
    count = [(word, int(n)) for n, word in _MOCHA_END.findall(text)]
    if not count:
        return None
    start = max(text.rfind(" failing"), 0)
    found = _blocks(_MOCHA_BAD, text, len(text), start)
    bad = [(" ".join(head[1].split()), body) for head, body in found]
    return summed(count, bad)


_NODE_END = regex(r"^(?:#|ℹ) (pass|fail|cancelled|skipped|todo) (\d+)$", re.M)
_NODE_BAD = regex(r"^✖ (.+?) \(\d[\d.]*ms\)$", re.M)
_TAP_ERROR = regex(r"^\s*(?:error|message): (.+(?:\n\s{4,}(?! *\w+: ).+)*)", re.M)
_TAP_CASE = regex(
    r"^\s*(not ok|ok) \d+(?: -)? ?(.*?)(?: # (?:(SKIP|TODO)\b|time=).*)?$", re.M | re.I
)


def from_node(text: str) -> Tally | None:
    """Parse the output of `node --test`, in either of its forms."""
    count = [(word, int(n)) for word, n in _NODE_END.findall(text)]
    if not any(word == "pass" for word, _ in count):
        return None
    start = max(text.find("✖ failing tests:"), 0)
    bad = [(head[1], body) for head, body in _blocks(_NODE_BAD, text, len(text), start)]
    bad += _tap_failures(list(_TAP_CASE.finditer(text)), text)
    failed = sum(n for word, n in count if word in ("fail", "cancelled"))
    return summed(count, bad)._replace(failed=failed)


def _tap_failures(cases: list[re.Match[str]], text: str) -> Iterator[tuple[str, str]]:
    """Yield failing tests with their messages; groups are left out."""
    for case in cases:
        if case[1].lower() == "not ok" and not case[3]:
            block = re.split(r"\n\s*\.\.\.", text[case.end() : case.end() + 4_000], maxsplit=1)[0]
            if "subtestsFailed" not in block and "subtests failed" not in block:
                error = _TAP_ERROR.search(block) if block.lstrip().startswith("---") else None
                yield case[2], error[1].strip("'\"|- \n") if error else ""


_GO_BAD = regex(r"^\s*--- FAIL: (\S+) \(", re.M)
_GO_CASE = regex(r"^\s*--- (PASS|SKIP): ", re.M)
_GO_PACKAGE = regex(r"^(ok|FAIL) *\t(\S+)[ \t]+(?!\[no test)(\S+)", re.M)


def from_go_text(text: str) -> Tally | None:
    """Parse the output of `go test`; without -v a package that passes counts as one test."""
    packages = _GO_PACKAGE.findall(text)
    if not packages:
        return None
    ends = _GO_CASE.findall(text)
    passed = ends.count("PASS") or sum(end == "ok" for end, _, _ in packages)
    tests: list[str] = _GO_BAD.findall(text)
    names = [name for name in tests if not any(each.startswith(f"{name}/") for each in tests)]
    names += [name for end, name, note in packages if end == "FAIL" and note == "[build"]
    names = names or [name for end, name, _ in packages if end == "FAIL"]
    return tally(passed, ends.count("SKIP"), [(name, "") for name in names])


READERS: tuple[Reader, ...] = (
    from_unittest,
    from_minitest,
    from_test_unit,
    from_cargo,
    from_pytest,
    from_jest_text,
    from_vitest_text,
    from_mocha,
    from_node,
    from_go_text,
    from_mix,
    from_google_test,
    from_automake,
    from_numbered,
    from_totals,
    from_tap,
    from_loose,
)
"""In this order: a line that only one runner prints goes before one that several do."""
