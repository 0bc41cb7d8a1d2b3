"""Reading what runners print for people, for commands that leave no report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from flyball.tools.runner.tally import Tally, plain, tally

Reader = Callable[[str], Tally | None]


def from_text(text: str) -> Tally | None:
    """The closing lines of the common runners; the first reading that fits."""
    tidy = plain(text)
    for read in READERS:
        if (found := read(tidy)) is not None:
            return found
    return None


_UNITTEST_HEAD = re.compile(
    r"^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (\S+)(?: \(([\w.<>]+)\))?[^\n]*\n", re.M
)
_UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in [\d.]+s$", re.M)
_UNITTEST_END = re.compile(r"^(?:OK|FAILED|NO TESTS RAN)(?: \((.*)\))?$", re.M)


_FIXTURE = re.compile(r"(?:setUp|tearDown)(?:Class|Module)$")


def from_unittest(text: str) -> Tally | None:
    """What unittest and Django print."""
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
    counted = len(tests) if bad else failed
    passed = max(sum(int(ran[1]) for ran in runs) - counted - skipped, 0)
    return tally(passed, skipped, bad, failed=0 if bad else failed)


def _keyed(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"([a-z][a-z ]*[a-z])=(\d+)", text)}


def _unittest_name(name: str, owner: str) -> str:
    owner = owner.removeprefix("unittest.loader._FailedTest").strip(".")
    return owner if owner.endswith(name) else ".".join(filter(None, (owner, name)))


def _blocks(
    head: re.Pattern[str], text: str, end: int, start: int = 0
) -> Iterator[tuple[re.Match[str], str]]:
    """Each heading with the text up to the next one."""
    heads = list(head.finditer(text, start, end))
    for n, found in enumerate(heads):
        stop = heads[n + 1].start() if n + 1 < len(heads) else end
        yield found, text[found.end() : stop].strip("=-\n ")


_CARGO_CASE = re.compile(r"^test (.+?) \.\.\. (?:.*\b)?(ok|FAILED|ignored)\b", re.M)
_CARGO_SAID = re.compile(r"^---- (.+?) stdout ----\n(.*?)(?=^---- |^failures:|\Z)", re.M | re.S)
_CARGO_END = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;", re.M)
_RUSTC_ERROR = re.compile(r"^error(?:\[E\d+\])?: (.+)$", re.M)


def from_cargo(text: str) -> Tally | None:
    """What `cargo test` prints."""
    results = [tuple(map(int, found)) for found in _CARGO_END.findall(text)]
    bad = [name for name, end in _CARGO_CASE.findall(text) if end == "FAILED"]
    said = dict(_CARGO_SAID.findall(text))
    if not results and not bad:
        return _rustc_trouble(text)
    return tally(
        sum(passed for passed, _, _ in results),
        sum(ignored for _, _, ignored in results),
        [(name, said.get(name, "")) for name in bad],
        failed=sum(failed for _, failed, _ in results),
    )


def _rustc_trouble(text: str) -> Tally | None:
    if "could not compile" not in text and "Compiling " not in text:
        return None
    errors = [each for each in _RUSTC_ERROR.findall(text) if "aborting" not in each]
    return tally(0, 0, (), reason=f"it does not compile: {errors[0]}") if errors else None


_PYTEST_END = re.compile(
    r"^=*\s*((?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?"
    r"|subtests passed|rerun)(?:, )?)+|no tests ran) in [\d.]+s.*$",
    re.M,
)
_PYTEST_BAD = re.compile(
    r"^(?:FAILED|ERROR|SUBFAILED\S*) (\S+?\.py(?:::\S.*?)?)(?: - (.*))?$", re.M
)


def from_pytest(text: str) -> Tally | None:
    """pytest's closing line and its short summary."""
    ends = [found[1] for found in _PYTEST_END.finditer(text)]
    if not ends:
        return None
    return _counted("\n".join(ends), [(m[1], m[2] or "") for m in _PYTEST_BAD.finditer(text)])


_PYTEST_STEP = re.compile(
    r"^(\S+\.py::\S.*?)(?: (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b.*| *|(?= Fatal ).*)$", re.M
)


