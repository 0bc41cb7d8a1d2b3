"""What keeps tests from running, or from mattering, and what runs them alone."""

from __future__ import annotations

import re
from typing import NamedTuple

from flyball.core.weakening.styles.family import Family
from flyball.core.weakening.styles.layers import Layers
from flyball.regex import regex


class Skipping(NamedTuple):
    """One place where a test is left out; `is_focus` where all others are."""

    text: str
    offset: int
    is_focus: bool


# One row per way to leave a test out, with the languages that know it.
SKIPS: tuple[tuple[tuple[Family, ...], str], ...] = (
    (
        (Family.JS, Family.DART, Family.OTHER),
        (
            r"\b(?:it|test|describe|context|suite|specify|Deno\.test|tap)(?:\.\w+)*"
            r"\.(?:skip|todo|failing|fails|fixme|skipIf|runIf|ignore)\b"
            r"|(?<![\w.$])x(?:it|test|describe|context|specify)\s*[('\"`]|\bthis\.skip\s*\("
            r"|(?<![\w.$])(?:t|ctx|context)\.(?:skip|todo)\s*\(|(?<![\w.$])pending\s*\("
            r"|[{,]\s*(?:skip|todo|ignore)\s*:\s*(?!false\b|undefined\b|null\b|0\b)[^,}\s]"
            r"|\bprocess\.exit\s*\(\s*0?\s*\)"
        ),
    ),
    (
        (Family.GO,),
        (
            r"\b\w\.Skip(?:f|Now)?\s*\(|\btesting\.Short\s*\(|\bos\.Exit\s*\(\s*0\s*\)"
            r"|\bruntime\.Goexit\s*\("
        ),
    ),
    (
        (Family.RUST,),
        (
            r"#!?\[(?:ignore|should_panic)\b[^\]]*\]|#!?\[cfg\((?!test\s*\))[^\]]*\]"
            r"|#!?\[cfg_attr\([^\]]*ignore[^\]]*\]|\bprocess::exit\s*\(\s*0\s*\)"
        ),
    ),
    (
        (Family.JAVA, Family.SWIFT),
        (
            r"@(?:Disabled|Ignored?|Enabled)\w*|\bassum(?:e|ing)\w*\s*\(|@Category\b|@Tag\b"
            r"|@Test\(enabled"
            r"|\.enabled\(if:|\.disabled\s*\(|\bXCTSkip\w*|@Test\s*\(\s*expected\b"
            r"|withKnownIssue"
        ),
    ),
    (
        (Family.DOTNET,),
        (
            r"\[(?:Ignore|Skip|Explicit)\b|\bSkip\s*=\s*\"|\bAssert\.(?:Ignore|Inconclusive|Pass"
            r"|Skip)\w*\s*\("
            r"|\bSkip\.(?:If|IfNot)\s*\("
        ),
    ),
    (
        (Family.C,),
        (
            r"\bDISABLED_\w+|\bGTEST_SKIP\w*|\bTEST_IGNORE\w*|\"[^\"\n]*\[(?:\.|!hide|!shouldfail"
            r"|!mayfail)[^\"\n]*\""
            r"|^[ \t]*#[ \t]*if(?:n?def)?\b[^\n]*|\bSKIP\s*\(|\bXCTSkip\w*|\bdoctest::skip\b"
            r"|\bskip\s*\(\s*\)|\bexit\s*\(\s*0\s*\)"
        ),
    ),
    (
        (Family.RUBY,),
        (
            r"(?<![\w.$:])x(?:it|describe|context|specify|scenario)\b|^\s*(?:skip"
            r"|pending)\b(?!\s*[=.])"
            r"|,\s*:?(?:skip|pending)\b|\bexit!?\s*(?:\(?0\)?)?\s*$|\bomit\b"
        ),
    ),
    (
        (Family.ELIXIR,),
        r"@(?:module|describe)?tag\s+:?(?:skip|pending)\b[^\n]*|ExUnit\.configure[^\n]*exclude",
    ),
    (
        (Family.PHP,),
        (
            r"\bmarkTest(?:Skipped|Incomplete)\s*\(|->(?:skip|todo)\s*\(|#\[(?:Requires|Group"
            r"|DoesNotPerform)\w*"
            r"|\bexpectNotToPerformAssertions\s*\("
        ),
    ),
    ((Family.SHELL,), r"^\s*skip\b|^\s*exit\s+0\b|^\s*set\s+\+e\b|\bstartSkipping\b"),
    ((Family.PYTHON,), r"\b(?:skip\w*|xfail|SkipTest|importorskip)\b"),
)
FOCUS = (
    r"\b(?:it|test|describe|context|suite|specify)(?:\.\w+)*\.only\b|(?<![\w.$])f(?:it|describe"
    r"|context)\s*[('\"`]"
    r"|[{,]\s*only\s*:\s*true\b|,\s*:?focus\b"
)
# A tag at the head of a file decides whether it is built at all; it is written as a comment.
BUILD_TAGS = regex(r"^//\s*(?:go:build|\+build)\s+[^\n]+", re.MULTILINE)
# Every Go that knows the present form of a tag is newer than these.
OLD_GO = regex(r"build tag go1(?:\.(?:\d|1[0-7]))?")
SWITCHED_OFF = regex(r"\bfunc\s+TestMain\s*\([^)]*\)\s*\{")
PATTERNS = {
    family: regex(
        "|".join(pattern for families, pattern in SKIPS if family in families), re.MULTILINE
    )
    for family in Family
}
FOCUSING = regex(FOCUS, re.MULTILINE)
NOTHING = frozenset(
    {Family.GO, Family.RUST, Family.C, Family.SHELL, Family.PYTHON, Family.JAVA, Family.DOTNET}
)


