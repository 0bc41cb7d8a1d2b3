"""What a project has installed, put within reach of a tree that lies elsewhere.

Node looks for packages in the directories above a file, and many scripts name `.venv`. So the tree
gets links to both. `node_modules` itself is a directory of the tree, so that caches in it stay
there, and a package that is part of the project is linked to the tree's own copy of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import cast

from flyball.tools.runner.layout import package_json, table_of, text_of

OWN = ".flyball"
"""Marks a `node_modules` that was put together here, and may be completed."""

LINKED_VENVS = (".venv", "venv")
_CACHES = frozenset({".cache", ".vite", ".vitest", ".package-lock.json"})


def provide(root: Path, project: Path, at: str = ".") -> None:
    """Link what the project has installed into the tree; harmless when repeated."""
    if os.path.realpath(root) == os.path.realpath(project):
        return
    for name in LINKED_VENVS:
        if (project / name / "pyvenv.cfg").exists():
            _link(Path(os.path.realpath(project / name)), root / name)
    for package in dict.fromkeys((".", at, *_workspaces(root))):
        source = Path(os.path.realpath(project / package / "node_modules"))
        if source.is_dir() and (root / package).is_dir():
            _link_packages(source, root / package / "node_modules", project, root)


def _workspaces(root: Path) -> Iterator[str]:
    """The directories that npm, yarn or pnpm treat as packages of one project."""
    named = package_json(root).get("workspaces")
    globs = _texts(table_of(named).get("packages", named))
    for line in text_of(root / "pnpm-workspace.yaml").split("\n"):
        if line.strip().startswith("- "):
            globs.append(line.strip()[2:].strip("'\" "))
    for glob in globs:
        if not glob.startswith(("/", "!")) and ".." not in PurePosixPath(glob).parts:
            for package in sorted(root.glob(f"{glob.rstrip('/')}/package.json")):
                if "node_modules" not in package.parts:
                    yield os.fspath(package.parent.relative_to(root))


def _texts(value: object) -> list[str]:
    listed = cast(list[object], value) if isinstance(value, list) else []
    return [each for each in listed if isinstance(each, str)]


def _link_packages(source: Path, target: Path, project: Path, root: Path) -> None:
    if target.exists() and not (target / OWN).exists():
        return
    target.mkdir(exist_ok=True)
    (target / OWN).touch()
    for entry in os.scandir(source):
        if entry.name in _CACHES:
            continue
        if entry.name.startswith("@") and entry.is_dir(follow_symlinks=False):
            (target / entry.name).mkdir(exist_ok=True)
            for inner in os.scandir(entry.path):
                _link(_own(Path(inner.path), project, root), target / entry.name / inner.name)
        else:
            _link(_own(Path(entry.path), project, root), target / entry.name)


def _own(package: Path, project: Path, root: Path) -> Path:
    """The tree's copy of a package that is part of the project, or the installed one."""
    real = Path(os.path.realpath(package))
    if package.is_symlink() and real.is_relative_to(project):
        inside = real.relative_to(project)
        if "node_modules" not in inside.parts and (root / inside).is_dir():
            return root / inside
    return package


def _link(source: Path, target: Path) -> None:
    with suppress(FileExistsError):
        target.symlink_to(source)
