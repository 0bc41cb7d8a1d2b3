"""The types of trees: entries, changes, conflicts, and stubs for files that are not stored."""

from __future__ import annotations

import hashlib
import os
import stat
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, NewType

import msgspec

from flyball.workspace.errors import explain_disk_errors
from flyball.workspace.files.plain import READING, parent_of

TreeHash = NewType("TreeHash", str)
SnapshotId = NewType("SnapshotId", str)

REGULAR, EXECUTABLE, LINK, SUBMODULE = "100644", "100755", "120000", "160000"

LARGE = 10 * 1024 * 1024
"""Size in bytes above which a file's content is not stored."""

_READ_WHOLE = 1 << 28
_PART, _PARTS = 1 << 20, 16

_PLACEHOLDER = b"flyball: this file was not kept\n"


class TreeEntry(NamedTuple):
    """One file in a tree: its mode as git writes it, and the name of its content."""

    mode: str
    blob: str


class ChangeKind(StrEnum):
    """The kind of a path's change between two trees."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RETYPED = "retyped"


class Changed(msgspec.Struct, frozen=True):
    """One path that differs between two trees."""

    path: str
    kind: ChangeKind
    before: TreeEntry | None
    after: TreeEntry | None
    added: int = 0
    removed: int = 0
    binary: bool = False

    def inverse(self) -> Changed:
        """Return the same change in the opposite direction."""
        kinds = {ChangeKind.ADDED: ChangeKind.DELETED, ChangeKind.DELETED: ChangeKind.ADDED}
        return Changed(
            self.path,
            kinds.get(self.kind, self.kind),
            self.after,
            self.before,
            self.removed,
            self.added,
            self.binary,
        )


class Skipped(msgspec.Struct, frozen=True):
    """A file whose content was not stored, and why."""

    path: str
    reason: str


class Captured(NamedTuple):
    """The captured tree, and the files that could not be stored."""

    tree: TreeHash
    skipped: tuple[Skipped, ...]


class ClashKind(StrEnum):
    """The reason why two changes of a path conflict; the value describes both sides alike."""

    LINES = "both changed the same lines"
    DELETED = "one deleted what the other changed"
    ADDED = "both added it, with different content"
    RENAMED = "one renamed it, the other renamed or deleted it"
    BINARY = "both changed it, and it is binary"
    RETYPED = "both made something else of it"
    IN_THE_WAY = "one has a file where the other has a directory"
    IGNORED = "a file that is ignored is in its place"
    UNKEPT = "it is too large or unreadable, so its content was never kept"
    UNTRACKED = "it is not in git, and its content would be lost"
    OTHER = "both changed it"


class Clash(msgspec.Struct, frozen=True):
    """A path with two conflicting changes."""

    path: str
    reason: str
    kind: ClashKind = ClashKind.OTHER

    def sentence(self) -> str:
        """Return the path and the reason, for people."""
        return f"{self.path}: {self.reason}."


class MergedTree(NamedTuple):
    """The result of a three-way merge: the tree is valid only if nothing clashed."""

    tree: TreeHash
    clashes: tuple[Clash, ...]


def binary_line(before: int | None, after: int | None) -> str:
    """Return the diff text for a binary file of these sizes; None if the file is missing."""
    if before is None or after is None:
        verb = "added" if before is None else "deleted"
        return f"binary file, {verb}, {_size_words((before or 0) + (after or 0))}"
    return f"binary file, {_size_words(before)} -> {_size_words(after)}"


def _size_words(size: int) -> str:
    if size < 1_000:
        return f"{size} bytes"
    return f"{size / 1e3:.0f} kB" if size < 1_000_000 else f"{size / 1e6:.1f} MB"


def placeholder_digest(root: Path, path: str, status: os.stat_result) -> str:
    """Return a digest of a file that is not stored; of a very large one only parts are read."""
    try:
        with parent_of(root, path) as (parent, name):
            fd = os.open(name, READING | os.O_NOFOLLOW, dir_fd=parent)
    except OSError:
        return f"unread-{status.st_mtime_ns}"
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return f"unread-{status.st_mtime_ns}"
        if status.st_size <= _READ_WHOLE:
            return hashlib.file_digest(file, "sha256").hexdigest()
        digest = hashlib.sha256(b"%d %d" % (status.st_size, status.st_mtime_ns))
        for n in range(_PARTS):
            file.seek((status.st_size - _PART) * n // (_PARTS - 1))
            digest.update(file.read(_PART))
        return digest.hexdigest()


def mode_of(status: os.stat_result) -> str | None:
    """Return the mode git would give a file; None for kinds that git does not store."""
    if stat.S_ISLNK(status.st_mode):
        return LINK
    if stat.S_ISREG(status.st_mode):
        return EXECUTABLE if status.st_mode & stat.S_IXUSR else REGULAR
    return None


def kind_of(before: TreeEntry | None, after: TreeEntry | None) -> ChangeKind:
    """Return the kind of a path's change, from its entries before and after."""
    if before is None:
        return ChangeKind.ADDED
    if after is None:
        return ChangeKind.DELETED
    return (
        ChangeKind.RETYPED if (before.mode == LINK) != (after.mode == LINK) else ChangeKind.MODIFIED
    )


def placeholder(size: int, digest: str, reason: str) -> bytes:
    """Return a stub for a file that was not stored, so that its changes are detected."""
    return _PLACEHOLDER + f"reason {reason}\n".encode() + _facts(size, digest)


def placeholder_reason(content: bytes) -> str:
    """Return why the file that a stub was made of was not stored."""
    return content.removeprefix(_PLACEHOLDER).partition(b"\n")[0].removeprefix(b"reason ").decode()


def matches_placeholder(content: bytes, size: int, digest: str) -> bool:
    """Return whether a stub was made of a file with this size and digest."""
    return content.endswith(b"\n" + _facts(size, digest))


def _facts(size: int, digest: str) -> bytes:
    return f"size {size}\ndigest {digest}\n".encode()


class PlaceholderNames:
    """The names of stubs, in a file that every user of a store rereads."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._names: frozenset[str] = frozenset()
        self._size = 0

    def __contains__(self, blob: str) -> bool:
        return blob in self._names or blob in self._read()

    def __bool__(self) -> bool:
        return bool(self._read())

    def add(self, blob: str) -> None:
        """Add a name unless it is present."""
        if blob not in self:
            with explain_disk_errors(os.fspath(self._file)), self._file.open("a") as file:
                file.write(f"{blob}\n")

    def _read(self) -> frozenset[str]:
        # Several workspaces of a run share one store and only ever append, so a changed size is the
        # only thing to check.
        size = self._file.stat().st_size if self._file.exists() else 0
        if size != self._size:
            self._names = frozenset(self._file.read_text().split())
            self._size = size
        return self._names
