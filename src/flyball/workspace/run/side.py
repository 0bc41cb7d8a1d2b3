"""Side workspaces of a run: each parallel card has its own files, on the run's objects."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import msgspec

from flyball.errors import UsageError
from flyball.regex import regex
from flyball.workspace.errors import GitFailed, explain_disk_errors
from flyball.workspace.run.worktree import (
    RunBranch,
    add_detached_worktree,
    forget_worktrees,
    remove_whole,
    share_index,
)
from flyball.workspace.trees.git import Git
from flyball.workspace.trees.git_objects import replace_whole
from flyball.workspace.trees.git_trees import GitTrees
from flyball.workspace.trees.trees import SUBMODULE, TreeHash, matches_placeholder
from flyball.workspace.trees.writer import holds_file

_NAME = regex(r"[A-Za-z0-9._-]{1,100}")


class Side(NamedTuple):
    """A side workspace of a run, ready to work in."""

    directory: Path
    root: Path
    base: TreeHash
    commit: str
    trees: GitTrees
    branch: RunBranch | None


class _Note(msgspec.Struct, frozen=True):
    """A note that a side workspace is complete: which attempt created it, and from what."""

    attempt: str
    base: TreeHash
    commit: str


class SideBranch(RunBranch):
    """The run's branch as it was when a side workspace began, whatever was added since."""

    def __init__(self, branch: RunBranch, commit: str) -> None:
        super().__init__(branch.run, branch.repository, branch.user, branch.depot, branch.identity)
        self._commit = commit

    def tip(self) -> str | None:
        """Return the commit of the side workspace."""
        return self._commit


class Sides:
    """Creates, finds and deletes the side workspaces of one run.

    Each attempt has a directory of its own, and a note, written last, names the completed one. So
    the leftovers of a killed attempt, or of a git process that outlived it, are never used.
    """

    def __init__(
        self,
        directory: Path,
        trees_home: Path,
        tree_name: str,
        root: Path,
        trees: GitTrees,
        branch: RunBranch | None,
    ) -> None:
        self.directory = directory / "beside"
        self.trees_home = trees_home
        self.tree_name = tree_name
        self.root = root
        self.trees = trees
        self.branch = branch

    def names(self) -> tuple[str, ...]:
        """Return the names of the complete side workspaces."""
        return tuple(sorted(note.parent.name for note in self.directory.glob("*/side.json")))

    def find(self, name: str) -> Side | None:
        """Return the side workspace with this name, with its work, if it is complete."""
        file = self._home_of(name) / "side.json"
        if not file.exists():
            return None
        note = msgspec.convert(json.loads(file.read_text()), _Note)
        directory = file.parent / note.attempt
        root = self._root_of(name, note.attempt)
        if not root.is_dir():
            return None
        trees, branch = self._trees(directory, root), self._branch(note.commit)
        return Side(directory, root, note.base, note.commit, trees, branch)

    def make(self, name: str, tree: TreeHash, commit: str) -> Side:
        """Create a side workspace with exactly this tree, at this commit in git."""
        self.discard(name)
        home = self._home_of(name)
        with explain_disk_errors(os.fspath(home)):
            home.mkdir(parents=True)
            directory = Path(tempfile.mkdtemp(dir=home, prefix=""))
            root = self._root_of(name, directory.name)
            trees = self._fill(directory, root, tree, commit)
            self._copy_unkept(root, tree)
            # Verified, because file systems that ignore modes, links or case do not report it.
            if trees.capture().tree != tree:
                raise GitFailed(
                    f"The tree {tree} could not be written out exactly below {root}.",
                    "Check that this disk keeps modes, links and the case of names.",
                )
            note = _Note(directory.name, tree, commit)
            replace_whole(home / "side.json", json.dumps(msgspec.to_builtins(note)).encode())
        return Side(directory, root, tree, commit, trees, self._branch(commit))

    def discard(self, name: str) -> None:
        """Delete a side workspace and git's data about it."""
        home = self._home_of(name)
        (home / "side.json").unlink(missing_ok=True)
        for place in {home, self.trees_home / name}:
            if self.branch and place.is_dir():
                forget_worktrees(self.branch.repository, place)
            remove_whole(place)

    def _root_of(self, name: str, attempt: str) -> Path:
        return self.trees_home / name / attempt / "tree" / self.tree_name

    def _home_of(self, name: str) -> Path:
        if not _NAME.fullmatch(name) or name in (".", ".."):
            raise UsageError(
                f"{name!r} cannot name a place beside a run.",
                "Use letters, digits, dots, dashes and underscores, at most 100 of them.",
            )
        return self.directory / name

    def _branch(self, commit: str) -> RunBranch | None:
        return SideBranch(self.branch, commit) if self.branch else None

    def _trees(self, directory: Path, root: Path) -> GitTrees:
        original = self.trees.depot
        depot = Git(directory / "git", program=original.program, door=original.door)
        return GitTrees(depot, root, directory / "index", large=self.trees.large)

    def _fill(self, directory: Path, root: Path, tree: TreeHash, commit: str) -> GitTrees:
        self._make_side_depot(directory / "git", commit or "ref: refs/heads/none")
        trees = self._trees(directory, root)
        if self.branch is None:
            root.mkdir(parents=True)
            trees.seed(tree, write=True)
            return trees
        add_detached_worktree(self.branch.user, self.branch.repository, root, commit)
        trees.seed(tree, write=True)
        outside = self.branch.form.outside
        share_index(trees.depot, self.branch.repository, root, f"{commit}^{{tree}}", outside)
        listed = trees.depot.call("ls-tree", "-r", "-z", commit).stdout.split(b"\0")
        for line in listed:
            if line.startswith(SUBMODULE.encode()):
                (root / os.fsdecode(line.partition(b"\t")[2])).mkdir(parents=True, exist_ok=True)
        return trees

    def _make_side_depot(self, place: Path, head: str) -> None:
        """Create a git directory with the run's settings and objects only."""
        original = self.trees.depot.directory
        for part in ("info", "refs"):
            (place / part).mkdir(parents=True)
        for part in ("config", "info/attributes", "info/exclude"):
            shutil.copyfile(original / part, place / part)
        # Linked, not copied: objects that a card stores here must exist when the run merges it.
        for part in ("objects", "stubs"):
            (place / part).symlink_to(original / part)
        (place / "HEAD").write_text(f"{head}\n")

    def _copy_unkept(self, root: Path, tree: TreeHash) -> None:
        """Copy files too large for a tree, if the run still has the tree's version."""
        unkept = self.trees.unkept_files(tree)
        placeholders = self.trees.contents(list(unkept.values()))
        for path, blob in unkept.items():
            source = self.root / path
            if holds_file(self.root, path) and os.access(source, os.R_OK):
                with source.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                if matches_placeholder(placeholders[blob], source.stat().st_size, digest):
                    shutil.copy(source, root / path)
