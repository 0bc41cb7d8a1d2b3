"""Names of assertions, tests, skips and suites in each language, as data."""

from __future__ import annotations

import re

from flyball.regex import regex
from flyball.verdict.tests._tree import kinds

EXACT, CLOSE, PARTIAL, TRUTH, PRESENT, HOLLOW = 5, 4, 3, 2, 1, 0

# Words that frameworks put before the operator itself.
PREFIX = regex(
    r"^(?:(?:qt|is|check|checkers|assertj?|hamcrest|matchers|gomega|t|c)\.)?"
    r"(?:(?:debug|prop|static|cu|ck|mu|cr|g|munit|z|pretty)(?=assert))?"
    r"(?:assert(?:ions)?|expect|require|check|xctassert|test(?=assert|check|fail)"
    r"|boost(?:check|require|warn|test)?|verify|must|should|to(?!tal)|that|is(?!a$)|be(?!low"
    r"|tween))*",
)
# The first row that fits decides, so what is looser stands before what it contains.
STRENGTHS = tuple(
    (strength, regex(pattern))
    for strength, pattern in (
        (HOLLOW, r"pass|succeed$|success$|anything$"),
        (PARTIAL, r"noerror|iferror|^error$|nothrow|notraise|noexception|doesnotthrow|noneerror"),
        (
            PRESENT,
            r"^(?:is)?(?:not|ne(?!ar)|un|never|no(?!throw)|doesnot|isnt|aint|different)(?!hing$|othing$)",
        ),
        (PRESENT, r"defined|exist|present|some$|resolves?$|nonnull|nonempty|notnull|notnil"),
        (CLOSE, r"near|delta|epsilon|close|almost|within|approx|double|float|ulp"),
        (
            CLOSE,
            r"matchobject|objectcontaining|like|contains|include|startswith|endswith|prefix|suffix",
        ),
        (CLOSE, r"tocontain|contain(?!exact)|subset|superset|key|property|attribute|haveproperty"),
        (
            EXACT,
            r"snapshot|exactly|matcharray|elementsmatch|(?:called|awaited)\w*with|containexactly|jsoneq",
        ),
        (CLOSE, r"match|regex|regexp|glob"),
        (PARTIAL, r"instance|typeof|kindof|isa$|type|throw|raise|error|panic|reject|warn"),
        (PARTIAL, r"exception|death"),
        (PARTIAL, r"greater|less|above|below|atleast|atmost|^[gl][te]$|between|inrange|range"),
        (PARTIAL, r"length|size|count|len$|times$|called"),
        (EXACT, r"eq|same|identical|null|nil|undefined|none|empty|zero|str|mem|deep|value"),
        (TRUTH, r"true|false|truthy|falsy|ok|^$|condition"),
    )
)
# Short names that mean equality on their own, in one framework or another.
EQUALITY = frozenset(
    {"is", "tobe", "be", "iss", "eq", "shouldbe", "isequalto", "toeq", "==", "==="}
)
COMPARISONS = {
    "==": EXACT, "===": EXACT, "is": EXACT, "!=": PRESENT, "!==": PRESENT, "is not": PRESENT,
    "not in": PRESENT, "in": PARTIAL, "<": PARTIAL, "<=": PARTIAL, ">": PARTIAL, ">=": PARTIAL,
    "isinstance": PARTIAL, "truth": TRUTH, "false": TRUTH,
}  # fmt: skip
OPPOSITE = {
    "==": "!=", "!=": "==", "===": "!==", "!==": "===", "<": ">=", ">=": "<", ">": "<=",
    "<=": ">", "is": "is not", "is not": "is", "in": "not in", "not in": "in",
    "truth": "false", "false": "truth",
}  # fmt: skip
MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
BROAD = frozenset({"Exception", "BaseException", "Throwable", "StandardError", "AssertionError"})


def squeezed(op: str) -> str:
    """Return an assertion's name without case, separators and filler words."""
    return PREFIX.sub("", re.sub(r"[_!?:\s]", "", op.lower()), count=1)


def strength_of(op: str) -> int:
    """Return how much an assertion of this name demands; an unknown one counts in part."""
    if op in COMPARISONS:
        return COMPARISONS[op]
    word = re.sub(r"[_!?:\s]", "", op.lower())
    if word in EQUALITY:
        return EXACT
    if word.startswith(("refute", "wont", "not.")):
        return PRESENT
    known = squeezed(op)
    return next((strength for strength, row in STRENGTHS if row.search(known)), PARTIAL)


