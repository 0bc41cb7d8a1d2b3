"""What is judged elsewhere or was left alone, taken out before the rest of a file is read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container

from flyball.core.weakening.styles.family import Family
from flyball.core.weakening.styles.headers import Extent, extents_of
from flyball.core.weakening.styles.layers import Layers, read_layers
from flyball.regex import regex

# Around a test these decide whether it runs, or whether its failure matters.
AROUND = regex(
    r"\b(?:if|unless|while|for|try|catch|rescue|recover|return|exit|end|fi|begin|ensure|defer)\b"
    r"|#[ \t]*(?:if|else|endif)\w*|#!?\[[^\]]*\]|[{}]"
)
DEFINED = regex(
    r"(?:\b(?:const|let|var|static|func|function|fn|def|fun|void|int|class)\s+(?:mut\s+)?"
    r"(?:\([^()\n]*\)\s*)?|^[ \t]*@?|[(,]\s*)(?P<name>[A-Za-z_$]\w*)(?=\s*(?:[:=(\[{]|\s[a-z[]))",
    re.MULTILINE,
)
WORD = regex(r"[A-Za-z_$]\w*")
# What is built for tests alone without being one: a file of tests, or something that they use.
TEST_ITEM = (
    r"(?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?P<module>mod\s+\w+)|use\b[^;]*"
    r"|extern\b[^;{]*)\s*;"
)
TEST_ITEMS = regex(rf"#\[cfg\(test\)\]{TEST_ITEM}")
UNIT_TESTS = regex(rf"#\[cfg\(test\)\](?!{TEST_ITEM})|#\[(?:\w+::)*test\b")

DECLARED = regex(r"(?:#\[[^\]]*\]\s*)*(?:\bpub(?:\([^)]*\))?\s+)?\bmod\s+(?P<name>\w+)\s*;")


def without_gone_modules(path: str, old: str, new: str, gone: Container[str]) -> str:
    """A Rust file without modules that went with their files: what those held is judged there.

    The name of a module whose file stays is kept, for without it the tests in there never run.
    """
    source = read_layers(Family.RUST, old)
    kept = {item["name"] for item in DECLARED.finditer(read_layers(Family.RUST, new).bare)}
    parts: list[str] = []
    at = 0
    for item in DECLARED.finditer(source.bare):
        files = _files_of(path, item["name"])
        if item["name"] not in kept and any(file in gone for file in files):
            gap = source.bare.count("\n", item.start(), item.end())
            parts += [source.text[at : item.start()], "\n" * gap]
            at = item.end()
    return "".join([*parts, source.text[at:]])


def _files_of(path: str, module: str) -> list[str]:
    folder, slash, _ = path.rpartition("/")
    within = (folder + slash, path.removesuffix(".rs") + "/")
    return [f"{at}{module}{end}" for at in within for end in (".rs", "/mod.rs")]


def without_product(text: str) -> str:
    """A Rust file of the product without what stands before its tests; lines keep their numbers.

    Files of tests that the product names are kept by name.
    """
    source = read_layers(Family.RUST, text)
    found = UNIT_TESTS.search(source.bare)
    start = found.start() if found else len(source.bare)
    parts: list[str] = []
    at = 0
    for item in TEST_ITEMS.finditer(source.bare, 0, start):
        if item["module"]:
            gap = source.bare.count("\n", at, item.start("module"))
            parts += ["\n" * gap, f"{item['module']};"]
            at = item.end()
    gap = source.bare.count("\n", at, start)
    return "".join([*parts, "\n" * gap, source.text[start:]])


def without_unchanged(family: Family, old: str, new: str) -> tuple[str, str]:
    """Both texts of a file without the tests that are the same in both; lines keep their numbers.

    A test stays where something beside tests that it names was changed: a table, a helper. All
    stay where a condition or a bracket beside tests came or went, for it may surround them.
    """
    was, now = read_layers(family, old), read_layers(family, new)
    tests, tests_now = _outermost(was), _outermost(now)
    rest, rest_now = _rest(was, tests), _rest(now, tests_now)
    if Counter(AROUND.findall(rest)) != Counter(AROUND.findall(rest_now)):
        return old, new
    named = _changed_names(rest, rest_now)
    texts = Counter(_identity(was, test) for test in tests)
    texts &= Counter(_identity(now, test) for test in tests_now)
    same = {key for key in texts if named.isdisjoint(WORD.findall(key[1]))}
    return _cut(was, tests, same), _cut(now, tests_now, same)


Identity = tuple[tuple[str, ...], str]


def _identity(source: Layers, test: Extent) -> Identity:
    return (*test.outer, test.name), source.code[test.start : test.end]


def _outermost(source: Layers) -> list[Extent]:
    """Tests that stand in no other test, in order."""
    found: list[Extent] = []
    for extent in extents_of(source):
        if not extent.is_suite and (not found or extent.start >= found[-1].end):
            found.append(extent)
    return found


def _rest(source: Layers, tests: list[Extent]) -> str:
    parts: list[str] = []
    at = 0
    for test in tests:
        parts.append(source.code[at : test.start])
        at = test.end
    return "".join([*parts, source.code[at:]])


def _changed_names(old: str, new: str) -> frozenset[str]:
    """Names beside tests that stand for something else now.

    What a name stands for is taken to end where the next one is defined.
    """
    was, now = _definitions(old), _definitions(new)
    return frozenset(name for name in was.keys() | now.keys() if was.get(name) != now.get(name))


def _definitions(rest: str) -> dict[str, str]:
    found = list(DEFINED.finditer(rest))
    ends = [*(match.start() for match in found[1:]), len(rest)]
    meant: dict[str, str] = {}
    for match, end in zip(found, ends, strict=False):
        text = "".join(rest[match.start() : end].split())
        meant[match["name"]] = meant.get(match["name"], "") + text
    return meant


def _cut(source: Layers, tests: list[Extent], same: set[Identity]) -> str:
    parts: list[str] = []
    at = 0
    for test in tests:
        if _identity(source, test) in same:
            gap = source.code.count("\n", test.start, test.end)
            parts += [source.text[at : test.start], "\n" * gap]
            at = test.end
    return "".join([*parts, source.text[at:]])
