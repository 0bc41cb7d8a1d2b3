"""What lies in a tree, seen in one walk that reads no more than it must and runs nothing."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

SKIPPED = frozenset({"node_modules", "target", "build", "dist", "vendor", "__pycache__"})
LOOKED_AT = 200_000
"""Entries beyond which a tree is taken to hold no more of what is looked for."""

READ_TESTS = 200
MARKERS = frozenset(
    {"package.json", "pyproject.toml", "setup.py", "setup.cfg", "go.mod", "Cargo.toml"}
)
"""Files that make a directory a project of its own."""

VENV = "pyvenv.cfg"
DEEPEST_PROJECT = 3
_PYTHON_TEST = re.compile(r"(?:test.*|.*_test)\.py")


class Land(NamedTuple):
    """The parts of a tree that say how it is tested."""

    root: Path
    python: tuple[str, ...] = ()
    """Python files that may hold tests."""
    has_python: bool = False
    has_go_tests: bool = False
    projects: tuple[str, ...] = ()
    """Directories below the top that are projects of their own."""
    venvs: tuple[str, ...] = ()
    """Python environments, which hold other people's code."""


def look(root: Path) -> Land:
    """One walk over the tree, leaving out what is installed or built."""
    python: list[str] = []
    projects: list[str] = []
    venvs: list[str] = []
    has_python = has_go_tests = False
    for folder, files in _folders(root):
        here = os.path.relpath(folder, root)
        if VENV in files:
            venvs.append(here)
            continue
        if here != "." and here.count("/") < DEEPEST_PROJECT and not MARKERS.isdisjoint(files):
            projects.append(here)
        for file in files:
            if file.endswith(".py"):
                has_python = True
                if _PYTHON_TEST.fullmatch(file):
                    python.append(os.path.normpath(f"{here}/{file}"))
            elif file.endswith("_test.go"):
                has_go_tests = True
    return Land(
        root, tuple(python), has_python, has_go_tests, tuple(sorted(projects)), tuple(venvs)
    )


def _folders(root: Path) -> Iterator[tuple[str, list[str]]]:
    seen = 0
    for folder, folders, files in os.walk(root):
        if VENV in files:
            folders.clear()
        folders[:] = sorted(n for n in folders if n not in SKIPPED and not n.startswith("."))
        seen += len(files)
        if seen > LOOKED_AT:
            return
        yield folder, files


def texts_of_tests(land: Land) -> Iterator[str]:
    """What the first files say that may hold tests."""
    for path in land.python[:READ_TESTS]:
        yield text_of(land.root / path)


def text_of(path: Path) -> str:
    """A file's text; nothing where there is none."""
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def toml_of(path: Path) -> dict[str, Any]:
    """A TOML file's content; nothing where it is missing or broken."""
    try:
        return tomllib.loads(text_of(path))
    except tomllib.TOMLDecodeError:
        return {}


def table_of(value: Any) -> Mapping[str, Any]:
    """A value where it is a table, and an empty one where it is not."""
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}


def python_tools(root: Path) -> Mapping[str, Any]:
    """The `[tool]` table of pyproject.toml."""
    return table_of(toml_of(root / "pyproject.toml").get("tool"))


def package_json(root: Path) -> Mapping[str, Any]:
    """What package.json says; nothing where it is missing or broken."""
    try:
        return table_of(msgspec.json.decode(text_of(root / "package.json") or "{}"))
    except msgspec.DecodeError:
        return {}


def npm_script(root: Path, name: str) -> str:
    """A script of package.json, other than the one npm puts there to fail."""
    script = table_of(package_json(root).get("scripts")).get(name)
    return script if isinstance(script, str) and "no test specified" not in script else ""


def depends_on(root: Path, name: str) -> bool:
    """Whether package.json asks for a package."""
    package = package_json(root)
    return any(name in table_of(package.get(kind)) for kind in ("dependencies", "devDependencies"))