def is_known(op: str) -> bool:
    """Return whether an assertion's name is known; a project's helper may do anything."""
    return any(row.search(squeezed(op)) for _, row in STRENGTHS)


SAME_WORD = {
    "==": regex(
        r"(?:deep|strict|loose|is|to|object|are|int|uint|long|string|str|hex\d*|size|char|ptr"
        r"|u?int\d+|list|tuple|set|dict|sequence|multiline|array)*"
        r"(?:eq|eql|equals?|same|identical|be|equalto|equalvalues|deepequal|strictsame|equalarray"
        r"|eqv)"
        r"(?:int|uint|long|string|str|memory|hex\d*|u?int\d+|size_t|char|ptr|array|objects?"
        r"|comparator|values?)*"
    ),
    "truth": regex(r"true|truthy|ok|"),
    "false": regex(r"false|falsy|notok"),
    "raises": regex(r"(?:throws?|raises?|panics?|throwserror|raiseserror|raisesregex|throwing)"),
}


def canonical(op: str) -> str:
    """Return the same word for different frameworks' spellings: a migration changes nothing."""
    if op in COMPARISONS:
        return op.replace("===", "==").replace("!==", "!=")
    if strength_of(op) == EXACT and op.lower() in EQUALITY:
        return "=="
    word = squeezed(op)
    return next((name for name, known in SAME_WORD.items() if known.fullmatch(word)), op.lower())


def is_upper_bound(op: str) -> bool:
    """Return whether a greater number makes the test easier to pass."""
    return bool(re.search(r"<|less|below|atmost|\b[lL][teE]\b|lt$|le$|near|close|delta", op))


def is_lower_bound(op: str) -> bool:
    """Return whether a smaller number makes the test easier to pass."""
    return bool(re.search(r">|greater|above|atleast|gt$|ge$", op))


