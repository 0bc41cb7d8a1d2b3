"""How much an assertion by a given name demands."""

from __future__ import annotations

import re

from flyball.regex import regex

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
STRENGTHS = (
    (HOLLOW, r"pass|succeed$|success$|anything$"),
    (PARTIAL, r"noerror|iferror|^error$|nothrow|notraise|noexception|doesnotthrow|noneerror"),
    (PRESENT, r"^(?:is)?(?:not|ne|un|never|no|doesnot|isnt|aint|different)(?!hing$|othing$)"),
    (PRESENT, r"defined|exist|present|some$|resolves?$|nonnull|nonempty|notnull|notnil"),
    (CLOSE, r"near|delta|epsilon|close|almost|within|approx|double|float|ulp"),
    (
        CLOSE,
        r"matchobject|objectcontaining|like|contains|include|startswith|endswith|prefix|suffix",
    ),
    (CLOSE, r"tocontain|contain(?!exact)|subset|superset|key|property|attribute|haveproperty"),
    (EXACT, r"snapshot|exactly|matcharray|elementsmatch|calledwith|containexactly|jsoneq"),
    (CLOSE, r"match|regex|regexp|glob"),
    (PARTIAL, r"instance|typeof|kindof|isa$|type|throw|raise|error|panic|reject|exception|death"),
    (PARTIAL, r"greater|less|above|below|atleast|atmost|^[gl][te]$|between|inrange|range"),
    (PARTIAL, r"length|size|count|len$|times$|called"),
    (EXACT, r"eq|same|identical|null|nil|undefined|none|empty|zero|str|mem|deep|value"),
    (TRUTH, r"true|false|truthy|falsy|ok|^$|condition"),
)
COMPILED = tuple((strength, regex(pattern)) for strength, pattern in STRENGTHS)
# Short names that mean equality on their own, in one framework or another.
EQUALITY = frozenset(
    {"is", "tobe", "be", "iss", "eq", "shouldbe", "isequalto", "toeq", "==", "==="}
)
COMPARISONS = {
    "==": EXACT,
    "===": EXACT,
    "!=": PRESENT,
    "!==": PRESENT,
    "<": PARTIAL,
    "<=": PARTIAL,
    ">": PARTIAL,
    ">=": PARTIAL,
}
FLIPPED = {
    "==": "!=",
    "!=": "==",
    "===": "!==",
    "!==": "===",
    "<": ">=",
    ">=": "<",
    ">": "<=",
    "<=": ">",
}


def strength_of(op: str) -> int:
    """The strength of an assertion's name; an unknown one counts as saying something in part."""
    if op in COMPARISONS:
        return COMPARISONS[op]
    word = re.sub(r"[_!?:\s]", "", op.lower())
    if word in EQUALITY:
        return EXACT
    if word.startswith(("refute", "wont", "not.")):
        return PRESENT
    word = PREFIX.sub("", word, count=1)
    return next((strength for strength, known in COMPILED if known.search(word)), PARTIAL)


def is_known(op: str) -> bool:
    """Whether an assertion's name says how it looks; a helper of the project's may do anything."""
    word = PREFIX.sub("", re.sub(r"[_!?:\s]", "", op.lower()), count=1)
    return any(known.search(word) for _, known in COMPILED)


SAME_WORD = {
    "==": regex(
        r"(?:deep|strict|loose|is|to|not|object|are|int|uint|long|string|str|hex\d*|size|char|ptr"
        r"|u?int\d+)*"
        r"(?:eq|eql|equals?|same|identical|be|equalto|equalvalues|deepequal|strictsame|equalarray"
        r"|eqv)"
        r"(?:int|uint|long|string|str|memory|hex\d*|u?int\d+|size_t|char|ptr|array|objects?"
        r"|comparator|values?)*"
    ),
    "truth": regex(r"true|truthy|ok|"),
    "false": regex(r"false|falsy|notok"),
}


def canonical(op: str) -> str:
    """One word for what frameworks spell differently, so that a migration changes nothing."""
    if op in COMPARISONS:
        return op.replace("===", "==").replace("!==", "!=")
    if strength_of(op) == EXACT and op.lower() in EQUALITY:
        return "=="
    word = PREFIX.sub("", re.sub(r"[_!?:\s]", "", op.lower()), count=1)
    return next((name for name, known in SAME_WORD.items() if known.fullmatch(word)), op.lower())


def is_upper_bound(op: str) -> bool:
    """Whether a greater number makes it easier to pass."""
    return bool(re.search(r"<|less|below|atmost|\b[lL][teE]\b|lt$|le$|near|close|delta", op))


def is_lower_bound(op: str) -> bool:
    """Whether a smaller number makes it easier to pass."""
    return bool(re.search(r">|greater|above|atleast|gt$|ge$", op))
