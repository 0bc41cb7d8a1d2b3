"""Patterns that are compiled when they are first used."""

from __future__ import annotations

import re

import pytest

from flyball.regex import regex


def test_a_pattern_answers_like_one_of_re():
    text = "One fish, two Fish"
    late, own = (
        regex(r"(?P<what>fish)", re.IGNORECASE),
        re.compile(r"(?P<what>fish)", re.IGNORECASE),
    )
    assert late.findall(text) == own.findall(text) == ["fish", "Fish"]
    assert late.sub("cat", text) == "One cat, two cat"
    assert [found.start() for found in late.finditer(text)] == [4, 14]
    assert (late.pattern, late.flags, late.groups) == (own.pattern, own.flags, own.groups)
    assert late.groupindex == own.groupindex
    assert late.split(text) == own.split(text)


def test_whatever_is_asked_first_is_answered():
    assert regex("a+").fullmatch("aaa")
    assert not regex("a+").match("b")
    assert regex("a+").search("baa")
    assert regex("a").subn("b", "aa") == ("bb", 2)
    with pytest.raises(AttributeError):
        regex("a").colour  # noqa: B018


def test_a_pattern_is_compiled_once_and_not_before_it_is_used(monkeypatch: pytest.MonkeyPatch):
    compiled: list[str] = []
    make = re.compile
    monkeypatch.setattr(
        re, "compile", lambda text, flags: compiled.append(text) or make(text, flags)
    )
    late = regex("x")
    assert not compiled
    assert late.search("x")
    assert late.search("y") is None
    assert compiled == ["x"]


def test_what_is_wrong_with_a_pattern_is_said_by_its_first_use():
    with pytest.raises(re.error):
        regex("(").search("x")
