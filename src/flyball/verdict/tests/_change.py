"""Compare a whole change, file by file and across files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from flyball.core.terms.evidence import ChangedTest, Weakened
from flyball.core.terms.test_paths import is_example, is_expectation, is_test_config, is_test_path
from flyball.errors import MissingExtra
from flyball.verdict.tests._compare import comment_lines, compare_cases
from flyball.verdict.tests._conditions import features_in
from flyball.verdict.tests._config.edits import Elsewhere, config_weakenings, settings_in
from flyball.verdict.tests._data import compare_data
from flyball.verdict.tests._features import only_lost_code, vanished
from flyball.verdict.tests._finding import Compared, changed_test
from flyball.verdict.tests._lines import read_lines
from flyball.verdict.tests._model import TestCase
from flyball.verdict.tests._reader import read_tests
from flyball.verdict.tests._renames import renames_between
from flyball.verdict.tests._replaced import Removals, with_removals, with_replacements
from flyball.verdict.tests._silencing import silencings
from flyball.verdict.tests._tree import is_code, language_of

Files = Mapping[str, str | None]
Given = Mapping[str, bytes | str | None]


def weakenings(before: Files, after: Files) -> tuple[Weakened, ...]:
    """Return where the tests got easier to pass between two states of the same files.

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

    Both map paths to what the file holds; None or a missing path means that the file is not there.
    Files of the product belong to it: names that they exchanged are no other expectation in tests.
    What is binary or unchanged may be left out.

    One `ChangedTest` comes back for each test whose text changed, that moved, that is new or gone,
    or whose skips or rows changed around it; in the order of files and lines. It carries the path,
    suites and name from before (of a new test, those it has now); `became` is where a test that
    moved is found now. Without a function it is about the file: what it holds beside tests, data
    for tests, checks that were silenced, or, one for each, settings that decide which tests run
    and how strictly types are checked. Such settings are told only where they got weaker.
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
    """Leave out a file's empty top level if the other side has none to compare."""
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
    """Yield the cases that belong to tests: Rust keeps unit tests next to the code."""
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
