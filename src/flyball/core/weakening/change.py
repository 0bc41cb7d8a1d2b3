"""A whole change, judged file by file and across files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import groupby

from flyball.core.terms.changed_test import ChangedTest
from flyball.core.terms.evidence import Weakened
from flyball.core.weakening.config.edits import Elsewhere, config_weakenings, settings_in
from flyball.core.weakening.data import compare_data
from flyball.core.weakening.features import only_lost_code, vanished
from flyball.core.weakening.finding import Compared, changed_test
from flyball.core.weakening.paths import is_example, is_expectation, is_test_config, is_test_path
from flyball.core.weakening.python.modules import compare_modules
from flyball.core.weakening.python.routine import read_module
from flyball.core.weakening.renames import Renames, renames_between
from flyball.core.weakening.replaced import Removals, with_removals, with_replacements
from flyball.core.weakening.scripts.comparing import compare_scripts
from flyball.core.weakening.scripts.conditions import features_in
from flyball.core.weakening.silencing import silencings
from flyball.core.weakening.styles import Script, read_script
from flyball.core.weakening.styles.family import Family, family_of
from flyball.core.weakening.styles.unchanged import (
    without_gone_modules,
    without_product,
    without_unchanged,
)

Files = Mapping[str, str | None]
Given = Mapping[str, bytes | str | None]


def weakenings(before: Files, after: Files) -> tuple[Weakened, ...]:
    """Where the tests got easier to pass between two states of the same files.

    Both map paths to texts; None or a missing path means that the file is not there. Unchanged
    files may be left out. More tests and assertions, moved tests and new formatting are fine.
    """
    compared = _compared(before, after)
    found = {w for one in compared for w in one.findings}
    lost = [w for w in found if w.kind == "removed-test" and after.get(w.path) is None]
    for path, group in groupby(sorted(lost, key=_place), key=lambda w: w.path):
        names = ", ".join(w.detail.removesuffix(" was removed") for w in [*group][:5])
        found.add(Weakened(path, 1, "deleted-file", f"deleted with its tests: {names}"))
    return tuple(sorted(found.difference(lost), key=_place))


def _place(found: Weakened) -> tuple[str, int, str, str]:
    return found.path, found.line, found.kind, found.detail


def compare_tests(before: Given, after: Given) -> tuple[ChangedTest, ...]:
    """Every test that a change touched, with both texts and how they compare.

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
    is_cut = only_lost_code(old, new)
    removals = Removals(renames.undefined, vanished(old, new), deleted, is_cut)
    return [
        *with_removals(with_replacements(_tests(old, new, renames)), removals),
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
    return [text for path, text in files.items() if family_of(path) and not is_test_path(path)]


def _tests(
    before: Mapping[str, str], after: Mapping[str, str], renames: Renames
) -> Iterator[Compared]:
    """Python by its syntax tree; other languages, and Python that does not parse, by style."""
    old = {p: text for p, text in before.items() if _holds_tests(p, text)}
    new = {p: text for p, text in after.items() if _holds_tests(p, text)}
    modules = {p: read_module(p, text) for p, text in old.items() if p.endswith(".py")}
    modules_now = {p: read_module(p, text) for p, text in new.items() if p.endswith(".py")}
    broken = {p for p, module in (*modules.items(), *modules_now.items()) if module is None}
    yield from compare_modules(
        {p: module for p, module in modules.items() if module and p not in broken},
        {p: module for p, module in modules_now.items() if module and p not in broken},
        renames,
    )
    yield from compare_scripts(
        *_scripts(
            {p: text for p, text in old.items() if p in broken or not p.endswith(".py")},
            {p: text for p, text in new.items() if p in broken or not p.endswith(".py")},
            before.keys() - after.keys(),
        ),
        renames,
        features_in(before, after),
    )


def _scripts(
    before: Mapping[str, str], after: Mapping[str, str], gone: Set[str]
) -> tuple[dict[str, Script], dict[str, Script]]:
    """Both sides, read; tests that are the same in both are dear to read and left out.

    Files in `gone` are no more, whether they held tests or not.
    """
    old, new = dict[str, Script](), dict[str, Script]()
    for path in sorted(before.keys() | after.keys()):
        family = family_of(path) or Family.OTHER
        was, now = (_test_part(path, family, side.get(path)) for side in (before, after))
        if was is not None and family is Family.RUST:
            was = without_gone_modules(path, was, now or "", gone)
        has_rest = False
        if was is not None and now is not None:
            whole = was
            was, now = without_unchanged(family, was, now)
            has_rest = was != whole
        if was is not None:
            old[path] = read_script(path, was, family, is_understood=has_rest)
        if now is not None:
            new[path] = read_script(path, now, family, is_understood=has_rest)
    return old, new


def _test_part(path: str, family: Family, text: str | None) -> str | None:
    """What of a file is about tests; told before any test is left out, or nobody could tell."""
    if text is None or family is not Family.RUST or is_test_path(path):
        return text
    return without_product(text)


def _holds_tests(path: str, text: str) -> bool:
    if family_of(path) is None or is_expectation(path):
        return False
    return is_test_path(path) or path.endswith("conftest.py") or _is_rust_test(path, text)


def _is_rust_test(path: str, text: str) -> bool:
    """Rust keeps unit tests beside the code."""
    return path.endswith(".rs") and ("#[cfg(test)]" in text or "#[test]" in text)
