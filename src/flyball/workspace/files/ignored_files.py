"""Copies of the user's ignored files, kept while a program runs in their tree.

Git ignores them, so nothing else could restore them. Those that exist when a run begins are copied
once, again when they changed between two programs, and restored when a program changed or destroyed
them. Files too large to copy get a hard link, which restores deleted ones.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.workspace.files.plain import (
    READING,
    kind_within,
    parent_of,
    read_within,
    remove_tree,
    remove_within,
    walk_folders,
)

MADE_ANEW = frozenset(
    {
        ".git", ".hg", ".svn", ".flyball", "node_modules", ".venv", "venv", "env", "__pycache__",
        ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox", ".cache",
        ".next", ".nuxt", ".turbo", ".parcel-cache", ".vite", ".gradle", ".svelte-kit", ".eggs",
        "target", "dist", "build", "out", "coverage", "htmlcov", ".nyc_output", "obj", "bin",
    }
)  # fmt: skip
"""Folders of installed, cached or built files: running a project is expected to change them."""

CHANGING = (".pyc", ".pyo", ".log", ".o", ".obj", ".class", ".tmp", ".swp", ".lock", ".pid")
CHANGING_NAMES = (".coverage", ".eslintcache", ".stylelintcache", ".DS_Store", ".tsbuildinfo")
"""File name endings that programs write at every start."""

MOST_FILES = 5_000
MOST_SEEN = 200_000
LARGEST = 64 << 20
MOST_BYTES = 256 << 20
_CHUNK = 1 << 20


class Held(msgspec.Struct, frozen=True, array_like=True):
    """A stored file: the marks that detect a change, and whether its content is stored."""

    size: int
    modified: int
    changed: int
    inode: int
    mode: int
    is_copy: bool


class _Index(msgspec.Struct, frozen=True):
    """All stored files by path, and what exceeded the limits when the run began."""

    held: dict[str, Held]
    beyond: tuple[str, ...] = ()


class Returned(NamedTuple):
    """The result of the check after a program."""

    put_back: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    """What was changed and could not be restored."""


class FileStore:
    """The stored files of one tree; the first `fill` selects them."""

    def __init__(self, root: Path, place: Path) -> None:
        self._root = root
        self._place = place
        self._file = place / "index.json"

    def fill(self, known: Callable[[], Collection[str]]) -> tuple[str, ...]:
        """Store the current files that are in no tree; the first time, return those beyond the
        limits.

        `known` gives the paths that the current tree contains.
        """
        old = self._read()
        if old is None:
            remove_tree(self._place)
            self._place.mkdir(mode=0o700, parents=True)
            known_paths = known()
            found = (path for path in _regular_files(self._root) if path not in known_paths)
            index = self._hold_first(found)
        else:
            index = _Index({p: self._hold_again(p, held) for p, held in old.held.items()})
        if old is None or index.held != old.held:
            spare = self._file.with_suffix(".new")
            spare.write_bytes(msgspec.json.encode(_escaped(index)))
            spare.replace(self._file)
        return index.beyond

    def put_back(self, may_change: Callable[[str], bool]) -> Returned:
        """Restore every stored file that was changed or destroyed, except those that may change."""
        index = self._read()
        back: list[str] = []
        lost: list[str] = []
        for path, held in index.held.items() if index else ():
            if not held.inode or self._is_same(path, held) or may_change(path):
                continue
            (back if self._restore(path, held) else lost).append(path)
        return Returned(tuple(back), tuple(lost))

    def _read(self) -> _Index | None:
        with suppress(OSError, msgspec.MsgspecError):
            found = msgspec.json.decode(self._file.read_bytes(), type=_Index)
            return _Index({_path(p): held for p, held in found.held.items()}, found.beyond)
        return None

    def _hold_first(self, paths: Iterator[str]) -> _Index:
        held: dict[str, Held] = {}
        beyond: list[str] = []
        left = MOST_BYTES
        for path in paths:
            if len(held) >= MOST_FILES:
                beyond.append(path)
                break
            status = _status(self._root, path)
            if status is None:
                continue
            is_copy = status.st_size <= min(LARGEST, left)
            made = self._hold(path, status, is_copy=is_copy)
            if made is None or not made.is_copy:
                beyond.append(path)
            if made is not None:
                held[path] = made
                left -= made.size if made.is_copy else 0
        return _Index(held, tuple(beyond))

    def _hold_again(self, path: str, held: Held) -> Held:
        status = _status(self._root, path)
        if status is None:
            # The user, or a program with permission, deleted it; it must not be restored.
            return msgspec.structs.replace(held, inode=0)
        if _as_held(status, is_copy=held.is_copy) == held:
            return held
        is_copy = status.st_size <= LARGEST
        return self._hold(path, status, is_copy=is_copy) or msgspec.structs.replace(held, inode=0)

    def _hold(self, path: str, status: os.stat_result, *, is_copy: bool) -> Held | None:
        place = self._place / _name(path)
        with suppress(OSError), parent_of(self._root, path) as (parent, name):
            place.unlink(missing_ok=True)
            if is_copy:
                source = os.open(name, READING | os.O_NOFOLLOW, dir_fd=parent)
                with os.fdopen(source, "rb") as file:
                    _write(os.open(place, _NEW, 0o600), file.read(LARGEST + 1))
                return _as_held(status, is_copy=True)
            with suppress(OSError):
                os.link(name, place, src_dir_fd=parent, follow_symlinks=False)
            # A hard link changes the status, which must not count as a change of the file.
            now = os.stat(name, dir_fd=parent, follow_symlinks=False)
            return _as_held(now, is_copy=False)
        return None

    def _is_same(self, path: str, held: Held) -> bool:
        status = _status(self._root, path)
        if status is None:
            return False
        if _as_held(status, is_copy=held.is_copy) == held:
            return True
        # Touched, or rewritten with the same content: nothing is lost.
        if not held.is_copy or (status.st_size, status.st_mode) != (held.size, held.mode):
            return False
        return read_within(self._root, path, LARGEST + 1) == self._content(path)

    def _content(self, path: str) -> bytes | None:
        return read_within(self._place, _name(path), LARGEST + 1)

    def _restore(self, path: str, held: Held) -> bool:
        content = self._content(path) if held.is_copy else None
        is_there = _status(self._root, path) is not None
        if content is None and (held.is_copy or is_there):
            return False
        self._back_up(path)
        _clear_way(self._root, path)
        with suppress(OSError), parent_of(self._root, path, make=True) as (parent, name):
            if content is None:
                os.link(self._place / _name(path), name, dst_dir_fd=parent)
                return True
            fd = os.open(name, _NEW, 0o600, dir_fd=parent)
            os.fchmod(fd, stat.S_IMODE(held.mode))
            _write(fd, content)
            os.utime(name, ns=(held.modified, held.modified), dir_fd=parent, follow_symlinks=False)
            return True
        return False

    def _back_up(self, path: str) -> None:
        """Keep a copy of what is replaced: it may be the user's work rather than the program's."""
        if (now := read_within(self._root, path, LARGEST)) is not None:
            aside = self._place / "replaced"
            aside.mkdir(mode=0o700, exist_ok=True)
            place = aside / f"{_name(path)[:16]}-{Path(path).name[:100]}"
            place.unlink(missing_ok=True)
            _write(os.open(place, _NEW, 0o600), now)


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def _regular_files(root: Path) -> Iterator[str]:
    """Yield the regular files of a tree, except generated directories and files that git reads."""
    seen = 0
    for folder, folders, names in walk_folders(root):
        inside = os.path.relpath(folder, root)
        prefix = "" if inside == "." else f"{inside}/"
        if ".git" in folders:
            yield from _obeyed(root, f"{prefix}.git")
        folders[:] = sorted(name for name in folders if name not in MADE_ANEW)
        seen += len(names)
        if seen > MOST_SEEN:
            return
        yield from (
            f"{prefix}{name}"
            for name in sorted(names)
            if not name.endswith((*CHANGING, *CHANGING_NAMES))
        )


def _obeyed(root: Path, store: str) -> Iterator[str]:
    """Yield the files that git would run or obey at its next start."""
    yield f"{store}/config"
    for _, _, names in walk_folders(root / store / "hooks", 0):
        yield from (f"{store}/hooks/{name}" for name in sorted(names))


def _clear_way(root: Path, path: str) -> None:
    """Remove whatever is now in the place of a file or of a directory above it."""
    parts = path.split("/")
    for depth in range(1, len(parts)):
        above = "/".join(parts[:depth])
        if (kind := kind_within(root, above)) and kind != stat.S_IFDIR:
            remove_within(root, above)
            return
    remove_within(root, path)


def _status(root: Path, path: str) -> os.stat_result | None:
    """Return the status of a regular file that is reached through no link."""
    with suppress(OSError, ValueError), parent_of(root, path) as (parent, name):
        status = os.stat(name, dir_fd=parent, follow_symlinks=False)
        return status if stat.S_ISREG(status.st_mode) else None
    return None


def _as_held(status: os.stat_result, *, is_copy: bool) -> Held:
    # Including the status change time: unlike the others no program can set it back.
    return Held(
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
        status.st_mode,
        is_copy,
    )


def _write(fd: int, content: bytes) -> None:
    with os.fdopen(fd, "wb") as file:
        file.write(content)


def _name(path: str) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()


def _escaped(index: _Index) -> _Index:
    """Return the index with paths that JSON can represent: a name need not be UTF-8."""
    beyond = tuple(path.encode("utf-8", "replace").decode() for path in index.beyond)
    return _Index({os.fsencode(p).hex(): held for p, held in index.held.items()}, beyond)


def _path(name: str) -> str:
    return os.fsdecode(bytes.fromhex(name))
