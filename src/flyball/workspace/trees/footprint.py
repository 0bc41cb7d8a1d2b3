"""Check whether a directory changed since it was last scanned, without starting git.

The method is git's: a file with the same size, times, inode and mode has the same content, unless
it was written so recently that the clock cannot distinguish it. Hooks use this in short processes,
so it imports only the standard library.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

MOST = 2_000
"""Maximum number of entries in a directory; above it, git is faster."""
_TICKS_NS = 100_000_000
_COARSE_CLOCK = 5
"""The number of Linux's CLOCK_REALTIME_COARSE, for which Python has no name."""

EntryFacts = tuple[str, int, int, int, int, int]


class DirectoryState(NamedTuple):
    """The metadata of every entry of a directory."""

    entries: tuple[EntryFacts, ...]
    names: frozenset[str]
    """The names of the folders."""
    settled: int
    """A later change of a file last modified before this time would be visible."""
    rules: tuple[EntryFacts, ...] = ()
    """The entries that contain ignore rules."""

    @property
    def is_settled(self) -> bool:
        """Return whether a later change of any entry would be visible."""
        return all(each[-1] < self.settled for each in self.entries)

    def touched_since(self, was: DirectoryState) -> list[str] | None:
        """Return the files that may have changed since an earlier scan.

        Return None if more than content changed: the set of entries, their kinds, or the ignore
        rules.
        """
        if self.rules != was.rules or len(self.entries) != len(was.entries):
            return None
        if any(each[-1] >= was.settled for each in was.rules):
            return None
        found: list[str] = []
        for now, before in zip(self.entries, was.entries, strict=True):
            if now == before and before[-1] < was.settled:
                continue
            if now[0] != before[0] or stat.S_IFMT(now[1]) != stat.S_IFMT(before[1]):
                return None
            if not stat.S_ISDIR(now[1]):
                found.append(now[0])
        return found

    @property
    def digest(self) -> str:
        """Return a short digest of the footprint."""
        return hashlib.sha256(repr(self.entries).encode("utf-8", "replace")).hexdigest()


def settled_before() -> int:
    """Return the latest modification time of files that can no longer change unnoticed."""
    # By the clock of file times. It does not advance between two ticks, or for seconds on a virtual
    # machine without CPU time: by any other clock, a file that was just written would appear old.
    clock = _COARSE_CLOCK if sys.platform == "linux" else time.CLOCK_REALTIME
    return time.clock_gettime_ns(clock) - _TICKS_NS


def scan_directory(
    root: str | Path,
    excluded: frozenset[str],
    rule_files: Iterable[str] = (),
    most: int = MOST,
) -> DirectoryState | None:
    """Return a directory's footprint, without git's directory at its top and the folders in
    `apart`.

    It includes the files in `beside`, outside the directory, that contain ignore rules. Return None
    if the directory is too large.
    """
    settled = settled_before()
    outside = [_facts_of(path) for path in rule_files]
    found: list[EntryFacts] = []
    names: set[str] = set()
    folders, own = [os.fspath(root)], f"{os.fspath(root)}/.git"
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                path, is_folder = entry.path, entry.is_dir(follow_symlinks=False)
                # A file in place of an ignored folder may count.
                if path == own or (is_folder and path in excluded):
                    continue
                it = entry.stat(follow_symlinks=False)
                sizes = it.st_mode, it.st_size, it.st_ino
                found.append((path, *sizes, it.st_mtime_ns, it.st_ctime_ns))
                if len(found) > most:
                    return None
                if is_folder:
                    folders.append(path)
                    names.add(entry.name)
    rules = tuple(sorted(each for each in found if each[0].endswith("/.gitignore")))
    entries = (*outside, *sorted(found))
    return DirectoryState(entries, frozenset(names), settled, (*outside, *rules))


def _facts_of(path: str) -> EntryFacts:
    """Return a file's metadata, following links; only its name if it is missing."""
    try:
        it = os.stat(path)  # noqa: PTH116 - pathlib would be the slowest thing that a hook loads
    except OSError:
        return path, 0, 0, 0, 0, 0
    return path, it.st_mode, it.st_size, it.st_ino, it.st_mtime_ns, it.st_ctime_ns


class DirectoryScanner:
    """Scans one directory repeatedly, excluding the generated files that git ignores there."""

    def __init__(
        self,
        root: Path,
        clutter: frozenset[str],
        list_ignored: Callable[[], Iterable[str]],
        rule_files: Iterable[Path] = (),
    ) -> None:
        self._root = root
        self.rule_files = [os.fspath(each) for each in rule_files]
        """The files outside the directory that contain its ignore rules."""
        self._clutter = clutter
        self._list_ignored = list_ignored
        self._excluded: frozenset[str] | None = None
        """The folders to exclude, once git has reported which it ignores."""
        self._rules: tuple[EntryFacts, ...] = ()
        self.is_small = True

    def scan(self) -> DirectoryState | None:
        """Return the directory's footprint; None if it is too expensive."""
        found = None
        # Git handles a folder that disappears during the scan.
        with suppress(OSError):
            found = self._scan() if self.is_small else None
        return found

    @property
    def excluded(self) -> frozenset[str]:
        """Return the excluded folders."""
        return self._excluded or frozenset()

    def forget(self) -> None:
        """Discard the cached list of ignored folders."""
        self._excluded = None

    def _scan(self) -> DirectoryState | None:
        if self._excluded is not None:
            found = scan_directory(self._root, self._excluded, self.rule_files)
            if found is not None and found.rules == self._rules:
                return found
        found = scan_directory(self._root, frozenset(), self.rule_files)
        if found is not None and found.names.isdisjoint(self._clutter):
            return found
        ignored = (each.rstrip("/") for each in self._list_ignored())
        clutter = (each for each in ignored if not self._clutter.isdisjoint(each.split("/")))
        self._excluded = frozenset(os.fspath(self._root / each) for each in clutter)
        found = scan_directory(self._root, self._excluded, self.rule_files)
        self.is_small = found is not None
        self._rules = found.rules if found else ()
        return found
