"""Every test runner we know: how to recognise it in a project, how to start it, how to read it."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from flyball.tools.call.protocol import CallContext
from flyball.tools.runner.console import from_cargo, from_pytest_steps, from_text
from flyball.tools.runner.layout import (
    READ_TESTS,
    Land,
    depends_on,
    npm_script,
    python_tools,
    table_of,
    text_of,
    texts_of_tests,
)
from flyball.tools.runner.report import from_go_json, from_jest, from_junit, from_unittest_json
from flyball.tools.runner.start_env import program_of, python_of
from flyball.tools.runner.tally import Tally, plain
from flyball.tools.runner.unittests import PROGRAM

Read = Callable[[str, bytes | None], Tally | None]
Argv = Callable[[CallContext, Land, Sequence[str]], list[str]]


class Runner(NamedTuple):
    """One test runner."""

    name: str
    is_here: Callable[[Land], bool]
    argv: Argv
    read: Read


_CASE = re.compile(r"TestCase|unittest|^\s*(?:async )?def test", re.M)
_FUNCTION = re.compile(r"^(?:async )?def test|^import pytest|^from pytest\b", re.M)


def _uses_pytest(land: Land) -> bool:
    wanted = [p for p in land.python if re.fullmatch(r"(?:.*/)?(?:test_[^/]*|[^/]*_test)\.py", p)]
    options = _pytest_options(land.root)
    if options is not None and (wanted or "python_files" in options or "doctest" in options):
        return True
    return bool(wanted) and any(_FUNCTION.search(text) for text in texts_of_tests(land))


def _pytest_options(root: Path) -> str | None:
    """How pytest is configured, in whatever form, or None where it is not."""
    for name, mark in (("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")):
        if mark in (text := text_of(root / name)):
            return text.partition(mark)[2]
    for name in ("pytest.ini", ".pytest.ini", "pytest.toml"):
        if (root / name).exists():
            return text_of(root / name)
    if "pytest" in (tools := python_tools(root)):
        return json.dumps(table_of(tools["pytest"]), default=str)
    has_conftest = any((root / name).exists() for name in ("conftest.py", "tests/conftest.py"))
    return "" if has_conftest else None


def _script_of(name: str, root: Path) -> list[str] | None:
    """The words of the project's test script, where it is nothing but this runner."""
    script = npm_script(root, "test")
    if not script or npm_script(root, "pretest") or re.search(r"[&|;<>`$()]", script):
        return None
    try:
        words = shlex.split(script)
    except ValueError:
        return None
    words = words[1:] if words[:1] == ["npx"] else words
    return words[1:] if words[:1] == [name] else None


def _runs_script(name: str) -> Callable[[Land], bool]:
    def is_here(land: Land) -> bool:
        if npm_script(land.root, "test"):
            return _script_of(name, land.root) is not None
        return depends_on(land.root, name)

    return is_here


def _uses_npm(client: str) -> Callable[[Land], bool]:
    return lambda land: bool(npm_script(land.root, "test")) and _client(land.root) == client


def _client(root: Path) -> str:
    if (root / "pnpm-lock.yaml").exists():
        return "pnpm"
    return "yarn" if (root / "yarn.lock").exists() else "npm"


def _has_go_tests(land: Land) -> bool:
    return land.has_go_tests and (land.root / "go.mod").exists()


def _has_cargo(land: Land) -> bool:
    return (land.root / "Cargo.toml").exists()


_TARGET = re.compile(r"^(?:[\w.-]+[ \t]+)*test(?:[ \t]+[\w.-]+)*[ \t]*:(?![:=]*=)", re.M)


def _has_make_target(land: Land) -> bool:
    names = ("GNUmakefile", "makefile", "Makefile")
    return any(_TARGET.search(text_of(land.root / name)) for name in names)


