"""One row per style: how an assertion of each family of languages is recognised."""

from __future__ import annotations

import re
from typing import NamedTuple

from flyball.core.weakening.styles.family import Family


class Style(NamedTuple):
    """Where an assertion begins, and how far it goes: a call, a condition, a line, a link."""

    name: str
    extent: str
    pattern: re.Pattern[str]


def _style(name: str, extent: str, pattern: str) -> Style:
    return Style(name, extent, re.compile(pattern, re.MULTILINE))


START = r"(?<![\w$.>:@])"
T_METHODS = (
    "is|not|deepEqual|notDeepEqual|like|throws|throwsAsync|notThrows|notThrowsAsync|regex|notRegex"
    "|snapshot"
    "|true|false|truthy|falsy|assert|pass|fail|plan|equals?|notEqual|notEquals|same|notSame"
    "|strictSame|match"
    "|notMatch|doesNotMatch|ok|notOk|error|ifError|rejects|doesNotThrow|doesNotReject|resolves"
    "|strictEqual"
    "|notStrictEqual|deepStrictEqual|notDeepStrictEqual|deepLooseEqual|looseEqual|isEqual|type|has"
    "|hasProp"
    "|equivalent|propEqual|strictNotSame|matchSnapshot|deepLoose|isNot|isLike|looseNotEqual"
    "|partialDeepStrictEqual"
)
TESTIFY = (
    r"(?:Equal\w*|Exactly|JSONEq|YAMLEq|ElementsMatch|Not\w+|Nil|True|False|Error\w*|NoError"
    r"|Contains|Len|Empty"
    r"|Zero|Greater\w*|Less\w*|In(?:Delta|Epsilon)\w*|Panics\w*|Regexp|IsType|Implements|Subset"
    r"|Same|Eventually"
    r"|Never|WithinDuration|FileExists|DirExists|Fail\w*|Condition|HTTP\w+|Positive|Negative|Is\w+"
    r"|NoErr)f?"
)
C_MACROS = (
    r"EXPECT_\w+|ASSERT\w*|REQUIRE\w*|CHECK\w*|TEST_ASSERT\w*|TEST_CHECK\w*|TEST_FAIL\w*"
    r"|BOOST_(?:CHECK|REQUIRE|TEST)\w*"
    r"|CU_\w+|ck_\w+|[a-z]*_?assert\w*|XCTAssert\w*|FAIL\w*|check\w*|ok|expect\w*|verify\w*|lok"
    r"|lequal|sput_fail\w*"
    r"|RUN_TEST\w*|\w*run_test\w*|test|STATIC_REQUIRE\w*|DOCTEST_\w+|WARN\w*|UNSIGNED_LONGS_EQUAL"
    r"|\w+_EQUAL"
)

