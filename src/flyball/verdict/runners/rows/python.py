"""Python: pytest, unittest and Django's own runner."""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from flyball.regex import regex
from flyball.verdict.case import SuiteCase
from flyball.verdict.part import is_within
from flyball.verdict.runners.layout import (
    READ_TESTS,
    FileIndex,
    python_tools,
    table_of,
    texts_of_tests,
)
from flyball.verdict.runners.pace import Steps
from flyball.verdict.runners.reports.console import from_pytest_steps, from_text
from flyball.verdict.runners.reports.documents import from_own
from flyball.verdict.runners.reports.junit import junit, pytest_case
from flyball.verdict.runners.reports.output import RunnerOutput, reported
from flyball.verdict.runners.row import Runner, accepts, adding, split_words
from flyball.verdict.runners.rows.unittest_program import PROGRAM
from flyball.verdict.runners.start_context import StartContext
from flyball.verdict.runners.start_env import python_of
from flyball.verdict.runners.tally import Tally

_CASE = regex(r"TestCase|unittest|^\s*(?:async )?def test", re.M)
_FUNCTION = regex(r"^(?:async )?def test|^import pytest|^from pytest\b", re.M)
_WANTED = regex(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")
_OTHER_NAME = regex(r"(?:.*/)?(?:tests_[^/]*|[^/]*_tests|tests)\.py")
"""File names that pytest collects only if configured."""
_CALL = regex(r"(?:^|[\s\"'&;|(])(?:pytest|py\.test)(?=[\s\"',]|$)([^\n]*)", re.M)
_SCRIPTS = ("hatch", "pdm", "poe", "taskipy", "rye", "tox")
"""Tables of pyproject.toml whose words are commands."""


def _uses_pytest(land: FileIndex) -> bool:
    wanted = [path for path in land.python if _WANTED.fullmatch(path)]
    options = pytest_options(land)
    if options is not None and (wanted or "python_files" in options or "doctest" in options):
        return True
    if wanted and any(_FUNCTION.search(text) for text in texts_of_tests(land)):
        return True
    return bool(_configured_paths(land) or _oddly_named(land))


def _oddly_named(land: FileIndex) -> tuple[str, ...]:
    """Return the test files that pytest would not find itself, so that they must be named."""
    if any(_WANTED.fullmatch(path) for path in land.python):
        return ()
    odd = [path for path in land.python if _OTHER_NAME.fullmatch(path)][:READ_TESTS]
    return tuple(odd) if any(_FUNCTION.search(land.text(path)) for path in odd) else ()


def _configured_paths(land: FileIndex) -> tuple[str, ...]:
    """Return the paths that the project's own commands give to pytest.

    Empty if one of them gives none, or if it is unclear which words are paths.
    """
    found: dict[str, None] = {}
    for text in _command_texts(land):
        for call in _CALL.finditer(text):
            paths = _paths_in(call[1], land)
            if not paths:
                return ()
            found.update(dict.fromkeys(paths))
    return tuple(found)


def _command_texts(land: FileIndex) -> Iterator[str]:
    """Yield the texts that contain the project's own commands."""
    yield from (land.text(name) for name in ("tox.ini", "noxfile.py", "Makefile"))
    waiting: list[object] = [python_tools(land).get(name) for name in _SCRIPTS]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            waiting += cast("list[object]", value)
        elif isinstance(value, dict):
            waiting += cast("dict[str, object]", value).values()


def _paths_in(words: str, land: FileIndex) -> tuple[str, ...]:
    """Return the test files and directories that a command names; nothing if in doubt."""
    found: list[str] = []
    before = ""
    for word in re.findall(r"[^\s\"',\[\](){}]+", words.partition("#")[0]):
        path = posixpath.normpath(word.removeprefix("posargs:").partition("::")[0])
        if not word.startswith("-") and any(is_within(file, path) for file in land.python):
            if before.startswith("-") and "=" not in before and not _PLAIN.fullmatch(before):
                return ()
            found.append(path)
        before = word
    return tuple(found)


_PLAIN = regex(r"-[vqxsl]+|-r\w+|--verbose|--quiet|--strict-markers")
"""Options without a value."""


def settles_pytest(land: FileIndex) -> bool:
    """Return whether pytest is configured at the top of this tree, for everything below it."""
    return pytest_options(land, ("conftest.py",)) is not None


def pytest_options(
    land: FileIndex, conftests: Sequence[str] = ("conftest.py", "tests/conftest.py")
) -> str | None:
    """Return pytest's configuration in any form, or None if it has none."""
    for name, mark in (("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")):
        if mark in (text := land.text(name)):
            return text.partition(mark)[2]
    for name in ("pytest.ini", ".pytest.ini", "pytest.toml"):
        if land.has(name):
            return land.text(name)
    if "pytest" in (tools := python_tools(land)):
        return json.dumps(table_of(tools["pytest"]), default=str)
    return "" if land.has(*conftests) else None


def _pytest(context: StartContext, land: FileIndex, args: Sequence[str]) -> list[str]:
    own = () if split_words(_PYTEST_WORDS, args)[1] else _own_paths(land)
    start = [python_of(context), "-m", "pytest", "-v", "--color=no"]
    return [*start, *_pytest_report(context), *args, *own]


def _own_paths(land: FileIndex) -> tuple[str, ...]:
    """Return the paths for pytest if its own configuration has none."""
    settled = pytest_options(land) or ""
    if "testpaths" in settled or "python_files" in settled:
        return ()
    return _configured_paths(land) or _oddly_named(land)


_PYTEST_WORDS = accepts(
    "-x -v -vv -q -s -l --lf --ff --nf --sw --last-failed --failed-first --stepwise"
    " --showlocals --exitfirst --verbose --quiet --no-header --no-summary"
    " --full-trace --runxfail --strict-markers --collect-only --co --doctest-modules",
    "-k -m -n -r --maxfail --tb --durations --durations-min --deselect --ignore"
    " --ignore-glob --timeout --reruns --show-capture --verbosity --capture",
)


def _pytest_report(context: StartContext) -> list[str]:
    return [
        *("-o", f"cache_dir={context.shelf / 'cache'}", "-o", "junit_family=xunit1"),
        f"--junitxml={context.report}",
        # A project that stops at its first failure would hide how the other tests end, and so
        # would one file that cannot be loaded.
        *("--maxfail=0", "--continue-on-collection-errors"),
    ]


_READ_JUNIT = reported(junit(pytest_case, twice=True), from_text)


def _read_pytest(said: RunnerOutput) -> Tally | None:
    return _READ_JUNIT(said) or from_pytest_steps(said.text)


def _has_python_tests(land: FileIndex) -> bool:
    is_more_than_read = len(land.python) > READ_TESTS
    return is_more_than_read or any(_CASE.search(text) for text in texts_of_tests(land))


def _unittest(context: StartContext, land: FileIndex, args: Sequence[str]) -> list[str]:
    if "django" in land.text("manage.py"):
        return [python_of(context), "manage.py", "test", "-v", "2", *args]
    tops = json.dumps(sorted(_tops(land)))
    return [python_of(context), "-c", PROGRAM, os.fspath(context.report), tops, *args]


def _tops(land: FileIndex) -> set[tuple[str, str]]:
    """Return the directories from which every test module can be imported, and what to look for."""
    found: set[tuple[str, str]] = set()
    for path in land.python:
        top = (land.root / path).parent
        while top != land.root and (top / "__init__.py").exists():
            top = top.parent
        ending = "*_tests.py" if path.endswith("_tests.py") else "*_test.py"
        pattern = "test*.py" if Path(path).name.startswith("test") else ending
        found.add((os.fspath(top), pattern))
    return found


def _pytest_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*files, *(case.spelling or case.label for case in cases)]))


