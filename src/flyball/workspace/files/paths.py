"""Resolve paths in the workspace and access them safely; there is no other resolver.

A path is judged after every symbolic link in it is resolved. For a write, each directory on the way
is then opened from its parent without following links, so a link created after the judgement causes
an error and is not followed.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from enum import StrEnum
from pathlib import Path, PurePosixPath

import msgspec

from flyball.errors import FlyballError, NotFound, OutsideWorkspace, ToolError
from flyball.workspace.files.path_rules import (
    fold,
    why_protected,
    why_unportable,
)
from flyball.workspace.files.plain import READING, parent_of, walk_folders
from flyball.workspace.files.protected import DEFAULT_PROTECTED

_FILE = READING | os.O_NOFOLLOW
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_TEMPORARY = ".flyball-"
_PATIENCE = 8

_TROUBLE = {
    errno.ENOSPC: "the disk is full. Free some space and try again",
    errno.EDQUOT: "the disk quota is used up. Free some space and try again",
    errno.EROFS: "the file system is read-only. Make it writable, or work on a copy",
    errno.EACCES: "the directory may not be written. Change its permissions and try again",
    errno.EPERM: "the system does not permit it. Change the permissions and try again",
    errno.EISDIR: "it is a directory. Name a file in it",
    errno.ENOTEMPTY: "the directory is not empty. Delete the files in it first",
    errno.ENAMETOOLONG: "the name is too long for this file system. Choose a shorter one",
}


LONGEST_NAME = 255
LONGEST_PATH = 4096


class PathKind(StrEnum):
    """The kind of entry at a path, after links are followed."""

    FILE = "file"
    DIR = "dir"
    LINK = "link"
    MISSING = "missing"
    OTHER = "other"


class ResolvedPath(msgspec.Struct, frozen=True):
    """The resolver's facts about a path."""

    raw: str
    path: str
    inside: bool
    protected: str
    exists: bool
    kind: PathKind