def from_pytest_steps(text: str) -> Tally | None:
    """How far pytest came before it was ended: the test under way is the one that failed."""
    steps = [(m[1], m[2] or "") for m in _PYTEST_STEP.finditer(plain(text))]
    if not steps:
        return None
    ends = [end for _, end in steps]
    bad = [(name, "") for name, end in steps if end in ("FAILED", "ERROR")]
    bad += [(name, "it did not finish") for name, end in steps[-1:] if not end]
    good = ends.count("PASSED") + ends.count("XPASS")
    return tally(good, ends.count("SKIPPED") + ends.count("XFAIL"), bad)


_JEST_END = re.compile(r"^Tests?:[ \t]+(.*\d+ total.*)$", re.M)
_JEST_FILES = re.compile(r"^Test Suites:[ \t]+(?:(\d+) failed)?.*\d+ total$", re.M)
_JEST_BAD = re.compile(r"^ +● (.+)$\n", re.M)


def from_jest_text(text: str) -> Tally | None:
    """What jest prints."""
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
    return _counted("\n".join(ends), bad, at_least=files)


_VITEST_END = re.compile(r"^\s*Tests\s{2,}(.*\(\d+\)|no tests)\s*$", re.M)
_VITEST_FILES = re.compile(r"^\s*Test Files\s{2,}(?:(\d+) failed)?.*$", re.M)
_VITEST_BAD = re.compile(r"^\s*(?:FAIL|❯)\s{2,}(\S+ > .+?|\S+ \[ .* \])$\n", re.M)


def from_vitest_text(text: str) -> Tally | None:
    """What vitest prints."""
    ends = [found[1] for found in _VITEST_END.finditer(text)]
    if not ends:
        return None
    bad = [(head[1], body) for head, body in _blocks(_VITEST_BAD, text, text.rfind("Test Files"))]
    files = sum(int(found[1] or 0) for found in _VITEST_FILES.finditer(text))
    return _counted("\n".join(ends), bad, at_least=files)


_MOCHA_END = re.compile(r"^\s+(\d+) (passing|failing|pending)\b", re.M)
_MOCHA_BAD = re.compile(r"^  \d+\) (.+(?:\n {7,}.+)*?):\n", re.M)


def from_mocha(text: str) -> Tally | None:
    """Mocha's `spec` reporter."""
    count = [(word, int(n)) for n, word in _MOCHA_END.findall(text)]
    if not count:
        return None
    start = max(text.rfind(" failing"), 0)
    found = _blocks(_MOCHA_BAD, text, len(text), start)
    bad = [(" ".join(head[1].split()), body) for head, body in found]
    return _summed(count, bad)


_NODE_END = re.compile(r"^(?:#|ℹ) (pass|fail|cancelled|skipped|todo) (\d+)$", re.M)
_NODE_BAD = re.compile(r"^✖ (.+?) \(\d[\d.]*ms\)$", re.M)
_TAP_ERROR = re.compile(r"^\s*(?:error|message): (.+(?:\n\s{4,}(?! *\w+: ).+)*)", re.M)
_TAP_CASE = re.compile(
    r"^\s*(not ok|ok) \d+(?: -)? ?(.*?)(?: # (?:(SKIP|TODO)\b|time=).*)?$", re.M | re.I
)


def from_node(text: str) -> Tally | None:
    """What `node --test` prints, in either of its forms."""
    count = [(word, int(n)) for word, n in _NODE_END.findall(text)]
    if not any(word == "pass" for word, _ in count):
        return None
    start = max(text.find("✖ failing tests:"), 0)
    bad = [(head[1], body) for head, body in _blocks(_NODE_BAD, text, len(text), start)]
    bad += _tap_failures(list(_TAP_CASE.finditer(text)), text)
    failed = sum(n for word, n in count if word in ("fail", "cancelled"))
    return _summed(count, bad)._replace(failed=failed)


def _tap_failures(cases: list[re.Match[str]], text: str) -> Iterator[tuple[str, str]]:
    """The tests that are not ok, with what is said of them; what only holds others is left out."""
    for case in cases:
        if case[1].lower() == "not ok" and not case[3]:
            block = re.split(r"\n\s*\.\.\.", text[case.end() : case.end() + 4_000], maxsplit=1)[0]
            if "subtestsFailed" not in block and "subtests failed" not in block:
                error = _TAP_ERROR.search(block) if block.lstrip().startswith("---") else None
                yield case[2], error[1].strip("'\"|- \n") if error else ""


