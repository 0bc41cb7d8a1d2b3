"""Viewers: harmless, but for the one thing each can be talked into."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flyball.shellcheck.judgement import CommandKind, Finding
from flyball.shellcheck.rule import Inquiry, Rule, judge_words, parse
from flyball.shellcheck.words.pattern import Pattern
from flyball.shellcheck.words.word import Word

_PLACE = Pattern(r"\+\+?(\d+|[GgFp]|/[\w .-]+)")


def check_less(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """`+…` gives a pager a first command, which may start a program."""
    for word in words[1:]:
        if word.known.startswith("+") and not (word.value and _PLACE.fullmatch(word.value)):
            text = " ".join(w.source for w in words)
            yield Finding(text, CommandKind.UNKNOWN, f"{word.source} gives the pager a command")
            return
    yield from judge_words(inquiry, rule, words)


def check_file(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """`file` compiles its tables when told so."""
    parsed = parse(rule, words[1:])
    if any(flag == "-C" or flag.startswith("--c") for flag, _ in parsed.flags):
        text = " ".join(word.source for word in words)
        yield Finding(text, CommandKind.MUTATING, "file -C writes a compiled table")
    else:
        yield from judge_words(inquiry, rule, words)
