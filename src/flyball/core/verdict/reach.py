"""Where a change reaches into the runner, or into what surrounds the tests.

Two kinds of places. Some files are loaded before or around every test wherever they lie, so that
they appear or change is told. And some lines of product code only make sense to code that knows
it is being tested, or that ends the process before its runner can tell how it went. Values that
stand in the tests and in the new code alike are shown as well: code may have learnt its tests.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from flyball.core.verdict.reports import RunnerReach

Texts = Mapping[str, str | None]
"""Path → text; None where there is no such file, or it is no text."""

RUNNERS = (
    "pytest|_pytest|unittest|nose|nose2|tox|jest|vitest|mocha|ava|tape|tap|jasmine|chai|"
    "node_test|testing|rspec|minitest|phpunit"
)

_PRELOADED = re.compile(
    r"""(?:^|/)(?:
        conftest\.py | pytest\.toml
      | \.?pytest\.ini | tox\.ini | \.npmrc | \.mocharc\.\w+ | \.taprc
      | (?:jest|vitest|vite|ava|karma|babel)\.config\.\w+ | \.babelrc(?:\.\w+)?
      | GNUmakefile | [Mm]akefile | build\.rs | \.cargo/config(?:\.toml)? | bunfig\.toml
      | noxfile\.py | setup\.cfg
    )$""",
    re.VERBOSE,
)
_SHADOWS = re.compile(rf"^(?:src/|lib/)?(?:{RUNNERS})(?:\.(?:py|js|mjs|cjs|ts)|/__init__\.py)$")
_EVERY_START = re.compile(r"(?:^|/)(?:(?:site|user)customize\.py|[^/]+\.pth|entry_points\.txt)$")
_LIBRARY = re.compile(
    r"^(?:src/)?(?:json|re|os|sys|io|time|xml|inspect|importlib)(?:\.py|/__init__\.py)$"
)


class _Sign(NamedTuple):
    """Lines of product code that only code under test would hold, in one language."""

    language: str
    sentence: str
    pattern: re.Pattern[str]


def _sign(language: str, sentence: str, *patterns: str) -> _Sign:
    return _Sign(language, sentence, re.compile("|".join(patterns)))


_SIGNS = (
    _sign("py", "ends the process behind its runner's back", r"\bos\._exit\s*\("),
    _sign("py", "does something when the process ends", r"\batexit\."),
    _sign(
        "py",
        "takes over a hook of the interpreter",
        r"\bsys\.(?:settrace|setprofile|excepthook|exitfunc)\b\s*[=(]",
        r"\bbuiltins\.\w+\s*=|__builtins__",
    ),
    _sign(
        "py",
        "names the test framework or its report",
        r"\b(?:TestCase|TestResult|TextTestResult|TextTestRunner|TestSuite|TestLoader)\b",
        r"\b_?pytest\b|\bPYTEST_\w+|junit_?xml",
    ),
    _sign(
        "py",
        "looks for the runner in the process",
        r"(?i:sys\.argv.*(?:test|junit)|(?:test|junit).*sys\.argv)",
        r"sys\.modules.*(?:pytest|unittest)",
        r"\bgc\.get_objects\b|\bsys\._getframe\b.*(?:test|assert)",
    ),
    _sign(
        "js",
        "ends the process or sets its exit code",
        r"\bprocess\.(?:exit|reallyExit|abort|kill)\s*\(|process\.exitCode\s*=",
        r"\bprocess\.on\(\s*['\"](?:exit|beforeExit)",
    ),
    _sign(
        "js",
        "looks for the runner",
        r"\b(?:JEST_WORKER_ID|VITEST\w*|NODE_TEST_CONTEXT|AVA_PATH|npm_lifecycle_event)\b",
        r"process\.argv.*test",
    ),
    _sign(
        "js",
        "uses or changes the test framework",
        r"require\(['\"](?:node:)?(?:assert|test|jest|vitest|mocha|ava|tape|chai)['\"/]",
        r"from ['\"](?:node:)?(?:assert|test|vitest|mocha|ava|tape|chai)['\"/]",
        r"globalThis\.(?:expect|it|test|describe)\s*=",
    ),
    _sign(
        "go",
        "ends the process with success, or asks whether it is tested",
        r"\bos\.Exit\(\s*0|\btesting\.(?:Testing|Short|Init)\(|\bflag\.Lookup\(\"test\.",
    ),
    _sign(
        "rs",
        "ends the process with success, or asks whether it is tested",
        r"process::exit\(\s*0|cfg!?\(\s*(?:not\()?test\b",
    ),
    _sign(
        "c",
        "ends the process with success, or runs before or after main",
        r"\b_?_?exit\s*\(\s*0\s*\)|\b_Exit\s*\(|\bquick_exit\s*\(",
        r"__attribute__\s*\(\(\s*(?:con|de)structor",
    ),
    _sign(
        "rb",
        "ends the process or names the test framework",
        r"\bexit!|\bat_exit\b|\bRSpec\b|\bMinitest\b",
    ),
)

_LANGUAGES = {
    "py": "py", "js": "js", "mjs": "js", "cjs": "js", "ts": "js", "mts": "js", "cts": "js",
    "jsx": "js", "tsx": "js", "go": "go", "rs": "rs", "c": "c", "h": "c", "cc": "c", "cpp": "c",
    "hpp": "c", "rb": "rb",
}  # fmt: skip


def runner_reaches(
    before: Texts, after: Texts, testing_side: frozenset[str]
) -> tuple[RunnerReach, ...]:
    """Every place of a change that reaches into the runner, each in a sentence."""
    found: list[RunnerReach] = []
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if new is None or new == old:
            continue
        found += _by_name(path, old)
        if path not in testing_side:
            found += _by_line(path, old or "", new)
    return tuple(found)


def _by_name(path: str, old: str | None) -> Iterator[RunnerReach]:
    verb = "is new" if old is None else "changed"
    if _SHADOWS.search(path) or _LIBRARY.search(path):
        what = f"{path} {verb}: it would be loaded in the place of what the runner itself uses."
        yield RunnerReach(what, in_product=True)
    elif _EVERY_START.search(path):
        yield RunnerReach(f"{path} {verb}: every start of the interpreter loads it.", True)
    elif _PRELOADED.search(path):
        yield RunnerReach(f"{path} {verb}: it is loaded before or around the tests.", False)


def _by_line(path: str, old: str, new: str) -> Iterator[RunnerReach]:
    language = _LANGUAGES.get(posixpath.splitext(path)[1].lstrip("."), "")
    known = set(old.split("\n"))
    told: set[str] = set()
    for number, line in enumerate(new.split("\n"), 1):
        if line in known:
            continue
        for sign in _SIGNS:
            if (
                sign.language == language
                and sign.sentence not in told
                and sign.pattern.search(line)
            ):
                told.add(sign.sentence)
                yield RunnerReach(f"{path}:{number} {sign.sentence}.", in_product=True)
    if language == "py":
        yield from _always_equal(path, known, new)


def _always_equal(path: str, known: set[str], new: str) -> Iterator[RunnerReach]:
    """Comparisons that say yes to everything, so that any assertion about them holds."""
    try:
        tree = ast.parse(new)
    except (SyntaxError, ValueError):
        return
    lines = new.split("\n")
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or node.name not in (
            "__eq__",
            "__ne__",
            "__bool__",
        ):
            continue
        body = [each for each in node.body if not _is_docstring(each)]
        if _has_fixed_answer(body) and lines[node.lineno - 1] not in known:
            yield RunnerReach(
                f"{path}:{node.lineno} {node.name} has a fixed answer.", in_product=True
            )


def _has_fixed_answer(body: list[ast.stmt]) -> bool:
    first = body[0] if len(body) == 1 else None
    return isinstance(first, ast.Return) and isinstance(first.value, ast.Constant)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


_LITERAL = re.compile(
    r"""(?P<quote>['"`]) (?P<text>[^'"`\n]{3,80}) (?P=quote)
      | (?<![\w.]) (?P<number>\d{3,}(?:\.\d+)? | \d+\.\d+) (?![\w.])""",
    re.VERBOSE,
)
_PLAIN = re.compile(r"[\w./-]{1,6}$")
SHOWN = 6


def shared_literals(added: Iterable[str], tests: Iterable[str]) -> tuple[str, ...]:
    """Distinctive literals of the added product lines that the tests hold as well."""
    in_code = _literals("\n".join(added))
    if not in_code:
        return ()
    in_tests = _literals("\n".join(tests))
    return tuple(sorted(in_code & in_tests)[:SHOWN])


def _literals(text: str) -> set[str]:
    """Short words are everywhere: only what can hardly stand in both by chance counts."""
    found: set[str] = set()
    for match in _LITERAL.finditer(text):
        if match["number"]:
            found.add(match["number"])
        elif not _PLAIN.match(match["text"]):
            found.add(repr(match["text"]))
    return found
