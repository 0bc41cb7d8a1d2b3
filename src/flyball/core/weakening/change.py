"""A whole change, judged file by file and across files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from flyball.core.terms.evidence import Weakened
from flyball.core.weakening.config import config_weakenings
from flyball.core.weakening.lines import line_weakenings
from flyball.core.weakening.paths import is_expectation, is_test_config, is_test_path
from flyball.core.weakening.python import python_weakenings
from flyball.core.weakening.routine import read_module

Files = Mapping[str, str | None]

CODE = re.compile(
    r".*\.(?:py|[cm]?[jt]sx?|go|rs|java|kt|kts|scala|groovy|cs|fs|vb|rb|php|swift|dart|exs?|c|cc|cpp|cxx"
    r"|h|hpp|m|mm|vue|svelte)"
)


def weakenings(before: Files, after: Files) -> tuple[Weakened, ...]:
    """Where the tests got easier to pass between two states of the same files.

    Both map paths to texts; None or a missing path means that the file is not there. Unchanged
    files may be left out. More tests and assertions, moved tests and new formatting are fine.
    """
    paths = [p for p in sorted({*before, *after}) if before.get(p) != after.get(p)]
    found = [
        *_tests({p: before.get(p) for p in paths}, {p: after.get(p) for p in paths}),
        *(w for p in paths if is_expectation(p) for w in _expectation(p, before, after)),
        *(
            w
            for p in paths
            if is_test_config(p)
            for w in config_weakenings(p, before.get(p), after.get(p))
        ),
    ]
    return tuple(sorted(set(found), key=lambda w: (w.path, w.line, w.kind, w.detail)))


def _tests(before: Files, after: Files) -> Iterator[Weakened]:
    """Python by its syntax tree; other languages, and Python that does not parse, by line."""
    old = {p: text for p, text in before.items() if text is not None and _holds_tests(p, text)}
    new = {p: text for p, text in after.items() if text is not None and _holds_tests(p, text)}
    python = {p: read_module(p, text) for p, text in old.items() if p.endswith(".py")}
    python_now = {p: read_module(p, text) for p, text in new.items() if p.endswith(".py")}
    broken = {p for p, module in (*python.items(), *python_now.items()) if module is None}
    yield from python_weakenings(
        {p: module for p, module in python.items() if module and p not in broken},
        {p: module for p, module in python_now.items() if module and p not in broken},
    )
    yield from line_weakenings(
        {p: text for p, text in old.items() if p in broken or not p.endswith(".py")},
        {p: text for p, text in new.items() if p in broken or not p.endswith(".py")},
    )


def _holds_tests(path: str, text: str) -> bool:
    if not CODE.fullmatch(path) or is_expectation(path):
        return False
    return is_test_path(path) or path.endswith("conftest.py") or _is_rust_test(path, text)


def _is_rust_test(path: str, text: str) -> bool:
    """Rust keeps unit tests beside the code."""
    return path.endswith(".rs") and "#[cfg(test)]" in text


def _expectation(path: str, before: Files, after: Files) -> Iterator[Weakened]:
    if before.get(path) is not None:
        what = "was deleted" if after.get(path) is None else "was rewritten"
        yield Weakened(path, 1, "changed-expected", f"recorded output {what}")