class Root:
    """One workspace's directory, through which every file in it is accessed."""

    def __init__(self, path: Path, protected: Sequence[str] = DEFAULT_PROTECTED) -> None:
        self.path = Path(os.path.realpath(path))
        self.protected = tuple(protected)

    def fact(self, raw: str, *, write: bool) -> ResolvedPath:
        """Return the facts of this path; never raise, whatever the text."""
        return self._judge(raw, write=write, follow=True)

    def resolve(self, raw: str, *, write: bool = False) -> str:
        """Return the path relative to the workspace with links resolved, or raise."""
        return self._admit(self.fact(raw, write=write))

    def read_bytes(self, raw: str, limit: int | None = None) -> bytes:
        """Return the content of a regular file, at most `limit` bytes of it."""
        rel = self.resolve(raw)
        with self._explain_errors("read", rel), self._parent(rel) as (parent, name):
            # Opened first and checked by its handle: what a path names may change between the two.
            # O_NONBLOCK, or a pipe would block until it has a writer.
            fd = os.open(name, _FILE, dir_fd=parent)
            with os.fdopen(fd, "rb") as file:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise ToolError(f"{rel} is not a regular file, so it is not read.")
                return file.read() if limit is None else file.read(limit)

    def write_bytes(self, raw: str, data: bytes, *, mode: int | None = None) -> None:
        """Write a file atomically; by default keep its mode bits."""
        rel = self.resolve(raw, write=True)
        with self._explain_errors("write", rel), self._parent(rel, make=True) as (parent, name):
            before = _stat_entry(parent, name)
            if before and stat.S_ISDIR(before.st_mode):
                raise ToolError(f"{rel} is a directory.", "Name a file in it.")
            # Written to a temporary file and renamed, so that no process reads half a file, and a
            # full disk keeps the old one. O_EXCL and a random name: a link planted there is not
            # followed.
            temporary = _TEMPORARY + secrets.token_hex(8)
            fd = os.open(temporary, _CREATE, 0o666, dir_fd=parent)
            try:
                with os.fdopen(fd, "wb") as file:
                    file.write(data)
                    file.flush()
                    _keep_mode_and_owner(fd, before, mode)
                os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=parent)

    def delete(self, raw: str) -> None:
        """Remove a file, a link itself, or an empty directory."""
        rel = self._entry_path(raw)
        with self._explain_errors("delete", rel), self._parent(rel) as (parent, name):
            found = _stat_entry(parent, name)
            if found and stat.S_ISDIR(found.st_mode):
                os.rmdir(name, dir_fd=parent)
            else:
                os.unlink(name, dir_fd=parent)

    def rename(self, old: str, new: str) -> None:
        """Rename a file or link; nothing is overwritten and no directory is moved."""
        source, target = self._entry_path(old), self._entry_path(new)
        with (
            self._explain_errors("rename", source),
            self._parent(source) as (here, name),
            self._parent(target, make=True) as (there, fresh),
        ):
            found = _stat_entry(here, name)
            if found is None:
                raise NotFound("file", source, "List the directory to see what is there.")
            if stat.S_ISDIR(found.st_mode):
                raise ToolError(f"{source} is a directory.", "Rename the files in it.")
            if _stat_entry(there, fresh):
                raise ToolError(f"{target} already exists.", "Delete it first, or choose a name.")
            os.rename(name, fresh, src_dir_fd=here, dst_dir_fd=there)

    def walk(self, start: str = ".", *, everything: bool = False) -> Iterator[str]:
        """Yield every file and link below a directory, sorted, except those that people never
        edit."""
        top = self.resolve(start)
        hidden = {".git", ".flyball", "node_modules", ".hg", ".svn", ".jj"}
        for folder, folders, files in walk_folders(self.path / top):
            folders[:] = sorted(d for d in folders if everything or fold(d) not in hidden)
            within = os.path.relpath(folder, self.path)
            start = "" if within == "." else f"{within}/"
            shown = [f for f in files if everything or fold(f) not in hidden]
            yield from (f"{start}{name}" for name in sorted(shown))

    def guarded_places(self) -> tuple[Path, ...]:
        """Return protected directories at the top that are read-only for commands as well.

        Package managers run as commands and own node_modules, which is therefore excluded.
        """
        places = (self.path / pattern for pattern in self.protected if pattern != "node_modules")
        return tuple(place for place in places if place.exists() and not place.is_symlink())

    def _judge(self, raw: str, *, write: bool, follow: bool) -> ResolvedPath:
        if reason := _why_no_path(raw):
            return ResolvedPath(raw, raw, False, reason, False, PathKind.MISSING)
        asked = self.path / raw
        real = _resolve_links(asked) if follow else _resolve_links(asked.parent) / asked.name
        kind = _kind_at(asked)
        exists = kind is not PathKind.MISSING
        if not real.is_relative_to(self.path) or (not follow and asked.name in ("", "..")):
            return ResolvedPath(raw, str(real), False, "", exists, kind)
        rel = PurePosixPath(real.relative_to(self.path))
        reason = (
            self._why_not_written(raw, rel, kind if follow or not exists else PathKind.FILE)
            if write
            else ""
        )
        return ResolvedPath(raw, str(rel), True, reason, exists, kind)

    def _why_not_written(self, raw: str, rel: PurePosixPath, kind: PathKind) -> str:
        # Checked twice, resolved and as given: a link may lead into .git, and a spelling such as
        # `.GIT` or `.git\\hooks` may name it on another system.
        spoken = PurePosixPath(os.path.normpath(raw.replace("\\", "/")))
        if spoken.is_absolute():
            spoken = rel
        for parts in (rel.parts, spoken.parts):
            if reason := why_protected(parts, self.protected):
                return reason
        if kind is PathKind.MISSING:
            if raw.endswith("/"):
                return "a path that ends in / names a directory"
            for name in rel.parts:
                if reason := why_unportable(name):
                    return f"{name!r} makes a bad name: {reason}"
        if kind in (PathKind.OTHER, PathKind.LINK):
            return f"{rel} is not a regular file"
        return self._why_git_store(rel)

    def _why_git_store(self, rel: PurePosixPath) -> str:
        for folder in rel.parents:
            place = self.path / folder
            if folder.parts and all(
                (place / part).exists() for part in ("HEAD", "objects", "refs")
            ):
                return f"{folder} is the inside of a git repository"
        return ""

    def _admit(self, fact: ResolvedPath) -> str:
        if fact.inside and not fact.protected:
            return fact.path
        if fact.inside:
            raise OutsideWorkspace(
                fact.raw,
                f"{fact.path} may not be written: {fact.protected}.",
                "Choose another file, or ask the user to change the policy.",
            )
        why = f" ({fact.protected})" if fact.protected else ""
        raise OutsideWorkspace(
            fact.raw,
            f"{fact.raw!r} is not a path inside the workspace{why}.",
            "Give a path relative to the top of the workspace.",
        )

    def _entry_path(self, raw: str) -> str:
        rel = self._admit(self._judge(raw, write=True, follow=False))
        if rel == ".":
            raise OutsideWorkspace(raw, "The workspace itself cannot be deleted or renamed.")
        return rel

    def _parent(self, rel: str, *, make: bool = False) -> AbstractContextManager[tuple[int, str]]:
        return parent_of(self.path, "/".join(PurePosixPath(rel).parts) or ".", make=make)

    @contextmanager
    def _explain_errors(self, verb: str, rel: str) -> Generator[None]:
        """Convert system errors to readable ones."""
        try:
            yield
        except FlyballError:
            raise
        except FileNotFoundError:
            raise NotFound("file", rel, "List the directory to see what is there.") from None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise OutsideWorkspace(
                    rel,
                    f"{rel} was not touched: part of its path is a link or a file.",
                    "Look at the path again; something may have changed it.",
                ) from None
            reason = _TROUBLE.get(error.errno or 0, f"{error.strerror}. Look at the path again")
            raise ToolError(f"Could not {verb} {rel}: {reason}.") from None


