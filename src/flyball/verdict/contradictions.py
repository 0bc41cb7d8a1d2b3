"""Find contradictions between the request and the tests of a change that passes them.

Green tests show only what the tests say. If the request, or another test, expects something else of
the same call, the author of the change has chosen a side, and that choice belongs to a person.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from flyball.regex import regex
from flyball.terms.change_verdict import ChangeFinding, ChangeVerdict, FindingKind, Weight
from flyball.terms.conflict import REQUEST
from flyball.terms.test_paths import is_test_path
from flyball.verdict.promises import VALUE
from flyball.verdict.reports import AskedFor, file_of

ReadFile = Callable[[str, str], str | None]
"""Returns the text of a file in a tree; None if there is none."""

_CALL = r"(?P<call>\b[A-Za-z_]\w*\((?:[^()\n]|\([^()\n]*\))*\))"
_MUST = r"(?:must|should|shall|has to|ought to|needs to|is expected to)"
_GIVE = r"(?:be|return|give|equal|yield|become|come to|evaluate to)"
_LITERAL = rf"`?(?P<value>{VALUE})"
_CLAIM = regex(rf"{_CALL}`?\s+(?:{_MUST}\s+)(?:now\s+)?{_GIVE}\s+{_LITERAL}")
_WISH = regex(rf"(?:[Mm]ake|[Ll]et)\s+`?{_CALL}`?\s+{_GIVE}\s+{_LITERAL}")
_CALLED = regex(_CALL)
_VALUES = regex(VALUE)
_BEGINS_TEST = regex(r"\s*(?:(?:async )?def test|func Test|(?:test|it)(?:\.only)?\()")


class Expectation(NamedTuple):
    """A call, the value expected of it, and where that is stated."""

    call: str
    value: str
    place: str


def with_contradictions(
    verdict: ChangeVerdict, base: str, head: str, asked: AskedFor, read: ReadFile
) -> ChangeVerdict:
    """Add what only a person can settle: contradictions, and replacements for missing packages."""
    lines = [
        each
        for path in sorted({file_of(name) for name in verdict.mended})
        if is_test_path(path) and path not in asked.decided
        for each in expectations(path, read(head, path) or "")
    ]
    found = [*_against_request(lines, asked), *_against_each_other(lines)]
    found += _stand_ins(verdict.changed, base, read)
    if head == base or not found:
        return verdict
    return replace(verdict, findings=(*verdict.findings, *found))


def expectations(path: str, text: str) -> Iterator[Expectation]:
    """Yield each call with literal arguments whose value a test states in its first line.

    Later lines of a test may depend on earlier ones.
    """
    previous = ""
    for number, line in enumerate(text.splitlines(), 1):
        is_value = ("==" in line or not _LOOSE.search(line)) and not _OTHER.match(line)
        if is_value and _BEGINS_TEST.match(previous):
            for found in _CALLED.finditer(_without_assertion(line)):
                rest = _VALUES.findall(line.replace(found["call"], "", 1))
                if len(rest) == 1 and _VALUES.search(found["call"]):
                    yield Expectation(_plain(found["call"]), rest[0], f"{path}:{number}")
        if line.strip():
            previous = line


_LOOSE = regex(
    r"\sin\s|\s[<>]=?\s|(?i:in\(|regex|match|contain|include|start|end|near|close|almost|greater"
    r"|less|raise|throw)"
)
"""What says of a value that it is near another or has a part: several of those may hold."""


_OTHER = regex(
    r"(?!\s*(?:if|unless)\b).*(?:!=|\bnot\b|(?i:not_?(?:deep_?|strict_?)?(?:equal|same|be|eq)|refute|_ne\b))"
)
"""What says of a value that it is another; a condition that fails a test says the opposite."""


def _without_assertion(line: str) -> str:
    """Return a line without the assertion's own call, since the compared call is inside it."""
    return re.sub(r"\b[\w.]*(?:[Aa]ssert|[Ee]qual|[Ee]xpect)\w*\(", " ", line)


def claims(request: str) -> Iterator[Expectation]:
    """Yield what a request demands of a call; a report of what the call does now is not a
    demand."""
    for pattern in (_CLAIM, _WISH):
        for found in pattern.finditer(request):
            yield Expectation(_plain(found["call"]), found["value"], REQUEST)


def _against_request(lines: list[Expectation], asked: AskedFor) -> Iterator[ChangeFinding]:
    if REQUEST in asked.decided:
        return
    for claim in claims(asked.request):
        for line in lines:
            if line.call == claim.call and line.value != claim.value:
                yield _question(
                    f"The request says that `{claim.call}` must be `{claim.value}`, and "
                    f"{line.place} expects `{line.value}`: which of them holds?"
                )


def _against_each_other(lines: list[Expectation]) -> Iterator[ChangeFinding]:
    first: dict[str, Expectation] = {}
    for line in lines:
        other = first.setdefault(line.call, line)
        if other.value != line.value:
            yield _question(
                f"{other.place} expects `{other.value}` of `{line.call}`, and {line.place} expects "
                f"`{line.value}`: which of them holds?"
            )


def _stand_ins(changed: tuple[str, ...], base: str, read: ReadFile) -> Iterator[ChangeFinding]:
    """Yield new files that replace a package that the project declares."""
    new = {path: name for path in changed if (name := _package(path))}
    if not new:
        return
    declared = {*_declared(lambda name: read(base, name) or "")}
    for path, name in new.items():
        if name in declared and read(base, path) is None:
            yield _question(
                f"{path} stands in the place of a package that the project declares. Is it what "
                "was meant, or could the package not be had?"
            )
            return


def _package(path: str) -> str:
    """Return the package that a file would shadow, if the file is a package's entry point."""
    *folders, name = path.removeprefix("src/").split("/")
    if folders[:1] in (["node_modules"], ["vendor"]):
        return folders[-1]
    if name == "go.mod":
        return folders[-1] if folders else ""
    is_module = name.endswith(".py") and not folders
    is_package = name == "__init__.py" and len(folders) == 1
    found = name.removesuffix(".py") if is_module else folders[0] if is_package else ""
    return found.replace("_", "-").lower()


def _declared(text_of: Callable[[str], str]) -> Iterator[str]:
    """Yield the names of the packages that a project's manifests require."""
    for line in text_of("requirements.txt").splitlines():
        yield from _names(line)
    for listed in _LISTED.findall(text_of("pyproject.toml")):
        for text in _QUOTED.findall(listed):
            yield from _names(text)
    for listed in _JSON_LISTED.findall(text_of("package.json")):
        yield from (name.rpartition("/")[2] for name in _QUOTED.findall(listed))
    for name in _REQUIRED.findall(text_of("go.mod")):
        yield name.rpartition("/")[2]


def _names(requirement: str) -> Iterator[str]:
    if found := re.match(r"\s*([A-Za-z0-9][\w.-]*)", requirement):
        yield found[1].replace("_", "-").lower()


_LISTED = regex(r"(?m)^dependencies\s*=\s*\[((?:[^\[\]]|\[[^\[\]]*\])*)\]")
_JSON_LISTED = regex(r"\"(?:dev|peer|optional)?[dD]ependencies\"\s*:\s*\{([^}]*)\}")
_REQUIRED = regex(r"(?m)^(?:require\s+|\t)([\w./-]+)\s+v\d")
_QUOTED = regex(r"[\"']([^\"'\n]+)[\"']")


def _question(sentence: str) -> ChangeFinding:
    return ChangeFinding(FindingKind.CONTRADICTION, Weight.ASKS, sentence)


def _plain(call: str) -> str:
    return "".join(call.split())
