"""Snapshots: a point to return to before every mutation, found again by its key.

The user's uncommitted files get additional protection, since git cannot restore them.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import msgspec

from flyball.workspace.errors import explain_disk_errors
from flyball.workspace.files.plain import parent_of
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.trees import Captured, Skipped, TreeHash
from flyball.workspace.trees.writer import holds_file

T = TypeVar("T")

MAX_AGE = 14 * 24 * 3600.0
MAX_COUNT = 500


class SnapshotRecord(msgspec.Struct, frozen=True):
    """One snapshot: its purpose, the tree, the time, and what it could not store."""

    key: str
    tree: TreeHash
    at: float
    skipped: tuple[Skipped, ...] = ()


class Pruned(msgspec.Struct, frozen=True):
    """The result of pruning."""

    snapshots: int
    freed: int


class Snapshots:
    """The snapshots of one run, oldest first, in an append-only file that only pruning rewrites."""

    def __init__(self, trees: GitTrees, file: Path, clock: Callable[[], float] = time.time) -> None:
        self.trees = trees
        self.file = file
        self.clock = clock
        self._records = {record.key: record for record in read_lines(file, SnapshotRecord)}

    def find(self, key: str) -> SnapshotRecord | None:
        """Return the snapshot with this key, or None."""
        return self._records.get(key)

    def records(self) -> tuple[SnapshotRecord, ...]:
        """Return every snapshot, oldest first."""
        return tuple(self._records.values())

    def take(self, key: str, present: Captured | None = None) -> SnapshotRecord:
        """Store the current tree under this key; the same key returns the same snapshot.

        A caller that has just captured the tree can pass it.
        """
        if known := self._records.get(key):
            return known
        captured = present or self.trees.capture()
        record = SnapshotRecord(key, captured.tree, self.clock(), captured.skipped)
        append_line(self.file, record)
        self._records[key] = record
        return record

    def prune(
        self,
        *,
        max_age: float = MAX_AGE,
        max_count: int = MAX_COUNT,
        also_keep: Sequence[TreeHash] = (),
    ) -> Pruned:
        """Delete snapshots that are too old or too many, and the objects only they needed."""
        records = list(self._records.values())
        oldest = self.clock() - max_age
        kept = [record for record in records[-max_count:] if record.at >= oldest]
        if max_count <= 0:
            kept = []
        with explain_disk_errors(os.fspath(self.file)):
            spare = self.file.with_suffix(".new")
            spare.write_bytes(b"".join(_line(record) for record in kept))
            spare.replace(self.file)
        self._records = {record.key: record for record in kept}
        freed = self.trees.prune([*(record.tree for record in kept), *also_keep])
        return Pruned(len(records) - len(kept), freed)

    def verify(self) -> tuple[str, ...]:
        """Return what is damaged or missing among the objects that the snapshots need."""
        return self.trees.find_damage([record.tree for record in self._records.values()])


def append_line(file: Path, record: msgspec.Struct) -> None:
    """Append a record as one line; first end a torn line of a writer that died."""
    with explain_disk_errors(os.fspath(file)), file.open("a+b") as lines:
        end = lines.seek(0, os.SEEK_END)
        lines.seek(max(end - 1, 0))
        torn = lines.read(1) not in (b"\n", b"")
        lines.write((b"\n" if torn else b"") + _line(record))


def read_lines(file: Path, kind: type[T]) -> list[T]:
    """Return every complete record; a torn line belongs to an incomplete write."""
    found: list[T] = []
    for line in file.read_bytes().split(b"\n") if file.exists() else ():
        with suppress(json.JSONDecodeError):
            found.append(msgspec.convert(json.loads(line), kind))
    return found


def _line(record: msgspec.Struct) -> bytes:
    return json.dumps(msgspec.to_builtins(record)).encode() + b"\n"


class UntrackedWork:
    """The user's uncommitted files that were carried into a run, wherever they are now."""

    def __init__(
        self, trees: GitTrees, commit: str, tree: TreeHash, root: Path, held: Path
    ) -> None:
        self._trees = trees
        self._commit = TreeHash(commit)
        self._tree = tree
        self._root = root
        self._held = held

    @cached_property
    def paths(self) -> frozenset[str]:
        """Return their paths when the run began."""
        if not self._commit:
            return frozenset()
        return self._trees.uncommitted_files(self._commit, self._tree)

    def hold_unkept(self, tree: TreeHash) -> None:
        """Hard-link those that are too large for a tree, in case they are deleted.

        It costs no space and restores deleted files, but not files overwritten in place.
        """
        for path in self.paths.intersection(self._trees.unkept_files(tree)):
            place = self._held_name(path)
            with suppress(OSError):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.unlink(missing_ok=True)
                place.hardlink_to(self._root / path)

    def restore_from_link(self, path: str) -> bool:
        """Restore a deleted file from its hard link; return whether it exists."""
        held = self._held_name(path)
        if not held.exists():
            return False
        # Step by step from the root: a folder may have become a link that leads out.
        with suppress(OSError), parent_of(self._root, path, make=True) as (parent, name):
            os.link(held, name, dst_dir_fd=parent)
        return holds_file(self._root, path)

    def remove_links(self) -> None:
        """Remove the hard links, so that a file deleted by its user is gone."""
        shutil.rmtree(self._held, ignore_errors=True)

    def _held_name(self, path: str) -> Path:
        return self._held / hashlib.sha256(os.fsencode(path)).hexdigest()
