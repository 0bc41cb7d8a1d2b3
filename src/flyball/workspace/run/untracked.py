"""The user's own files that are in no commit: git cannot bring them back, so more is done here."""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from flyball.workspace.trees.trees import TreeHash, Trees, uncommitted_files
from flyball.workspace.trees.writer import holds_file, parent_of


class UntrackedWork:
    """The user's files that were carried into a run and are in no commit, wherever they are now."""

    def __init__(self, trees: Trees, commit: str, tree: TreeHash, root: Path, held: Path) -> None:
        self._trees = trees
        self._commit = TreeHash(commit)
        self._tree = tree
        self._root = root
        self._held = held

    @cached_property
    def paths(self) -> frozenset[str]:
        """Where they were when the run began."""
        if not self._commit:
            return frozenset()
        return uncommitted_files(self._trees, self._commit, self._tree)

    def hold_unkept(self, tree: TreeHash) -> None:
        """Give those that are too large for a tree a second name, in case they go.

        It costs nothing and brings back what was deleted; what is overwritten in place it does not.
        """
        for path in self.paths.intersection(self._trees.unkept_files(tree)):
            place = self._held_name(path)
            with suppress(OSError):
                place.parent.mkdir(parents=True, exist_ok=True)
                place.unlink(missing_ok=True)
                place.hardlink_to(self._root / path)

    def bring_back(self, path: str) -> bool:
        """Put a deleted file back under its own name, if it was held; whether it is there."""
        held = self._held_name(path)
        if not held.exists():
            return False
        # Step by step from the root: a folder may have become a link that leads out.
        with suppress(OSError), parent_of(self._root, path, make=True) as (parent, name):
            os.link(held, name, dst_dir_fd=parent)
        return holds_file(self._root, path)

    def let_go(self) -> None:
        """Drop the second names, so that a file that its user deletes is gone."""
        shutil.rmtree(self._held, ignore_errors=True)

    def _held_name(self, path: str) -> Path:
        return self._held / hashlib.sha256(os.fsencode(path)).hexdigest()