def _stat_entry(parent: int, name: str) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=parent, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _keep_mode_and_owner(fd: int, before: os.stat_result | None, mode: int | None) -> None:
    """Give a new file the mode and owner of the one it replaces."""
    if before and stat.S_ISREG(before.st_mode):
        mode = before.st_mode if mode is None else mode
        mine = os.fstat(fd)
        if (mine.st_uid, mine.st_gid) != (before.st_uid, before.st_gid):
            with suppress(PermissionError):
                os.fchown(fd, before.st_uid, before.st_gid)
    if mode is not None:
        os.fchmod(fd, mode & 0o777)


def _resolve_links(path: Path) -> Path:
    """Return the path with every link resolved; retry if it changes meanwhile."""
    for _ in range(_PATIENCE):
        with suppress(OSError):
            # A directory replaced by a link meanwhile makes realpath raise; a path that keeps
            # changing counts as outside.
            return Path(os.path.realpath(path))
    return Path("/")


def _kind_at(path: Path) -> PathKind:
    try:
        mode = path.stat().st_mode
    except OSError:
        return PathKind.LINK if path.is_symlink() else PathKind.MISSING
    if stat.S_ISREG(mode):
        return PathKind.FILE
    return PathKind.DIR if stat.S_ISDIR(mode) else PathKind.OTHER


def _why_no_path(raw: str) -> str:
    """Return why this text cannot be a path in a workspace; empty if it can."""
    if not raw or raw.isspace():
        return "the path is empty"
    if "\0" in raw:
        return "the path contains a NUL character"
    try:
        size = len(raw.encode())
    except UnicodeEncodeError:
        return "the path is not valid Unicode"
    if size > LONGEST_PATH:
        return f"the path is longer than {LONGEST_PATH} bytes"
    if any(len(part.encode()) > LONGEST_NAME for part in raw.split("/")):
        return f"a name in the path is longer than {LONGEST_NAME} bytes"
    first, slash, _ = raw.partition("/")
    if raw == "~" or (slash and first.startswith("~")):
        return "~ is not expanded; name the file relative to the workspace"
    return ""


def relative_paths(text: str, root: Path) -> str:
    """Return a text with the paths of workspace files made relative to it."""
    for place in {os.fspath(root), os.path.realpath(root)}:
        text = text.replace(f"{place}/", "")
    return text
