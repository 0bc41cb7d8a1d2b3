"""How tests in other languages got weaker, read without their grammars.

Comments are blanked, then assertions are taken as whole expressions up to their closing bracket
and chained calls, so that new line breaks change nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from flyball.core.terms.evidence import Weakened

HASH_COMMENTS = (".rb", ".py", ".ex", ".exs", ".sh", ".pl", ".r")

TOKEN = re.compile(
    r"(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)"
    r"|(?P<slash>//[^\n]*|/\*.*?\*/)|(?P<hash>(?<![\w$&])#[^\n]*)",
    re.DOTALL,
)
ASSERTION = re.compile(
    r"(?<![\w$.])(?:(?:self|this|t|tc|assert|require|suite|Assert|chai)\.)?"
    r"(?:expect\w*|EXPECT_\w+|ASSERT_\w+|XCTAssert\w*|[Aa]ssert\w*!?|debug_assert\w*!|must\w*"
    r"|verify|should\w*)(?:\.\w+)*\s*\("
    r"|(?<![\w$.])(?P<report>(?:t|b|tb)\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow))\s*\("
    r"|(?<![\w$.])(?:require|assert)\.\w+\s*\("
)
LOOK_BACK = 500
CONDITION = re.compile(r"\bif\b[^{}]*\{\s*\Z")
CHAIN = re.compile(r"\s*\.\s*(?:\w+\s*\.\s*)*\w+\s*(?P<open>\()?")
SKIP = re.compile(
    r"\b(?:it|test|describe|context|suite|Deno\.test)\.(?:skip|todo|failing|fixme)\b"
    r"|(?<![\w.$])x(?:it|test|describe|context|specify)\s*[('\"]|\bthis\.skip\s*\("
    r"|\bt\.Skip(?:f|Now)?\s*\(|#\[ignore\b|#\[should_panic\b|@(?:Disabled|Ignored?|Ignore)\b"
    r"|\[(?:Ignore|Skip)\b|\bSkip\s*=\s*\"|\bassume(?:True|False|That)\s*\(|\bXCTSkip\w*\s*\("
    r"|\bmarkTest(?:Skipped|Incomplete)\s*\(|@tag :skip|^\s*(?:skip|pending)\b(?!\s*[:=(]\s*\{)",
    re.MULTILINE,
)
FOCUS = re.compile(
    r"\b(?:it|test|describe|context|suite)\.only\b|(?<![\w.$])f(?:it|describe|context)\s*[('\"]"
)
TEST = re.compile(
    r"(?<![\w.$])[xf]?(?:it|test|specify|describe|Deno\.test)(?:\.\w+)*\s*\(\s*(?P<quote>['\"`])(?P<title>.*?)"
    r"(?P=quote)|\bfunc\s+(?P<go>(?:Test|Benchmark|Fuzz|Example)\w*)\s*\("
    r"|#\[(?:\w+::)*test\b[^\]]*\](?:\s*#\[[^\]]*\])*\s*(?:pub\s+)?(?:async\s+)?fn\s+(?P<rust>\w+)"
    r"|@(?:Parameterized|Repeated)?Test\b[^;{}]*?\b(?:void|fun)\s+(?P<java>`[^`]+`|\w+)\s*\("
    r"|\[(?:Fact|Theory|Test|TestMethod|TestCase)\b[^;{}]*?\b(?P<cs>\w+)\s*\("
    r"|\bfunction\s+(?P<php>test\w*)\s*\(|\bfunc\s+(?P<swift>test\w*)\s*\("
    r"|^\s*[xf]?(?:it|test)\s+(?P<mark>['\"])(?P<ruby>.*?)(?P=mark)|\bdef\s+(?P<def>test\w*)",
    re.MULTILINE | re.DOTALL,
)
WANTED = re.compile(r"\b((?:want|expected|exp)\w*)\s*(?::=|:|=)(?!=)\s*([^\n;]+)", re.IGNORECASE)
LITERAL = re.compile(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`|\b\d[\w.]*\b|\b(?:true|false|null|nil|None)\b"
)

EXACT = re.compile(
    r"\.(?:toBe|toEqual|toStrictEqual|isEqualTo|eql?|equals?|deepEqual)\(|assert_?eq", re.I
)
LOOSE = re.compile(
    r"\.(?:toBeTruthy|toBeFalsy|toBeDefined|toContain\w*|toMatch\w*|toBe(?:Greater|Less)\w*|toBeCloseTo"
    r"|toBeInstanceOf|isNotNull|isNotEmpty|contains|ok|exist|not\.\w+)\b|assert!\(|assert_ne|assert(?:True|NotNull)"
)


class Found(NamedTuple):
    """Something in a file, its place, and its text without white space."""

    text: str
    line: int

    @property
    def plain(self) -> str:
        squeezed = _squeezed(self.text).rstrip(";").replace("'", '"')
        return re.sub(r",(?=[)\]}])", "", squeezed)

    @property
    def subject(self) -> str:
        """What is looked at: everything up to the end of the first bracket."""
        opening = self.plain.find("(")
        return self.plain[: _closing(self.plain, opening) + 1] if opening >= 0 else self.plain

    @property
    def first(self) -> str:
        return self.text.strip().split("\n")[0]


def line_weakenings(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Weakened]:
    """Compare test files of the same path, and look for what moved between files."""
    code = {path: _code(path, text) for path, text in before.items()}
    code_now = {path: _code(path, text) for path, text in after.items()}
    pool: Counter[str] = Counter()
    for path, text in code_now.items():
        pool += _count(text) - _count(code.get(path, ""))
    titles_now = {title for path, text in code_now.items() for title, _ in _tests(path, text)}
    for path, old in code.items():
        if path not in code_now:
            yield from _deleted(path, old, titles_now)
            continue
        new = code_now[path]
        yield from _removed_tests(path, old, new, titles_now)
        yield from _added(path, old, new, SKIP, "new-skip")
        yield from _added(path, old, new, FOCUS, "focused-test")
        yield from _assertions(path, old, new, after[path], pool)
        yield from _wanted(path, old, new)


def _code(path: str, text: str) -> str:
    """The text with its comments blanked, line by line; Rust's inline tests alone."""
    has_hash = path.endswith(HASH_COMMENTS)

    def blank(match: re.Match[str]) -> str:
        is_comment = match["slash"] if not has_hash else match["hash"]
        return re.sub(r"[^\n]", " ", match[0]) if is_comment else match[0]

    text = text.replace("\r\n", "\n")
    code = TOKEN.sub(blank, text)
    if path.endswith(".rs"):
        start = re.search(r"#\[cfg\(test\)\]|#\[(?:\w+::)*test\b", code)
        code = (
            re.sub(r"[^\n]", " ", code[: start.start()]) + code[start.start() :] if start else code
        )
    return code


