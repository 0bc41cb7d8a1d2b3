"""Where tests and suites begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from flyball.core.weakening.styles.family import GO_OUTPUT, Family
from flyball.core.weakening.styles.layers import Layers, plain
from flyball.regex import regex

STRING = r"(?P<quote>[\"'`])(?P<title>.*?)(?P=quote)"


class Extent(NamedTuple):
    """A test or suite from the start of its marks to its last bracket; `outer` is around it."""

    name: str
    is_suite: bool
    start: int
    body: int
    end: int
    outer: tuple[str, ...] = ()


SUITES = frozenset(["describe", "context", "suite", "feature", "TEST_SUITE"])
JS_CALL = regex(
    r"(?<![\w.$])(?:(?:t|tap|tape|QUnit|Deno|st|tt)\.)?(?P<word>[xf]?(?:it|test|specify|describe"
    r"|context|suite)"
    # What runs before and after tests is none itself.
    r"|bench)(?P<mods>(?:\.(?!(?:before|after)(?:Each)?\b)\w+)*)\s*(?P<open>[(`])"
)
FUNCTIONS = {
    Family.GO: (
        r"^func\s+(?:\([^)]*\)\s*)?"
        r"(?P<name>(?!TestMain\b)(?:Test|Benchmark|Fuzz|Example)\w*)\s*\("
    ),
    Family.RUST: (
        r"#\[(?:\w+::)*(?:test|rstest|test_case|bench|quickcheck|wasm_bindgen_test)\b[^\]]*\]"
        r"(?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\s+(?P<name>\w+)"
    ),
    Family.C: (
        r"^[ \t]*(?:TEST(?:_[A-Z]+)*|TYPED_TEST|TEMPLATE_TEST_CASE\w*|SCENARIO|SECTION|SUBCASE"
        r"|BOOST_\w*TEST_CASE"
        r"|START_TEST|DOCTEST_TEST_CASE|Test|TEST_CASE_METHOD"
        r"|IUTEST)\s*\((?P<args>[^;{}]*?)\)\s*(?=\{|$)"
        r"|^[ \t]*(?:static\s+|inline\s+)*(?:void|int|bool|char\s*\*)\s+\*?(?P<name>(?:test|Test"
        r"|check)\w*|\w+_tests?)"
        r"\s*\([^;{}()]*\)\s*(?=\{)"
    ),
    Family.JAVA: (
        r"@(?:\w+\.)*\w*Test\w*\b(?:[^;{}]|\{[^{}]*\})*?\b(?:void|fun|def)\s+(?P<name>`[^`]+`"
        r"|\w+)\s*\("
        r"|\bvoid\s+(?P<old>test\w*)\s*\(|\bdef\s+[\"'](?P<spock>[^\"']*)[\"']\s*\("
    ),
    Family.DOTNET: (
        r"\[(?:Fact|Theory|Test|TestMethod|TestCase|DataTestMethod|TestCaseSource|SkippableFact)\b"
        r"[^;{}]*?\b(?P<name>\w+)\s*\((?=[^;{}]*\)\s*(?:\{|=>))"
    ),
    Family.PHP: r"\bfunction\s+(?P<name>test\w*)\s*\("
    r"|#\[Test\b[^\]]*\][^;{}]*?function\s+(?P<marked>\w+)\s*\(",
    Family.SWIFT: r"\bfunc\s+(?P<name>test\w*)\s*\(|@Test\b[^{}]*?func\s+(?P<marked>\w+)\s*\(",
    Family.SHELL: r"^[ \t]*(?:function\s+)?(?P<name>test\w*|it_\w+)\s*(?:\(\))?\s*(?=\{)",
    Family.PYTHON: r"^[ \t]*(?:async\s+)?def\s+(?P<name>test\w*)\s*\(",
}
FUNCTION = {family: regex(pattern, re.MULTILINE) for family, pattern in FUNCTIONS.items()}
MACRO = regex(r"(?<!\w)(?P<word>\w*test\w*)!\s*\(\s*(?P<name>\w+)\s*,", re.IGNORECASE)
SUBTEST = regex(rf"(?<![\w.])\w+\.Run\s*(?P<open>\()\s*{STRING}\s*,\s*func")
WORDED = {
    Family.RUBY: (
        r"^[ \t]*(?P<word>[xf]?(?:it|test|specify|scenario|example|should|describe|context"
        r"|feature))\b"
        rf"\s*\(?\s*(?:{STRING}|(?P<constant>[A-Z][\w:]*))[^\n]*"
        rf"|^[ \t]*def\s+(?P<name>test_\w+[?!]?)[^\n]*"
    ),
    Family.ELIXIR: rf"^[ \t]*(?P<word>test|describe|property|feature)\s+{STRING}[^\n]*",
    Family.SHELL: rf"^[ \t]*(?P<word>@test)\s+{STRING}[^\n]*",
}
WORD = {family: regex(pattern, re.MULTILINE) for family, pattern in WORDED.items()}
OUTPUT = regex(GO_OUTPUT)
TITLED = regex(r"[{,](?:name|title|fn)\b")
MARK = regex(r"\s*(?:@|#\[|\[)")


def extents_of(source: Layers) -> list[Extent]:
    """Every test and suite, outer ones before inner ones, named by the path that leads to it."""
    found = sorted({*_found(source)}, key=lambda s: (s.start, -s.end))
    named: list[Extent] = []
    for span in found:
        outer = [s for s in named if s.start < span.start and span.end <= s.end]
        suites = (*outer[-1].outer, outer[-1].name) if outer else ()
        named.append(span._replace(outer=suites))
    return named


def _found(source: Layers) -> Iterator[Extent]:
    family = source.family
    if family in {Family.JS, Family.DART, Family.PHP, Family.JAVA, Family.SWIFT, Family.OTHER}:
        yield from _calls(source)
    if family in FUNCTION:
        yield from _functions(source)
    if family in WORD:
        yield from _worded(source)
    if family is Family.RUST:
        for match in MACRO.finditer(source.bare):
            end = source.closing(source.bare.find("(", match.start())) + 1
            yield Extent(match["name"], False, _marks(source, match.start()), match.end(), end)
    if family is Family.GO:
        for match in SUBTEST.finditer(source.bare):
            end = source.closing(match.start("open")) + 1
            title = source.code[slice(*match.span("title"))]
            if not title:
                continue
            yield Extent(title, False, match.start(), match.end(), end)


def _calls(source: Layers) -> Iterator[Extent]:
    """`it('title', () => …)`, also with a table in a call or a template before it."""
    for match in JS_CALL.finditer(source.bare):
        opening = match.start("open")
        if match["mods"].endswith((".each", ".for")) or match["open"] == "`":
            stop = (
                source.bare.find("`", opening + 1)
                if match["open"] == "`"
                else source.closing(opening)
            )
            after = re.compile(r"\s*\(").match(source.bare, stop + 1)
            if after is None:
                continue
            opening = after.end() - 1
        items = source.items(opening + 1, source.closing(opening))
        if not items or (
            source.family is not Family.JS and source.code[items[0][0] :].lstrip()[:1] not in "\"'`"
        ):
            continue
        title = plain(source.family, source.code[slice(*items[0])])
        # Options come first where a runner takes a name in them; other objects are a helper's.
        if title.startswith("{") and not TITLED.search(title):
            continue
        word = match["word"].lstrip("xf") if match["word"] not in SUITES else match["word"]
        end = source.closing(opening) + 1
        brace = re.compile(r"\s*\{").match(source.bare, end)
        if brace and source.family in {Family.JAVA, Family.SWIFT}:
            end = source.closing(brace.end() - 1) + 1
        name = title[:80].strip("\"'`")
        yield Extent(name, word in SUITES, match.start(), items[0][1], end)


def _functions(source: Layers) -> Iterator[Extent]:
    for match in FUNCTION[source.family].finditer(source.bare):
        names = [value for key, value in match.groupdict().items() if key != "args" and value]
        at = match.span("args") if not names else (0, 0)
        name = names[0] if names else plain(source.family, source.code[slice(*at)]).replace('"', "")
        start = _marks(source, source.bare.rfind("\n", 0, match.start() + 1) + 1)
        if source.family is Family.PYTHON:
            yield Extent(
                name, False, start, match.end(), _dedent(source, match.start(), match.end())
            )
            continue
        opening = source.bare.find("{", match.end() - (source.bare[match.end() - 1] == "{"))
        stop = source.bare.find(";", match.end())
        if opening < 0 or (0 <= stop < opening and source.family is not Family.JAVA):
            continue
        end = source.closing(opening) + 1
        # Go builds an example that does not say what it prints, and never runs it.
        is_built_only = source.family is Family.GO and name.startswith("Example")
        if not is_built_only or OUTPUT.search(source.code, opening, end):
            yield Extent(name, False, start, opening + 1, end)


def _worded(source: Layers) -> Iterator[Extent]:
    """Blocks that end with a line as deep as the one that opened them."""
    for match in WORD[source.family].finditer(source.bare):
        groups = match.groupdict()
        title = source.code[slice(*match.span("title"))] if groups.get("title") is not None else ""
        name = title or groups.get("name") or groups.get("constant") or ""
        word = (groups.get("word") or "def").lstrip("xf") or ""
        start = _marks(source, match.start())
        end = _dedent(source, match.start(), match.end())
        yield Extent(name, word in SUITES or match["word"] in SUITES, start, match.end(), end)


CONTINUED = regex(r"\s*(?:rescue|ensure|else|elsif|after|catch)\b")


def _dedent(source: Layers, start: int, header: int) -> int:
    """The end of an indented block: its closing line, or the last line that is deeper."""
    line = source.bare.rfind("\n", 0, start + 1) + 1
    indent = re.compile(r"[ \t]*").match(source.bare, line)
    depth = len(indent[0]) if indent else 0
    at = source.bare.find("\n", header)
    last = header
    while 0 <= at < len(source.bare) - 1:
        stop = source.bare.find("\n", at + 1)
        stop = len(source.bare) if stop < 0 else stop
        text = source.bare[at + 1 : stop]
        if text.strip():
            if len(text) - len(text.lstrip()) <= depth and not CONTINUED.match(text):
                return stop if text.strip().startswith(("end", "}")) else last
            last = stop
        at = stop
    return max(last, header)


def _marks(source: Layers, start: int) -> int:
    """Annotations on the lines just above belong to the test."""
    while start > 0:
        above = source.bare.rfind("\n", 0, start - 1) + 1
        if not MARK.match(source.bare[above:start]):
            return start
        start = above
    return start