STYLES: dict[Family, tuple[Style, ...]] = {
    Family.JS: (
        _style("supertest", "link", r"(?<=[)\w\]])\s*\.(?P<name>expect)\s*\("),
        _style("expect", "call", rf"{START}(?P<name>(?:chai\.)?expect\w*(?:\.\w+)*)\s*\("),
        _style(
            "t.is",
            "call",
            rf"{START}(?P<name>(?:t|tt|test|tap|st|qunit|tester"
            rf"|is)\.(?:{T_METHODS})(?:\.\w+)?)\s*\(",
        ),
        _style(
            "assert",
            "call",
            rf"{START}(?P<name>(?:\w+\.)?assert(?:\.\w+)*|assert\w+|should\w*|must\w*"
            rf"|verify\w*)\s*\(",
        ),
        _style("should", "infix", r"\.(?P<name>should)\b(?!\s*\()"),
    ),
    Family.GO: (
        _style(
            "condition",
            "condition",
            rf"{START}(?:t|b|tb|f)\.(?P<name>(?:Error|Fatal)f?|Fail(?:Now)?)\s*\(",
        ),
        _style("quicktest", "call", rf"{START}(?P<name>(?:c|qt|t|tt|qc)\.(?:Assert|Check))\s*\("),
        _style(
            "testify",
            "call",
            rf"{START}(?P<name>(?:assert|require|is|a|as|r|s|suite|ts|req|check|must|should|then)"
            rf"\.(?:(?:Require|Assert)\(\)\.)?{TESTIFY})\s*\(",
        ),
        _style(
            "gomega",
            "call",
            rf"{START}(?P<name>(?:\w\.)?(?:Expect\w*|Ω|Eventually|Consistently))\s*\(",
        ),
        _style(
            "helper",
            "call",
            rf"{START}(?P<name>(?:assert|expect|require|check|must|verify|ensure)\w*)\s*\(",
        ),
    ),
    Family.RUST: (
        _style(
            "macro",
            "call",
            r"(?<![\w$.])(?P<name>(?:\w+::)*(?:\w*assert\w*|eqnice\w*|expect\w*|check\w*|ensure\w*"
            r"|verify\w*|matches|panic))"
            r"!\s*[(\[{]",
        ),
        _style("assert_cmd", "link", r"\.(?P<name>assert\w*)\s*\("),
        _style(
            "helper",
            "call",
            rf"{START}(?P<name>(?:\w+::)*(?:assert|expect|check|verify|ensure)\w*)\s*\(",
        ),
    ),
    Family.C: (_style("macro", "call", rf"(?<![\w.>:])(?P<name>{C_MACROS})\s*\("),),
    Family.JAVA: (
        _style(
            "assert",
            "call",
            rf"{START}(?P<name>(?:\w*Assert\w*\.|Truth\.|\w*Mockito\.)?(?!assertAll\b"
            rf"|assertSoftly\b)"
            r"(?:assert\w*|verify\w*|fail|expect\w*|check\w*|intercept))\s*(?:\[[\w.]+\]\s*"
            r"|<[^()]*>\s*)?\(",
        ),
        _style("kotest", "infix", r"\s(?P<name>should\w+|must\w+)\s"),
    ),
    Family.DOTNET: (
        _style(
            "assert",
            "call",
            r"(?<![\w.])(?P<name>(?:\w*Assert)(?:\.\w+)+|Verify\w*|Assert\w+)(?:<[^()]*>)?\s*\(",
        ),
        _style("fluent", "infix", r"\.(?P<name>Should\w*)\s*\("),
        _style("mock", "link", r"\.(?P<name>Verify\w*|Received\w*)\s*\("),
    ),
    Family.RUBY: (
        _style("expect", "call", rf"{START}(?P<name>expect|_|assert_that)\s*[({{]"),
        _style(
            "minitest", "line", rf"{START}(?P<name>(?:assert|refute|flunk|is_expected|mock_)\w*)\b"
        ),
        _style("infix", "infix", r"[.\s](?P<name>(?:must|wont|should)\w*)\b"),
    ),
    Family.ELIXIR: (_style("assert", "line", rf"{START}(?P<name>(?:assert|refute|flunk)\w*)\b"),),
    Family.PHP: (
        _style(
            "assert",
            "call",
            r"(?<![\w$])(?P<name>(?:\$this->|self::|static::|Assert::|parent::)?"
            r"(?:assert\w*|expect\w*|fail|should\w*))\s*\(",
        ),
    ),
    Family.SHELL: (
        _style(
            "test",
            "line",
            r"(?:^|(?<=[;&|{\s]))(?P<name>\[\[?|test|!|run|assert\w*|refute\w*|expect\w*|check\w*"
            r"|verify\w*|ensure\w*"
            r"|fail\w*|grep|egrep|diff|cmp|exit|is|ok)(?=\s)",
        ),
    ),
    Family.SWIFT: (
        _style(
            "xctest", "call", rf"{START}(?P<name>XCT\w+|#?expect\w*|#?require\w*|assert\w*)\s*\("
        ),
    ),
    Family.DART: (
        _style("expect", "call", rf"{START}(?P<name>expect\w*|verify\w*|assert|fail)\s*\("),
    ),
    Family.PYTHON: (
        _style("assert", "line", rf"{START}(?P<name>assert)\b"),
        _style(
            "unittest",
            "call",
            rf"{START}(?P<name>(?:self\.)?(?:assert\w+|fail\w*)|pytest\.\w+)\s*\(",
        ),
    ),
    Family.OTHER: (
        _style(
            "any",
            "call",
            r"(?<![\w$])(?P<name>(?:\w+[.:])*(?:assert|expect|check|verify|should|must|require"
            r"|ensure|is|ok|fail)\w*)"
            r"!?\s*\(",
        ),
    ),
}