def _line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _closing(text: str, start: int) -> int:
    """Where the bracket that opens at `start` closes, strings left aside."""
    depth, at = 0, start
    while at < len(text):
        string = TOKEN.match(text, at)
        if string and string["string"]:
            at = string.end()
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0:
            return at
        at += 1
    return len(text) - 1


def _found(code: str) -> list[Found]:
    """Every assertion, with the calls that are chained to it, or the condition it stands under."""
    found: list[Found] = []
    done = 0
    for match in ASSERTION.finditer(code):
        if match.start() < done:
            continue
        line = _line(code, match.start())
        done = _closing(code, match.end() - 1) + 1
        if match["report"]:
            under = CONDITION.search(code, max(0, match.start() - LOOK_BACK), match.start())
            found.append(Found(under[0] if under else match["report"], line))
            continue
        while chain := CHAIN.match(code, done):
            done = _closing(code, chain.end() - 1) + 1 if chain["open"] else chain.end()
            if not chain["open"]:
                done = max(done, code.find("\n", done))
        found.append(Found(code[match.start() : done], line))
    return found


def _count(code: str) -> Counter[str]:
    return Counter(found.plain for found in _found(code))


STYLES = ("title", "go", "rust", "java", "cs", "php", "swift", "ruby", "def")
OWN_STYLE = {"go": "go", "rs": "rust", "swift": "swift", "php": "php", "java": "java", "cs": "cs"}


