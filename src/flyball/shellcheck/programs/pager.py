"""Pagers: harmless, but for the commands they can be started with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from flyball.shellcheck.judgement import Finding, Kind
from flyball.shellcheck.rule import Inquiry, Rule, judge_words
from flyball.shellcheck.word import Word

_PLACE = re.compile(r"\+\+?(\d+|[GgFp]|/[\w .-]+)")


def check_less(inquiry: Inquiry, rule: Rule, words: Sequence[Word]) -> Iterable[Finding]:
    """`+…` gives a pager a first command, which may start a program."""
    for word in words[1:]:
        if word.known.startswith("+") and not (word.value and _PLACE.fullmatch(word.value)):
            text = " ".join(w.source for w in words)
            yield Finding(text, Kind.UNKNOWN, f"{word.source} gives the pager a command")
            return
    yield from judge_words(inquiry, rule, words)
