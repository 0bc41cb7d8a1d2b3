"""The rows of tests that run over a table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flyball.core.weakening.styles.family import Family
from flyball.core.weakening.styles.headers import TITLED
from flyball.core.weakening.styles.layers import LITERAL, Layers, plain
from flyball.regex import regex


class Row(NamedTuple):
    """One case of a table, as plain code."""

    text: str
    offset: int


# Spaces are matched possessively: blanked comments leave long stretches of them.
NAMED = regex(
    r"\b(?P<name>[A-Za-z_]\w*)[ \t]*+(?:\[\w*\][ \t]*+)*(?::[^=;\n{]++)?(?::=|=)[ \t]*+(?:&|\*"
    r"|new\s\w+|vec!)?"
    r"[ \t]*+(?:\[[^\]\n]*\]|map\[[^\]\n]*\])?(?:struct[ \t]*+(?P<struct>\{)"
    r"|[*\w.]*+[ \t]*+(?P<open>[\[{(]))"
)
LOOPED = regex(
    r"\brange[ \t]+&?(?P<go>\w+)|\b(?:of|in)[ \t]+&?(?P<of>\w+)|:[ \t]*(?P<java>\w+)[ \t]*\)"
    r"|(?P<call>\b\w++)\.(?:forEach|map|each\w*|iter|into_iter|entries)\b"
    r"|\beach\([ \t]*(?P<each>\w+)"
    r"|(?P<index>\b\w++)\[[a-z]\w*\]|\bforeach[ \t]*\([ \t]*\$?(?P<php>\w+)"
)
DIRECT = regex(
    r"\.(?:each|for)\s*\(\s*(?P<each>\[)|\brange\s+(?:\[[^\]\n]*\]|map\[)[^{}\n]*(?P<range>\{)"
    r"|\b(?:of|in)\s+&?(?:vec!)?(?P<of>\[)"
)
CHAINED = regex(r"\s*\.\s*(?:forEach|map|each\w*|iter|into_iter)\b")
MARKED = regex(
    r"#\[(?:test_case|case|rstest_case)(?:::\w+)?\s*(?P<rust>\()|\[(?:TestCase|InlineData|DataRow"
    r"|Arguments)\s*(?P<cs>\()"
    r"|@(?:CsvSource|ValueSource|MethodSource|EnumSource)\s*(?P<java>\()|#\[(?:TestWith"
    r"|DataProvider)\s*(?P<php>\()"
)
TEMPLATE = regex(r"\.each\s*`(?P<table>[^`]*)`")
OPTIONS = regex(r"(?<![\w.$])test\s*\(\s*(?P<open>\{)")
PROVIDER = regex(r"\breturn\s+(?P<open>\[)")


def rows_of(source: Layers) -> list[Row]:
    """Every row, in order; nested values belong to their row."""
    found = {row.offset: row for row in _rows(source)}
    return [found[offset] for offset in sorted(found)]


def _rows(source: Layers) -> Iterator[Row]:
    looped = {name for match in LOOPED.finditer(source.bare) for name in match.groups() if name}
    for match in NAMED.finditer(source.bare):
        if match["name"] not in looped:
            continue
        opening = match.start("open")
        if match["struct"]:
            opening = source.bare.find("{", source.closing(match.start("struct")))
        yield from _elements(source, opening)
    for match in DIRECT.finditer(source.bare):
        opening = max(match.start(group) for group in ("each", "range", "of"))
        if match["range"] and source.bare.endswith(("struct ", "struct"), 0, opening):
            opening = source.bare.find("{", source.closing(opening))
        yield from _elements(source, opening)
    for opening, closing in source.pairs.items():
        if source.bare[opening] == "[" and CHAINED.match(source.bare, closing + 1):
            yield from _elements(source, opening)
    for match in MARKED.finditer(source.bare):
        opening = match.end() - 1
        if match["java"]:
            inner = source.bare.find("{", opening, source.closing(opening))
            yield from _elements(source, inner if inner >= 0 else opening)
        else:
            yield _row(source, opening + 1, source.closing(opening))
    for match in TEMPLATE.finditer(source.code):
        at = match.start("table")
        for line in match["table"].split("\n")[2:]:
            at += len(line) + 1
            if line.strip():
                yield Row(plain(source.family, line), at)
    if source.family is Family.JS:
        yield from _given(source)
    if source.family is Family.PHP:
        for match in PROVIDER.finditer(source.bare):
            yield from _elements(source, match.start("open"))


def _given(source: Layers) -> Iterator[Row]:
    """What lists hold that a helper called `test` is given by name: that name is part of a row."""
    for match in OPTIONS.finditer(source.bare):
        opening = match.start("open")
        end = source.closing(opening)
        if TITLED.search(plain(source.family, source.code[opening:end])):
            continue
        for start, stop in source.items(opening + 1, end):
            key = plain(source.family, source.code[start:stop]).partition(":")[0]
            for row in _elements(source, source.bare.find("[", start, stop)):
                yield row._replace(text=f'"{key}",{row.text}')


def _elements(source: Layers, opening: int) -> Iterator[Row]:
    if opening < 0:
        return
    for start, end in source.items(opening + 1, source.closing(opening)):
        row = _row(source, start, end)
        if LITERAL.search(row.text):
            yield row


def _row(source: Layers, start: int, end: int) -> Row:
    return Row(plain(source.family, source.code[start:end]), start)
