"""Our own object store, for trees of directories without a git repository.

Content and trees are named exactly as git would name them, so a directory has the same tree hash
with and without git. Objects are zlib-compressed files, written once and never changed.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from flyball.patch import compare, keep_ends, unified_diff
from flyball.workspace.errors import GitFailed, explain_disk_errors
from flyball.workspace.files.plain import read_within
from flyball.workspace.trees.footprint import settled_before
from flyball.workspace.trees.git_objects import (
    DIRECTORY,
    Children,
    folders_above,
    graft,
    object_name,
    parse_tree,
    replace_whole,
    write_loose,
)
from flyball.workspace.trees.ignore import walk
from flyball.workspace.trees.merge import merge_by_path
from flyball.workspace.trees.trees import (
    LARGE,
    LINK,
    REGULAR,
    Captured,
    Changed,
    MergedTree,
    Skipped,
    Stubs,
    TreeEntry,
    TreeHash,
    binary_line,
    kind_of,
    mode_of,
    stub,
    stub_digest,
)
from flyball.workspace.trees.writer import holds_file

Files = dict[str, TreeEntry]


class PlainTrees:
    """The trees of one working directory, in a store of our own."""

    def __init__(
        self,
        store: Path,
        root: Path,
        *,
        known: Path | None = None,
        large: int = LARGE,
        apart: Sequence[str] = (),
    ) -> None:
        self.store = store
        self.root = root
        self.large = large
        self._apart = apart
        self._known_file = known or store / "known.json"
        self._known: dict[str, tuple[list[int], str]] = {}
        self._stubs = Stubs(store / "stubs")
        with explain_disk_errors(os.fspath(store)):
            store.mkdir(parents=True, exist_ok=True)
        if self._known_file.exists():
            self._known = json.loads(self._known_file.read_text())

    def capture(self) -> Captured:
        """Capture the current state of the working directory."""
        files: Files = {}
        skipped: list[Skipped] = []
        known: dict[str, tuple[list[int], str]] = {}
        settled = settled_before()
        found = list(walk(self.root, self._apart))
        # A stored file stays included even if a run ignores it, or one line in .gitignore could
        # hide an edit.
        for path in (*found, *self._newly_ignored(found)):
            status = _status(self.root / path)
            mode = status and mode_of(status)
            if status is None or mode is None:
                continue
            # As in git's index: a file whose size, times and inode are unchanged is not read again.
            # The change time is included because a command can set the other one back.
            facts = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
            before = self._known.get(path)
            same = before[1] if before and before[0] == facts else ""
            blob = same or self._keep_file(path, status)
            if not blob:
                continue
            # A file written just now is read again: it may be rewritten within the same clock tick.
            known[path] = (facts if status.st_ctime_ns < settled else [], blob)
            files[path] = TreeEntry(mode, blob)
            if not self.is_kept(blob):
                skipped.append(Skipped(path, self._objection(path, status)))
        if known != self._known:
            self._known = known
            with explain_disk_errors(os.fspath(self._known_file)):
                replace_whole(self._known_file, json.dumps(known).encode())
        return Captured(self._write_tree(files), tuple(skipped))

    def _newly_ignored(self, found: Sequence[str]) -> list[str]:
        """Return tracked files that have become ignored: ignoring a file does not delete it."""
        lost = self._known.keys() - set(found)
        return sorted(path for path in lost if holds_file(self.root, path))

    def seed(self, tree: TreeHash) -> None:
        """Mark a tree's files as tracked; each is read again at the next capture."""
        self._known = {path: ([], entry.blob) for path, entry in self._files_below(tree, "")}

    def changes(self, old: TreeHash, new: TreeHash) -> tuple[Changed, ...]:
        """Return every path that differs between two trees."""
        before, after = dict(self._differing_files(old, new)), dict(self._differing_files(new, old))
        return tuple(
            self._change(path, before.get(path), after.get(path))
            for path in sorted({*before, *after})
        )

    def diff(self, old: TreeHash, new: TreeHash) -> bytes:
        """Return the unified diff of two trees."""
        return b"".join(self._file_diff(change) for change in self.changes(old, new))

    def entries(self, tree: TreeHash, paths: Sequence[str]) -> dict[str, TreeEntry]:
        """Return a tree's entries at these paths."""
        found = {path: self._find_entry(tree, path.split("/")) for path in paths}
        return {path: entry for path, entry in found.items() if entry}

    def overlay(self, tree: TreeHash, entries: Mapping[str, TreeEntry | None]) -> TreeHash:
        """Return the tree with some paths replaced, or removed where the entry is None."""
        files = self.files(tree)
        for path, entry in sorted(entries.items(), key=lambda item: item[1] is not None):
            files.pop(path, None)
            if entry:
                for other in [name for name in files if _is_in_the_way(name, path)]:
                    del files[other]
                files[path] = entry
        return self._write_tree(files)

    def files(self, tree: TreeHash) -> Files:
        """Return every file in a tree."""
        return dict(self._files_below(tree, ""))

    def contents(self, blobs: Sequence[str]) -> dict[str, bytes]:
        """Return the content of each of these blobs."""
        return {blob: self._content_named(blob, "blob") for blob in blobs}

    def keep(self, content: bytes) -> str:
        """Store content; return the blob's name."""
        return self._write_object("blob", content)

    def is_kept(self, blob: str) -> bool:
        """Return whether the blob is a file's content, and not a stub for it."""
        return blob not in self._stubs

    def paths(self, tree: TreeHash) -> frozenset[str]:
        """Return every path in a tree."""
        return frozenset(path for path, _ in self._files_below(tree, ""))

    def unkept_files(self, tree: TreeHash) -> dict[str, str]:
        """Return the paths of a tree whose content was not stored, with their stubs."""
        return {
            p: entry.blob for p, entry in self._files_below(tree, "") if entry.blob in self._stubs
        }

    def merge(self, base: TreeHash, ours: TreeHash, theirs: TreeHash) -> MergedTree:
        """Apply the change from base to theirs to ours, path by path."""
        return merge_by_path(self, base, ours, theirs)

    def checkout(self, tree: TreeHash, into: Path) -> None:
        """Write a tree's files into an empty directory."""
        for path, entry in self._files_below(tree, ""):
            target = into / path
            target.parent.mkdir(parents=True, exist_ok=True)
            content = self._content_named(entry.blob, "blob")
            if entry.mode == LINK:
                target.symlink_to(os.fsdecode(content))
            else:
                target.write_bytes(content)
                target.chmod(0o755 if entry.mode == "100755" else 0o644)

    def find_damage(self, trees: Sequence[TreeHash]) -> tuple[str, ...]:
        """Return what is damaged or missing among the objects of these trees."""
        problems: list[str] = []
        for name in sorted(self._reachable(trees, problems.append)):
            try:
                kind, content = self._read_object(name)
                # The name is a checksum, so damage is visible without any other record.
                if object_name(kind, content) != name:
                    problems.append(f"damaged {name}")
            except GitFailed:
                problems.append(f"missing {name}")
            except zlib.error:
                problems.append(f"damaged {name}")
        return tuple(dict.fromkeys(problems))

    def prune(self, keep: Sequence[TreeHash]) -> int:
        """Delete every object that none of these trees needs; return the bytes freed."""
        # Objects that the last capture considers stored must stay, or the next one would not write
        # them again.
        needed = self._reachable(keep, lambda _: None) | {blob for _, blob in self._known.values()}
        freed = 0
        for file in list(self.store.glob("??/*")):
            if file.parent.name + file.name not in needed:
                freed += file.stat().st_size
                file.unlink()
        return freed

    def trees_in_use(self) -> tuple[TreeHash, ...]:
        """Return the trees that the next capture builds on, which must not be pruned."""
        return (self.capture().tree,)

    def _keep_file(self, path: str, status: os.stat_result) -> str:
        """Store a file; return an empty string if it was deleted meanwhile."""
        place = self.root / path
        if mode_of(status) == LINK:
            with suppress(FileNotFoundError, NotADirectoryError):
                return self.keep(os.fsencode(place.readlink()))
            return ""
        if reason := self._objection(path, status):
            return self._keep_stub(path, status, reason) if os.path.lexists(place) else ""
        content = read_within(self.root, path, self.large)
        return self.keep(content or b"") if content is not None or os.path.lexists(place) else ""

    def _keep_stub(self, path: str, status: os.stat_result, reason: str) -> str:
        digest = stub_digest(self.root, path, status)
        blob = self.keep(stub(status.st_size, digest, reason))
        self._stubs.add(blob)
        return blob

    def _objection(self, path: str, status: os.stat_result) -> str:
        if status.st_size > self.large:
            return f"larger than {self.large // (1024 * 1024)} MB"
        return "" if os.access(self.root / path, os.R_OK) else "not readable"

    def _write_tree(self, files: Mapping[str, TreeEntry]) -> TreeHash:
        """Store the tree of these files."""
        folders: dict[str, Children] = {folder: {} for folder in folders_above(list(files))}
        return TreeHash(graft(folders, files, lambda content: self._write_object("tree", content)))

    def _children(self, tree: str) -> Iterator[tuple[str, str, str]]:
        for path, child in parse_tree(self._content_named(tree, "tree")).items():
            yield path, child.mode, child.name

    def _files_below(self, tree: str, prefix: str) -> Iterator[tuple[str, TreeEntry]]:
        for name, mode, blob in self._children(tree):
            if mode == DIRECTORY:
                yield from self._files_below(blob, f"{prefix}{name}/")
            else:
                yield f"{prefix}{name}", TreeEntry(mode, blob)

    def _differing_files(
        self, tree: str, other: str, prefix: str = ""
    ) -> Iterator[tuple[str, TreeEntry]]:
        """Yield the files of one tree that differ in another, skipping identical folders."""
        if tree == other:
            return
        theirs = {name: (mode, blob) for name, mode, blob in self._children(other)} if other else {}
        for name, mode, blob in self._children(tree):
            their_mode, their_blob = theirs.get(name, ("", ""))
            # Equal names mean equal content: a folder that did not change is never opened.
            if (mode, blob) == (their_mode, their_blob):
                continue
            if mode == DIRECTORY:
                below = their_blob if their_mode == DIRECTORY else ""
                yield from self._differing_files(blob, below, f"{prefix}{name}/")
            else:
                yield f"{prefix}{name}", TreeEntry(mode, blob)

    def _find_entry(self, tree: str, parts: Sequence[str]) -> TreeEntry | None:
        for name, mode, blob in self._children(tree):
            if name == parts[0]:
                if len(parts) == 1:
                    return None if mode == DIRECTORY else TreeEntry(mode, blob)
                return self._find_entry(blob, parts[1:]) if mode == DIRECTORY else None
        return None

    def _change(self, path: str, before: TreeEntry | None, after: TreeEntry | None) -> Changed:
        old, new = (self._content_of(entry) or b"" for entry in (before, after))
        if b"\0" in old or b"\0" in new:
            return Changed(path, kind_of(before, after), before, after, binary=True)
        runs = compare(keep_ends(old), keep_ends(new))
        added = sum(run.new_end - run.new_at for run in runs)
        removed = sum(run.old_end - run.old_at for run in runs)
        return Changed(path, kind_of(before, after), before, after, added, removed)

    def _content_of(self, entry: TreeEntry | None) -> bytes | None:
        return self._content_named(entry.blob, "blob") if entry else None

    def _file_diff(self, change: Changed) -> bytes:
        """Return a file's diff, with mode changes that content alone does not show."""
        old, new = change.before, change.after
        before, after = self._content_of(old), self._content_of(new)
        text = unified_diff(change.path, before, after)
        if change.binary and before != after:
            sizes = [None if content is None else len(content) for content in (before, after)]
            text = f"{text.rpartition('Binary files ')[0]}{binary_line(*sizes)}\n"
        if old is None or new is None:
            mode = (old or new or TreeEntry(REGULAR, "")).mode
            text = text.replace(f"file mode {REGULAR}\n", f"file mode {mode}\n", 1)
        elif old.mode != new.mode:
            name = f"diff --git a/{change.path} b/{change.path}\n"
            head, _, rest = (text or name).partition("\n")
            text = f"{head}\nold mode {old.mode}\nnew mode {new.mode}\n{rest}"
        return text.encode(errors="surrogateescape")

    def _reachable(self, trees: Sequence[str], trouble: Callable[[str], object]) -> set[str]:
        seen: set[str] = set()
        waiting = list(trees)
        while waiting:
            tree = waiting.pop()
            if tree in seen:
                continue
            seen.add(tree)
            try:
                for _, mode, blob in self._children(tree):
                    waiting.append(blob) if mode == DIRECTORY else seen.add(blob)
            except (GitFailed, zlib.error, ValueError):
                trouble(f"missing {tree}")
        return seen

    def _write_object(self, kind: str, content: bytes) -> str:
        return write_loose(self.store, kind, content)

    def _read_object(self, name: str) -> tuple[str, bytes]:
        try:
            data = zlib.decompress(self._object_path(name).read_bytes())
        except FileNotFoundError:
            raise GitFailed(
                f"The content {name} is missing from {self.store}.", "Check the disk."
            ) from None
        header, _, content = data.partition(b"\0")
        return header.split()[0].decode(), content

    def _content_named(self, name: str, kind: str) -> bytes:
        found, content = self._read_object(name)
        if found != kind:
            raise GitFailed(f"{name} is a {found}, not a {kind}.", f"Check {self.store}.")
        return content

    def _object_path(self, name: str) -> Path:
        return self.store / name[:2] / name[2:]


def _status(place: Path) -> os.stat_result | None:
    # A file may disappear while the tree is read.
    try:
        return place.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_in_the_way(name: str, path: str) -> bool:
    return name.startswith(f"{path}/") or path.startswith(f"{name}/")
