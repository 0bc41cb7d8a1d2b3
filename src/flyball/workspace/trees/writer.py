"""Write files into a working tree so that an interrupted write can be completed.

A plan is stored first, every file is replaced atomically, and each directory on the way is opened
from its parent without following links.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from flyball.regex import regex
from flyball.workspace.errors import Diverged, explain_disk_errors
from flyball.workspace.files.plain import READING, parent_of
from flyball.workspace.trees.depot_trees import DepotTrees
from flyball.workspace.trees.trees import EXECUTABLE, LINK, Changed, TreeEntry, mode_of

_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_AT_ONCE = 64
_SPARE = regex(r"\.flyball-[0-9a-f]{16}")


class Writer:
    """Changes the files of one directory from one state to another, completely or resumably."""

    def __init__(self, trees: DepotTrees, root: Path, note: Path) -> None:
        self.trees = trees
        self.root = root
        self.note = note

    def perform(self, title: str, changes: Sequence[Changed]) -> None:
        """Write every change's after-state to files that are still in their before-state."""
        # A file that was never stored cannot be restored; it stays as it is.
        changes = [change for change in changes if self._can_write(change)]
        if not changes:
            return
        self._refuse_unexpected(changes)
        with explain_disk_errors(os.fspath(self.note.parent)):
            # The plan must be on disk before the first file changes: `finish` and `roll_back` use
            # it after a kill. A second run over files already written does nothing.
            _put_note(self.note, title, changes)
        self._write_all(changes)

    def unfinished_title(self) -> str | None:
        """Return the title of the write that was interrupted, or None."""
        return self._read_note()[0] if self.note.exists() else None

    def finish(self) -> str | None:
        """Complete an interrupted write; return its title, or None."""
        if not self.note.exists():
            return None
        title, changes = self._read_note()
        self._remove_spares(changes)
        self._refuse_unexpected(changes)
        self._write_all(changes)
        return title

    def roll_back(self) -> str | None:
        """Undo an interrupted write; return its title, or None."""
        if not self.note.exists():
            return None
        title, changes = self._read_note()
        self._remove_spares(changes)
        self._refuse_unexpected(changes)
        self._write_all([change.inverse() for change in changes])
        return title

    def forget(self) -> None:
        """Discard the plan of an interrupted write, and keep the files as they are."""
        if self.note.exists():
            self._remove_spares(self._read_note()[1])
            self.note.unlink()

    def _remove_spares(self, changes: Sequence[Changed]) -> None:
        """Remove the temporary files of an interrupted write."""
        for folder in {change.path.rpartition("/")[0] for change in changes}:
            below = f"{folder}/." if folder else "."
            with (
                suppress(OSError),
                parent_of(self.root, below) as (parent, _),
                os.scandir(parent) as entries,
            ):
                for name in [entry.name for entry in entries if _SPARE.fullmatch(entry.name)]:
                    os.unlink(name, dir_fd=parent)

    def _can_write(self, change: Changed) -> bool:
        return change.after is None or self.trees.is_kept(change.after.blob)

    def unexpected_paths(self, changes: Sequence[Changed]) -> list[str]:
        """Return the paths in neither the before-state nor the after-state of their change."""
        return [
            change.path
            for change in changes
            if not (change.before and not self.trees.is_kept(change.before.blob))
            and entry_on_disk(self.root, change.path, _width(change))
            not in (change.before, change.after)
        ]

    def _refuse_unexpected(self, changes: Sequence[Changed]) -> None:
        if strange := self.unexpected_paths(changes):
            raise Diverged(
                f"{', '.join(strange[:5])} changed while this was being prepared.",
                "Look at the file and try again; nothing was overwritten.",
                strange,
            )

    def _write_all(self, changes: Sequence[Changed]) -> None:
        # All removals before any write, the deepest first: a file may replace a folder, and a
        # folder a file, only after the removal.
        ordered = sorted(changes, key=lambda change: (-change.path.count("/"), change.path))
        for change in ordered:
            if change.after is None:
                remove_entry(self.root, change.path)
        writes = [(change.path, change.after) for change in ordered if change.after]
        for at in range(0, len(writes), _AT_ONCE):
            some = writes[at : at + _AT_ONCE]
            # A few at a time: whole trees are restored by this, and need not fit in memory.
            contents = self.trees.contents([entry.blob for _, entry in some])
            for path, entry in some:
                if entry_on_disk(self.root, path, len(entry.blob)) != entry:
                    write_entry(self.root, path, entry.mode, contents[entry.blob])
        self.note.unlink(missing_ok=True)

    def _read_note(self) -> tuple[str, list[Changed]]:
        noted = json.loads(self.note.read_text())
        return noted["title"], [
            Changed(
                each["path"],
                each["kind"],
                TreeEntry(*each["before"]) if each["before"] else None,
                TreeEntry(*each["after"]) if each["after"] else None,
            )
            for each in noted["changes"]
        ]