def _unittest_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    """Return a selection by dotted names rather than files, since a file may be importable from
    several places."""
    names = tuple(dict.fromkeys(case.spelling for case in cases if case.spelling))
    return None if files or len(names) < len(cases) else names or None


ROWS: tuple[Runner, ...] = (
    Runner(
        "pytest",
        _uses_pytest,
        _pytest,
        _read_pytest,
        _PYTEST_WORDS,
        _pytest_select,
        steps=Steps(
            regex(
                r"\[gw\d+\].* (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S+::.*?) *$"
                r"|(\S+::.+?) (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b"
            ),
            regex(r"(\S+\.py::\S.*?) *$"),
        ),
        tell=adding(_pytest_report),
        keeps_order=True,
    ),
    Runner(
        "unittest",
        _has_python_tests,
        _unittest,
        reported(from_own, from_text),
        accepts(
            "-f -v -b -q --failfast --verbose --buffer --keepdb --parallel",
            "-k --tag --exclude-tag",
        ),
        _unittest_select,
        steps=Steps(
            regex(r"(?:(\w+ \([\w.]+\))|.*) \.\.\. (?:ok|FAIL|ERROR|skipped|expected|unexpected)"),
            regex(r"(\w+ \([\w.]+\))(?: \.\.\. ?)?$"),
        ),
        tell=adding(lambda _context: ("-v",)),
        keeps_order=True,
    ),
)