def from_tap(text: str) -> Tally | None:
    """The Test Anything Protocol, its top level."""
    found = [m for m in _TAP_CASE.finditer(text) if not m[0][:1].isspace()]
    if not found:
        return None
    failed = sum(m[1].lower() == "not ok" and not m[3] for m in found)
    skipped = sum(bool(m[3]) for m in found)
    every = list(_TAP_CASE.finditer(text))
    passed = len(found) - failed - skipped
    return tally(passed, skipped, _tap_failures(every, text), failed=failed)


_GO_BAD = re.compile(r"^\s*--- FAIL: (\S+) \(", re.M)
_GO_CASE = re.compile(r"^\s*--- (PASS|SKIP): ", re.M)
_GO_PACKAGE = re.compile(r"^(ok|FAIL) *\t(\S+)[ \t]+(?!\[no test)(\S+)", re.M)


def from_go_text(text: str) -> Tally | None:
    """What `go test` prints; without -v a package that is ok counts as one."""
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


_TOTALS = (
    re.compile(
        r"^(?:\[\w+\]\s*)?Tests run: (?P<all>\d+), Failures: (?P<bad>\d+), Errors: (?P<worse>\d+)"
        r"(?:, Skipped: (?P<skip>\d+))?$",
        re.M,
    ),
    re.compile(r"^OK \((?P<all>\d+) tests?, \d+ assertions?\)$", re.M),
    re.compile(
        r"^Tests: (?P<all>\d+), Assertions: \d+(?:, Errors: (?P<worse>\d+))?"
        r"(?:, Failures: (?P<bad>\d+))?(?:, .*?Skipped: (?P<skip>\d+))?.*\.$",
        re.M,
    ),
    re.compile(
        r"^(?P<all>\d+) (?:examples?|runs|tests)(?:, \d+ assertions)?, (?P<bad>\d+) failures?"
        r"(?:, (?P<worse>\d+) errors?)?(?:, (?P<skip>\d+) (?:pending|skips))?$",
        re.M,
    ),
    re.compile(r"tests passed, (?P<bad>\d+) tests failed out of (?P<all>\d+)$", re.M),
)
"""Closing lines that give a total: Maven, PHPUnit, RSpec and Minitest, CTest."""


def from_totals(text: str) -> Tally | None:
    """Runners that say how many there were and how many were bad."""
    for pattern in _TOTALS:
        found = [m.groupdict(default="0") for m in pattern.finditer(text)]
        if found:
            count = {key: sum(int(each.get(key, 0)) for each in found) for key in _PARTS}
            failed = count["bad"] + count["worse"]
            passed = max(count["all"] - failed - count["skip"], 0)
            return tally(passed, count["skip"], (), failed=failed)
    return None


_PARTS = ("all", "bad", "worse", "skip")
_LOOSE = re.compile(r"^\s*(\d+) (?:tests? )?(passed|failed|pass|fail|skipped|skip|todo)\b", re.M)


def from_loose(text: str) -> Tally | None:
    """A bare `3 passed` or `1 fail` on a line of its own."""
    count = [(word, int(n)) for n, word in _LOOSE.findall(text)]
    return _summed(count, ()) if count else None


READERS: tuple[Reader, ...] = (
    from_unittest,
    from_cargo,
    from_pytest,
    from_jest_text,
    from_vitest_text,
    from_mocha,
    from_node,
    from_go_text,
    from_totals,
    from_tap,
    from_loose,
)

_COUNTS = re.compile(r"(\d+) (passed|failed|errors?|skipped|todo|pending|xfailed|xpassed)")
_GOOD = frozenset({"passed", "passing", "pass", "xpassed"})
_BAD = frozenset({"failed", "error", "errors", "failing", "fail", "cancelled"})


def _counted(text: str, bad: Iterable[tuple[str, str]], at_least: int = 0) -> Tally:
    found = [(word, int(n)) for n, word in _COUNTS.findall(text)]
    count = _summed(found, bad)
    return count._replace(failed=max(count.failed, at_least))


def _summed(count: Iterable[tuple[str, int]], bad: Iterable[tuple[str, str]]) -> Tally:
    passed = failed = skipped = 0
    for word, n in count:
        if word in _GOOD:
            passed += n
        elif word in _BAD:
            failed += n
        else:
            skipped += n
    return tally(passed, skipped, bad, failed=failed)