T_METHODS = (
    "is|not|deepEqual|notDeepEqual|like|throws|throwsAsync|notThrows|notThrowsAsync|regex|notRegex"
    "|snapshot|true|false|truthy|falsy|assert|pass|fail|plan|equals?|notEqual|notEquals|same"
    "|notSame|strictSame|match|notMatch|doesNotMatch|ok|notOk|error|ifError|rejects|doesNotThrow"
    "|doesNotReject|resolves|strictEqual|notStrictEqual|deepStrictEqual|notDeepStrictEqual"
    "|deepLooseEqual|looseEqual|isEqual|type|has|hasProp|equivalent|propEqual|strictNotSame"
    "|matchSnapshot|deepLoose|isNot|isLike|looseNotEqual|partialDeepStrictEqual"
)
TESTIFY = (
    r"(?:Equal\w*|Exactly|JSONEq|YAMLEq|ElementsMatch|Not\w+|Nil|True|False|Error\w*|NoError"
    r"|Contains|Len|Empty|Zero|Greater\w*|Less\w*|In(?:Delta|Epsilon)\w*|Panics\w*|Regexp|IsType"
    r"|Implements|Subset|Same|Eventually|Never|WithinDuration|FileExists|DirExists|Fail\w*"
    r"|Condition|HTTP\w+|Positive|Negative|Is\w+|NoErr)f?"
)
JS_CALL = (
    r"(?:chai\.)?expect\w*(?:\.\w+)*"
    rf"|(?:t|tt|test|tap|st|qunit|tester|is)\.(?:{T_METHODS})(?:\.\w+)?"
    r"|(?:\w+\.)?assert(?:\.\w+)*|assert\w+|should\w*|must\w*|verify\w*"
)
JAVA_CALL = (
    r"(?:\w*Assert\w*\.|Truth\.|\w*Mockito\.)?(?!assertAll\b|assertSoftly\b)"
    r"(?:assert\w*|verify\w*|fail|expect\w*|check\w*|intercept)"
)
C_CALL = (
    r"\w*RUN_TEST\w*|\w*run_test\w*|EXPECT_\w+|ASSERT\w*|REQUIRE\w*|CHECK\w*|TEST_ASSERT\w*|TEST_CHECK\w*|TEST_FAIL\w*"
    r"|BOOST_(?:CHECK|REQUIRE|TEST)\w*|CU_\w+|ck_\w+|[a-z]*_?assert\w*|FAIL\w*|check\w*"
    r"|ok|expect\w*|verify\w*|lok|lequal|sput_fail\w*|STATIC_REQUIRE\w*|DOCTEST_\w+|WARN\w*"
    r"|UNSIGNED_LONGS_EQUAL|\w+_EQUAL"
)
ASSERTING = {
    "python": regex(
        r"(?:.+\.)?(?:assert\w*|raises|warns|deprecated_call|fail|failUnless\w*|expect\w*"
        r"|check_\w+|verify_\w+)"
    ),
    "javascript": regex(JS_CALL),
    "go": regex(
        r"(?:t|b|tb|f)\.(?:(?:Error|Fatal)f?|Fail(?:Now)?)|(?:c|qt|t|tt|qc)\.(?:Assert|Check)"
        r"|(?:assert|require|is|a|as|r|s|suite|ts|req|check|must|should|then)"
        rf"\.(?:(?:Require|Assert)\.)?{TESTIFY}|(?:\w\.)?(?:Expect\w*|Ω|Eventually|Consistently)"
        r"|(?:assert|expect|require|check|must|verify|ensure)\w*"
    ),
    "rust": regex(
        r"(?:\w+::)*(?:\w*assert\w*|eqnice\w*|expect\w*|check\w*|ensure\w*|verify\w*|panic)!"
        r"|(?:.*\.)?assert\w*|(?:\w+::)*(?:assert|expect|check|verify|ensure)_\w*"
    ),
    "java": regex(JAVA_CALL),
    "c": regex(C_CALL),
    "ruby": regex(r"expect|_|assert_that|(?:assert|refute|flunk|is_expected|mock_)\w*"),
    "php": regex(
        r"(?:\$this->|self::|static::|Assert::|parent::)?(?:assert\w*|expect\w*|fail|should\w*)"
    ),
}
INFIX = regex(r"(?:should|must|wont)(?:_\w+|[A-Z]\w*)?")
"""An assertion that is a member of its subject: `x.should.equal(y)`, `x.must_equal y`."""
SUBJECT_ROOTS = regex(
    r"(?:\w+[.:]+)?(?:expect\w*|assertThat\w*|assert_that|that|_|value|Expect|Ω|Eventually"
    r"|Consistently|verify|then|should|is_expected|assert_eq!|Assertions\.assertThat)"
)
"""The root of a chain whose first argument is the subject."""
FILLERS = kinds("to be been is that which and has have with at of same but does still also a an")
NEGATIONS = frozenset({"not", "never", "not_to", "to_not", "toNot", "ToNot", "NotTo", "ShouldNot"})
MANNERS = frozenset({"deep", "nested", "own", "ordered", "any", "all", "deeply", "resolves"})
EXPECTED_FIRST = frozenset({"java", "php", "go", "ruby"})
CONTEXTS = frozenset({"t", "c", "tb", "b", "self", "this", "assert", "is", "s.T()", "suite.T()"})

TEST_CALLS = {
    "javascript": regex(
        r"(?:f|x)?(?:it|test|specify)|(?:Deno|Bun)\.test|tap|QUnit\.test|Scenario|t\.test"
    ),
    "ruby": regex(r"[fx]?(?:it|specify|example|scenario|test|should|its)"),
    "php": regex(r"it|test"),
}
SUITE_CALLS = {
    "javascript": regex(r"(?:(?:test|it)\.)?[fx]?(?:describe|context|suite)|QUnit\.module"),
    "ruby": regex(r"(?:RSpec\.)?[fx]?(?:describe|context|feature|example_group)"),
    "php": regex(r"describe"),
}
TEST_NAMES = {
    "python": regex(r"test\w*"),
    "go": regex(r"(?:Test|Benchmark|Fuzz|Example)(?![a-z])\w*"),
    "ruby": regex(r"test_\w+"),
    "php": regex(r"test\w+"),
    "java": regex(r"test\w+"),
    "c": regex(r"(?:test|check)_?\w+|\w+_test\w*|(?:TYPED_)?TEST\w*|BOOST_\w*TEST_CASE\w*"),
}
MARKED = {
    "rust": regex(r"#\[\s*(?:\w+::)*(?:test|rstest|test_case|case|bench|quickcheck|proptest)\b.*"),
    "java": regex(r"@(?:\w+\.)*(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property|Theory)"
                  r"\b.*"),
    "php": regex(r"(?s).*(?:#\[(?:\w+\\)*Test\b|@test\b).*"),
}  # fmt: skip
MACRO_TESTS = regex(r"(?:TYPED_)?TEST\w*|BOOST_\w*TEST_CASE\w*|Test|START_TEST|IT|DESCRIBE")