def skips_of(source: Layers, text: str) -> list[Skipping]:
    """Every place of a file where a test is left out, in order."""
    found = [
        Skipping(_squeezed(source.code[slice(*match.span())]), match.start(), False)
        for match in PATTERNS[source.family].finditer(source.bare)
    ]
    if source.family is Family.C:
        found += [
            Skipping(_squeezed(match[0]), match.start(), False)
            for match in re.finditer(r"\[(?:\.|!hide|!shouldfail|!mayfail)[^\]\n]*\]", source.code)
        ]
    if source.family not in NOTHING:
        found += [
            Skipping(_squeezed(match[0]), match.start(), True)
            for match in FOCUSING.finditer(source.bare)
        ]
    if source.family is Family.GO:
        tags = BUILD_TAGS.finditer(text.replace("\r\n", "\n"))
        named = [(_tag(match[0]), match.start()) for match in tags]
        # Both spellings may stand in one file, for the Go of yesterday and of today.
        once = {tag: at for tag, at in reversed(named) if not OLD_GO.fullmatch(tag)}
        found += [Skipping(tag, at, False) for tag, at in once.items()]
        found += _main(source)
    return sorted(found, key=lambda skip: skip.offset)


def _main(source: Layers) -> list[Skipping]:
    """A `TestMain` that never runs the tests."""
    return [
        Skipping("TestMain without m.Run", match.start(), False)
        for match in SWITCHED_OFF.finditer(source.bare)
        if ".Run()" not in source.bare[match.end() : source.closing(match.end() - 1)]
    ]


def _tag(text: str) -> str:
    """Both spellings of a build tag count as one: the old one has spaces for "or"."""
    old = re.match(r"//\s*\+build\s+(?P<said>.*)", text)
    if old is None:
        return "build tag " + _squeezed(re.sub(r"^//\s*go:build", "", text))
    options = [option.replace(",", "&&") for option in old["said"].split()]
    is_mixed = len(options) > 1
    return "build tag " + "||".join(
        f"({option})" if is_mixed and "&&" in option else option for option in options
    )


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
