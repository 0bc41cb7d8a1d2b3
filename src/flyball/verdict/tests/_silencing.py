"""Comments and casts that make a checker look away."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from flyball.core.terms.evidence import Weakened
from flyball.regex import regex
from flyball.verdict.tests._finding import Compared
from flyball.verdict.tests._tree import language_of
from flyball.verdict.tests._words import style_of

SILENCING = {
    "javascript": regex(
        r"@ts-(?:ignore|expect-error|nocheck)\b|\beslint-disable\b[\w-]*|\bas any\b|<any>"
    ),
    "python": regex(
        r"#\s*(?:(?:type|pyright):\s*ignore(?:\[[^\]]*\])?|mypy:\s*ignore-errors)|@no_type_check\b"
    ),
}

# These name what they excuse, or fail once there is nothing to excuse.
EXCUSED = regex(
    r"@ts-expect-error|eslint-disable-(?:next-)?line|eslint-disable\s+[\w@/-]{3,}|ignore\["
)
TYPED = regex(r"\)\s*->\s*[^:]+:|\bdef \w+\([^)]*\w:")
# A shorter line stands in too many places to be recognised.
MIN_LINE = 10


def silencings(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Compared]:
    """Yield where code that was there before is newly kept from a checker.

    Only lines that are otherwise the same count: new code with a cast is new code, and is judged as
    such.
    """
    for path, new in after.items():
        old, family = before.get(path), style_of(language_of(path) or "")
        if old is None or family not in SILENCING:
            continue
        found = tuple(_new(path, old, new, SILENCING[family]))
        if found:
            yield Compared(path, (), found[0].line, "", found[0].detail, found)


def _new(path: str, old: str, new: str, pattern: re.Pattern[str]) -> Iterator[Weakened]:
    was, now = old.split("\n"), new.split("\n")
    # A line that still stands there without a mark was not silenced: the marked one is new.
    bare = _unmarked(was, pattern) - _unmarked(now, pattern)
    # Types of code without any are not checked: a mark on it comes with the checker, or with types.
    is_new = path.endswith(".py") and not TYPED.search(old) and not pattern.search(old)
    marked = Counter(about for _, _, about in _marked(was, pattern))
    for number, match, about in _marked(now, pattern):
        if marked[about] > 0:
            marked[about] -= 1
        elif len(about) >= MIN_LINE and bare[about] > 0:
            is_excused = is_new or EXCUSED.search(match.string)
            kind = "excused-check" if is_excused else "silenced-check"
            yield Weakened(path, number + 1, kind, f"`{match[0]}` on `{about[:80]}`")


def _unmarked(lines: Sequence[str], pattern: re.Pattern[str]) -> Counter[str]:
    """Return the lines that nothing silences, neither on them nor above them."""
    above = [text for _, found, text in _marked(lines, pattern) if not _bare(found.string, pattern)]
    found = Counter(_bare(line, pattern) for line in lines if not pattern.search(line))
    return found - Counter(above)


def _marked(
    lines: Sequence[str], pattern: re.Pattern[str]
) -> Iterator[tuple[int, re.Match[str], str]]:
    """Yield each silenced line; a comment on a line of its own applies to the next line."""
    for number, line in enumerate(lines):
        if match := pattern.search(line):
            after = "".join(lines[number + 1 : number + 2])
            yield number, match, _bare(line, pattern) or _bare(after, pattern)


def _bare(line: str, pattern: re.Pattern[str]) -> str:
    """Return a line without its silencing comment."""
    rest = pattern.sub("", line)
    return re.sub(r"\s+", "", re.sub(r"(?://|/\*|#|\*/|\{/\*|\*/\}).*$", "", rest)).strip("()")