def _tests(path: str, code: str) -> list[tuple[str, int]]:
    """The names of a file's tests, in the styles that its language knows."""
    own = OWN_STYLE.get(path.rpartition(".")[2])
    styles = (own,) if own else STYLES
    return [
        (match[style], _line(code, match.start()))
        for match in TEST.finditer(code)
        for style in styles
        if match[style] is not None
    ]


def _deleted(path: str, code: str, titles_now: set[str]) -> Iterator[Weakened]:
    gone = [title for title, _ in _tests(path, code) if title not in titles_now]
    if gone:
        detail = f"deleted with its tests: {', '.join(gone[:5])}"
        yield Weakened(path, 1, "deleted-file", detail)


def _removed_tests(path: str, old: str, new: str, titles_now: set[str]) -> Iterator[Weakened]:
    """Tests whose name is nowhere any more, unless as many new ones took their place."""
    earlier = _tests(path, old)
    known = {title for title, _ in earlier}
    gone = [(title, line) for title, line in earlier if title not in titles_now]
    fresh = sum(title not in known for title, _ in _tests(path, new))
    for title, line in gone[fresh:]:
        yield Weakened(path, line, "removed-test", f"{title} was removed")


def _added(
    path: str, old: str, new: str, pattern: re.Pattern[str], kind: str
) -> Iterator[Weakened]:
    had = Counter(_squeezed(match[0]) for match in pattern.finditer(old))
    for match in pattern.finditer(new):
        text = _squeezed(match[0])
        if had[text]:
            had[text] -= 1
        else:
            yield Weakened(path, _line(new, match.start()), kind, match[0].strip())


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _assertions(
    path: str, old: str, new: str, full_text: str, pool: Counter[str]
) -> Iterator[Weakened]:
    kept = Counter(found.plain for found in _found(new))
    gone: list[Found] = []
    for found in _found(old):
        if kept[found.plain]:
            kept[found.plain] -= 1
        elif pool[found.plain] > 0:
            pool[found.plain] -= 1
        else:
            gone.append(found)
    fresh = [found for found in _found(new) if kept[found.plain] > 0]
    for found in gone:
        yield _judged(path, found, fresh, full_text)


def _judged(path: str, old: Found, fresh: list[Found], full_text: str) -> Weakened:
    """Name what became of an assertion; takes its successor off the list."""
    shape = LITERAL.sub("_", old.plain)
    about = [new for new in fresh if new.subject == old.subject]
    alike = [new for new in fresh if LITERAL.sub("_", new.plain) == shape]
    for new in (about or alike)[:1]:
        fresh.remove(new)
        loosened = EXACT.search(old.plain) and LOOSE.search(new.plain)
        kind = "loosened" if loosened else "changed-expected"
        return Weakened(path, new.line, kind, f"`{old.first}` became `{new.first}`")
    wanted = _squeezed(old.first)
    is_commented = any(
        _squeezed(line.lstrip(" \t/#*")).startswith(wanted)
        for line in full_text.split("\n")
        if line.lstrip().startswith(("//", "#", "/*", "*"))
    )
    kind = "commented-out" if is_commented else "removed-assertion"
    return Weakened(path, old.line, kind, f"`{old.first}`")


def _wanted(path: str, old: str, new: str) -> Iterator[Weakened]:
    """Values under names like `want` and `expected` that were exchanged."""
    had = Counter((m[1], _squeezed(m[2]).rstrip(",")) for m in WANTED.finditer(old))
    now = [(m[1], _squeezed(m[2]).rstrip(","), m) for m in WANTED.finditer(new)]
    kept = Counter((name, value) for name, value, _ in now)
    gone = Counter(name for name, _ in (had - kept).elements())
    fresh = kept - had
    for name, value, match in now:
        if fresh[name, value] and gone[name] and LITERAL.search(value):
            fresh[name, value] -= 1
            gone[name] -= 1
            line = _line(new, match.start())
            yield Weakened(path, line, "changed-expected", match[0].strip())
