"""Every test runner we know: how to recognise it in a project, how to start it, how to read it."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from flyball.tools.runner.tally import (
    Tally,
    from_cargo,
    from_go_json,
    from_jest_json,
    from_junit,
    from_text,
    from_unittest,
)

SKIPPED_DIRS = frozenset(
    {".git", "node_modules", ".venv", "venv", ".tox", "target", "build", "dist"}
)
LOOKED_AT = 20_000


class Setting(NamedTuple):
    """Where a suite is started: the tree, and the project whose installed tools it may use."""

    root: Path
    project: Path
    env: Mapping[str, str]
    report: Path
    """Where the runner may leave a machine-readable report."""


class Runner(NamedTuple):
    """One test runner."""

    name: str
    is_here: Callable[[Path], bool]
    argv: Callable[[Setting, Sequence[str]], list[str]]
    read: Callable[[str, bytes | None], Tally | None]


def python_of(setting: Setting) -> str:
    """The project's interpreter: its own virtual environment's, or the one on the path."""
    for base in dict.fromkeys((setting.root, setting.project)):
        for name in (".venv", "venv", "env"):
            candidate = base / name / "bin" / "python"
            if candidate.exists():
                return os.fspath(candidate)
    return "python3"


def binary_of(setting: Setting, name: str) -> str:
    """A program that npm installed for the project."""
    for base in dict.fromkeys((setting.root, setting.project)):
        candidate = base / "node_modules" / ".bin" / name
        if candidate.exists():
            return os.fspath(candidate)
    return name


def _files(root: Path) -> Iterator[tuple[str, str]]:
    seen = 0
    for directory, names, files in os.walk(root):
        names[:] = sorted(n for n in names if n not in SKIPPED_DIRS and not n.startswith("."))
        for file in files:
            seen += 1
            if seen > LOOKED_AT:
                return
            yield directory, file


_PYTHON_TEST = re.compile(r"^(?:test_.*|.*_test|tests?)\.py$")


def has_python_tests(root: Path) -> bool:
    return any(_PYTHON_TEST.match(file) for _, file in _files(root))


def _configures_pytest(root: Path) -> bool:
    if (root / "pytest.ini").exists() or (root / "conftest.py").exists():
        return True
    for name, mark in (("setup.cfg", "[tool:pytest]"), ("tox.ini", "[pytest]")):
        if mark in text_of(root / name):
            return True
    tool: Any = toml_of(root / "pyproject.toml").get("tool", {})
    return isinstance(tool, dict) and "pytest" in tool


def _uses_pytest(root: Path) -> bool:
    if _configures_pytest(root):
        return True
    for directory, file in _files(root):
        if _PYTHON_TEST.match(file):
            text = text_of(Path(directory) / file)
            if "import pytest" in text or re.search(r"^(?:async )?def test", text, re.M):
                return True
    return False


def package_json(root: Path) -> dict[str, Any]:
    try:
        found = json.loads(text_of(root / "package.json") or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def npm_script(root: Path, name: str) -> str:
    scripts = package_json(root).get("scripts")
    script = scripts.get(name, "") if isinstance(scripts, dict) else ""
    return script if isinstance(script, str) and "no test specified" not in script else ""


def _runs(name: str) -> Callable[[Path], bool]:
    """Whether the project's test script is this runner itself."""
    return lambda root: (
        re.match(rf"^(?:npx )?{name}(?: run)?(?: [\w./-]+)*$", npm_script(root, "test")) is not None
    )


def npm_client(root: Path) -> str:
    if (root / "pnpm-lock.yaml").exists():
        return "pnpm"
    return "yarn" if (root / "yarn.lock").exists() else "npm"


def _uses_npm(client: str) -> Callable[[Path], bool]:
    return lambda root: bool(npm_script(root, "test")) and npm_client(root) == client


def _has_go_tests(root: Path) -> bool:
    return (root / "go.mod").exists() and any(f.endswith("_test.go") for _, f in _files(root))


def _has_make_target(root: Path) -> bool:
    return any(
        re.search(r"^test\s*:", text_of(root / name), re.M) for name in ("Makefile", "makefile")
    )


def _pytest(setting: Setting, args: Sequence[str]) -> list[str]:
    fixed = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--color=no"]
    return [python_of(setting), *fixed, f"--junitxml={setting.report}", *args]


def _unittest(setting: Setting, args: Sequence[str]) -> list[str]:
    return [python_of(setting), "-m", "unittest", "-v", *args]


def _jest(setting: Setting, args: Sequence[str]) -> list[str]:
    report = f"--outputFile={setting.report}"
    return [binary_of(setting, "jest"), "--ci", "--json", report, *args]


def _vitest(setting: Setting, args: Sequence[str]) -> list[str]:
    report = f"--outputFile={setting.report}"
    return [binary_of(setting, "vitest"), "run", "--reporter=json", report, *args]


def _npm(client: str) -> Callable[[Setting, Sequence[str]], list[str]]:
    def argv(_setting: Setting, args: Sequence[str]) -> list[str]:
        return [client, "test", *(["--", *args] if args else [])]

    return argv


def _plain(*fixed: str) -> Callable[[Setting, Sequence[str]], list[str]]:
    return lambda _setting, args: [*fixed, *args]


def _go(_setting: Setting, args: Sequence[str]) -> list[str]:
    return ["go", "test", "-json", *(args or ["./..."])]


def _report_or(
    read: Callable[[bytes], Tally | None],
) -> Callable[[str, bytes | None], Tally | None]:
    return lambda text, report: (read(report) if report else None) or from_text(text)


RUNNERS: tuple[Runner, ...] = (
    Runner("pytest", _uses_pytest, _pytest, _report_or(from_junit)),
    Runner("unittest", has_python_tests, _unittest, lambda text, _: from_unittest(text)),
    Runner("vitest", _runs("vitest"), _vitest, _report_or(from_jest_json)),
    Runner("jest", _runs("jest"), _jest, _report_or(from_jest_json)),
    Runner("npm", _uses_npm("npm"), _npm("npm"), lambda text, _: from_text(text)),
    Runner("pnpm", _uses_npm("pnpm"), _npm("pnpm"), lambda text, _: from_text(text)),
    Runner("yarn", _uses_npm("yarn"), _npm("yarn"), lambda text, _: from_text(text)),
    Runner("go", _has_go_tests, _go, lambda text, _: from_go_json(text)),
    Runner(
        "cargo",
        lambda root: (root / "Cargo.toml").exists(),
        _plain("cargo", "test"),
        lambda text, _: from_cargo(text),
    ),
    Runner("make", _has_make_target, _plain("make", "test"), lambda text, _: from_text(text)),
)

BY_NAME: dict[str, Runner] = {runner.name: runner for runner in RUNNERS}


def runners_of(root: Path) -> tuple[str, ...]:
    """The runners this project can be tested with, the best first."""
    found = [runner.name for runner in RUNNERS if runner.is_here(root)]
    if {"vitest", "jest"} & set(found):
        found = [name for name in found if name not in ("npm", "pnpm", "yarn")]
    return tuple(found)


def text_of(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def toml_of(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text_of(path))
    except tomllib.TOMLDecodeError:
        return {}
