"""Allow some entries in a tree only if they existed before, at any depth, ignored or not.

Programs that a run starts write anywhere, and git does not see all of it: a repository inside the
tree, an ignored file, a pipe. So sensitive entries are listed before a program starts and after it
has ended; those created in between are removed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from flyball.workspace.files.path_rules import fold, why_protected
from flyball.workspace.files.plain import DEEPEST, remove_within, walk_folders

LOOKED_AT = 400_000
"""Maximum number of entries to scan in a tree."""

PACKAGES = "node_modules"
OWN = ".flyball"
_STORE = frozenset({"HEAD", "objects", "refs"})
_VENV = "pyvenv.cfg"


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """The reason why an entry is sensitive, and a mark that distinguishes it from a replacement."""

    reason: str
    kind: int
    inode: int
    target: str = ""


Standing = dict[str, Mark]
"""By path from the top of the tree."""


def find_standing(root: Path, protected: Sequence[str], *, with_packages: bool = False) -> Standing:
    """Return all sensitive entries in a tree; installed programs only if requested."""
    found: Standing = {}
    seen = 0
    names = frozenset(fold(each) for each in protected if "/" not in each) - {PACKAGES}
    deep = tuple(each for each in protected if "/" in each)
    waiting = [("", 0)]
    while waiting and seen <= LOOKED_AT:
        folder, depth = waiting.pop()
        entries = _entries(root, folder)
        seen += len(entries)
        here = {entry.name for entry in entries}
        if folder and (reason := _why_folder(here)):
            found[folder] = _mark(root / folder, reason)
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            reason = _why_named(entry.name, path, names, deep) or _why_kind(entry, root, is_folder)
            if not reason and is_folder and depth >= DEEPEST:
                reason = "it is nested deeper than Flyball looks"
            if path == OWN and is_folder:
                found |= _own(root)
            elif reason:
                found[path] = _mark(Path(entry.path), reason)
            elif is_folder and entry.name == PACKAGES:
                found |= _programs(root, path) if with_packages else {}
            elif is_folder:
                waiting.append((path, depth + 1))
    return found


def take_away(root: Path, before: Standing, after: Standing) -> tuple[list[str], list[str]]:
    """Remove what was created between two scans; return what was removed, and what could not be.

    An entry that replaced an earlier one is kept for the caller that can restore its content.
    """
    gone: list[str] = []
    left: list[str] = []
    for path in sorted(path for path, mark in after.items() if before.get(path) != mark):
        is_replaced = path in before and not stat.S_ISLNK(after[path].kind)
        if not is_replaced and remove_within(root, path):
            gone.append(path)
        else:
            left.append(path)
    return gone, left


def _entries(root: Path, folder: str) -> list[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(root / folder if folder else root) as entries:
        return list(entries)
    return []


def _why_folder(names: set[str]) -> str:
    if _VENV in names:
        return "it is a virtual environment"
    return "it is the inside of a git repository" if names >= _STORE else ""


def _why_named(name: str, path: str, names: frozenset[str], deep: Sequence[str]) -> str:
    # Folding is slow and almost every name is plain; only similar names are folded.
    folded = name if name.isascii() and name.islower() and name[0] != "." else fold(name)
    if folded in names:
        return "it is protected"
    return why_protected(path.split("/"), deep) if "/" in path and path[0] == "." else ""


def _why_kind(entry: os.DirEntry[str], root: Path, is_folder: bool) -> str:
    if is_folder or entry.is_file(follow_symlinks=False):
        return ""
    if not entry.is_symlink():
        return "it is a pipe, a socket or a device"
    real = os.path.realpath(entry.path)
    is_inside = real == os.fspath(root) or real.startswith(f"{root}/")
    return "" if is_inside else "it points outside the tree"


def _own(root: Path) -> Iterator[tuple[str, Mark]]:
    """Yield Flyball's own files one by one, since it adds a run's accounts next to them."""
    for folder, folders, files in walk_folders(root / OWN):
        inside = os.path.relpath(folder, root)
        if inside == OWN and "artifacts" in folders:
            folders.remove("artifacts")
        for name in files:
            yield f"{inside}/{name}", _mark(Path(folder, name), "it is protected")


def _programs(root: Path, packages: str) -> Iterator[tuple[str, Mark]]:
    """Yield installed programs that could divert a later start."""
    yield packages, _mark(root / packages, "a package manager owns it")
    for entry in _entries(root, f"{packages}/.bin"):
        yield f"{packages}/.bin/{entry.name}", _mark(Path(entry.path), "a package manager owns it")


def _mark(place: Path, reason: str) -> Mark:
    try:
        status = place.lstat()
        target = place.readlink() if stat.S_ISLNK(status.st_mode) else ""
    except OSError:
        return Mark(reason, 0, 0)
    return Mark(reason, stat.S_IFMT(status.st_mode), status.st_ino, os.fsencode(target).hex())
