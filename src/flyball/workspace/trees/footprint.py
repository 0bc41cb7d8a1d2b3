"""Whether anything in a directory was touched since it was last looked at, without starting git.

As git itself does it: a file whose size, times, inode and mode are the same has the same content,
unless it was written so shortly before that a clock could not tell. Hooks look by themselves, so
nothing but the standard library is loaded here.
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
"""Entries of a directory; where there are more, git looks faster than we do."""
_TICKS_NS = 100_000_000
_COARSE_CLOCK = 5
"""The number of Linux's CLOCK_REALTIME_COARSE, for which Python has no name."""

EntryFacts = tuple[str, int, int, int, int, int]


class Footprint(NamedTuple):
    """What every entry of a directory looked like from outside."""

    entries: tuple[EntryFacts, ...]
    names: frozenset[str]
    """How the folders are called."""
    settled: int
    """Of what was changed before this time, a later change would show."""
    rules: tuple[EntryFacts, ...] = ()
    """The entries that say what is ignored."""

    @property
    def is_settled(self) -> bool:
        """Whether a later change of any entry would show."""
        return all(each[-1] < self.settled for each in self.entries)

    def touched_since(self, was: Footprint) -> list[str] | None:
        """The files that may hold something else than at an earlier look.

        None where more than that has changed: what there is, of which kind, or what is ignored.
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
        """All of it in a few characters."""
        return hashlib.sha256(repr(self.entries).encode("utf-8", "replace")).hexdigest()


def settled_before() -> int:
    """A file that was changed before this time cannot change again and keep its times."""
    # By the clock that files get their times from. It stands still between two ticks, and for
    # seconds where the machine is a guest that gets no processor: by any other clock, a file that
    # was just written would look old.
    clock = _COARSE_CLOCK if sys.platform == "linux" else time.CLOCK_REALTIME
    return time.clock_gettime_ns(clock) - _TICKS_NS


def footprint(
    root: str | Path,
    apart: frozenset[str],
    beside: Iterable[str] = (),
    most: int = MOST,
) -> Footprint | None:
    """What a directory looks like now, without git's own at its top and without some folders.

    With it some files beside it that say what is ignored. None where it is too large.
    """
    settled = settled_before()
    outside = [_facts_of(path) for path in beside]
    found: list[EntryFacts] = []
    names: set[str] = set()
    folders, own = [os.fspath(root)], f"{os.fspath(root)}/.git"
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                path, is_folder = entry.path, entry.is_dir(follow_symlinks=False)
                # A file in the place of a folder that is ignored may count.
                if path == own or (is_folder and path in apart):
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
    return Footprint(entries, frozenset(names), settled, (*outside, *rules))


def _facts_of(path: str) -> EntryFacts:
    """What a file looks like, be it through a link; nothing but its name where it is not there."""
    try:
        it = os.stat(path)  # noqa: PTH116 - pathlib would be the slowest thing that a hook loads
    except OSError:
        return path, 0, 0, 0, 0, 0
    return path, it.st_mode, it.st_size, it.st_ino, it.st_mtime_ns, it.st_ctime_ns


class Tread:
    """Looks at one directory again and again, leaving out the clutter that git ignores there."""

    def __init__(
        self,
        root: Path,
        clutter: frozenset[str],
        list_ignored: Callable[[], Iterable[str]],
        beside: Iterable[Path] = (),
    ) -> None:
        self._root = root
        self.beside = [os.fspath(each) for each in beside]
        """The files outside of the directory that say what is ignored in it."""
        self._clutter = clutter
        self._list_ignored = list_ignored
        self._apart: frozenset[str] | None = None
        """The folders that are left out, once git was asked which it ignores."""
        self._rules: tuple[EntryFacts, ...] = ()
        self.is_small = True

    def look(self) -> Footprint | None:
        """What the directory looks like now; None where that cannot be told cheaply."""
        found = None
        # A folder that goes while we look is git's to sort out.
        with suppress(OSError):
            found = self._look() if self.is_small else None
        return found

    @property
    def apart(self) -> frozenset[str]:
        """The folders that are left out."""
        return self._apart or frozenset()

    def forget(self) -> None:
        """What git ignores may be something else from now on."""
        self._apart = None

    def _look(self) -> Footprint | None:
        if self._apart is not None:
            found = footprint(self._root, self._apart, self.beside)
            if found is not None and found.rules == self._rules:
                return found
        found = footprint(self._root, frozenset(), self.beside)
        if found is not None and found.names.isdisjoint(self._clutter):
            return found
        ignored = (each.rstrip("/") for each in self._list_ignored())
        clutter = (each for each in ignored if not self._clutter.isdisjoint(each.split("/")))
        self._apart = frozenset(os.fspath(self._root / each) for each in clutter)
        found = footprint(self._root, self._apart, self.beside)
        self.is_small = found is not None
        self._rules = found.rules if found else ()
        return found
