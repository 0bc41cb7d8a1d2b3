"""Conditions under which a test is built or run on the usual machines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from flyball.regex import regex

FEATURES = regex(r"^\[features\](?P<rows>[^\[]*(?:\[[^\]]*\][^\[]*)*?)(?=^\[|\Z)", re.MULTILINE)
DECLARED = regex(r"^([\w-]+)\s*=", re.MULTILINE)
FEATURE = regex(r"\bfeature\s*=\s*\"(?P<name>[\w-]+)\"")
CFG = regex(r"#!?\[cfg\((?P<said>.*)\)\]")
TAG = regex(r"build tag (?P<said>.*)")
TOKEN = regex(r"\w+=\"[^\"]*\"|[\w.]+|&&|\|\||[!(),]")
HERE = frozenset(
    [
        "unix",
        "linux",
        "amd64",
        "cgo",
        "gc",
        "test",
        "debug_assertions",
        'target_os="linux"',
        'target_family="unix"',
        'target_arch="x86_64"',
        'target_pointer_width="64"',
        'target_endian="little"',
        'panic="unwind"',
    ]
)
"""Conditions that hold almost wherever tests run; unknown ones do not hold."""
GO_VERSION = regex(r"go1(?:\.(?:\d|1\d|2[0-2]))?")
# A few systems that hardly anybody runs tests on, spelled as compilers do.
ELSEWHERE = regex(
    r"#if(?:n?def|!defined)\(?(?:_?_?WIN(?:32|64)_?_?|_MSC_VER|__CYGWIN__|__MINGW(?:32|64)__"
    r"|__EMSCRIPTEN__|__sun|_AIX)\)?"
)


def features_in(before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
    """Return the features that Rust code was built with, and those declared now."""
    known = {match["name"] for text in before.values() for match in FEATURE.finditer(text)}
    for path, text in after.items():
        if path.endswith("Cargo.toml") and (declared := FEATURES.search(text)):
            known.update(DECLARED.findall(declared["rows"]))
    return frozenset(known)


def complement(skip: str) -> str:
    """Return the attribute that holds exactly when this one does not; empty if there is none."""
    found = CFG.fullmatch(skip)
    if found is None:
        return ""
    inner = re.fullmatch(r"not\((?P<said>[^()]*(?:\([^()]*\)[^()]*)*)\)", found["said"])
    said = inner["said"] if inner else f"not({found['said']})"
    return f"#[cfg({said})]"


def is_usual(skip: str, features: AbstractSet[str]) -> bool:
    """Return whether a condition for skipping may hold on usual machines, where the test still
    runs.

    A feature known to the project may be on or off; an unknown one is off.
    """
    found = CFG.fullmatch(skip) or TAG.fullmatch(skip)
    if found is None:
        return bool(ELSEWHERE.fullmatch(skip)) and not skip.startswith("#ifdef")
    tokens = iter(TOKEN.findall(found["said"]))
    return True in _Reading(tokens, features).either()


Values = frozenset[bool]
"""What a condition may come out as."""


class _Reading:
    """Reads one condition from left to right; anything else is unknown and never holds."""

    def __init__(self, tokens: Iterator[str], features: AbstractSet[str]) -> None:
        self._tokens = tokens
        self._features = features
        self._next = next(tokens, "")

    def either(self) -> Values:
        found = self._both()
        while self._take("||"):
            found = _any([found, self._both()])
        return found

    def _both(self) -> Values:
        found = self._one()
        while self._take("&&"):
            found = _all([found, self._one()])
        return found

    def _one(self) -> Values:
        if self._take("!"):
            return _not(self._one())
        if self._take("("):
            found = self.either()
            self._take(")")
            return found
        word, self._next = self._next, next(self._tokens, "")
        if word in GROUPS and self._take("("):
            return GROUPS[word](self._list())
        if word.startswith("feature="):
            return frozenset([False, word.split('"')[1] in self._features])
        return frozenset([word in HERE or bool(GO_VERSION.fullmatch(word))])

    def _list(self) -> list[Values]:
        found: list[Values] = []
        while self._next and not self._take(")"):
            found.append(self.either())
            self._take(",")
        return found

    def _take(self, token: str) -> bool:
        if self._next != token:
            return False
        self._next = next(self._tokens, "")
        return True


def _not(values: Values) -> Values:
    return frozenset(not value for value in values)


def _any(parts: list[Values]) -> Values:
    can_hold = any(True in part for part in parts)
    return frozenset([can_hold, not all(False in part for part in parts)])


def _all(parts: list[Values]) -> Values:
    return _not(_any([_not(part) for part in parts]))


def _none(parts: list[Values]) -> Values:
    return _not(_any(parts))


GROUPS = {"any": _any, "all": _all, "not": _none}


# Whoever runs the tests anywhere else runs this one, too, so nothing was taken from them.
FEW = regex(
    r"sys\.platform==\"(?:win32|cygwin|emscripten|wasi)\"|os\.name==\"nt\""
    r"|sys\.platform\.startswith\(\"win(?:32)?\"\)|(?:platform\.)?system\(\)==\"Windows\""
    r"|(?:\w+\.)?(?:python_implementation\(\)|implementation\.name)==\"[pP]y[pP]y\""
    r"|hasattr\(sys,\"pypy_version_info\"\)|sys\.version_info<=?\(.*\)"
    r"|nothasattr\((?:os|socket|signal|select|time),\"\w+\"\)|os\.gete?uid\(\)==0"
)


def is_elsewhere(skip: str) -> bool:
    """Return whether a conditional skip of Python affects only a few machines."""
    found = re.fullmatch(r"@?[\w.]*(?i:skipif)\((?P<said>.*)\)", skip.replace("'", '"'))
    return found is not None and all(
        any(FEW.fullmatch(part) for part in re.split(r"\band", each))
        for each in re.split(r"(?<=[\)\"\d])or(?=\w)", found["said"])
    )
