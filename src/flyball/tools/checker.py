"""The checks we know: how each is recognised, started, and what it speaks for."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from flyball.core.evidence import CheckKind
from flyball.tools.runner.table import (
    Setting,
    binary_of,
    npm_script,
    package_json,
    python_of,
    text_of,
    toml_of,
)


class Check(NamedTuple):
    """One way to check a project without running its tests."""

    name: str
    kind: CheckKind
    is_here: Callable[[Path], bool]
    argv: Callable[[Setting], list[str]]


def _has(*names: str) -> Callable[[Path], bool]:
    return lambda root: any((root / name).exists() for name in names)


def _configures(tool: str, *files: str) -> Callable[[Path], bool]:
    """Whether pyproject.toml has a table for a tool, or a file of its own is there."""

    def is_here(root: Path) -> bool:
        tools = toml_of(root / "pyproject.toml").get("tool", {})
        in_project = isinstance(tools, dict) and tool in tools
        return in_project or any((root / name).exists() for name in files)

    return is_here


def _has_python(root: Path) -> bool:
    return next(root.glob("*.py"), None) is not None or next(root.glob("*/*.py"), None) is not None


def _depends_on(name: str) -> Callable[[Path], bool]:
    def is_here(root: Path) -> bool:
        package = package_json(root)
        tables = (package.get("dependencies"), package.get("devDependencies"))
        return any(isinstance(table, dict) and name in table for table in tables)

    return is_here


def _module(*words: str) -> Callable[[Setting], list[str]]:
    return lambda setting: [python_of(setting), "-m", *words]


def _binary(name: str, *words: str) -> Callable[[Setting], list[str]]:
    return lambda setting: [binary_of(setting, name), *words]


def _plain(*words: str) -> Callable[[Setting], list[str]]:
    return lambda _setting: list(words)


def _makes_build(root: Path) -> bool:
    return re.search(r"^build\s*:", text_of(root / "Makefile"), re.M) is not None


CHECKS: tuple[Check, ...] = (
    Check("cargo", CheckKind.BUILD, _has("Cargo.toml"), _plain("cargo", "check")),
    Check("go-build", CheckKind.BUILD, _has("go.mod"), _plain("go", "build", "./...")),
    Check(
        "build",
        CheckKind.BUILD,
        lambda root: bool(npm_script(root, "build")),
        _plain("npm", "run", "build"),
    ),
    Check("make-build", CheckKind.BUILD, _makes_build, _plain("make", "build")),
    Check("tsc", CheckKind.TYPES, _has("tsconfig.json"), _binary("tsc", "--noEmit")),
    Check(
        "pyright",
        CheckKind.TYPES,
        _configures("pyright", "pyrightconfig.json"),
        _module("pyright"),
    ),
    Check(
        "mypy", CheckKind.TYPES, _configures("mypy", "mypy.ini", ".mypy.ini"), _module("mypy", ".")
    ),
    Check("ty", CheckKind.TYPES, _configures("ty", "ty.toml"), _plain("ty", "check")),
    Check("go-vet", CheckKind.DIAGNOSTICS, _has("go.mod"), _plain("go", "vet", "./...")),
    Check(
        "ruff",
        CheckKind.LINT,
        _configures("ruff", "ruff.toml", ".ruff.toml"),
        _module("ruff", "check", "--no-cache", "."),
    ),
    Check("eslint", CheckKind.LINT, _depends_on("eslint"), _binary("eslint", ".")),
    Check(
        "compileall",
        CheckKind.SYNTAX,
        _has_python,
        _module("compileall", "-q", "-f", "-x", r"/(\.venv|venv|node_modules|\.git)/", "."),
    ),
)

BY_NAME: dict[str, Check] = {check.name: check for check in CHECKS}


def checks_of(root: Path) -> tuple[Check, ...]:
    """The checks this project is set up for, the strongest first."""
    return tuple(check for check in CHECKS if check.is_here(root))