SKIPS = {
    "javascript": regex(
        r"\b(?:it|test|describe|context|suite|specify|Deno\.test|tap)(?:\.\w+)*"
        r"\.(?:skip|todo|failing|fails|fixme|skipIf|runIf|ignore)\b"
        r"|(?<![\w.$])x(?:it|test|describe|context|specify)\s*[('\"`]|\bthis\.skip\s*\("
        r"|(?<![\w.$])(?:t|ctx|context)\.(?:skip|todo)\s*\(|(?<![\w.$])pending\s*\("
        r"|[{,]\s*(?:skip|todo|ignore)\s*:\s*(?!false\b|undefined\b|null\b|0\b)[^,}\s]"
        r"|\bprocess\.exit\s*\(\s*0?\s*\)"
    ),
    "go": regex(
        r"\b\w\.Skip(?:f|Now)?\s*\(|\btesting\.Short\s*\(|\bos\.Exit\s*\(\s*0\s*\)"
        r"|\bruntime\.Goexit\s*\("
    ),
    "rust": regex(
        r"#!?\[(?:ignore|should_panic)\b[^\]]*\]|#!?\[cfg\((?!test\s*\))[^\]]*\]"
        r"|#!?\[cfg_attr\([^\]]*ignore[^\]]*\]|\bprocess::exit\s*\(\s*0\s*\)"
    ),
    "java": regex(
        r"@(?:Disabled|Ignored?|Enabled)\w*|\bassum(?:e|ing)\w*\s*\(|@Category\b|@Tag\b"
        r"|@Test\(enabled|@Test\s*\(\s*expected\b"
    ),
    "c": regex(
        r"\bDISABLED_\w+|\bGTEST_SKIP\w*|\bTEST_IGNORE\w*|^[ \t]*#[ \t]*if(?:n?def)?\b[^\n]*"
        r"|\bSKIP\s*\(|\bdoctest::skip\b|\bskip\s*\(\s*\)|\bexit\s*\(\s*0\s*\)",
        re.MULTILINE,
    ),
    "ruby": regex(
        r"(?<![\w.$:])x(?:it|describe|context|specify|scenario)\b|^\s*(?:skip|pending)\b(?!\s*[=.])"
        r"|,\s*:?(?:skip|pending)\b|\bexit!?\s*(?:\(?0\)?)?\s*$|\bomit\b",
        re.MULTILINE,
    ),
    "php": regex(
        r"\bmarkTest(?:Skipped|Incomplete)\s*\(|->(?:skip|todo)\s*\(|#\[(?:Requires|Group"
        r"|DoesNotPerform)\w*|\bexpectNotToPerformAssertions\s*\("
    ),
    "python": regex(
        r"(?:@|\bpytest\.mark\.)[\w.]*\b(?:skip\w*|xfail|expectedFailure)\b(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?"
        r"|\b(?:pytest\.(?:skip|xfail|importorskip)|self\.skipTest)\s*\(|\bSkipTest\b"
        r"|\bmarks\s*=[^,)]*\b(?:skip\w*|xfail)\b|\b(?:os\._exit|sys\.exit|pytest\.exit)\s*\("
    ),
}
FOCUS = regex(
    r"\b(?:it|test|describe|context|suite|specify)(?:\.\w+)*\.only\b|(?<![\w.$])f(?:it|describe"
    r"|context)\s*[('\"`]|[{,]\s*only\s*:\s*true\b|,\s*:?focus\b"
)
# A tag at the head of a file decides whether it is built at all; it is written as a comment.
BUILD_TAGS = regex(r"^//\s*(?:go:build|\+build)\s+[^\n]+", re.MULTILINE)


def style_of(language: str) -> str:
    """Return the key of a language in the tables above."""
    return {"typescript": "javascript", "tsx": "javascript", "cpp": "c"}.get(language, language)
