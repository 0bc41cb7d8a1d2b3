"""Trees of a working directory stored by git, in a git directory of our own.

One index file stays warm between captures, so a capture costs about one `git status`, and only what
changed is written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from flyball.errors import ToolTimeout
from flyball.workspace.errors import GitFailed
from flyball.workspace.files.ignored_files import MADE_ANEW
from flyball.workspace.files.plain import pipes_named, read_within, remove_within
from flyball.workspace.trees.depot_trees import DepotTrees
from flyball.workspace.trees.footprint import DirectoryScanner, DirectoryState
from flyball.workspace.trees.git import Door, Git, ignore_file, make_depot
from flyball.workspace.trees.git_objects import (
    Children,
    folders_above,
    graft,
    parse_tree,
    split_batch,
)
from flyball.workspace.trees.ignore import NEVER_KEPT, RECORDS, SIGNS, ignore_line, walk_nested
from flyball.workspace.trees.trees import (
    LARGE,
    LINK,
    Captured,
    Skipped,
    TreeEntry,
    TreeHash,
    mode_of,
    placeholder,
    placeholder_digest,
)
from flyball.workspace.trees.working_form import Listing, WorkingForm, find_missing
from flyball.workspace.trees.writer import holds_file

# A split index is written as the changes since it was split: in a large repository a capture would
# otherwise write megabytes for one line.
_SPLIT = ("-c", "core.splitIndex=true")
_STATUS = ("status", "--porcelain=v1", "-z", "-uall", "--no-renames", "--ignore-submodules=all")
_UPDATE = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
_READ_BY_GIT = frozenset({".gitignore", ".gitattributes", ".gitmodules"})
_APART = frozenset({".git", "node_modules"})
_STALLED = 8.0
"""Seconds after which git may be blocked by a pipe. Hosts wait longer for a hook, but not much."""
_FEW = 64
"""Up to this many changed paths are grafted into the index's tree; more are added to the index."""


