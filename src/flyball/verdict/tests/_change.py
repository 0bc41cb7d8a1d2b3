"""Compare a whole change, file by file and across files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from flyball.errors import MissingExtra
from flyball.regex import regex
from flyball.terms.evidence import ChangedTest, Weakened
from flyball.terms.test_paths import is_example, is_expectation, is_test_config, is_test_path
from flyball.verdict.tests._compare import comment_lines, compare_cases
from flyball.verdict.tests._conditions import features_in
from flyball.verdict.tests._config.edits import Elsewhere, config_weakenings, settings_in
from flyball.verdict.tests._finding import Compared, changed_test
from flyball.verdict.tests._lines import read_lines
from flyball.verdict.tests._model import TestCase
from flyball.verdict.tests._reader import read_tests
from flyball.verdict.tests._renames import renames_between
from flyball.verdict.tests._replaced import (
    Removals,
    only_lost_code,
    vanished,
    with_removals,
    with_replacements,
)
from flyball.verdict.tests._tree import is_code, language_of
from flyball.verdict.tests._words import style_of

Files = Mapping[str, str | None]
Given = Mapping[str, bytes | str | None]


def weakenings(before: Files, after: Files) -> tuple[Weakened, ...]:
    """Return where tests became easier to pass between two states of the same files.

    Both map paths to texts; None or a missing path means that the file is not there. Unchanged
    files may be left out. More tests and assertions, moved tests and new formatting are fine.
    """
    found = {w for one in _compared(before, after) for w in one.findings}
    lost = [w for w in found if w.kind == "removed-test" and after.get(w.path) is None]
    for path, group in groupby(sorted(lost, key=_place), key=lambda w: w.path):
        names = ", ".join(w.detail.removesuffix(" was removed") for w in [*group][:5])
        found.add(Weakened(path, 1, "deleted-file", f"deleted with its tests: {names}"))
    return tuple(sorted(found.difference(lost), key=_place))


def _place(found: Weakened) -> tuple[str, int, str, str]:
    return found.path, found.line, found.kind, found.detail


def compare_tests(before: Given, after: Given) -> tuple[ChangedTest, ...]:
    """Return every test that a change touched, with both texts and how they compare.

    Both arguments map paths to file contents; None or a missing path means that the file does not
    exist. Include the product's files: tests may follow names that those exchanged without changing
    an expectation. Binary and unchanged files may be left out.

    The result has one `ChangedTest` for each test whose text changed, that moved, that is new or
    gone, or whose skips or rows changed around it, in the order of files and lines. It has the old
    path, suites and name (the new ones for a new test); `became` is the new location of a test that
    moved. An entry without a function is about the file: its content besides tests, data for tests,
    silenced checks or, one for each, settings that decide which tests run and how strictly types
    are checked. Such settings are listed only if they became weaker.
    """
    compared = [one for one in _compared(_texts(before), _texts(after)) if not one.is_unchanged]
    ordered = sorted(compared, key=lambda one: (one.path, one.line, one.name))
    return tuple(map(changed_test, ordered))


def _texts(files: Given) -> dict[str, str | None]:
    return {path: _text(data) for path, data in files.items()}


def _text(data: bytes | str | None) -> str | None:
    if data is None or isinstance(data, str):
        return data
    return None if b"\0" in data else data.decode("utf-8", "replace")


def _compared(before: Files, after: Files) -> list[Compared]:
    paths = [p for p in sorted({*before, *after}) if before.get(p) != after.get(p)]
    old = {p: text for p in paths if (text := before.get(p)) is not None}
    new = {p: text for p in paths if (text := after.get(p)) is not None}
    gone = frozenset(old.keys() - new.keys())
    came = frozenset(new.keys() - old.keys())
    settings = Elsewhere(settings_in(old), settings_in(new), gone, came)
    renames = renames_between(_product(old), _product(new))
    deleted = {path: old[path] for path in gone}
    removals = Removals(renames.undefined, vanished(old, new), deleted, only_lost_code(old, new))
    was, now = _sides(old, new)
    cases = compare_cases(was, now, renames, features_in(old, new), comment_lines(new))
    return [
        *with_removals(with_replacements(cases), removals),
        *compare_data(old, new),
        *silencings(old, new),
        *(
            Compared(p, (), w.line, before.get(p), after.get(p), (w,))
            for p in paths
            if is_test_config(p) and not is_example(p)
            for w in config_weakenings(p, before.get(p), after.get(p), settings)
        ),
    ]


def _product(files: Mapping[str, str]) -> list[str]:
    return [text for path, text in files.items() if is_code(path) and not is_test_path(path)]


def _sides(
    old: Mapping[str, str], new: Mapping[str, str]
) -> tuple[dict[str, tuple[TestCase, ...]], dict[str, tuple[TestCase, ...]]]:
    """Read both sides in the same way: if one cannot be parsed, both are read by lines."""
    held = {p for side in (old, new) for p, text in side.items() if _holds_tests(p, text)}
    sides = tuple(
        {p: _read(p, text) for p, text in side.items() if p in held} for side in (old, new)
    )
    broken = {path for side in sides for path, cases in side.items() if cases is None}
    was, now = (
        {
            path: read_lines(path, texts[path]) if cases is None or path in broken else cases
            for path, cases in side.items()
        }
        for side, texts in zip(sides, (old, new), strict=True)
    )
    for path in was.keys() & now.keys():
        was[path], now[path] = _that_say(was[path], now[path]), _that_say(now[path], was[path])
    return was, now


def _that_say(cases: tuple[TestCase, ...], other: tuple[TestCase, ...]) -> tuple[TestCase, ...]:
    """Leave out a file's empty top level if there is nothing on the other side to compare it
    with."""
    is_compared = any(not case.name for case in other)
    return tuple([case for case in cases if case.name or case.steps or is_compared])


def _read(path: str, text: str) -> tuple[TestCase, ...] | None:
    if language_of(path) is None:
        return None
    try:
        cases = read_tests(path, text)
    except MissingExtra:
        # Where a grammar is missing, lines are better than nothing; whoever inverts says so.
        return None
    if not cases and text.strip():
        return None
    return tuple(_of_tests(path, cases))


def _of_tests(path: str, cases: tuple[TestCase, ...]) -> Iterator[TestCase]:
    """Yield the cases that belong to tests, since Rust keeps unit tests next to the code."""
    if not path.endswith(".rs") or is_test_path(path):
        yield from cases
        return
    suites = {case.suites for case in cases if case.is_test}
    yield from (case for case in cases if case.is_test or (case.suites in suites and case.suites))


def _holds_tests(path: str, text: str) -> bool:
    if not is_code(path) or is_expectation(path):
        return False
    is_rust = path.endswith(".rs") and ("#[cfg(test)]" in text or "#[test]" in text)
    return is_test_path(path) or path.endswith("conftest.py") or is_rust


PROSE = regex(
    r".*\.(?:md|rst|txt\.license|adoc)|README.*|LICENSE.*|requirements.*\.(?:txt|in)|\.git\w+|.*\.(?:css|svg|html?)"
)


def compare_data(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[Compared]:
    """Yield each data file that was rewritten, cut or deleted, and not just moved or extended."""
    kept = set(after.values())
    named = "\n".join(text for path, text in before.items() if is_code(path))
    for path, old in before.items():
        new = after.get(path)
        if not _is_data(path) or old in kept:
            continue
        found = _recorded(path, old, new) if is_expectation(path) else _data(path, old, new, named)
        if found:
            yield Compared(path, (), 1, old, new, (found,))


def _is_data(path: str) -> bool:
    if is_expectation(path):
        return True
    name = path.rpartition("/")[2]
    is_known = is_code(path) or is_test_config(path) or PROSE.fullmatch(name)
    return is_test_path(path) and not is_known


def _recorded(path: str, old: str, new: str | None) -> Weakened | None:
    """Return whether recorded output changed; a file of many snapshots may gain some."""
    if (
        new is not None
        and path.endswith(".snap")
        and not Counter(_lines(old)) - Counter(_lines(new))
    ):
        return None
    what = "was deleted" if new is None else "was rewritten"
    return Weakened(path, 1, "changed-expected", f"recorded output {what}")


def _data(path: str, old: str, new: str | None, named: str) -> Weakened | None:
    """Compare data: other values change an expectation; fewer lines cannot be judged."""
    if new is None:
        # What a changed file asked for by name went with those who asked for it; what nobody
        # names may be one of many cases that are found by looking into their folder.
        stem = path.rpartition("/")[2].partition(".")[0]
        kind = "changed-expected" if stem in named else "not-understood"
        return Weakened(path, 1, kind, "data for tests was deleted")
    lost = Counter(_lines(old)) - Counter(_lines(new))
    if not lost:
        return None
    if len(_lines(new)) < len(_lines(old)):
        return Weakened(path, 1, "not-understood", "data for tests lost lines")
    return Weakened(path, 1, "changed-expected", "data for tests was changed")


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


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
    """Yield old code that is newly hidden from a checker.

    Only otherwise identical lines count: new code with a cast is new code, and is judged as such.
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
    """Return the lines that nothing silences, neither on the line nor above it."""
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