def _pytest(context: CallContext, _land: Land, args: Sequence[str]) -> list[str]:
    return [
        python_of(context),
        *("-m", "pytest", "-v", "--color=no"),
        *("-o", f"cache_dir={context.shelf / 'cache'}", "-o", "junit_family=xunit1"),
        f"--junitxml={context.report}",
        *args,
    ]


def _unittest(context: CallContext, land: Land, args: Sequence[str]) -> list[str]:
    if "django" in text_of(context.workdir / "manage.py"):
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


def _jest(context: CallContext, _land: Land, args: Sequence[str]) -> list[str]:
    own = _script_of("jest", context.workdir) or []
    report = ["--ci", "--json", f"--outputFile={context.report}"]
    return [program_of(context, "jest"), *own, *report, *args]


def _vitest(context: CallContext, _land: Land, args: Sequence[str]) -> list[str]:
    own = _script_of("vitest", context.workdir) or []
    own = [word for word in own if word not in ("run", "watch", "dev", "--watch", "-w")]
    report = ["--reporter=default", "--reporter=json", f"--outputFile.json={context.report}"]
    return [program_of(context, "vitest"), "run", *own, *report, *args]


def _npm(client: str) -> Argv:
    def argv(context: CallContext, _land: Land, args: Sequence[str]) -> list[str]:
        extra = ["--", *args] if args and client == "npm" else list(args)
        return [program_of(context, client), "test", *extra]

    return argv


def _go(_context: CallContext, _land: Land, args: Sequence[str]) -> list[str]:
    has_package = any(not word.startswith("-") for word in args)
    return ["go", "test", "-json", *args, *(() if has_package else ("./...",))]


def _plain(*fixed: str) -> Argv:
    def argv(_context: CallContext, _land: Land, args: Sequence[str]) -> list[str]:
        return [*fixed, *args]

    return argv


def _reported(read: Callable[[bytes], Tally | None]) -> Read:
    def either(text: str, report: bytes | None) -> Tally | None:
        return (read(report) if report else None) or from_text(text)

    return either


def _read_pytest(text: str, report: bytes | None) -> Tally | None:
    return _reported(from_junit)(text, report) or from_pytest_steps(text)


def _printed(read: Callable[[str], Tally | None]) -> Read:
    def only(text: str, _report: bytes | None) -> Tally | None:
        return read(plain(text))

    return only


def _has_python_tests(land: Land) -> bool:
    is_more_than_read = len(land.python) > READ_TESTS
    return is_more_than_read or any(_CASE.search(text) for text in texts_of_tests(land))


RUNNERS: tuple[Runner, ...] = (
    Runner("pytest", _uses_pytest, _pytest, _read_pytest),
    Runner("unittest", _has_python_tests, _unittest, _reported(from_unittest_json)),
    Runner("vitest", _runs_script("vitest"), _vitest, _reported(from_jest)),
    Runner("jest", _runs_script("jest"), _jest, _reported(from_jest)),
    Runner("npm", _uses_npm("npm"), _npm("npm"), _printed(from_text)),
    Runner("pnpm", _uses_npm("pnpm"), _npm("pnpm"), _printed(from_text)),
    Runner("yarn", _uses_npm("yarn"), _npm("yarn"), _printed(from_text)),
    Runner("go", _has_go_tests, _go, _printed(from_go_json)),
    Runner("cargo", _has_cargo, _plain("cargo", "test", "--no-fail-fast"), _printed(from_cargo)),
    Runner("make", _has_make_target, _plain("make", "test"), _printed(from_text)),
)

BY_NAME: dict[str, Runner] = {runner.name: runner for runner in RUNNERS}


def runners_of(land: Land) -> tuple[str, ...]:
    """The runners this project can be tested with, the best first."""
    found = [runner.name for runner in RUNNERS if runner.is_here(land)]
    if {"vitest", "jest"} & set(found):
        found = [name for name in found if name not in ("npm", "pnpm", "yarn")]
    return tuple(found)