def _put_note(note: Path, title: str, changes: Sequence[Changed]) -> None:
    rows = [{"path": c.path, "kind": c.kind, "before": c.before, "after": c.after} for c in changes]
    # Synced before the rename: after a power failure an existing plan must be complete.
    spare = note.with_suffix(".new")
    with spare.open("w") as file:
        json.dump({"title": title, "changes": rows}, file)
        file.flush()
        os.fsync(file.fileno())
    spare.replace(note)


def _width(change: Changed) -> int:
    return len((change.before or change.after or TreeEntry("", "0" * 40)).blob)


def entry_on_disk(root: Path, path: str, width: int = 40) -> TreeEntry | None:
    """Return the tree entry of what is at this path now; None if a tree would have none."""
    try:
        with parent_of(root, path) as (parent, name):
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            mode = mode_of(status)
            if mode is None:
                return None
            if mode == LINK:
                content = os.fsencode(os.readlink(name, dir_fd=parent))
            else:
                # The entry may be a link by now.
                fd = os.open(name, READING | os.O_NOFOLLOW, dir_fd=parent)
                with os.fdopen(fd, "rb") as file:
                    content = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            # The path contains a link, so there is nothing of ours.
            return None
        raise
    digest = hashlib.sha1(usedforsecurity=False) if width == 40 else hashlib.sha256()
    digest.update(b"blob %d\0" % len(content) + content)
    return TreeEntry(mode, digest.hexdigest())


def holds_file(root: Path, path: str) -> bool:
    """Return whether a file or link is at this path, reached through no link."""
    try:
        with parent_of(root, path) as (parent, name):
            return mode_of(os.stat(name, dir_fd=parent, follow_symlinks=False)) is not None
    except OSError:
        return False


def write_entry(root: Path, path: str, mode: str, content: bytes) -> None:
    """Write a file or link atomically, replacing an existing file."""
    try:
        with (
            explain_disk_errors(os.fspath((root / path).parent)),
            parent_of(root, path, make=True) as (parent, name),
        ):
            spare = f".flyball-{secrets.token_hex(8)}"
            try:
                if mode == LINK:
                    os.symlink(os.fsdecode(content), spare, dir_fd=parent)
                else:
                    _write_file(parent, name, spare, mode, content)
                # An empty folder is removed for the file; rename would not replace it. A folder
                # with content raises here, before anything is lost.
                with suppress(FileNotFoundError, NotADirectoryError):
                    os.rmdir(name, dir_fd=parent)
                os.rename(spare, name, src_dir_fd=parent, dst_dir_fd=parent)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(spare, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP, errno.EISDIR, errno.ENOTEMPTY):
            raise Diverged(
                f"{path} cannot be put back: something else is there.",
                "Move that away and run the command again; it continues where it stopped.",
                [path],
            ) from error
        raise


def _write_file(parent: int, name: str, spare: str, mode: str, content: bytes) -> None:
    bits = 0o755 if mode == EXECUTABLE else 0o644
    with suppress(FileNotFoundError):
        old = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        if stat.S_ISREG(old):
            # Trees record only whether a file is executable; the rest of its mode is the user's and
            # stays.
            bits = stat.S_IMODE(old) & ~0o111
            bits |= (bits & 0o444) >> 2 if mode == EXECUTABLE else 0
    fd = os.open(spare, _CREATE, 0o600, dir_fd=parent)
    with os.fdopen(fd, "wb") as file:
        file.write(content)
        file.flush()
        os.fchmod(fd, bits)


def remove_entry(root: Path, path: str) -> None:
    """Remove a file or link, and the directories that are then empty."""
    try:
        with (
            explain_disk_errors(os.fspath((root / path).parent)),
            parent_of(root, path) as (parent, name),
        ):
            status = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                return
            os.unlink(name, dir_fd=parent)
    except (FileNotFoundError, NotADirectoryError):
        return
    folder = path.rpartition("/")[0]
    with suppress(OSError):
        while folder:
            with parent_of(root, folder) as (parent, name):
                os.rmdir(name, dir_fd=parent)
            folder = folder.rpartition("/")[0]
