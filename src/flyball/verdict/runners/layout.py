"""Index the files of a tree in one walk that reads as little as possible and runs nothing."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import msgspec

from flyball.regex import regex
from flyball.terms.test_paths import is_test_path
from flyball.workspace.files.plain import read_plain, read_within

SKIPPED = frozenset({"node_modules", "target", "build", "dist", "vendor", "__pycache__", "_build"})
LOOKED_AT = 200_000
"""The most entries of a tree to examine."""

LINKED_OUT = "a link that leads out of the project, so its tests are not looked at"
READ_TESTS = 200
READ_BYTES = 1 << 20
"""The most bytes of a manifest or a test file to read."""

VENV = "pyvenv.cfg"
_PYTHON_TEST = regex(r"(?:.*/)?(?:test[^/]*|[^/]*_tests?)\.py")


class FileIndex:
    """The plain files of a tree, by path; contents are read on demand."""

    def __init__(
        self,
        root: Path,
        files: tuple[str, ...] = (),
        venvs: tuple[str, ...] = (),
        links: tuple[str, ...] = (),
    ) -> None:
        self.root = root
        self.files = files
        self.venvs = venvs
        """Python environments, which hold other people's code."""
        self.links = links
        self._texts: dict[str, str] = {}

    def has(self, *names: str) -> bool:
        """Return whether one of these files exists."""
        return not self._set.isdisjoint(names)

    def text(self, name: str) -> str:
        """Return the text of a file; empty if it is not in this tree."""
        if name not in self._set:
            return ""
        if name not in self._texts:
            self._texts[name] = text_within(self.root, name)
        return self._texts[name]

    def matching(self, pattern: re.Pattern[str]) -> tuple[str, ...]:
        """Return the files whose whole path matches, in order."""
        return tuple(path for path in self.files if pattern.fullmatch(path))

    def below(self, part: str, without: tuple[str, ...] = ()) -> FileIndex:
        """Return an index of a directory of the tree, without some of its subdirectories."""
        start = "" if part == "." else f"{part}/"
        apart = tuple(f"{each}/" for each in without)
        inner = tuple(
            path[len(start) :]
            for path in self.files
            if path.startswith(start) and not path.startswith(apart)
        )
        venvs = tuple(path[len(start) :] for path in self.venvs if path.startswith(start))
        return FileIndex(self.root if part == "." else self.root / part, inner, venvs)

    @cached_property
    def _set(self) -> frozenset[str]:
        return frozenset(self.files)

    @cached_property
    def python(self) -> tuple[str, ...]:
        """Return Python files that may contain tests."""
        return self.matching(_PYTHON_TEST)

    @property
    def tests_linked_out(self) -> tuple[str, ...]:
        """Return links that are named like tests and lead out of the tree: none is followed."""
        top = self.root.resolve()
        named = [each for each in self.links if is_test_path(each) or is_test_path(f"{each}/x")]
        return tuple(each for each in named if not (top / each).resolve().is_relative_to(top))

    @cached_property
    def has_python(self) -> bool:
        return any(path.endswith(".py") for path in self.files)

    @cached_property
    def package(self) -> Mapping[str, Any]:
        """Return package.json as a mapping; empty if it is missing or invalid."""
        return _json(self.text("package.json"))

    @cached_property
    def pyproject(self) -> Mapping[str, Any]:
        """Return pyproject.toml as a mapping; empty if it is missing or invalid."""
        return _toml(self.text("pyproject.toml"))


def look(root: Path) -> FileIndex:
    """Return an index of the tree, leaving out installed and built files and all links."""
    found: list[str] = []
    venvs: list[str] = []
    links: list[str] = []
    top = len(os.fspath(root).rstrip(os.sep)) + 1
    for folder, files, linked in _folders(root):
        # Everything was reached from the top, so that what follows it says where it is.
        here = folder[top:] or "."
        if VENV in files:
            venvs.append(here)
            continue
        start = "" if here == "." else f"{here}/"
        found += [f"{start}{file}" for file in files]
        links += [f"{start}{link}" for link in linked]
    return FileIndex(root, tuple(sorted(found)), tuple(venvs), tuple(sorted(links)))


def _folders(root: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield every directory with its plain files and its links."""
    seen = 0
    waiting = [os.fspath(root)]
    while waiting and seen <= LOOKED_AT:
        folder = waiting.pop()
        files: list[str] = []
        inner: list[str] = []
        links: list[str] = []
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner += [entry.path] if _is_looked_into(entry.name) else []
            elif entry.is_file(follow_symlinks=False):
                files.append(entry.name)
            elif entry.is_symlink():
                links.append(entry.name)
        seen += len(files) + len(links)
        waiting += [] if VENV in files else sorted(inner, reverse=True)
        yield folder, files, links


def _is_looked_into(name: str) -> bool:
    return name not in SKIPPED and not name.startswith(".")


def texts_of_tests(land: FileIndex) -> Iterator[str]:
    """Yield the texts of the first files that may contain tests."""
    for path in land.python[:READ_TESTS]:
        yield land.text(path)


def text_of(path: Path) -> str:
    """Return the beginning of a plain file as text; empty if there is none."""
    return (read_plain(path, READ_BYTES) or b"").decode("utf-8", "replace")


def text_within(root: Path, name: str) -> str:
    """Return the beginning of a file in a tree as text, without following links."""
    return (read_within(root, name, READ_BYTES) or b"").decode("utf-8", "replace")


def _parsed(load: Callable[[str], Any], text: str) -> Mapping[str, Any]:
    try:
        return table_of(load(text)) if text else {}
    except (ValueError, RecursionError):
        return {}


def _json(text: str) -> Mapping[str, Any]:
    return _parsed(msgspec.json.decode, text)


def _toml(text: str) -> Mapping[str, Any]:
    return _parsed(tomllib.loads, text)


def table_of(value: Any) -> Mapping[str, Any]:
    """Return a value if it is a table, and an empty table otherwise."""
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}


def python_tools(land: FileIndex) -> Mapping[str, Any]:
    """Return the `[tool]` table of pyproject.toml."""
    return table_of(land.pyproject.get("tool"))


def package_json(root: Path) -> Mapping[str, Any]:
    """Return the package.json of a directory as a mapping; empty if it is missing or invalid."""
    return _json(text_within(root, "package.json"))


def npm_script(land: FileIndex, name: str) -> str:
    """Return a script of package.json, except the placeholder that npm creates."""
    script = table_of(land.package.get("scripts")).get(name)
    return script if isinstance(script, str) and "no test specified" not in script else ""


def depends_on(land: FileIndex, name: str) -> bool:
    """Return whether package.json lists a package."""
    tables = ("dependencies", "devDependencies")
    return any(name in table_of(land.package.get(kind)) for kind in tables)
