"""Trees stored by git, in a git directory of our own, without a working directory."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from flyball.regex import regex
from flyball.workspace.errors import GitFailed
from flyball.workspace.trees.git import Git
from flyball.workspace.trees.git_objects import (
    SHA1_WIDTH,
    SHA256_WIDTH,
    folders_above,
    parse_changes,
    parse_merge,
    split_batch,
    write_loose,
)
from flyball.workspace.trees.merge import merge_by_path
from flyball.workspace.trees.trees import (
    SUBMODULE,
    Changed,
    ChangeKind,
    MergedTree,
    PlaceholderNames,
    TreeEntry,
    TreeHash,
    binary_line,
)

_AT_ONCE = 400
_UNKNOWN_OPTION = 129
"""The error of git before 2.38 when asked to merge trees."""


_INDEX = regex(rb"(?m)^(index [0-9a-f]{12})[0-9a-f]+\.\.([0-9a-f]{12})[0-9a-f]+")
"""Full ids identify binary files; for people they are abbreviated."""


class DepotTrees:
    """The trees in a depot: what they contain, how they differ, and how others are made from
    them."""

    def __init__(self, depot: Git) -> None:
        self.depot = depot
        self._placeholders = PlaceholderNames(depot.directory / "stubs")
        self._known: tuple[TreeHash, dict[str, TreeEntry]] | None = None
        """A tree with all its entries, cached."""

    def empty_tree(self) -> TreeHash:
        """Return the empty tree."""
        return TreeHash(self._write("tree", b""))

    def changes(self, old: TreeHash, new: TreeHash) -> tuple[Changed, ...]:
        """Return every path that differs between two trees."""
        if old == new:
            return ()
        args = ("diff-tree", "-r", "-z", "--raw", "--numstat", "--no-renames", "--abbrev=64")
        out = self.depot.call(*args, "--no-ext-diff", "--no-textconv", old, new).stdout
        return tuple(parse_changes(out.split(b"\0")))

    def diff(self, old: TreeHash, new: TreeHash) -> bytes:
        """Return the unified diff of two trees."""
        # Never --binary: unreadable data would be shown to people and sent to models.
        args = ("diff-tree", "-r", "-p", "--full-index", "--find-renames")
        out = self.depot.call(*args, "--no-ext-diff", "--no-textconv", "--no-color", old, new)
        # Content lines have a prefix, so such lines are git's own.
        return _INDEX.sub(rb"\1..\2", self._with_binary_sizes(out.stdout))

    def _with_binary_sizes(self, diff: bytes) -> bytes:
        """Return the diff with sizes in place of git's text for binary files."""
        if b"\nBinary files " not in diff:
            return diff
        lines = diff.split(b"\n")
        for n, line in enumerate(lines):
            # Content lines have a prefix, so this is git's own; the blobs are named above.
            if line.startswith(b"Binary files ") and lines[n - 1].startswith(b"index "):
                blobs = lines[n - 1].decode().split()[1].split("..")
                lines[n] = binary_line(*(self._size_of(blob) for blob in blobs)).encode()
        return b"\n".join(lines)

    def _size_of(self, blob: str) -> int | None:
        return int(self.depot.text("cat-file", "-s", blob)) if blob.strip("0") else None

    def entries(self, tree: TreeHash, paths: Sequence[str]) -> dict[str, TreeEntry]:
        """Return a tree's entries at these paths."""
        if self._known and self._known[0] == tree:
            held = self._known[1]
            return {path: held[path] for path in paths if path in held}
        found: dict[str, TreeEntry] = {}
        for at in range(0, len(paths), _AT_ONCE):
            # A command line has a limited length.
            some = paths[at : at + _AT_ONCE]
            found |= self._list_tree(tree, "--", *some)
        return found

    def _list_tree(self, *args: str) -> dict[str, TreeEntry]:
        found: dict[str, TreeEntry] = {}
        out = self.depot.call("ls-tree", "-z", "--full-tree", *args).stdout
        for line in out.split(b"\0")[:-1]:
            meta, _, name = line.partition(b"\t")
            mode, kind, blob = meta.decode().split()
            if kind != "tree":
                found[os.fsdecode(name)] = TreeEntry(mode, blob)
        return found

    def overlay(self, tree: TreeHash, entries: Mapping[str, TreeEntry | None]) -> TreeHash:
        """Return the tree with some paths replaced, or removed where the entry is None."""
        nothing = TreeEntry("0", "0" * len(tree))
        # Removals first: a file cannot be added to an index that still has a folder of its name.
        ordered = sorted(entries.items(), key=lambda item: item[1] is not None)
        lines = b"".join(
            b"%s %s\t%s\0" % (*(part.encode() for part in entry or nothing), os.fsencode(path))
            for path, entry in ordered
        )
        with self._spare_index() as git:
            git.call("read-tree", tree)
            git.call("update-index", "-z", "--index-info", stdin=lines)
            return TreeHash(git.text("write-tree"))

    def contents(self, blobs: Sequence[str]) -> dict[str, bytes]:
        """Return the content of each of these blobs."""
        wanted = list(dict.fromkeys(blobs))
        names = "".join(f"{blob}\n" for blob in wanted).encode()
        out = self.depot.call("cat-file", "--batch", stdin=names).stdout if wanted else b""
        found: dict[str, bytes] = {}
        for blob, answer in zip(wanted, split_batch(out), strict=True):
            if answer is None or answer[0] != "blob":
                raise GitFailed(
                    f"The content {blob} is missing from {self.depot.directory}.",
                    "Check the disk; git may have collected what a deleted branch held.",
                )
            found[blob] = answer[1]
        return found

    def keep(self, content: bytes) -> str:
        """Store content; return the blob's name."""
        return self._write("blob", content)

    def _write(self, kind: str, content: bytes) -> str:
        return write_loose(self.depot.directory / "objects", kind, content, self._width)

    @cached_property
    def _width(self) -> int:
        is_longer = "objectformat = sha256" in (self.depot.directory / "config").read_text()
        return SHA256_WIDTH if is_longer else SHA1_WIDTH

    def is_kept(self, blob: str) -> bool:
        """Return whether the blob is a file's content, and not a stub for it."""
        return blob not in self._placeholders

    def paths(self, tree: TreeHash) -> frozenset[str]:
        """Return every path in a tree."""
        out = self.depot.call("ls-tree", "-r", "-z", "--name-only", "--full-tree", tree).stdout
        return frozenset(map(os.fsdecode, out.split(b"\0")[:-1]))

    def submodules(self, tree: TreeHash) -> tuple[str, ...]:
        """Return a tree's submodules that it contains only as a name."""
        listed = self._list_tree("-r", tree)
        return tuple(path for path, entry in listed.items() if entry.mode == SUBMODULE)

    def uncommitted_files(self, commit: TreeHash, tree: TreeHash) -> frozenset[str]:
        """Return the files of a tree that a commit lacks; those in submodules count as there."""
        added = [c.path for c in self.changes(commit, tree) if c.kind is ChangeKind.ADDED]
        found = self.entries(commit, folders_above(added)[:-1])
        modules = tuple(f"{path}/" for path, entry in found.items() if entry.mode == SUBMODULE)
        return frozenset(path for path in added if not path.startswith(modules))

    def moved_files(self, changes: Sequence[Changed]) -> frozenset[str]:
        """Return the added files that are renamed deleted ones: alike in most of their lines."""
        gone = [c.before.blob for c in changes if c.before and c.after is None]
        come = [(c.path, c.after.blob) for c in changes if c.after and c.before is None]
        if not gone or not come:
            return frozenset()
        blobs = filter(self.is_kept, (*gone, *(blob for _, blob in come)))
        texts = self.contents([*blobs])
        lines = {blob: frozenset(text.split(b"\n")) - {b""} for blob, text in texts.items()}
        old = [lines[blob] for blob in gone if blob in lines]
        new = [(path, lines[blob]) for path, blob in come if lines.get(blob)]
        return frozenset(p for p, now in new if any(2 * len(now & was) >= len(now) for was in old))

    def has_folder(self, tree: TreeHash, path: str) -> bool:
        """Return whether a tree has files below this path."""
        return self.depot.resolve(f"{tree}:{path}") is not None

    def unkept_files(self, tree: TreeHash) -> dict[str, str]:
        """Return the paths of a tree whose content was not stored, with their stubs."""
        if not self._placeholders:
            return {}
        out = self.depot.call("ls-tree", "-r", "-z", "--full-tree", tree).stdout
        rows = (line.partition(b"\t") for line in out.split(b"\0")[:-1])
        found = {os.fsdecode(name): meta.split()[2].decode() for meta, _, name in rows}
        return {path: blob for path, blob in found.items() if blob in self._placeholders}

    def merge(self, base: TreeHash, ours: TreeHash, theirs: TreeHash) -> MergedTree:
        """Apply the change from base to theirs to ours, as git would merge them."""
        # merge-tree takes commits and finds the base in their history, so the three trees get one.
        origin = self.commit_object(base)
        sides = [self.commit_object(tree, origin) for tree in (ours, theirs)]
        args = ("merge-tree", "--write-tree", "--name-only", "-z", "--messages", *sides)
        done = self.depot.call(*args, ok=(0, 1, _UNKNOWN_OPTION))
        if done.exit_code == _UNKNOWN_OPTION:
            return merge_by_path(self, base, ours, theirs)
        return parse_merge(os.fsdecode(done.stdout).split("\0"), done.exit_code)

    def commit_object(self, tree: str, *parents: str) -> str:
        """Return a commit that exists only to give git a history to merge."""
        # A fixed author and time: the same trees give the same commit, so that none accumulate.
        who = "Flyball <flyball@localhost> 0 +0000"
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        text = "\n".join([*lines, f"author {who}", f"committer {who}", "", "tree", ""])
        return self.depot.text("hash-object", "-t", "commit", "-w", "--stdin", stdin=text.encode())

    def checkout(self, tree: TreeHash, into: Path) -> None:
        """Write a tree's files into an empty directory."""
        with self._spare_index(GIT_WORK_TREE=os.fspath(into)) as git:
            git.call("read-tree", tree)
            git.call("checkout-index", "--all", "--force", f"--prefix={os.fspath(into)}/")

    def find_damage(self, trees: Sequence[TreeHash]) -> tuple[str, ...]:
        """Return what is damaged or missing among the objects of these trees."""
        checked = self.depot.call(
            "fsck", "--no-full", "--no-dangling", "--no-reflogs", ok=range(256)
        )
        damaged = [
            line
            for line in (checked.stdout + checked.stderr).decode(errors="replace").splitlines()
            if "unborn branch" not in line and line.startswith(("error", "missing", "bad"))
        ]
        roots = "".join(f"{tree}\n" for tree in trees).encode()
        args = ("rev-list", "--objects", "--no-object-names", "--missing=print", "--stdin")
        walked = self.depot.call(*args, stdin=roots, ok=(0, 128))
        gone = [line for line in walked.stdout.decode().splitlines() if line.startswith("?")]
        if walked.exit_code:
            gone.append(walked.stderr.decode(errors="replace").strip())
        return (*damaged, *(f"missing {line.lstrip('?')}" for line in gone))

    @contextmanager
    def _spare_index(self, **env: str) -> Generator[Git]:
        with tempfile.TemporaryDirectory(dir=self.depot.directory, prefix="index-") as spare:
            yield self.depot.with_env(GIT_INDEX_FILE=os.fspath(Path(spare, "index")), **env)
