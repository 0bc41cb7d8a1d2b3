"""Safe access to files that others may have created: no links out, no blocking, no unbounded reads.

The author of a tree may have put a pipe, a device, a link or a huge file where Flyball expects a
file. Everything here opens its file step by step without following links, or reports that there is
none.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READING = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Open without blocking: a pipe would otherwise wait for a writer."""

DEEPEST = 120
"""Maximum directory depth that is searched; no project nests deeper."""

LARGEST = 1 << 26
"""Maximum size in bytes of a file that Flyball reads for itself."""


@contextmanager
def parent_of(root: Path, path: str, *, make: bool = False) -> Generator[tuple[int, str]]:
    """Yield the open directory that contains an entry, reached without following links."""
    *folders, name = path.split("/")
    fd = os.open(root, DIRECTORY)
    try:
        for folder in folders:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(folder, dir_fd=fd)
            below = os.open(folder, DIRECTORY, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd, name
    finally:
        os.close(fd)


def read_within(root: Path, path: str, limit: int = LARGEST) -> bytes | None:
    """Return the beginning of a regular file of a tree; None for a link or anything else."""
    try:
        with parent_of(root, path) as (parent, name):
            return _read(os.open(name, READING | os.O_NOFOLLOW, dir_fd=parent), limit)
    except (OSError, ValueError):
        return None


def read_plain(path: Path, limit: int = LARGEST) -> bytes | None:
    """Return the beginning of a regular file, following links; None if there is none."""
    try:
        return _read(os.open(path, READING), limit)
    except (OSError, ValueError):
        return None


def read_from(path: Path, at: int, limit: int) -> bytes:
    """Return a regular file's content from an offset; negative offsets count from its end.

    Return empty bytes for a link or a missing file.
    """
    try:
        fd = os.open(path, READING | os.O_NOFOLLOW)
    except (OSError, ValueError):
        return b""
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            return b""
        file.seek(at if at >= 0 else max(status.st_size + at, 0))
        return file.read(limit)


def _read(fd: int, limit: int) -> bytes | None:
    # Checked by its handle: what a path names may change before it is opened.
    with os.fdopen(fd, "rb") as file:
        return file.read(limit) if stat.S_ISREG(os.fstat(fd).st_mode) else None


def kind_within(root: Path, path: str) -> int:
    """Return the kind of entry (as `stat.S_IFMT` names it) reached through no link; 0 for none."""
    try:
        with parent_of(root, path) as (parent, name):
            return stat.S_IFMT(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except (OSError, ValueError):
        return 0


def make_folder(root: Path, path: str) -> bool:
    """Create a directory and its parents without following links; return whether it exists."""
    try:
        with parent_of(root, f"{path}/.", make=True):
            return True
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            return False
        raise


def put_link(root: Path, path: str, target: Path) -> None:
    """Create a symbolic link if the path is free; never through a link in the way."""
    try:
        with parent_of(root, path) as (parent, name):
            os.symlink(target, name, dir_fd=parent)
    except OSError as error:
        if error.errno not in (errno.EEXIST, errno.ELOOP, errno.ENOTDIR, errno.ENOENT):
            raise


def remove_within(root: Path, path: str) -> bool:
    """Remove an entry recursively without following links; return whether it is gone."""
    try:
        with parent_of(root, path) as (parent, name):
            _remove(parent, name)
            return True
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _remove(parent: int, name: str) -> None:
    if not stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=parent)
        return
    with suppress(OSError):
        # A program may have removed its own write permission here.
        os.chmod(name, 0o700, dir_fd=parent)
    top = os.open(name, DIRECTORY, dir_fd=parent)
    try:
        # Every folder is first moved up to the top: thousands of levels would otherwise need as
        # many open directories, or a path that no system accepts.
        waiting = _empty(top, top)
        while waiting:
            here = waiting.pop()
            with suppress(OSError):
                os.chmod(here, 0o700, dir_fd=top)
                inner = os.open(here, DIRECTORY, dir_fd=top)
                try:
                    waiting += _empty(inner, top)
                finally:
                    os.close(inner)
                os.rmdir(here, dir_fd=top)
    finally:
        os.close(top)
    os.rmdir(name, dir_fd=parent)


def _empty(fd: int, top: int) -> list[str]:
    """Delete a directory's contents; return its folders' names after they are moved to the top."""
    with os.scandir(fd) as entries:
        found = [(each.name, each.is_dir(follow_symlinks=False)) for each in entries]
    moved: list[str] = []
    for entry, is_folder in found:
        with suppress(OSError):
            if not is_folder:
                os.unlink(entry, dir_fd=fd)
            elif fd == top:
                moved.append(entry)
            else:
                name = f".flyball-{secrets.token_hex(8)}"
                os.rename(entry, name, src_dir_fd=fd, dst_dir_fd=top)
                moved.append(name)
    return moved


def pipes_named(top: Path, names: frozenset[str], apart: frozenset[str]) -> list[str]:
    """Return pipes and devices of these names in a tree, outside some of its folders."""
    found: list[str] = []
    for folder, folders, files in walk_folders(top):
        folders[:] = [each for each in folders if each not in apart]
        for name in names & {*files}:
            path = os.path.relpath(os.path.join(folder, name), top)  # noqa: PTH118
            if kind_within(top, path) in (stat.S_IFIFO, stat.S_IFCHR):
                found.append(path)
    return found


def remove_tree(place: Path) -> None:
    """Remove a tree of any depth as far as possible."""
    remove_within(place.parent, place.name)


def walk_folders(top: Path, deepest: int = DEEPEST) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield folder, folders and files from the top down like `os.walk`, not following links.

    It is not recursive, and stops at a maximum depth: a tree may be constructed to be endless.
    """
    waiting = [(os.fspath(top), 0)]
    while waiting:
        folder, depth = waiting.pop()
        folders: list[str] = []
        files: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
        except OSError:
            continue
        yield folder, folders, files
        if depth < deepest:
            waiting += [(os.path.join(folder, name), depth + 1) for name in reversed(folders)]  # noqa: PTH118
