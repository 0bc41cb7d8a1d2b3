"""Python: pytest, unittest and Django's own runner."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

from flyball.core.suite.case import SuiteCase
from flyball.regex import regex
from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.layout import READ_TESTS, Land, python_tools, table_of, texts_of_tests
from flyball.tools.runner.reports.console import from_pytest_steps, from_text
from flyball.tools.runner.reports.documents import from_own
from flyball.tools.runner.reports.junit import junit, pytest_case
from flyball.tools.runner.reports.output import RunnerOutput, reported
from flyball.tools.runner.row import Runner, accepts, adding
from flyball.tools.runner.rows.unittest_program import PROGRAM
from flyball.tools.runner.start_env import python_of
from flyball.tools.runner.tally import Tally

_CASE = regex(r"TestCase|unittest|^\s*(?:async )?def test", re.M)
_FUNCTION = regex(r"^(?:async )?def test|^import pytest|^from pytest\b", re.M)
_WANTED = regex(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py")


def _uses_pytest(land: Land) -> bool:
    wanted = [path for path in land.python if _WANTED.fullmatch(path)]
    options = pytest_options(land)
    if options is not None and (wanted or "python_files" in options or "doctest" in options):
        return True
    return bool(wanted) and any(_FUNCTION.search(text) for text in texts_of_tests(land))


def settles_pytest(land: Land) -> bool:
    """Whether pytest is configured at the top of this tree, for everything below it."""
    return pytest_options(land, ("conftest.py",)) is not None


def pytest_options(
    land: Land, conftests: Sequence[str] = ("conftest.py", "tests/conftest.py")
) -> str | None:
    """How pytest is configured, in whatever form, or None where it is not."""
    for name, mark in (("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")):
        if mark in (text := land.text(name)):
            return text.partition(mark)[2]
    for name in ("pytest.ini", ".pytest.ini", "pytest.toml"):
        if land.has(name):
            return land.text(name)
    if "pytest" in (tools := python_tools(land)):
        return json.dumps(table_of(tools["pytest"]), default=str)
    return "" if land.has(*conftests) else None


def _pytest(context: CallContext, _land: Land, args: Sequence[str]) -> list[str]:
    return [
        python_of(context),
        *("-m", "pytest", "-v", "--color=no"),
        *_pytest_report(context),
        *args,
    ]


def _pytest_report(context: CallContext) -> list[str]:
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


def _has_python_tests(land: Land) -> bool:
    is_more_than_read = len(land.python) > READ_TESTS
    return is_more_than_read or any(_CASE.search(text) for text in texts_of_tests(land))


def _unittest(context: CallContext, land: Land, args: Sequence[str]) -> list[str]:
    if "django" in land.text("manage.py"):
        return [python_of(context), "manage.py", "test", "-v", "2", *args]
    tops = json.dumps(sorted(_tops(land)))
    return [python_of(context), "-c", PROGRAM, os.fspath(context.report), tops, *args]


def _tops(land: Land) -> set[tuple[str, str]]:
    """The directories from which every test module can be imported, and what to look for."""
    found: set[tuple[str, str]] = set()
    for path in land.python:
        top = (land.root / path).parent
        while top != land.root and (top / "__init__.py").exists():
            top = top.parent
        pattern = "test*.py" if Path(path).name.startswith("test") else "*_test.py"
        found.add((os.fspath(top), pattern))
    return found


def _pytest_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*files, *(case.spelling or case.label for case in cases)]))


def _unittest_select(files: Sequence[str], cases: Sequence[SuiteCase]) -> tuple[str, ...] | None:
    """By dotted names; a file may be importable from several places, so it is not named."""
    names = tuple(dict.fromkeys(case.spelling for case in cases if case.spelling))
    return None if files or len(names) < len(cases) else names or None


ROWS: tuple[Runner, ...] = (
    Runner(
        "pytest",
        _uses_pytest,
        _pytest,
        _read_pytest,
        accepts(
            "-x -v -vv -q -s -l --lf --ff --nf --sw --last-failed --failed-first --stepwise"
            " --showlocals --exitfirst --verbose --quiet --no-header --no-summary"
            " --full-trace --runxfail --strict-markers --collect-only --co --doctest-modules",
            "-k -m -n -r --maxfail --tb --durations --durations-min --deselect --ignore"
            " --ignore-glob --timeout --reruns --show-capture --verbosity --capture",
        ),
        _pytest_select,
        tell=adding(_pytest_report),
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
        tell=adding(lambda _context: ("-v",)),
    ),
)
