"""Make what a project has installed available to a tree elsewhere.

Node searches the directories above a file for packages, and many scripts name `.venv`, so the tree
gets links to both. `node_modules` itself is a directory of the tree, so that caches in it stay
there, and a package that is part of the project is linked to the tree's own copy of it.

Composer's `vendor` is a directory of the tree, too, and its files are copies: PHP resolves links,
so a linked `autoload.php` would load the classes of the user's checkout.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from flyball.regex import regex
from flyball.terms.glob import matches
from flyball.verdict.part import TOP
from flyball.verdict.runners.layout import look, package_json, table_of, text_within
from flyball.workspace.files.plain import kind_within, make_folder, put_link
from flyball.workspace.trees.trees import EXECUTABLE, REGULAR
from flyball.workspace.trees.writer import write_entry

OWN = ".flyball"
"""Marks a `node_modules` that was put together here, and may be completed."""

MOST_STARS = 4
LINKED_VENVS = (".venv", "venv")
_MANIFEST = regex(r"(?:.*/)?package\.json")
PACKAGE_DEPTH = 2
"""A Composer package is in `vendor/OWNER/NAME`."""
_CACHES = frozenset({".cache", ".vite", ".vitest", ".package-lock.json"})
_STORES = frozenset({".bin", ".pnpm"})
"""What clients put beside the packages; in other hidden directories tools write while they run."""


def provide(root: Path, project: Path, at: str = ".") -> None:
    """Link what the project has installed into the tree; harmless when repeated.

    Nothing is created through a link: earlier code may have replaced a folder by one.
    """
    if os.path.realpath(root) == os.path.realpath(project):
        return
    for name in LINKED_VENVS:
        if (project / name / "pyvenv.cfg").exists():
            put_link(root, name, Path(os.path.realpath(project / name)))
    for package in dict.fromkeys((TOP, at, *_workspaces(root))):
        source = Path(os.path.realpath(project / package / "node_modules"))
        inside = "" if package == TOP else f"{package}/"
        if source.is_dir() and (not inside or kind_within(root, package) == stat.S_IFDIR):
            _link_packages(source, f"{inside}node_modules", project, root)
    for package in dict.fromkeys((TOP, at)):
        if has_composer(project / package):
            inside = "" if package == TOP else f"{package}/"
            _put_vendor(project / package / "vendor", f"{inside}vendor", project, root)


def has_composer(package: Path) -> bool:
    """Return whether Composer has installed what a package needs."""
    return (package / "vendor/autoload.php").is_file() and (package / "vendor/composer").is_dir()


def _put_vendor(source: Path, target: str, project: Path, root: Path, depth: int = 0) -> None:
    """Copy the files at the top of each package, and link the directories below them."""
    if not make_folder(root, target):
        return
    for entry in os.scandir(source):
        inside = f"{target}/{entry.name}"
        if kind_within(root, inside) not in (0, stat.S_IFDIR):
            continue
        if entry.is_dir(follow_symlinks=False) and depth < PACKAGE_DEPTH:
            _put_vendor(Path(entry.path), inside, project, root, depth + 1)
        elif entry.is_file(follow_symlinks=False):
            mode = EXECUTABLE if entry.stat().st_mode & stat.S_IXUSR else REGULAR
            write_entry(root, inside, mode, Path(entry.path).read_bytes())
        elif entry.is_symlink() and entry.is_file():
            put_link(root, inside, Path(entry.path).readlink())
        else:
            put_link(root, inside, _own(Path(entry.path), project, root))


def _workspaces(root: Path) -> Iterator[str]:
    """Yield the directories that npm, yarn or pnpm treat as packages of one project."""
    named = package_json(root).get("workspaces")
    globs = _texts(table_of(named).get("packages", named))
    for line in text_within(root, "pnpm-workspace.yaml").split("\n"):
        if line.strip().startswith("- "):
            globs.append(line.strip()[2:].strip("'\" "))
    # A pattern of many stars takes for ever to say no.
    wanted = [
        glob.removeprefix("./").rstrip("/")
        for glob in globs
        if not glob.startswith("!") and glob.count("*") <= MOST_STARS
    ]
    if wanted:
        for manifest in look(root).matching(_MANIFEST):
            package = manifest.rpartition("/")[0]
            if package and matches(package, wanted):
                yield package


def _texts(value: object) -> list[str]:
    listed = cast(list[object], value) if isinstance(value, list) else []
    return [each for each in listed if isinstance(each, str)]


def _link_packages(source: Path, target: str, project: Path, root: Path) -> None:
    is_made = kind_within(root, target) != 0
    if is_made and kind_within(root, f"{target}/{OWN}") != stat.S_IFREG:
        return
    if not make_folder(root, target):
        return
    if not is_made:
        write_entry(root, f"{target}/{OWN}", REGULAR, b"")
    for entry in os.scandir(source):
        if entry.name in _CACHES:
            continue
        is_open = entry.name.startswith(("@", ".")) and entry.name not in _STORES
        if is_open and entry.is_dir(follow_symlinks=False):
            if make_folder(root, f"{target}/{entry.name}"):
                for inner in os.scandir(entry.path):
                    package = _own(Path(inner.path), project, root)
                    put_link(root, f"{target}/{entry.name}/{inner.name}", package)
        else:
            put_link(root, f"{target}/{entry.name}", _own(Path(entry.path), project, root))


def _own(package: Path, project: Path, root: Path) -> Path:
    """Return the tree's copy of a package that is part of the project, or the installed one."""
    real = Path(os.path.realpath(package))
    if package.is_symlink() and real.is_relative_to(project):
        inside = real.relative_to(project)
        is_here = kind_within(root, inside.as_posix()) == stat.S_IFDIR
        if "node_modules" not in inside.parts and is_here:
            return root / inside
    return package