class GitTrees(DepotTrees):
    """The trees of one working directory, in a depot."""

    def __init__(self, depot: Git, root: Path, index: Path, *, large: int = LARGE) -> None:
        super().__init__(depot)
        self.root = root
        self.large = large
        self._lock = index.with_name(f"{index.name}.lock")
        self._git = depot.with_env(GIT_WORK_TREE=os.fspath(root), GIT_INDEX_FILE=os.fspath(index))
        self._digests: dict[str, tuple[tuple[int, int, int], str]] = {}
        self._indexed: TreeHash | None = None
        self._folders: dict[tuple[TreeHash, str], Children] = {}
        """The cached children of folders in the index's tree."""
        self._are_pipes_refused = False
        self._scanner: DirectoryScanner | None = None
        self._last_capture: tuple[DirectoryState, Captured] | None = None
        """The directory's footprint at the last capture, and that capture's result."""
        self._dirty: tuple[DirectoryState, frozenset[str]] | None = None
        """The footprint then, and the paths that differed from the index's tree."""

    def exclude_nested(self) -> list[tuple[str, bool]]:
        """Exclude nested repositories that exist now and that git does not track.

        The user's clones and worktrees are not part of their request. Return the other differences
        from the index.
        """
        self._refuse_pipes()
        listed = list(self._listed())
        self._exclude([path for path, _ in listed if path.endswith("/")])
        return [each for each in listed if not each[0].endswith("/")]

    def capture_without_nested(self) -> Captured:
        """Capture the current state without nested repositories, with a single git call."""
        return self._capture_dirty(self._own_paths(self.exclude_nested()))

    def _exclude(self, paths: Iterable[str]) -> None:
        """Make git ignore these directories in this depot from now on."""
        lines = [f"\n{ignore_line(path)}\n" for path in paths if "\n" not in path]
        if lines:
            with (self.depot.directory / "info/exclude").open("a", errors="surrogateescape") as own:
                own.writelines(lines)

    def enable_scanning(self) -> None:
        """Scan the directory before asking git from now on: hooks wait for every capture."""
        beside = ignore_file(self.depot.directory)
        found = [beside] if beside else ()
        self._scanner = DirectoryScanner(self.root, MADE_ANEW, self._ignored_folders, found)

    def capture(self) -> Captured:
        """Capture the current state of the working directory."""
        # Before git is asked: a change in between makes the next scan differ from this one.
        state = self._scanner.scan() if self._scanner else None
        if state and self._last_capture and self._last_capture[0].entries == state.entries:
            return self._last_capture[1]
        captured = self._capture(state)
        self._last_capture = (state, captured) if state and state.is_settled else None
        return captured

    @property
    def is_untouched(self) -> bool:
        """Return whether the directory is unchanged since the last capture; False if unknown."""
        state = self._scanner.scan() if self._scanner else None
        return bool(state and self._last_capture and self._last_capture[0].entries == state.entries)

    def _ignored_folders(self) -> list[str]:
        args = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
        listed = self._ask(*args).split(b"\0")
        return [os.fsdecode(each) for each in listed if each.endswith(b"/")]

    def _forget_scan(self) -> None:
        """Discard the cached captures, whatever the directory's state is."""
        self._last_capture = self._dirty = None
        if self._scanner:
            self._scanner.forget()

    def _capture(self, state: DirectoryState | None) -> Captured:
        kept, skipped = self.capture_kept(state)
        if not skipped:
            return Captured(kept, ())
        entries: dict[str, TreeEntry | None] = {}
        for each in skipped:
            # It may have been deleted meanwhile.
            with suppress(FileNotFoundError, NotADirectoryError):
                entries[each.path] = self._placeholder_entry(each.path, each.reason)
        return Captured(self.overlay(kept, entries), skipped)

    def capture_kept(self, state: DirectoryState | None = None) -> Captured:
        """Capture the current state, without stubs for files that are not stored.

        `mark` is the footprint of a scan that was just made.
        """
        # A capture holds the workspace's lock, so a lock on our own index belongs to a dead git.
        self._lock.unlink(missing_ok=True)
        self._refuse_pipes()
        known = self._dirty_since(state) if state else None
        return self._capture_dirty(self._dirty_paths() if known is None else known, state)

    def _capture_dirty(self, dirty: Iterable[str], state: DirectoryState | None = None) -> Captured:
        gone, fresh, unkept = self._changed_paths(dirty)
        skipped = tuple(Skipped(*each) for each in sorted(unkept.items()))
        changed = [*gone, *fresh]
        # Writing the index takes longer than everything else, so a few changes are grafted into its
        # tree and the index is not updated. Names with a line break cannot be passed to cat-file.
        if self._indexed and len(changed) <= _FEW and not any("\n" in path for path in changed):
            self._dirty = (state, frozenset(changed)) if state and not skipped else None
            return Captured(self._graft(self._indexed, gone, fresh), skipped)
        self.update(gone, fresh)
        self._indexed = TreeHash(self._git.text(*_SPLIT, "write-tree"))
        self._dirty = (state, frozenset()) if state and not skipped else None
        return Captured(self._indexed, skipped)

    def _dirty_since(self, state: DirectoryState) -> Iterable[str] | None:
        """Return the differences from the index's tree if only file contents changed since a
        capture.

        Return None if git must be asked.
        """
        touched = state.touched_since(self._dirty[0]) if self._dirty else None
        if touched is None or self._dirty is None or self._indexed is None:
            return None
        own = f"{os.fspath(self.root)}/"
        paths = [each.removeprefix(own) for each in touched]
        if len(paths) > _FEW or any("\n" in path for path in paths):
            return None
        self._read_folders(self._indexed, folders_above(paths))
        # A path neither in the index nor different from it is ignored.
        return sorted({*self._dirty[1], *filter(self._is_indexed, paths)})

    def _is_indexed(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return bool(self._indexed) and name in self._folders[self._indexed, folder]

    def _refuse_pipes(self) -> None:
        """Raise once if there are pipes, which would block git forever without a message.

        Later ones are removed when the program that created them has ended. Around a host that
        moment is unknown, so there each is removed.
        """
        if self._are_pipes_refused:
            return
        pipes = pipes_named(self.root, _READ_BY_GIT, _APART)
        if self._scanner:
            pipes = [each for each in pipes if not remove_within(self.root, each)]
        if pipes:
            raise GitFailed(
                f"{', '.join(pipes[:5])} in {self.root} is a pipe or a device, and git would wait"
                " for it for ever.",
                "Remove it and try again.",
            )
        self._are_pipes_refused = True

    def _ask(self, *args: str) -> bytes:
        """Return git's status of the working directory; around a host, handle new pipes."""
        if not self._scanner:
            return self._git.call(*args).stdout
        self._refuse_pipes()
        try:
            return self._git.call(*args, seconds=_STALLED).stdout
        except ToolTimeout:
            self._are_pipes_refused = False
            self._refuse_pipes()
            return self._git.call(*args).stdout

    def _graft(self, tree: TreeHash, gone: Sequence[str], fresh: Sequence[str]) -> TreeHash:
        """Return the index's tree with a few paths as on disk; the index follows later."""
        if not gone and not fresh:
            return tree
        entries: dict[str, TreeEntry | None] = dict.fromkeys(gone)
        entries |= {path: self._entry(path) for path in fresh}
        folders = folders_above(list(entries))
        self._read_folders(tree, folders)
        known = {folder: self._folders[tree, folder] for folder in folders}
        return TreeHash(graft(known, entries, lambda content: self._write("tree", content)))

    def _read_folders(self, tree: TreeHash, folders: Sequence[str]) -> None:
        """Cache the children of these folders of a tree; empty for those that it does not have."""
        if any(known != tree for known, _ in self._folders):
            self._folders.clear()
        unread = [each for each in folders if (tree, each) not in self._folders]
        if not unread:
            return
        # One process for all folders: starting git costs more than its work here.
        asked = b"".join(os.fsencode(f"{tree}:{folder}") + b"\n" for folder in unread)
        answers = split_batch(self.depot.call("cat-file", "--batch", stdin=asked).stdout)
        for folder, found in zip(unread, answers, strict=True):
            kind, content = found or ("", b"")
            self._folders[tree, folder] = parse_tree(content, len(tree)) if kind == "tree" else {}

    def _entry(self, path: str) -> TreeEntry | None:
        """Store a file as it is on disk, unless it was deleted meanwhile."""
        place = self.root / path
        try:
            mode = mode_of(place.lstat())
            if mode is None:
                return None
            content = os.fsencode(place.readlink()) if mode == LINK else self._content(path)
            return None if content is None else TreeEntry(mode, self._write("blob", content))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _content(self, path: str) -> bytes | None:
        return read_within(self.root, path, self.large)

    def update(self, gone: Sequence[str], fresh: Sequence[str]) -> None:
        """Remove `gone` from the index, and add `fresh` as they are on disk."""
        self._last_capture = self._dirty = None
        if gone:
            # With --index-info, which does not check the disk: `--remove` does, where a file that
            # is gone from the tree may exist (a submodule's link, an ignored file).
            zero = b"0" * self._width
            lines = b"".join(b"0 %s\t%s\0" % (zero, os.fsencode(path)) for path in gone)
            self._git.call(*_SPLIT, "update-index", "-z", "--index-info", stdin=lines)
        if fresh:
            names = b"".join(os.fsencode(path) + b"\0" for path in fresh)
            self._git.call(*_SPLIT, *_UPDATE, stdin=names)

    def read_again(self, paths: Sequence[str]) -> None:
        """Read these files from disk, although git reports them as unchanged."""
        self.update(paths, paths)
        self._indexed = None
        self._forget_scan()

    def track(self, paths: Sequence[str]) -> None:
        """Track these files from now on even if they become ignored, as git does once committed.

        Until then a file may be known only from a capture, and not from the index.
        """
        self.update((), [path for path in paths if holds_file(self.root, path)])
        self._indexed = None
        self._forget_scan()

    def seed(self, tree: str, *, write: bool) -> None:
        """Initialize the index from a tree, and write its files out if requested."""
        self._forget_scan()
        self._git.call("read-tree", tree)
        if write:
            self._git.call("checkout-index", "--all", "--force", "--index")

    @property
    def index(self) -> Git:
        """Return git for this directory and its index."""
        return self._git

    def open_submodules(self, form: WorkingForm) -> list[str]:
        """Track each submodule's files instead of its single entry; return those without files."""
        # git status would report a submodule as changed, but not which of its files.
        form.fill_submodules(self._git, Listing(self._git).links)
        unknown = find_missing(self._git)
        self.update(unknown, ())
        self._indexed = None
        self._forget_scan()
        return [path for path in unknown if not os.path.lexists(self.root / path / ".git")]

    def clear_overlook_marks(self) -> None:
        """Clear the `assume-unchanged` and `skip-worktree` marks in the index."""
        listed = self._git.call("ls-files", "-v", "-z").stdout.split(b"\0")
        # assume-unchanged and skip-worktree hide edits from git status, and so from a snapshot.
        self._forget_scan()
        if overlooked := [line[2:] for line in listed if line[:1].islower()]:
            names = b"\0".join(overlooked) + b"\0"
            self._git.call("update-index", "--no-assume-unchanged", "-z", "--stdin", stdin=names)

    def remember(self, tree: TreeHash) -> None:
        """Cache a tree's entries, which are needed soon while a hook waits."""
        if self._scanner and self._scanner.is_small:
            self._known = tree, self._list_tree("-r", tree)

    def prune(self, keep: Sequence[TreeHash]) -> int:
        """Delete every object of ours that none of these trees needs; return the bytes freed."""
        before = _size(self.depot.directory / "objects")
        # With the git that knows our index: its entries are needed, too. Afterwards the index's
        # tree may be gone.
        self._git.call("prune", "--expire=now", "--", *keep)
        self._indexed = None
        self._forget_scan()
        return before - _size(self.depot.directory / "objects")

    def trees_in_use(self) -> tuple[TreeHash, ...]:
        """Return the trees that the next capture builds on, which must not be pruned."""
        present = self.capture().tree
        return (present, self._indexed or present)

    def _changed_paths(self, dirty: Iterable[str]) -> tuple[list[str], list[str], dict[str, str]]:
        """Split differing paths into deleted, changed, and not stored with the reason."""
        gone: list[str] = []
        fresh: list[str] = []
        unkept: dict[str, str] = {}
        for path in dirty:
            try:
                status = os.lstat(self.root / path)
            except (FileNotFoundError, NotADirectoryError):
                gone.append(path)
                continue
            if mode_of(status) is None:
                gone.append(path)
            elif reason := self._objection(path, status):
                if os.path.lexists(self.root / path):
                    unkept[path] = reason
                else:
                    gone.append(path)
            else:
                fresh.append(path)
        return gone, fresh, unkept

    def _dirty_paths(self) -> Iterator[str]:
        return self._own_paths(self._listed())

    def _own_paths(self, listed: Iterable[tuple[str, bool]]) -> Iterator[str]:
        made: dict[str, bool] = {}
        for path, is_untracked in listed:
            # A repository inside this one: git status names only its directory and never reads it.
            if path.endswith("/"):
                yield from walk_nested(self.root, path.rstrip("/"))
            elif not (is_untracked and self._is_made(path, made)):
                yield path
        # Excluded from now on, so that git does not scan them again.
        self._exclude([f"{folder}/" for folder, is_made in made.items() if is_made])

    def _is_made(self, path: str, known: dict[str, bool]) -> bool:
        """Return whether a path is in a tool-generated directory; `known` caches the results."""
        for folder in folders_above([path])[-2::-1]:
            if folder not in known:
                has_sign = any(os.path.lexists(self.root / folder / name) for name in SIGNS)
                known[folder] = has_sign and not self._git.text("ls-files", "-z", "--", folder)
            if known[folder]:
                return True
        return False

    def _listed(self) -> Iterator[tuple[str, bool]]:
        """Yield the paths that git reports as different, and whether each is untracked."""
        for line in self._ask(*_SPLIT, *_STATUS).split(b"\0"):
            # The second letter is the working tree's status; the first, the index's against HEAD,
            # does not matter here.
            if len(line) >= 4 and line[1:2] != b" ":
                yield os.fsdecode(line[3:]), line.startswith(b"??")

    def _objection(self, path: str, status: os.stat_result) -> str:
        if mode_of(status) == LINK:
            return ""
        if status.st_size > self.large:
            return f"larger than {self.large // (1024 * 1024)} MB"
        return "" if os.access(self.root / path, os.R_OK) else "not readable"

    def _placeholder_entry(self, path: str, reason: str) -> TreeEntry:
        """Return a stub entry that changes when the file does, without storing its content."""
        status = os.lstat(self.root / path)
        facts = (status.st_size, status.st_mtime_ns, status.st_ino)
        # A file too large to store is also too large to read at every capture; its size, time and
        # inode show whether it may have changed.
        known = self._digests.get(path)
        if known is None or known[0] != facts:
            known = self._digests[path] = (facts, placeholder_digest(self.root, path, status))
        blob = self.keep(placeholder(status.st_size, known[1], reason))
        self._placeholders.add(blob)
        return TreeEntry(mode_of(status) or "100644", blob)


def open_private(
    directory: Path,
    root: Path,
    *,
    program: str,
    large: int = LARGE,
    apart: Sequence[str] = (),
    door: Door | None = None,
) -> GitTrees:
    """Return the trees of a directory without a repository, in a git directory of our own."""
    # Older runs have their objects there.
    older = directory / "objects"
    depot = make_depot(
        directory / "git",
        program=program,
        borrow=[older] if older.is_dir() else (),
        ignored="\n".join([NEVER_KEPT, *RECORDS, *map(ignore_line, apart), ""]),
        door=door,
    )
    return GitTrees(depot, root, directory / "index", large=large)


def _size(directory: Path) -> int:
    return sum(
        os.lstat(Path(folder, name)).st_size
        for folder, _, names in os.walk(directory)
        for name in names
    )
